// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The choices of a plan, read from the types of the module it was written to.

#ifndef TP_PLAN_READPLAN_H
#define TP_PLAN_READPLAN_H

#include "tp/Plan/Planner.h"

namespace tp {

/// By variable of the planner's problem: the choice that `planned` has taken.
/// The planner is for `opened`, a copy of `planned` that `reopen` made.
/// Diagnoses layouts that the planner's settings do not allow.
mlir::FailureOr<std::vector<unsigned>> readChoices(mlir::ModuleOp planned,
                                                   mlir::ModuleOp opened,
                                                   const Planner &planner);

/// The plan that `planned` holds and its price; no bound. Diagnoses what
/// `readChoices` does, and layouts between which there is no way.
mlir::FailureOr<Solution> readSolution(mlir::ModuleOp planned,
                                       mlir::ModuleOp opened,
                                       const Planner &planner);

} // namespace tp

#endif // TP_PLAN_READPLAN_H
