// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_BESTPLANS_H
#define TP_SOLVER_BESTPLANS_H

#include "tp/Solver/Solver.h"

namespace tp {

/// A plan and its price.
struct PricedPlan {
  /// One choice for each variable.
  std::vector<unsigned> choices;
  Price cost;
};

/// The `count` cheapest plans, cheapest first; all there are if there are
/// fewer. Plans are different if the choice of some variable is.
///
/// The plans are divided by the choice that makes the second best one different
/// from the best, and each part by its own (C. Yanover and Y. Weiss, "Finding
/// the M most probable configurations using loopy belief propagation", NIPS
/// 2003, with exact min-marginals in place of loopy ones).
///
/// The problem must pass `Problem::check()` and have no memory limit. Fails as
/// `solve` does.
llvm::Expected<std::vector<PricedPlan>>
findBestPlans(const Problem &problem, unsigned count,
              const SolveOptions &options = {});

} // namespace tp

#endif // TP_SOLVER_BESTPLANS_H
