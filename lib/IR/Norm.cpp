// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

//===- Verifiers ----------------------------------------------------------===//

/// A gain or bias is a vector of the normalised dimension.
static LogicalResult verifyVector(Operation *op, Value vector, StringRef name) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto type = cast<RankedTensorType>(vector.getType());
  if (type.getShape() != input.getShape().take_back(1))
    return op->emitOpError()
           << name << " of shape [" << type.getShape()
           << "] for a last dimension of " << input.getShape().back();
  return success();
}

/// What all normalisations of operand 0 by operand 1 must be.
static LogicalResult verifyNorm(Operation *op, const APFloat &epsilon) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  if (input.getRank() < 1)
    return op->emitOpError() << "needs a dimension to normalise over";
  if (failed(verifyVector(op, op->getOperand(1), "gain")))
    return failure();
  double value = epsilon.convertToDouble();
  if (!(value >= 0) || !std::isfinite(value))
    return op->emitOpError()
           << "epsilon = " << value << " must be finite and not negative";
  return success();
}

LogicalResult RMSNormOp::verify() { return verifyNorm(*this, getEpsilon()); }

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNorm(*this, getEpsilon())))
    return failure();
  return getBias() ? verifyVector(*this, getBias(), "bias") : success();
}

//===- Sharding rules -----------------------------------------------------===//

/// Rows of operand 0 alone; the other operands are vectors along a row, in
/// which the operation is linear together.
static ShardingRule getNormRule(Operation *op) {
  ShardingRuleBuilder builder;
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(shape.drop_back()))
    dims.push_back({builder.factor("d" + std::to_string(index), size)});
  unsigned normalised =
      builder.factor("normalised", shape.back(), FactorKind::Whole);
  dims.push_back({normalised});
  builder.operand(dims);
  SmallVector<unsigned> vectors;
  for (unsigned vector = 1; vector < op->getNumOperands(); ++vector) {
    builder.operand({DimFactors{normalised}});
    vectors.push_back(vector);
  }
  return builder.result(dims).linearIn(vectors).build();
}

ShardingRule RMSNormOp::getShardingRule() { return getNormRule(*this); }
ShardingRule LayerNormOp::getShardingRule() { return getNormRule(*this); }

//===- Work ---------------------------------------------------------------===//

Work RMSNormOp::getWork() { return {.flopsPerPoint = 4}; }

// Mean 1, deviation 1, its square and sum 2, the two products 2, the bias 1.
Work LayerNormOp::getWork() { return {.flopsPerPoint = getBias() ? 7.0 : 6.0}; }
