// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// One step as it runs, calls followed: what lives when, what waits for what.

#ifndef TP_REPORT_STEP_H
#define TP_REPORT_STEP_H

#include "tp/IR/TP.h"

namespace tp {

/// Operations and calls of a step that a report follows one by one.
inline constexpr uint64_t maxStepLength = 1 << 20;

/// A value that an execution makes, or an argument of the entry.
struct StepValue {
  /// Memory of its own on the rank with the largest shards, in bytes; 0 for a
  /// view, such as a reshape. Saturates.
  uint64_t bytes = 0;
  /// The value whose memory it looks at: its own number, but for a view.
  unsigned storage = 0;
  /// The event that makes it; none for an argument.
  std::optional<unsigned> event;
  /// The argument's number.
  std::optional<unsigned> argument;
};

/// One execution of an operation that is no call and no return.
struct StepEvent {
  mlir::Operation *op = nullptr;
  /// Numbers of values, one for each operand and result.
  llvm::SmallVector<unsigned, 3> operands;
  llvm::SmallVector<unsigned, 1> results;
  /// The call of the entry that it belongs to: an index into `Step::calls`.
  std::optional<unsigned> call;
};

/// A call by the entry: as a rule a layer.
struct StepCall {
  mlir::func::CallOp op;
  llvm::SmallVector<unsigned> operands;
  /// Its events: [begin, end).
  unsigned begin = 0, end = 0;
};

struct Step {
  /// A handle; its methods are not const.
  mlir::func::FuncOp getEntry() const { return entry; }

  mlir::func::FuncOp entry;
  std::vector<StepValue> values;
  std::vector<StepEvent> events;
  std::vector<StepCall> calls;
  /// The values that the entry returns.
  llvm::SmallVector<unsigned> results;

  /// The value whose memory `value` looks at.
  const StepValue &getStorage(unsigned value) const {
    return values[values[value].storage];
  }
  bool isParameter(unsigned value) const;
  /// The call that stands for all: the second, which has one like it before it,
  /// or the only one; null without calls.
  const StepCall *getShownCall() const;
};

/// Follows the calls from `entry` on. The program is typed, each function has
/// one block, and the calls form no cycle.
Step followStep(mlir::func::FuncOp entry);

} // namespace tp

#endif // TP_REPORT_STEP_H
