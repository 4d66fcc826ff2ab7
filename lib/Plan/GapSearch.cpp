// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GapSearch.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace tp;

llvm::Error GapSearch::prepare() {
  llvm::Expected<std::vector<unsigned>> order =
      findOrder(graph, options.maxTableEntries);
  if (!order)
    return order.takeError();
  llvm::Expected<Elimination> elimination =
      eliminate(graph, *order, options, statistics);
  if (!elimination)
    return elimination.takeError();
  minimum = elimination->minimum;
  BucketTree tree(graph, *elimination);
  BucketTree::Completions completions = tree.complete();
  slacks.resize(graph.sizes.size());
  for (auto [bucket, completion] :
       llvm::zip_equal(tree.getBuckets(), completions.of))
    slacks[bucket.variable] = completions.distinct[completion].slacks;
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

MemoryConstraint GapSearch::restrictLoads(const Kept &kept) const {
  MemoryConstraint restricted = constraint;
  restricted.loads.clear();
  std::map<std::pair<unsigned, llvm::SmallVector<unsigned, 16>>, unsigned>
      known;
  for (auto [variable, index] : llvm::enumerate(restricted.loadsOf)) {
    auto [it, isNew] =
        known.try_emplace({index, kept[variable]}, restricted.loads.size());
    if (isNew) {
      std::vector<MemoryLoad> &loads = restricted.loads.emplace_back();
      for (unsigned choice : kept[variable])
        loads.push_back(constraint.loads[index][choice]);
    }
    index = it->second;
  }
  return restricted;
}

llvm::Expected<ConstrainedResult> GapSearch::run(Price slack) {
  Kept kept;
  uint64_t floorWorking = 0;
  if (!findSurvivors(slack, kept, floorWorking))
    return ConstrainedResult();
  FactorGraph restricted = restrictGraph(graph, kept);
  llvm::Expected<std::vector<unsigned>> order =
      findOrder(restricted, options.maxTableEntries);
  if (!order)
    return order.takeError();
  llvm::Expected<Elimination> elimination =
      eliminate(restricted, *order, options, statistics);
  if (!elimination) {
    if (!elimination.errorIsA<InfeasibleError>())
      return elimination.takeError();
    llvm::consumeError(elimination.takeError());
    return ConstrainedResult();
  }
  // The penalty may have removed the minimum.
  Price most = minimum + slack;
  if (elimination->minimum > most)
    return ConstrainedResult();
  BucketTree tree(restricted, *elimination);
  BucketTree::Completions completions = tree.complete();
  MemoryConstraint loads = restrictLoads(kept);
  loads.floorWorking = floorWorking;
  LabelStatistics labels;
  ConstrainedResult result = eliminateWithin(
      restricted, tree, completions, loads, most.above(elimination->minimum),
      options.maxTableEntries, labels);
  for (auto [variable, choice] : llvm::enumerate(result.choices))
    choice = kept[variable][choice];
  return result;
}
