// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What an operation costs, in the factors of its rule.

#ifndef TP_IR_WORK_H
#define TP_IR_WORK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tp {

/// What a backward pass needs of an operation's values: the operands that its
/// derivative depends on (those outside each set of `ShardingRule::linear`, all
/// if there is an operand in no set), the result instead, one byte an element
/// of the result that says which are kept, or nothing.
enum class KeptForBackward { Operands, Result, Mask, Nothing };

/// The work of an operation. Its shapes are not here: a rank's share is that of
/// its shards.
struct Work {
  /// Floating-point operations at one point of the rule's factors. A
  /// multiply-add counts 2.
  double flopsPerPoint = 0;
  KeptForBackward kept = KeptForBackward::Operands;
  /// Factors, by number, along which `flopsPerPoint` has been summed already.
  llvm::SmallVector<unsigned, 1> summedFactors = {};
  /// Operand whose rows are read by index: as many elements as the result has.
  std::optional<unsigned> lookedUp = {};

  /// Floating-point operations where the factors, by number, have these sizes.
  double countFlops(llvm::ArrayRef<int64_t> factorSizes) const;
};

} // namespace tp

#endif // TP_IR_WORK_H
