// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/Traits.h"
#include "tp/IR/Sharding.h"

using namespace mlir;
using namespace tp;

LogicalResult tp::verifyOneElementType(Operation *op) {
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (isa<RankedTensorType>(type) && getElementTypeOrSelf(type) != result)
      return op->emitOpError() << "operand " << index << " has element type "
                               << getElementTypeOrSelf(type) << ", the result "
                               << result << "; tp.cast changes element types";
  return success();
}

LogicalResult tp::verifyResultLikeOperand(Operation *op) {
  RankedTensorType input = withSharding(op->getOperand(0).getType(), nullptr);
  RankedTensorType result = withSharding(op->getResult(0).getType(), nullptr);
  if (input == result)
    return success();
  return op->emitOpError() << "result type " << result
                           << " differs from the operand's " << input;
}
