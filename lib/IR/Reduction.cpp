// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

//===- Verifiers ----------------------------------------------------------===//

static bool isInLocalFunction(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && function->hasAttr(localAttrName);
}

/// The result has the dimensions that are not reduced.
static LogicalResult verifyReducedShape(ReduceOp op) {
  RankedTensorType input = op.getInput().getType();
  RankedTensorType result = op.getResult().getType();
  ArrayRef<int64_t> reduced = op.getDimensions();
  int64_t last = -1;
  for (int64_t dim : reduced) {
    if (dim <= last || dim >= input.getRank())
      return op.emitOpError()
             << "reduced dimensions [" << reduced
             << "] must ascend and lie below the operand's rank, "
             << input.getRank();
    last = dim;
  }
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(reduced, static_cast<int64_t>(dim)))
      kept.push_back(size);
  if (result.getShape() == ArrayRef(kept) &&
      result.getElementType() == input.getElementType())
    return success();
  return op.emitOpError() << "result " << result << " should be "
                          << RankedTensorType::get(kept,
                                                   input.getElementType());
}

static LogicalResult verifyCount(ReduceOp op) {
  if (!op.getCount()) {
    if (op.getOrigin())
      return op.emitOpError() << "has an origin but no count to place";
    return success();
  }
  int64_t count = *op.getCount();
  if (op.getDimensions().size() != 1)
    return op.emitOpError() << "count = " << count
                            << " is of one reduced dimension, but there are "
                            << op.getDimensions().size();
  int64_t size = op.getInput().getType().getDimSize(op.getDimensions()[0]);
  if (count < 0 || (count > size && !op.getOrigin()))
    return op.emitOpError()
           << "count = " << count << " of " << size << " elements";
  return success();
}

LogicalResult ReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyReducedShape(*this)) || failed(verifyCount(*this)))
    return failure();
  bool isMax = getKind() == ReductionKind::Max;
  if (!isMax && input.getElementType().isInteger(1))
    return emitOpError() << "a sum of i1 values is not defined; tp.cast makes "
                            "them numbers";
  // A rank may be left with nothing; the whole may not.
  bool isEmpty =
      getCount() == 0 || llvm::any_of(getDimensions(), [&](int64_t dim) {
        return input.getDimSize(dim) == 0;
      });
  if (isMax && isEmpty && !isInLocalFunction(*this))
    return emitOpError() << "nothing has no maximum: dimensions ["
                         << getDimensions() << "] of " << input;
  return success();
}

LogicalResult SoftmaxOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t dim = getDim();
  if (dim < 0 || dim >= input.getRank())
    return emitOpError() << "dimension " << dim << " of a tensor of rank "
                         << input.getRank();
  return success();
}

//===- Sharding rules -----------------------------------------------------===//

ShardingRule ReduceOp::getShardingRule() {
  ShardingRuleBuilder builder;
  bool isMax = getKind() == ReductionKind::Max;
  SmallVector<DimFactors> input, result;
  for (auto [index, size] : llvm::enumerate(getInput().getType().getShape())) {
    bool isReduced =
        llvm::is_contained(getDimensions(), static_cast<int64_t>(index));
    FactorKind kind = isMax ? FactorKind::Max : FactorKind::Sum;
    input.push_back({builder.factor("d" + std::to_string(index), size,
                                    isReduced ? kind : FactorKind::Parallel)});
    if (!isReduced)
      result.push_back(input.back());
  }
  builder.operand(input).result(result);
  if (getCount())
    builder.dependsOnPosition(input[getDimensions()[0]]);
  return isMax ? builder.takesMaximum().build() : builder.linearIn({0}).build();
}

Work ReduceOp::getWork() { return {.flopsPerPoint = 1}; }

Operation *ReduceOp::writeLocal(LocalWriter &writer) {
  if (!getCount())
    return writer.copy();
  return writer.copy(writer.getOrigin(getInput(), getDimensions()[0]));
}

ShardingRule SoftmaxOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(getInput().getType().getShape())) {
    bool isNormalised = index == getDim();
    dims.push_back({builder.factor(
        isNormalised ? "normalised" : "d" + std::to_string(index), size,
        isNormalised ? FactorKind::Whole : FactorKind::Parallel)});
  }
  return builder.operand(dims).result(dims).build();
}

// Maximum, difference, exponential, sum and quotient.
Work SoftmaxOp::getWork() {
  return {.flopsPerPoint = 5, .kept = KeptForBackward::Result};
}
