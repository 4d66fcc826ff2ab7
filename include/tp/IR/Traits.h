// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What types of many operations have in common, encodings aside.

#ifndef TP_IR_TRAITS_H
#define TP_IR_TRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace tp {

llvm::LogicalResult verifyOneElementType(mlir::Operation *op);
llvm::LogicalResult verifyResultLikeOperand(mlir::Operation *op);

/// All tensors among operands and results have one element type. Operands of
/// other types (origins) do not count.
template <typename ConcreteType>
class OneElementType
    : public mlir::OpTrait::TraitBase<ConcreteType, OneElementType> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyOneElementType(op);
  }
};

/// The only result has the shape and element type of operand 0. MLIR checks
/// traits after an operation's own verifier, which must not rely on it.
template <typename ConcreteType>
class ResultLikeOperand
    : public mlir::OpTrait::TraitBase<ConcreteType, ResultLikeOperand> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyResultLikeOperand(op);
  }
};

} // namespace tp

#endif // TP_IR_TRAITS_H
