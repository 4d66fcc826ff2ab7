// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/BestPlans.h"
#include "BucketTree.h"
#include "Expansion.h"
#include "Narrowing.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tp;

namespace {

/// Some of the plans: those with the choices kept.
struct Region {
  /// By variable.
  std::vector<std::vector<unsigned>> kept;
  PricedPlan best;
  /// The choice of one variable that the second best plan has and the best has
  /// not, and its price; infinite if there is no second plan.
  unsigned variable = 0, choice = 0;
  Price second = Price::infinite();
};

/// Divides regions until enough plans are the best of theirs.
class PlanEnumerator {
public:
  PlanEnumerator(const Problem &problem, const SolveOptions &options)
      : problem(problem), options(options) {}

  /// The cheapest plans with choices of `domains`.
  llvm::Expected<std::vector<PricedPlan>> run(const Domains &domains,
                                              unsigned count);

private:
  llvm::Error solveRegion(Region &region);
  llvm::Error divide(unsigned index);
  void findSecond(Region &region,
                  llvm::ArrayRef<std::vector<Price>> slacks) const;

  const Problem &problem;
  const SolveOptions &options;
  std::vector<Region> regions;
};

} // namespace

void PlanEnumerator::findSecond(
    Region &region, llvm::ArrayRef<std::vector<Price>> slacks) const {
  region.second = Price::infinite();
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    for (auto [choice, slack] :
         llvm::zip_equal(region.kept[variable], slacks[variable])) {
      if (choice == region.best.choices[variable] ||
          region.best.cost + slack >= region.second)
        continue;
      region.second = region.best.cost + slack;
      region.variable = variable;
      region.choice = choice;
    }
}

/// Finds the best plan of a region and what the second best one differs in.
llvm::Error PlanEnumerator::solveRegion(Region &region) {
  Domains domains =
      Domains::select(problem, [&](unsigned variable, unsigned choice) {
        return llvm::is_contained(region.kept[variable], choice);
      });
  Certificate expansion;
  llvm::Expected<FactorGraph> graph =
      expandProblem(problem, domains, options.maxTableEntries, expansion);
  if (!graph)
    return graph.takeError();
  SolveStatistics statistics;
  llvm::Expected<Elimination> elimination =
      eliminate(*graph, expansion.order, options, statistics);
  if (!elimination)
    return elimination.takeError();
  std::vector<unsigned> found = decode(*graph, *elimination);
  std::vector<unsigned> choices;
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    choices.push_back(region.kept[variable][found[variable]]);
  region.best = {std::move(choices), elimination->minimum};

  BucketTree tree(*graph, *elimination);
  findSecond(region, tree.getSlacks(tree.complete()));
  return llvm::Error::success();
}

/// The plans of a region with its second best one, and those without it.
llvm::Error PlanEnumerator::divide(unsigned index) {
  Region with = regions[index];
  with.kept[with.variable] = {with.choice};
  Region &without = regions[index];
  llvm::erase(without.kept[without.variable], without.choice);
  if (llvm::Error error = solveRegion(without))
    return error;
  if (llvm::Error error = solveRegion(with))
    return error;
  regions.push_back(std::move(with));
  return llvm::Error::success();
}

llvm::Expected<std::vector<PricedPlan>>
PlanEnumerator::run(const Domains &domains, unsigned count) {
  regions.clear();
  Region &all = regions.emplace_back();
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    all.kept.push_back(domains.getKept(variable).vec());
  if (llvm::Error error = solveRegion(all))
    return std::move(error);
  std::vector<PricedPlan> plans = {all.best};
  while (plans.size() < count) {
    auto next =
        llvm::min_element(regions, [](const Region &a, const Region &b) {
          return a.second < b.second;
        });
    if (next->second.isInfinite())
      break;
    if (llvm::Error error = divide(next - regions.begin()))
      return std::move(error);
    plans.push_back(regions.back().best);
  }
  return plans;
}

llvm::Expected<std::vector<PricedPlan>>
tp::findBestPlans(const Problem &problem, unsigned count,
                  const SolveOptions &options) {
  llvm::Expected<Solution> best = solve(problem, options);
  if (!best)
    return best.takeError();
  PlanEnumerator enumerator(problem, options);
  if (best->statistics.passes == 0)
    return enumerator.run(Domains::findPossible(problem), count);
  // Too large as a whole: what costs a little more than the best plan, until
  // that is enough.
  SolveOptions again = options;
  again.start = &best->certificate;
  Narrowing narrowing(problem, Domains::findPossible(problem), again);
  Ticks least = best->cost.getTime() + 1 - narrowing.getDual().bound;
  for (Ticks more = std::max(least, 1.0);; more *= 4) {
    llvm::Expected<std::vector<PricedPlan>> plans =
        enumerator.run(narrowing.getChoices(more), count);
    // There may be fewer plans than asked for.
    bool isAll = more > largestTicks || !narrowing.hasMessages();
    if (!plans || isAll ||
        (plans->size() == count &&
         plans->back().cost.getTime() + 1 - narrowing.getDual().bound <= more))
      return plans;
  }
}
