// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cheapest plans against the list of all plans.
#include "tp/Solver/BestPlans.h"
#include "RandomProblem.h"
#include "gtest/gtest.h"
#include <set>

using namespace tp;

namespace {

/// The prices of all plans, ascending.
std::vector<Price> priceAllPlans(const Problem &problem) {
  std::vector<unsigned> choices(problem.variables.size());
  std::vector<Price> prices;
  while (true) {
    Price price = problem.evaluate(choices);
    if (price.isFinite())
      prices.push_back(price);
    size_t digit = 0;
    while (digit < choices.size() &&
           ++choices[digit] == problem.getNumChoices(digit))
      choices[digit++] = 0;
    if (digit == choices.size())
      break;
  }
  llvm::sort(prices);
  return prices;
}

TEST(BestPlansTest, EqualAllPlans) {
  RandomProblem maker(21);
  unsigned solved = 0, exhausted = 0;
  for (unsigned trial = 0; trial < 400; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    std::vector<Price> expected = priceAllPlans(problem);
    unsigned count = 1 + maker.draw(12);
    SolveOptions options;
    if (trial % 2)
      options.maxEntriesAtOnce = 0;
    auto plans = findBestPlans(problem, count, options);
    if (expected.empty()) {
      ASSERT_FALSE(bool(plans));
      EXPECT_TRUE(plans.errorIsA<InfeasibleError>());
      llvm::consumeError(plans.takeError());
      continue;
    }
    ASSERT_TRUE(bool(plans)) << llvm::toString(plans.takeError());
    ASSERT_EQ(plans->size(), std::min<size_t>(count, expected.size()));
    std::set<std::vector<unsigned>> different;
    for (auto [plan, price] : llvm::zip(*plans, expected)) {
      EXPECT_EQ(plan.cost, price);
      EXPECT_EQ(problem.evaluate(plan.choices), price);
      different.insert(plan.choices);
    }
    EXPECT_EQ(different.size(), plans->size());
    ++solved;
    exhausted += expected.size() < count;
  }
  EXPECT_GT(solved, 250u);
  EXPECT_GT(exhausted, 20u);
}

} // namespace
