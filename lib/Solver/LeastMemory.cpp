// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/MemoryLimit.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace tp;

/// Price and memory of every choice of a variable, as indices.
using ChoiceLists = std::pair<unsigned, unsigned>;

namespace {
/// Finds the least persistent memory under bounds on the working memory.
class LeastMemoryFinder {
public:
  LeastMemoryFinder(const Problem &problem, const SolveOptions &options)
      : problem(problem), options(options) {}

  llvm::Expected<LeastMemory> run();

private:
  /// The least persistent memory with `bounds[index]`; ~0 if there is no plan.
  /// Keeps the plan if it is the best so far.
  llvm::Expected<uint64_t> solveBound(size_t index);
  /// Looks at the bounds between two, of which the least persistent memory is
  /// known. It falls as the bound rises.
  llvm::Error searchBetween(size_t low, uint64_t mostPersistent, size_t high,
                            uint64_t leastPersistent);
  void findBounds();
  Problem makeProblem(uint64_t bound) const;

  const Problem &problem;
  const SolveOptions &options;
  /// The working memories that a plan's greatest may be, ascending.
  std::vector<uint64_t> bounds;
  LeastMemory best;
};
} // namespace

static uint64_t addMemory(uint64_t persistent, uint64_t working) {
  return persistent == ~uint64_t(0) ? persistent : persistent + working;
}

/// No bound below that of the variable that needs most can be met.
void LeastMemoryFinder::findBounds() {
  uint64_t least = 0;
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    uint64_t leastOfVariable = ~uint64_t(0);
    for (unsigned choice = 0; choice < problem.getNumChoices(variable);
         ++choice) {
      if (problem.getCost(variable, choice).isInfinite())
        continue;
      uint64_t working = problem.getMemory(variable, choice).working;
      leastOfVariable = std::min(leastOfVariable, working);
      bounds.push_back(working);
    }
    // A variable without a choice is for the solver to report.
    if (leastOfVariable != ~uint64_t(0))
      least = std::max(least, leastOfVariable);
  }
  bounds.push_back(least);
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  bounds.erase(bounds.begin(), llvm::lower_bound(bounds, least));
}

/// The problem with persistent bytes in place of time, moves for nothing, and
/// no choice that works with more than `bound`.
Problem LeastMemoryFinder::makeProblem(uint64_t bound) const {
  Problem made = problem;
  made.costVectors.clear();
  for (DistanceTable &table : made.tables)
    for (Price &entry : table.entries)
      entry = entry.isInfinite() ? entry : Price();
  std::map<ChoiceLists, unsigned> known;
  for (Problem::Variable &variable : made.variables) {
    auto [it, isNew] = known.try_emplace(
        {variable.costVector, variable.memoryVector}, made.costVectors.size());
    if (isNew) {
      std::vector<Price> costs = problem.costVectors[variable.costVector];
      unsigned number = &variable - made.variables.data();
      for (auto [choice, cost] : llvm::enumerate(costs)) {
        Problem::Memory memory = problem.getMemory(number, choice);
        if (cost.isFinite() && memory.working <= bound)
          cost = *Price::get({memory.persistent, 0, 0, 0});
        else
          cost = Price::infinite();
      }
      made.costVectors.push_back(std::move(costs));
    }
    variable.costVector = it->second;
  }
  return made;
}

llvm::Expected<uint64_t> LeastMemoryFinder::solveBound(size_t index) {
  llvm::Expected<Solution> solution =
      solve(makeProblem(bounds[index]), options);
  if (!solution) {
    if (!solution.errorIsA<InfeasibleError>() || index + 1 == bounds.size())
      return solution.takeError();
    llvm::consumeError(solution.takeError());
    return ~uint64_t(0);
  }
  Problem::Memory memory = problem.memoryOf(solution->choices);
  if (best.choices.empty() || memory.getTotal() < best.memory.getTotal())
    best = {std::move(solution->choices), memory};
  return memory.persistent;
}

llvm::Error LeastMemoryFinder::searchBetween(size_t low,
                                             uint64_t mostPersistent,
                                             size_t high,
                                             uint64_t leastPersistent) {
  if (high - low < 2 || mostPersistent == leastPersistent ||
      addMemory(leastPersistent, bounds[low + 1]) >= best.memory.getTotal())
    return llvm::Error::success();
  size_t middle = low + (high - low) / 2;
  llvm::Expected<uint64_t> persistent = solveBound(middle);
  if (!persistent)
    return persistent.takeError();
  if (llvm::Error error =
          searchBetween(low, mostPersistent, middle, *persistent))
    return error;
  return searchBetween(middle, *persistent, high, leastPersistent);
}

llvm::Expected<LeastMemory> LeastMemoryFinder::run() {
  findBounds();
  size_t last = bounds.size() - 1;
  llvm::Expected<uint64_t> least = solveBound(last);
  if (!least)
    return least.takeError();
  if (last == 0)
    return best;
  llvm::Expected<uint64_t> most = solveBound(0);
  if (!most)
    return most.takeError();
  if (llvm::Error error = searchBetween(0, *most, last, *least))
    return error;
  return best;
}

llvm::Expected<LeastMemory> tp::findLeastMemory(const Problem &problem,
                                                const SolveOptions &options) {
  if (llvm::Error error = problem.checkShape())
    return error;
  SolveOptions exact = options;
  exact.acceptGap = false;
  return LeastMemoryFinder(problem, exact).run();
}
