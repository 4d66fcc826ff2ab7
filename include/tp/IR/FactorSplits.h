// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From the layout of a tensor to that of an operation's factors, and back.

#ifndef TP_IR_FACTORSPLITS_H
#define TP_IR_FACTORSPLITS_H

#include "tp/IR/Sharding.h"
#include "tp/IR/ShardingRule.h"

namespace tp {

/// The sharding of one tensor, dealt to the factors of its dimensions.
struct FactorSplits {
  /// One entry a factor, in canonical form; whole where the tensor does not
  /// have the factor.
  llvm::SmallVector<DimLayout> splits;
  llvm::SmallVector<bool> present;
};

/// A factor that a sharding would cut in pieces: half a head.
struct UndividedFactor {
  unsigned dim, factor;
  int64_t ranks;
};

/// Deals the axis parts of each dimension to its factors, major to minor,
/// cutting a part where a factor ends. A factor may be dealt unevenly if it is
/// the last one of its dimension, or if all minor ones are the sharding's unit.
/// Failure, described by `undivided`, if a factor is not divided.
mlir::FailureOr<FactorSplits> dealParts(const ShardingRule &rule,
                                        unsigned tensor, const Layout &layout,
                                        UndividedFactor &undivided);

/// The layout of tensor number `tensor` when factor f is split as `splits[f]`.
/// Of a dimension's factors only the last that is split may be split unevenly.
Layout layoutFromFactors(const ShardingRule &rule, unsigned tensor,
                         llvm::ArrayRef<DimLayout> splits);

} // namespace tp

#endif // TP_IR_FACTORSPLITS_H
