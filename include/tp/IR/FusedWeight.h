// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Parameters that hold several weights, of which a program takes slices.

#ifndef TP_IR_FUSEDWEIGHT_H
#define TP_IR_FUSEDWEIGHT_H

#include "tp/IR/TP.h"

namespace tp {

/// The factor of which the rows of dimension `dim` of the one result of `op`
/// are: the operation computes all of them alike, each from rows of operands,
/// wherever they lie. Nothing if it has no such factor.
std::optional<unsigned> findRowFactor(mlir::Operation *op,
                                      const ShardingRule &rule, unsigned dim);

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
