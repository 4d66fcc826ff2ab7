// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What a plan does to its values between those who make and who use them.

#ifndef TP_PLAN_PLANSTEPS_H
#define TP_PLAN_PLANSTEPS_H

#include "tp/Plan/Builder.h"

namespace tp {

/// One step of a reshard in a plan: a collective, or a local slice or mask.
struct PlanStep {
  /// Number of the value in the graph.
  unsigned value;
  LayoutStep step;
  Layout before, after;
  Cost cost;
  /// The (node, operand) that get the value through this step.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> uses;
};

/// The steps of a plan, value by value; a step that several uses share once.
std::vector<PlanStep> listSteps(const Graph &graph,
                                const ProblemBuilder &builder,
                                const CostModel &model,
                                llvm::ArrayRef<unsigned> choices);

} // namespace tp

#endif // TP_PLAN_PLANSTEPS_H
