// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What is legal to ask of the planner, but hardly what was meant.

#ifndef TP_PLAN_PLANWARNINGS_H
#define TP_PLAN_PLANWARNINGS_H

#include "tp/Plan/Planner.h"

namespace tp {

/// Warns of axes that were to carry the batch where there is none to split, as
/// with a batch of one: their ranks all compute the same.
void warnOfIdleAxes(mlir::ModuleOp module, const Planner &planner,
                    const Solution &solution);

/// Remarks on a plan that a cheaper one might beat: what lies between it and
/// the lower bound.
void remarkOnGap(mlir::ModuleOp module, const PlanSettings &settings,
                 const Solution &solution);

/// Warns if the program takes parameters apart that tp-split-fused-weights
/// would split: what is computed of them is gathered before it is cut.
void warnOfFusedWeights(mlir::ModuleOp module, const Planner &planner);

} // namespace tp

#endif // TP_PLAN_PLANWARNINGS_H
