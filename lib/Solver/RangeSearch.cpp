// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RangeSearch.h"
#include "Expansion.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace tp;

RangeSearch::RangeSearch(Problem tolled, MemoryConstraint constraint,
                         Price minimum, const SolveOptions &options)
    : problem(std::move(tolled)), constraint(std::move(constraint)),
      minimum(minimum), options(options),
      narrowing(problem, Domains::findPossible(problem), options) {}

llvm::Error RangeSearch::widen(Price slack, uint64_t maxEntries) {
  // A price with tolls is below the next tick.
  Ticks bound = narrowing.getDual().bound;
  near = narrowing.getChoices(Ticks((minimum + slack).getTime()) + 1 - bound);
  gap.reset();
  reach = slack;
  for (unsigned number = 0; number < problem.variables.size(); ++number)
    if (near.getKept(number).empty())
      return llvm::make_error<InfeasibleError>("the end");
  Certificate expansion;
  llvm::Expected<FactorGraph> graph =
      expandProblem(problem, near, maxEntries, expansion);
  if (!graph)
    return graph.takeError();
  gap =
      std::make_unique<GapSearch>(std::move(*graph), makeConstraint(), options);
  llvm::Error error = gap->prepare(expansion.order, maxEntries);
  if (error)
    gap.reset();
  return error;
}

MemoryConstraint RangeSearch::makeConstraint() const {
  MemoryConstraint loaded = constraint;
  std::map<std::pair<unsigned, unsigned>, unsigned> known;
  for (unsigned number = 0; number < problem.variables.size(); ++number) {
    auto [it, isNew] = known.try_emplace(
        {near.classOf(number), problem.variables[number].memoryVector},
        loaded.loads.size());
    loaded.loadsOf.push_back(it->second);
    if (!isNew)
      continue;
    std::vector<MemoryLoad> &loads = loaded.loads.emplace_back();
    for (unsigned choice : near.getKept(number)) {
      Problem::Memory memory = problem.getMemory(number, choice);
      loads.push_back({memory, MemoryConstraint::getToll(memory.persistent,
                                                         loaded.multiplier)});
    }
  }
  return loaded;
}

llvm::Expected<ConstrainedResult> RangeSearch::run(Price slack,
                                                   uint64_t tolerance,
                                                   GapSearch::Rounding rounding,
                                                   const LabelLimits &limits) {
  // What small differences may add.
  Price wanted = slack;
  if (tolerance != 0)
    wanted += Price::fromWord(ticksToWord(
        MemoryConstraint::getToll(tolerance, constraint.multiplier) + 1));
  ConstrainedResult result;
  if (!reach || wanted > *reach) {
    // Somewhat wider if that is cheap, so that the next steps need no other
    // graph. Completing a graph takes several visits an entry.
    llvm::Error error =
        widen(wanted + wanted + wanted, options.maxTableEntries / 32);
    if (error.isA<ProblemTooLargeError>()) {
      llvm::consumeError(std::move(error));
      error = widen(wanted, options.maxTableEntries / 4);
    }
    if (error.isA<ProblemTooLargeError>()) {
      llvm::consumeError(std::move(error));
      reach.reset();
      result.gaveUp = true;
      return result;
    }
    if (error && !error.isA<InfeasibleError>())
      return error;
    llvm::consumeError(std::move(error));
  }
  if (!gap)
    return result;
  llvm::Expected<ConstrainedResult> found =
      gap->run(slack, tolerance, rounding, limits);
  if (found)
    for (auto [number, choice] : llvm::enumerate(found->choices))
      if (number < problem.variables.size())
        choice = near.getKept(number)[choice];
  if (found && !found->choices.empty())
    found->choices.resize(problem.variables.size());
  return found;
}
