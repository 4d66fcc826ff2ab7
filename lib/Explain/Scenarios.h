// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A planned module, planned again under other constraints.

#ifndef TP_EXPLAIN_SCENARIOS_H
#define TP_EXPLAIN_SCENARIOS_H

#include "tp/Plan/Figures.h"
#include "tp/Plan/Planner.h"

namespace tp {

/// A plan and what it amounts to.
struct Outcome {
  Solution solution;
  PlanFigures figures;
};

/// One way to plan a module.
class Scenario {
public:
  /// Plans a copy of `planned` as it was before, under `settings`. Silent:
  /// without a planner or a plan there is none to ask for.
  Scenario(mlir::ModuleOp planned, const PlanSettings &settings);

  /// The copy that is planned.
  mlir::ModuleOp getModule() const { return *module; }
  /// Null if the program cannot be read under the settings.
  Planner *getPlanner() const { return planner.get(); }
  /// The cheapest plan; null if there is none.
  const Outcome *getBest() const { return best ? &*best : nullptr; }
  /// The cheapest plan under `changes`.
  std::optional<Outcome> solve(const Changes &changes) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Planner> planner;
  std::optional<Outcome> best;
};

/// A scenario in which one constraint is given up.
struct Lifting {
  /// As `weights=stationary`, and what stands in its place, as `weights=free`.
  std::string given, instead;
  Scenario scenario;
};

/// All constraints of `settings` that can be given up, one at a time: the pins,
/// sequence-parallel, weights, the axes that carry the batch, even shards, the
/// memory limit.
std::vector<Lifting> liftConstraints(mlir::ModuleOp planned,
                                     const PlanSettings &settings);

/// Seconds below which plans are equally fast: only roundings differ.
inline constexpr double leastDifference = 0.5e-9;

/// `other` less `than`; collectives of which there are as many are left out.
PlanFigures subtract(PlanFigures other, const PlanFigures &than);

/// "1.200 us more a step, 64 bytes fewer sent a rank, 2 more all_reduce".
std::string describeDifference(const PlanFigures &other,
                               const PlanFigures &than);

} // namespace tp

#endif // TP_EXPLAIN_SCENARIOS_H
