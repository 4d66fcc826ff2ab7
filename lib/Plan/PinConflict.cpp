// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PinConflict.h"
#include "tp/Plan/Builder.h"
#include "tp/Plan/MinimalConflict.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace tp;

PinConflict::PinConflict(ModuleOp module, const Graph &graph,
                         const CostModel &model, const PlanAxes &axes,
                         const PlanWishes &wishes, const MemoryWishes &memory)
    : module(module), graph(graph), model(model), axes(axes), wishes(wishes),
      memory(memory) {
  groupPins();
}

/// Joins the pins of one value that are written alike, and those that one
/// place in the source writes: a function's, for all calls of it.
void PinConflict::groupPins() {
  llvm::EquivalenceClasses<const void *> classes;
  for (const GraphValue &value : graph.values)
    for (const SourcePin &pin : value.pins)
      for (const SourcePin &other : value.pins)
        if (pin.sharding == other.sharding)
          classes.unionSets(pin.carrier, other.carrier);
  llvm::DenseMap<const void *, unsigned> numberOf;
  for (const GraphValue &value : graph.values) {
    auto &numbers = groupOf.emplace_back();
    for (const SourcePin &pin : value.pins) {
      auto [entry, isNew] = numberOf.try_emplace(
          classes.getLeaderValue(pin.carrier), groups.size());
      if (isNew)
        groups.push_back({value.name, pin.sharding, pin.location});
      numbers.push_back(entry->second);
    }
  }
}

/// The program with the pins of the groups `kept` alone.
Graph PinConflict::keep(ArrayRef<unsigned> kept) const {
  Graph copy = graph;
  for (auto [value, numbers] : llvm::zip_equal(copy.values, groupOf)) {
    SmallVector<SourcePin, 1> left;
    for (auto [pin, group] : llvm::zip_equal(value.pins, numbers))
      if (llvm::is_contained(kept, group))
        left.push_back(pin);
    value.pins = std::move(left);
  }
  return copy;
}

bool PinConflict::canBeMet(ArrayRef<unsigned> kept, const PlanWishes &wanted) {
  Graph program = keep(kept);
  failed.reset();
  ScopedDiagnosticHandler keepFirst(module.getContext(), [&](Diagnostic &diag) {
    if (!failed)
      failed.emplace(std::move(diag));
    return success();
  });
  ProblemBuilder builder(program, model, axes, wanted);
  if (mlir::failed(builder.build()))
    return false;
  addMemoryNeeds(program, memory, builder);
  llvm::Expected<Solution> solution = solveWithinMemory(builder.problem);
  if (solution)
    return true;
  bool isInfeasible = solution.errorIsA<InfeasibleError>();
  bool isTooLarge = solution.errorIsA<MemoryLimitError>();
  llvm::Error error = llvm::handleErrors(
      solution.takeError(), [&](const MemoryLimitError &limit) {
        // Kept as any other report.
        (void)diagnoseMemory(module, program, memory, builder.problem, limit);
      });
  if (isTooLarge)
    return false;
  unknown |= !isInfeasible;
  failed.emplace(module.getLoc(), DiagnosticSeverity::Error);
  *failed << "cannot be planned: " << llvm::toString(std::move(error));
  return unknown;
}

void PinConflict::addNotes(ArrayRef<unsigned> conflict, Diagnostic &error) {
  for (unsigned number : conflict) {
    const Group &group = groups[number];
    // The error may be the pin's own.
    if (conflict.size() == 1 && group.location == error.getLocation())
      continue;
    Diagnostic &note = error.attachNote(group.location);
    note << "pinned here: '" << group.name << "' as " << group.sharding;
    if (conflict.size() == 1)
      note << ", which cannot be met; without it there is a plan";
    else
      note << ", one of " << conflict.size()
           << " pins that contradict each other; without any one of them there "
              "is a plan";
  }
}

/// The wishes that, given up alone, let the pins be met.
void PinConflict::addFixes(ArrayRef<unsigned> conflict, Diagnostic &error) {
  auto tryOut = [&](const PlanWishes &other, StringRef text) {
    bool works = canBeMet(conflict, other) && !unknown;
    if (works)
      error.attachNote(error.getLocation())
          << "fix: with " << text
          << (groups.empty() ? " there is a plan"
                             : " the pinned layouts can be met");
    return works;
  };
  PlanWishes other = wishes;
  other.weights = Weights::Stored;
  bool stored =
      wishes.weights == Weights::Stationary && tryOut(other, "weights=stored");
  other.weights = Weights::Free;
  if (!stored && wishes.weights != Weights::Free)
    tryOut(other, "weights=free");
  other = wishes;
  other.sequence = SequenceParallel::Auto;
  if (wishes.sequence != SequenceParallel::Auto)
    tryOut(other, "sequence-parallel=auto");
  other = wishes;
  other.uneven = Uneven::Allow;
  if (wishes.uneven == Uneven::Refuse)
    tryOut(other, "uneven=allow");
}

void PinConflict::addFixes(Diagnostic &error) {
  addFixes(llvm::to_vector(llvm::seq<unsigned>(0, groups.size())), error);
}

LogicalResult PinConflict::diagnose() {
  if (groups.empty() || !canBeMet({}, wishes) || unknown)
    return failure();
  SmallVector<unsigned> conflict =
      findMinimalConflict(groups.size(), [&](ArrayRef<unsigned> kept) {
        return canBeMet(kept, wishes);
      });
  if (unknown || canBeMet(conflict, wishes) || !failed)
    return failure();
  Diagnostic error = std::move(*failed);
  addNotes(conflict, error);
  addFixes(conflict, error);
  module.getContext()->getDiagEngine().emit(std::move(error));
  return success();
}
