// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Parameters that hold several weights, of which a program takes slices.

#ifndef TP_IR_FUSEDWEIGHT_H
#define TP_IR_FUSEDWEIGHT_H

#include "tp/IR/TP.h"

namespace tp {

/// Whether `op` computes all indices of a parallel factor alike: it does not
/// know where in the tensor an element is, so that rows of the result are
/// computed from rows of the operands.
bool ignoresPosition(mlir::Operation *op);

/// A parameter that says nothing yet of which rows of a file it is.
bool isWholeParameter(mlir::BlockArgument argument);

/// Whether operand `operand` of `op` has more elements in dimension `dim` than
/// the result, which is otherwise the same: a slice.
bool takesPart(mlir::Operation *op, unsigned operand, unsigned dim);

/// How often a part of `value` along `dim` is taken.
int64_t countParts(mlir::Value value, unsigned dim);

/// The parameter, as `argument 1 (qkv.weight)`, of which the blocks along
/// dimension `dim` of `value` are computed, so that tp-split-fused-weights may
/// take them of the parameter instead. Nothing if they come from none, or if it
/// is not split along them.
std::optional<std::string> describeFusedWeight(mlir::Value value, unsigned dim);

} // namespace tp

#endif // TP_IR_FUSEDWEIGHT_H
