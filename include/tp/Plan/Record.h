// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What tp-plan leaves in the module for the passes after it: its settings, its
/// price, and which layouts were pinned.

#ifndef TP_PLAN_RECORD_H
#define TP_PLAN_RECORD_H

#include "tp/Plan/Planner.h"

namespace tp {

/// On an argument, a result or an operation whose layout the source gave.
inline constexpr llvm::StringLiteral pinnedAttrName = "tp.pinned";

/// On a planned module: the numbers of the certificate.
inline constexpr llvm::StringLiteral certificateAttrName = "tp.certificate";

/// Writes `tp.plan` and `tp.machine` and marks the pins. Before the plan is
/// written into the types.
void recordPlan(mlir::ModuleOp module, const PlanSettings &settings,
                const Planner &planner, const Solution &solution);

/// Writes `tp.certificate`.
void recordCertificate(mlir::ModuleOp module, const Solution &solution);

/// The settings that a module was planned with; nothing if it was not planned.
std::optional<PlanSettings> readSettings(mlir::ModuleOp module);

/// The bound in seconds that the module gives for its plan; nothing if it gives
/// none. `tp-check-plan` tells whether it is true.
std::optional<double> readLowerBound(mlir::ModuleOp module);

/// Whether the plan placed this conversion of layouts.
bool isPlannedMove(mlir::Operation *op);

/// A copy of a planned module as it was before: no encodings but the pins, no
/// reshards.
mlir::OwningOpRef<mlir::ModuleOp> reopen(mlir::ModuleOp module);

} // namespace tp

#endif // TP_PLAN_RECORD_H
