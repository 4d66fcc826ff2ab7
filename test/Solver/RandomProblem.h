// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_TEST_PLAN_RANDOMPROBLEM_H
#define TP_TEST_PLAN_RANDOMPROBLEM_H

#include "../Reshard/BruteForceTree.h"
#include "tp/Solver/Problem.h"
#include <map>

namespace tp {

/// Small problems of every shape: values with no to four consumers, variables
/// that use a value twice or their own, banned choices, shared tables and maps.
class RandomProblem {
public:
  explicit RandomProblem(unsigned seed) : random(seed) {}

  Problem make() {
    Problem problem;
    unsigned numTables = 1 + draw(2);
    for (unsigned i = 0; i < numTables; ++i)
      problem.tables.push_back(makeRandomTable(random, 2 + draw(4)));
    unsigned numVariables = 2 + draw(4);
    unsigned numPatterns = 1 + draw(numVariables);
    for (unsigned i = 0; i < numPatterns; ++i)
      problem.costVectors.push_back(makeCosts());
    for (unsigned i = 0; i < numVariables; ++i)
      problem.variables.push_back({"v" + std::to_string(i), draw(numPatterns)});
    unsigned numValues = 1 + draw(5);
    for (unsigned i = 0; i < numValues; ++i)
      problem.values.push_back(makeValue(problem, i));
    return problem;
  }

  /// Gives most variables memory, in coarse steps or in fine ones.
  void addMemory(Problem &problem) {
    bool isCoarse = draw(2);
    auto drawBytes = [&](unsigned most) -> uint64_t {
      if (draw(3) == 0)
        return 0;
      return isCoarse ? draw(4) * 1024 : draw(most);
    };
    for (Problem::Variable &variable : problem.variables) {
      if (draw(5) == 0)
        continue;
      // Two variables may share their memory if they have as many choices.
      size_t size = problem.costVectors[variable.costVector].size();
      if (draw(2) && !problem.memoryVectors.empty() &&
          problem.memoryVectors.back().size() == size) {
        variable.memoryVector = problem.memoryVectors.size() - 1;
        continue;
      }
      // Some differences are small beside the whole.
      bool isSmall = draw(3) == 0;
      std::vector<Problem::Memory> memories(size);
      for (Problem::Memory &memory : memories)
        memory = {isSmall ? draw(40) : drawBytes(100000),
                  draw(2) ? drawBytes(60000) : 0};
      variable.memoryVector = problem.memoryVectors.size();
      problem.memoryVectors.push_back(std::move(memories));
    }
  }

  /// Two triangles of values. In each the first variable makes a value of
  /// either table, for the second and the third variable; in the second
  /// triangle the two may be exchanged. Thus the same tables meet in the same
  /// order, but not in the same places.
  Problem makeTriangles(bool exchanged) {
    Problem problem;
    constexpr unsigned numChoices = 3;
    problem.layoutMaps = {{0, 1, 2}};
    for (unsigned i = 0; i < 3; ++i) {
      problem.tables.push_back(makeRandomTable(random, numChoices));
      std::vector<Price> costs;
      for (unsigned choice = 0; choice < numChoices; ++choice)
        costs.push_back(*Price::get({draw(9), 0, 0, 0}));
      problem.costVectors.push_back(std::move(costs));
    }
    for (unsigned first : {0, 3}) {
      bool isExchanged = first && exchanged;
      unsigned left = first + (isExchanged ? 2 : 1);
      unsigned right = first + (isExchanged ? 1 : 2);
      for (unsigned i = 0; i < 3; ++i)
        problem.variables.push_back({"v" + std::to_string(first + i), i});
      problem.values.push_back({"left", 0, {first, 0}, {{left, 0}}});
      problem.values.push_back({"right", 1, {first, 0}, {{right, 0}}});
      problem.values.push_back({"side", 2, {first + 1, 0}, {{first + 2, 0}}});
    }
    return problem;
  }

  unsigned draw(unsigned bound) { return random() % bound; }

private:
  std::vector<Price> makeCosts() {
    std::vector<Price> costs(1 + draw(4));
    bool isCoarse = draw(2);
    for (Price &cost : costs) {
      cost = *Price::get(
          {isCoarse ? draw(3) : draw(500000), draw(2), draw(9), draw(2)});
      if (draw(8) == 0)
        cost = Price::infinite();
    }
    return costs;
  }

  Problem::Use makeUse(Problem &problem, unsigned table) {
    Problem::Use use;
    use.variable = draw(problem.variables.size());
    // An earlier map if it fits, so that equal uses occur.
    if (!problem.layoutMaps.empty() && draw(3) == 0) {
      use.layoutMap = draw(problem.layoutMaps.size());
      const std::vector<unsigned> &map = problem.layoutMaps[use.layoutMap];
      if (map.size() == problem.getNumChoices(use.variable) &&
          llvm::all_of(map, [&](unsigned layout) {
            return layout < problem.tables[table].numLayouts;
          }))
        return use;
    }
    std::vector<unsigned> map(problem.getNumChoices(use.variable));
    for (unsigned &layout : map)
      layout = draw(problem.tables[table].numLayouts);
    use.layoutMap = problem.layoutMaps.size();
    problem.layoutMaps.push_back(std::move(map));
    return use;
  }

  Problem::Value makeValue(Problem &problem, unsigned index) {
    Problem::Value value;
    value.name = "x" + std::to_string(index);
    value.table = draw(problem.tables.size());
    value.producer = makeUse(problem, value.table);
    unsigned numConsumers = draw(12) == 0 ? 0 : 1 + draw(4);
    for (unsigned i = 0; i < numConsumers; ++i)
      value.consumers.push_back(makeUse(problem, value.table));
    return value;
  }

  std::mt19937 random;
};

/// Calls `visit` with every plan and its price, every tree by brute force.
template <typename Visit> void visitPlans(const Problem &problem, Visit visit) {
  std::map<std::tuple<unsigned, unsigned, std::vector<unsigned>>, Price> trees;
  std::vector<unsigned> choices(problem.variables.size());
  while (true) {
    Price cost;
    for (size_t i = 0; i < choices.size(); ++i)
      cost += problem.getCost(i, choices[i]);
    for (const Problem::Value &value : problem.values) {
      unsigned root =
          problem.getLayout(value.producer, choices[value.producer.variable]);
      std::vector<unsigned> targets;
      for (Problem::Use use : value.consumers)
        targets.push_back(problem.getLayout(use, choices[use.variable]));
      auto [it, isNew] =
          trees.try_emplace({value.table, root, targets}, Price());
      if (isNew)
        it->second =
            treeByBruteForce(problem.tables[value.table], root, targets);
      cost += it->second;
    }
    visit(choices, cost);
    size_t digit = 0;
    while (digit < choices.size() &&
           ++choices[digit] == problem.getNumChoices(digit))
      choices[digit++] = 0;
    if (digit == choices.size())
      return;
  }
}

/// The least price of all plans.
inline Price minimumByBruteForce(const Problem &problem) {
  Price best = Price::infinite();
  visitPlans(problem, [&](llvm::ArrayRef<unsigned>, Price cost) {
    best = std::min(best, cost);
  });
  return best;
}

} // namespace tp

#endif // TP_TEST_PLAN_RANDOMPROBLEM_H
