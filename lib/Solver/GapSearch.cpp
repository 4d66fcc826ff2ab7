// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GapSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <map>

using namespace tp;

/// Eliminates a graph in an order of its own.
static llvm::Expected<Elimination>
eliminateInOrder(FactorGraph &graph, const SolveOptions &options) {
  llvm::Expected<std::vector<unsigned>> order =
      findOrder(graph, options.maxTableEntries);
  if (!order)
    return order.takeError();
  SolveStatistics statistics;
  return eliminate(graph, *order, options, statistics);
}

llvm::Error GapSearch::prepare(llvm::ArrayRef<unsigned> order,
                               uint64_t maxEntries) {
  SolveOptions limited = options;
  limited.maxTableEntries = maxEntries;
  SolveStatistics statistics;
  llvm::Expected<Elimination> elimination =
      eliminate(graph, order, limited, statistics);
  if (!elimination)
    return elimination.takeError();
  minimum = elimination->minimum;
  BucketTree tree(graph, *elimination);
  slacks = tree.getSlacks(tree.complete());
  return llvm::Error::success();
}

bool GapSearch::keep(Price slack, uint64_t floorWorking, Kept &kept) const {
  kept.assign(slacks.size(), {});
  for (unsigned variable = 0; variable < slacks.size(); ++variable) {
    for (auto [choice, least] : llvm::enumerate(slacks[variable])) {
      Problem::Memory memory = constraint.getLoad(variable, choice).memory;
      memory.working = std::max(memory.working, floorWorking);
      if (memory.getTotal() <= constraint.limit &&
          least + constraint.getPenalty(memory.working) <= slack)
        kept[variable].push_back(choice);
    }
    if (kept[variable].empty())
      return false;
  }
  return true;
}

/// The least working memory of plans with choices `kept`.
uint64_t GapSearch::getFloor(const Kept &kept) const {
  uint64_t floor = constraint.leastWorking;
  for (unsigned variable = 0; variable < kept.size(); ++variable) {
    uint64_t least = ~uint64_t(0);
    for (unsigned choice : kept[variable])
      least =
          std::min(least, constraint.getLoad(variable, choice).memory.working);
    floor = std::max(floor, least);
  }
  return floor;
}

/// Fewer choices need more working memory, which rules out more choices.
bool GapSearch::findSurvivors(Price slack, Kept &kept, uint64_t &floor) const {
  uint64_t last = 0;
  floor = constraint.leastWorking;
  do {
    if (!keep(slack, floor, kept))
      return false;
    last = floor;
    floor = getFloor(kept);
  } while (floor != last);
  return true;
}

/// What is least of a variable's persistent memory is there in any case.
MemoryConstraint GapSearch::restrictLoads(const MemoryConstraint &whole,
                                          const Kept &kept) {
  MemoryConstraint restricted = whole;
  restricted.loads.clear();
  std::map<std::pair<unsigned, llvm::SmallVector<unsigned, 16>>, unsigned>
      known;
  /// By index into `loads`.
  std::vector<uint64_t> least;
  for (auto [variable, index] : llvm::enumerate(restricted.loadsOf)) {
    auto [it, isNew] =
        known.try_emplace({index, kept[variable]}, restricted.loads.size());
    if (isNew) {
      std::vector<MemoryLoad> &loads = restricted.loads.emplace_back();
      least.push_back(~uint64_t(0));
      for (unsigned choice : kept[variable]) {
        loads.push_back(whole.loads[index][choice]);
        least.back() = std::min(least.back(), loads.back().memory.persistent);
      }
      for (MemoryLoad &load : loads)
        load.memory.persistent -= least.back();
    }
    index = it->second;
    restricted.fixedPersistent += least[index];
  }
  return restricted;
}

/// Makes the persistent memory of the variables that differ least the same for
/// all choices, the least, and returns by how much it is more at most. What is
/// alike in all layers stays so.
static uint64_t ignoreSmall(MemoryConstraint &constraint, uint64_t tolerance) {
  std::vector<uint64_t> counts(constraint.loads.size());
  for (unsigned index : constraint.loadsOf)
    ++counts[index];
  /// By how much the choices of a list of loads differ, and which it is.
  std::vector<std::pair<uint64_t, unsigned>> spreads;
  auto byPersistent = [](const MemoryLoad &a, const MemoryLoad &b) {
    return a.memory.persistent < b.memory.persistent;
  };
  for (auto [index, loads] : llvm::enumerate(constraint.loads)) {
    auto [least, most] =
        std::minmax_element(loads.begin(), loads.end(), byPersistent);
    spreads.push_back(
        {most->memory.persistent - least->memory.persistent, index});
  }
  llvm::sort(spreads);
  uint64_t ignored = 0;
  for (auto [spread, index] : spreads) {
    uint64_t all = llvm::SaturatingMultiplyAdd(spread, counts[index], ignored);
    if (all > tolerance)
      break;
    ignored = all;
    std::vector<MemoryLoad> &loads = constraint.loads[index];
    uint64_t least = llvm::min_element(loads, byPersistent)->memory.persistent;
    for (MemoryLoad &load : loads)
      load.memory.persistent = least;
  }
  return ignored;
}

llvm::Expected<ConstrainedResult> GapSearch::run(Price slack,
                                                 uint64_t tolerance,
                                                 Rounding rounding,
                                                 const LabelLimits &limits) {
  MemoryConstraint rounded = constraint;
  uint64_t ignored = ignoreSmall(rounded, tolerance);
  if (rounding == Rounding::Up)
    rounded.fixedPersistent = ignored;
  // A plan that takes so much more than there is pays as much more toll.
  if (ignored != 0)
    slack += Price::fromWord(ticksToWord(
        MemoryConstraint::getToll(ignored, constraint.multiplier) + 1));
  Kept kept;
  uint64_t floorWorking = 0;
  if (!findSurvivors(slack, kept, floorWorking))
    return ConstrainedResult();
  FactorGraph restricted = restrictGraph(graph, kept);
  llvm::Expected<Elimination> elimination =
      eliminateInOrder(restricted, options);
  ConstrainedResult result;
  if (!elimination) {
    result.gaveUp = elimination.errorIsA<ProblemTooLargeError>();
    if (!result.gaveUp && !elimination.errorIsA<InfeasibleError>())
      return elimination.takeError();
    llvm::consumeError(elimination.takeError());
    return result;
  }
  // The penalty may have removed the minimum.
  Price most = minimum + slack;
  if (elimination->minimum > most)
    return result;
  BucketTree tree(restricted, *elimination);
  BucketTree::Completions completions = tree.complete();
  MemoryConstraint loads = restrictLoads(rounded, kept);
  loads.floorWorking = floorWorking;
  result = eliminateWithin(restricted, tree, completions, loads,
                           most.above(elimination->minimum), limits);
  for (auto [variable, choice] : llvm::enumerate(result.choices))
    choice = kept[variable][choice];
  return result;
}
