// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is no problem, and what is no plan.
#include "tp/Solver/Problem.h"
#include "SharedReshard.h"
#include "tp/Solver/Certificate.h"
#include "tp/Solver/Solver.h"
#include "gtest/gtest.h"

using namespace tp;

namespace {

TEST(ProblemTest, EvaluateRefusesWhatIsNoPlan) {
  Problem problem = makeShared();
  EXPECT_EQ(problem.evaluate({0, 0, 0}), price(12));
  EXPECT_TRUE(problem.evaluate({0, 0}).isInfinite());
  EXPECT_TRUE(problem.evaluate({0, 0, 1}).isInfinite());
}

/// One mistake at a time; each message names it.
TEST(ProblemTest, CheckFindsMistakes) {
  auto expect = [](void (*spoil)(Problem &), const char *text) {
    Problem problem = makeShared();
    spoil(problem);
    std::string message = llvm::toString(problem.check());
    EXPECT_NE(message.find(text), std::string::npos) << message;
    EXPECT_EQ(llvm::toString(solve(problem).takeError()), message);
    EXPECT_EQ(
        llvm::toString(checkCertificate(problem, Price(), {}).takeError()),
        message);
  };
  EXPECT_EQ(llvm::toString(makeShared().check()), "");
  Problem detour = makeShared();
  detour.tables[0].entries[5] = price(1);
  EXPECT_EQ(llvm::toString(detour.check()),
            "distance table 0: the distance from layout 1 to itself is not "
            "zero");
  expect([](Problem &p) { p.tables[0].entries.pop_back(); },
         "distance table 0: a distance table of 4 layouts needs 16 entries and "
         "has 15");
  expect([](Problem &p) { p.variables[1].costVector = 2; },
         "variable 'use1' refers to cost vector 2, but there are 2");
  expect([](Problem &p) { p.costVectors[0].clear(); },
         "variable 'make' has no choices");
  expect([](Problem &p) { p.values[0].table = 1; },
         "value 'x' refers to distance table 1, but there are 1");
  expect([](Problem &p) { p.values[0].producer.variable = 3; },
         "value 'x' refers to variable 3, but there are 3");
  expect([](Problem &p) { p.values[0].consumers[1].layoutMap = 7; },
         "value 'x' refers to layout map 7, but there are 3");
  expect([](Problem &p) { p.layoutMaps[1] = {1, 1}; },
         "value 'x' maps 2 choices of variable 'use1', which has 1");
  expect([](Problem &p) { p.layoutMaps[2] = {4}; },
         "value 'x' gets layout 4 from variable 'use2', but its distance table "
         "has 4 layouts");
}

TEST(ProblemTest, CheckFindsOverflow) {
  auto expect = [](Price cost, const char *text) {
    Problem problem = makeShared();
    problem.costVectors[1] = {cost};
    std::string message = llvm::toString(problem.check());
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  // Two variables have this cost.
  expect(price(0, 1 << 17), "collectives is 262144, which does not fit in 18");
  expect(price(0, 0, uint64_t(1) << 33), "memory in KiB is 17179869184");
  expect(price(0, 0, 0, 1 << 17), "reshard steps is 262144");
  expect(price(0, (1 << 17) - 1, (uint64_t(1) << 33) - 1, (1 << 17) - 1), "");
}

/// A tree to two targets may take three steps; four are allowed for.
TEST(ProblemTest, CheckFindsOverflowOfTrees) {
  Problem problem = makeShared();
  auto setMemory = [&](uint64_t memory) {
    for (unsigned i = 0; i < 16; ++i)
      problem.tables[0].entries[i] = i % 5 ? price(1, 0, memory) : price(0);
  };
  setMemory(uint64_t(1) << 32);
  EXPECT_NE(llvm::toString(problem.check()).find("KiB is 17179869184"),
            std::string::npos);
  setMemory((uint64_t(1) << 32) - 1);
  EXPECT_EQ(llvm::toString(problem.check()), "");
}

TEST(ProblemTest, CheckLimitsTargets) {
  Problem problem = makeShared();
  constexpr unsigned numLayouts = 14;
  problem.tables = {{numLayouts, {}}};
  for (unsigned i = 0; i < numLayouts * numLayouts; ++i)
    problem.tables[0].entries.push_back(price(i % (numLayouts + 1) ? 1 : 0));
  problem.values[0].consumers.clear();
  for (unsigned layout = 0; layout < numLayouts; ++layout) {
    problem.layoutMaps.push_back({layout});
    problem.values[0].consumers.push_back({1, 3 + layout});
    std::string message = llvm::toString(problem.check());
    EXPECT_EQ(message.empty(), layout < maxTreeTargets) << message;
  }
  EXPECT_NE(
      llvm::toString(problem.check())
          .find("may be wanted in 14 layouts at once by its 14 consumers; "
                "at most 12"),
      std::string::npos);
}

} // namespace
