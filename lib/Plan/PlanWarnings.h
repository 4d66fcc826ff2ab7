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
/// would split, and the plan has collectives between them and the slices.
void warnOfFusedWeights(mlir::ModuleOp module, const Planner &planner,
                        const Solution &solution);

/// Warns of weights that weights=stationary does not split, with the reason:
/// the tiles that they are read in, or what is computed of them before a
/// product reads it.
void warnOfUnsplitWeights(const Planner &planner, const Solution &solution);

/// Warns of vocabularies that the ranks of the model do not divide, so that
/// even shards leave them unsplit.
void warnOfVocabularies(const Planner &planner);

} // namespace tp

#endif // TP_PLAN_PLANWARNINGS_H
