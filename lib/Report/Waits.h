// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which collectives hold the computation up.

#ifndef TP_REPORT_WAITS_H
#define TP_REPORT_WAITS_H

#include "Step.h"
#include "tp/Report/Report.h"

namespace tp {

/// What one collective of the program holds up in a step, over all executions.
struct Wait {
  /// Executions that something waits for, and for how long.
  int64_t blocking = 0;
  double heldSeconds = 0;
  StepPart part = StepPart::Layers;
  /// The first operation that takes the result of the first execution; null if
  /// there is none.
  mlir::Operation *first = nullptr;
};

struct Waits {
  llvm::DenseMap<mlir::Operation *, Wait> collectives;
  /// From the start of the step.
  double seconds = 0;
  double heldSeconds = 0;
  Timeline timeline;
};

/// Runs the step on two queues, one for operations and one for collectives that
/// communicate, both in program order; each starts once its operands are there
/// and its queue is free. `costs` has every operation that costs something.
Waits findWaits(const Step &step,
                const llvm::DenseMap<mlir::Operation *, Cost> &costs);

/// Sequences of tokens that enter the step: the largest tensor of indices into
/// a parameter; 0 if there is none.
int64_t countTokens(const Step &step);

} // namespace tp

#endif // TP_REPORT_WAITS_H
