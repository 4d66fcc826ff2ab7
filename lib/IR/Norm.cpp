// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

LogicalResult RMSNormOp::verify() {
  RankedTensorType input = getInput().getType(), gain = getGain().getType(),
                   result = getResult().getType();
  if (input.getShape() != result.getShape() ||
      input.getElementType() != result.getElementType())
    return emitOpError() << "result type " << result
                         << " differs from the operand's " << input;
  if (input.getRank() < 1)
    return emitOpError() << "needs a dimension to normalise over";
  if (gain.getElementType() != input.getElementType())
    return emitOpError() << "gain of element type " << gain.getElementType()
                         << " for an operand of " << input.getElementType();
  if (gain.getShape() != input.getShape().take_back(1))
    return emitOpError() << "gain of shape [" << gain.getShape()
                         << "] for a last dimension of "
                         << input.getShape().back();
  double epsilon = getEpsilon().convertToDouble();
  if (!(epsilon >= 0) || !std::isfinite(epsilon))
    return emitOpError() << "epsilon = " << epsilon
                         << " must be finite and not negative";
  return success();
}

ShardingRule RMSNormOp::getShardingRule() {
  ShardingRuleBuilder builder;
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(shape.drop_back()))
    dims.push_back({builder.factor("d" + std::to_string(index), size)});
  unsigned normalised =
      builder.factor("normalised", shape.back(), FactorKind::Whole);
  dims.push_back({normalised});
  return builder.operand(dims)
      .operand({DimFactors{normalised}})
      .result(dims)
      .linearIn({1})
      .work(4)
      .build();
}
