// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which pins are to blame when a program has no plan.

#ifndef TP_PLAN_PINCONFLICT_H
#define TP_PLAN_PINCONFLICT_H

#include "MemoryNeeds.h"
#include "tp/Plan/Choices.h"
#include "tp/Weights/Graph.h"

namespace tp {

/// The pins of a program that cannot be planned with all of them.
class PinConflict {
public:
  PinConflict(mlir::ModuleOp module, const Graph &graph, const CostModel &model,
              const PlanAxes &axes, const PlanWishes &wishes,
              const MemoryWishes &memory);

  /// Finds a set of pins that cannot be met together, though any one left out
  /// lets the others be met; reports where they fail, with a note at each pin
  /// and a fix for each wish without which they can be met. Failure, and no
  /// report, if the pins are not to blame or it cannot be told.
  mlir::LogicalResult diagnose();

  /// Adds a fix for each wish without which there is a plan with all pins.
  void addFixes(mlir::Diagnostic &error);

private:
  /// All that the source must give up together: layouts of one value that are
  /// written alike, in all places where they are written.
  struct Group {
    std::string name;
    ShardingAttr sharding;
    mlir::Location location;
  };

  void groupPins();
  Graph keep(llvm::ArrayRef<unsigned> kept) const;
  bool canBeMet(llvm::ArrayRef<unsigned> kept, const PlanWishes &wanted);
  void addNotes(llvm::ArrayRef<unsigned> conflict, mlir::Diagnostic &error);
  void addFixes(llvm::ArrayRef<unsigned> conflict, mlir::Diagnostic &error);

  mlir::ModuleOp module;
  const Graph &graph;
  const CostModel &model;
  const PlanAxes &axes;
  PlanWishes wishes;
  const MemoryWishes &memory;
  std::vector<Group> groups;
  /// By value, then by pin: the group.
  std::vector<llvm::SmallVector<unsigned, 1>> groupOf;
  /// Why the last set asked about could not be met.
  std::optional<mlir::Diagnostic> failed;
  /// Whether a set was too large a problem.
  bool unknown = false;
};

} // namespace tp

#endif // TP_PLAN_PINCONFLICT_H
