// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The solver against every plan there is, and on long chains.
#include "tp/Plan/Solver.h"
#include "RandomProblem.h"
#include "gtest/gtest.h"

using namespace tp;

namespace {

Price price(uint64_t time, uint64_t collectives = 0, uint64_t memory = 0,
            uint64_t steps = 0) {
  return *Price::get({time, collectives, memory, steps});
}

std::string messageOf(llvm::Expected<Solution> solution) {
  return solution ? "" : llvm::toString(solution.takeError());
}

TEST(SolverTest, EqualsBruteForce) {
  RandomProblem maker(7);
  unsigned solved = 0, infeasible = 0, pruned = 0, slots = 0, covers = 0;
  for (unsigned trial = 0; trial < 600; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    ASSERT_EQ(llvm::toString(problem.check()), "");
    Price expected = minimumByBruteForce(problem);
    llvm::Expected<Solution> solution = solve(problem);
    if (expected.isInfinite()) {
      ASSERT_FALSE(bool(solution));
      EXPECT_TRUE(solution.errorIsA<InfeasibleError>());
      llvm::consumeError(solution.takeError());
      ++infeasible;
      continue;
    }
    ASSERT_TRUE(bool(solution)) << llvm::toString(solution.takeError());
    EXPECT_EQ(solution->cost, expected);
    EXPECT_EQ(problem.evaluate(solution->choices), expected);
    EXPECT_EQ(solution->lowerBound, expected);
    llvm::Expected<Price> bound =
        checkCertificate(problem, solution->certificate);
    ASSERT_TRUE(bool(bound)) << llvm::toString(bound.takeError());
    EXPECT_EQ(*bound, expected);
    ++solved;
    const SolveStatistics &statistics = solution->statistics;
    pruned += statistics.keptChoices < statistics.choices;
    for (const Certificate::Expansion &expansion :
         solution->certificate.expansions) {
      slots += expansion.kind == Certificate::Expansion::Kind::Slots;
      covers += expansion.kind == Certificate::Expansion::Kind::Cover;
    }
  }
  // The trials mean little unless they went everywhere.
  EXPECT_GT(solved, 400u);
  EXPECT_GT(infeasible, 20u);
  EXPECT_GT(pruned, 100u);
  EXPECT_GT(slots, 50u);
  EXPECT_GT(covers, 50u);
}

/// Steps in which equal tables meet in different places are different steps.
TEST(SolverTest, EqualTablesInOtherPlaces) {
  RandomProblem maker(12);
  SolveOptions options;
  options.pruneDominated = false;
  for (unsigned trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.makeTriangles(/*exchanged=*/true);
    Price expected = minimumByBruteForce(problem);
    llvm::Expected<Solution> solution = solve(problem, options);
    ASSERT_EQ(bool(solution), expected.isFinite());
    if (!solution) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    EXPECT_EQ(solution->cost, expected);
    EXPECT_EQ(llvm::cantFail(checkCertificate(problem, solution->certificate)),
              expected);
  }
}

TEST(SolverTest, OptionsDoNotChangeTheMinimum) {
  RandomProblem maker(8);
  for (unsigned trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    llvm::Expected<Solution> first = solve(problem);
    SolveOptions plain;
    plain.pruneDominated = false;
    plain.reuseSteps = false;
    llvm::Expected<Solution> second = solve(problem, plain);
    ASSERT_EQ(bool(first), bool(second));
    if (!first) {
      llvm::consumeError(first.takeError());
      llvm::consumeError(second.takeError());
      continue;
    }
    EXPECT_EQ(first->cost, second->cost);
    EXPECT_EQ(second->statistics.choices, second->statistics.keptChoices);
    EXPECT_EQ(second->statistics.reusedSteps, 0u);
    EXPECT_EQ(llvm::cantFail(checkCertificate(problem, second->certificate)),
              first->cost);
  }
}

/// A random layer of five variables, repeated: the stream goes through all of
/// them, a branch leaves it and comes back.
Problem makeLayers(unsigned seed, unsigned numLayers) {
  std::mt19937 random(seed);
  constexpr unsigned numLayouts = 5, numChoices = 6, width = 5;
  Problem problem;
  problem.tables.push_back(makeRandomTable(random, numLayouts));
  problem.tables.push_back(makeRandomTable(random, numLayouts));
  for (unsigned i = 0; i < width; ++i) {
    std::vector<Price> costs;
    std::vector<unsigned> in, out;
    for (unsigned choice = 0; choice < numChoices; ++choice) {
      costs.push_back(price(random() % 300000));
      in.push_back(choice % numLayouts);
      out.push_back(random() % numLayouts);
    }
    problem.costVectors.push_back(costs);
    problem.layoutMaps.push_back(in);
    problem.layoutMaps.push_back(out);
  }
  auto in = [](unsigned variable) {
    return Problem::Use{variable, 2 * (variable % width)};
  };
  auto out = [](unsigned variable) {
    return Problem::Use{variable, 2 * (variable % width) + 1};
  };
  for (unsigned layer = 0; layer < numLayers; ++layer) {
    unsigned first = layer * width;
    for (unsigned i = 0; i < width; ++i)
      problem.variables.push_back(
          {"v" + std::to_string(layer) + "." + std::to_string(i), i});
    if (layer)
      problem.values.push_back(
          {"stream", 0, out(first - 1), {in(first), in(first + 3)}});
    problem.values.push_back({"shared",
                              1,
                              out(first),
                              {in(first + 1), in(first + 2), in(first + 4)}});
    problem.values.push_back({"left", 0, out(first + 1), {in(first + 3)}});
    problem.values.push_back({"right", 1, out(first + 2), {in(first + 4)}});
    problem.values.push_back({"joined", 0, out(first + 3), {in(first + 4)}});
  }
  return problem;
}

TEST(SolverTest, RepeatedLayersEqualThePlainSolve) {
  for (unsigned seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(seed);
    Problem problem = makeLayers(seed, 40);
    SolveOptions plain;
    plain.reuseSteps = false;
    Solution reused = llvm::cantFail(solve(problem));
    Solution unrolled = llvm::cantFail(solve(problem, plain));
    EXPECT_EQ(reused.cost, unrolled.cost);
    EXPECT_EQ(reused.choices, unrolled.choices);
    EXPECT_EQ(llvm::cantFail(checkCertificate(problem, reused.certificate)),
              reused.cost);
    EXPECT_EQ(llvm::cantFail(checkCertificate(problem, unrolled.certificate)),
              reused.cost);
    EXPECT_EQ(reused.statistics.steps, unrolled.statistics.steps);
    EXPECT_GT(reused.statistics.reusedSteps, reused.statistics.steps / 2);
    EXPECT_LT(reused.statistics.tableEntries,
              unrolled.statistics.tableEntries / 2);
  }
}

TEST(SolverTest, IsTheSameEveryTime) {
  Problem problem = makeLayers(6, 40);
  Solution first = llvm::cantFail(solve(problem));
  Solution second = llvm::cantFail(solve(problem));
  EXPECT_EQ(first.choices, second.choices);
  EXPECT_TRUE(first.certificate == second.certificate);
}

/// More layers cost hardly more, once the messages repeat.
TEST(SolverTest, EntriesDoNotGrowWithLayers) {
  Solution some = llvm::cantFail(solve(makeLayers(9, 40)));
  Solution many = llvm::cantFail(solve(makeLayers(9, 400)));
  EXPECT_LT(many.statistics.tableEntries, 2 * some.statistics.tableEntries);
}

/// A chain without branches, whose minimum the textbook recursion gives.
TEST(SolverTest, ChainEqualsTheForwardRecursion) {
  std::mt19937 random(11);
  constexpr unsigned length = 300, numChoices = 4;
  Problem problem;
  problem.tables.push_back(makeRandomTable(random, numChoices));
  problem.layoutMaps = {{0, 1, 2, 3}};
  for (unsigned i = 0; i < length; ++i) {
    std::vector<Price> costs;
    for (unsigned choice = 0; choice < numChoices; ++choice)
      costs.push_back(price(random() % 1000, random() % 3));
    problem.costVectors.push_back(costs);
    problem.variables.push_back({"v", i});
    if (i)
      problem.values.push_back({"x", 0, {i - 1, 0}, {{i, 0}}});
  }
  std::vector<Price> best = problem.costVectors[0];
  for (unsigned i = 1; i < length; ++i) {
    std::vector<Price> next(numChoices, Price::infinite());
    for (unsigned from = 0; from < numChoices; ++from)
      for (unsigned to = 0; to < numChoices; ++to)
        next[to] =
            std::min(next[to], best[from] + problem.tables[0].at(from, to) +
                                   problem.costVectors[i][to]);
    best = next;
  }
  EXPECT_EQ(llvm::cantFail(solve(problem)).cost,
            *std::min_element(best.begin(), best.end()));
}

/// Layouts 0 (split), 1 and 2 (two ways to be whole on the way to a use).
Problem makeShared() {
  Problem problem;
  problem.tables.push_back({4,
                            {price(0), price(8), price(8), price(6), //
                             price(9), price(0), price(4), price(2), //
                             price(9), price(4), price(0), price(2), //
                             price(7), price(2), price(2), price(0)}});
  problem.costVectors = {{price(0)}, {price(1)}};
  problem.layoutMaps = {{0}, {1}, {2}};
  problem.variables = {{"make", 0}, {"use1", 1}, {"use2", 1}};
  problem.values = {{"x", 0, {0, 0}, {{1, 1}, {2, 2}}}};
  return problem;
}

/// 6 to the hub and 2 to each use, not 8 twice; plus 1 for each use.
TEST(SolverTest, SharedReshardIsPaidOnce) {
  EXPECT_EQ(llvm::cantFail(solve(makeShared())).cost, price(12));
}

/// One value that all of 64 variables use in one of three layouts.
TEST(SolverTest, ManyConsumersOfFewLayouts) {
  Problem problem;
  problem.tables.push_back({3,
                            {price(0), price(10), price(25), //
                             price(10), price(0), price(15), //
                             price(25), price(15), price(0)}});
  problem.costVectors = {{price(0)}};
  problem.layoutMaps = {{0}, {1, 2}};
  problem.variables = {{"make", 0}};
  problem.values = {{"x", 0, {0, 0}, {}}};
  // Every other variable would rather have layout 2, by 1 or by 2.
  for (unsigned i = 0; i < 64; ++i) {
    problem.costVectors.push_back({price(i % 2 ? 1 + i / 32 : 0), price(0)});
    problem.variables.push_back({"use", 1 + i});
    problem.values[0].consumers.push_back({1 + i, 1});
  }
  // Layout 2 for all: 25. Layout 1 for all: 10 and 16 * 1 + 16 * 2.
  Solution solution = llvm::cantFail(solve(problem));
  EXPECT_EQ(solution.cost, price(25));
  EXPECT_EQ(llvm::cantFail(checkCertificate(problem, solution.certificate)),
            price(25));
}

TEST(SolverTest, CollectivesBreakTies) {
  Problem problem = makeShared();
  problem.costVectors = {{price(0)}, {price(1, 2, 0, 0), price(1, 1, 9, 9)}};
  problem.layoutMaps = {{0}, {1, 1}, {2, 2}};
  Solution solution = llvm::cantFail(solve(problem));
  EXPECT_EQ(solution.choices, (std::vector<unsigned>{0, 1, 1}));
  EXPECT_EQ(solution.cost, price(12, 2, 18, 18));
}

TEST(SolverTest, FirstChoiceWinsAmongEquals) {
  Problem problem = makeShared();
  problem.costVectors = {{price(0)}, {price(1), price(1), price(1)}};
  problem.layoutMaps = {{0}, {1, 1, 1}, {2, 2, 2}};
  for (bool prune : {false, true}) {
    SolveOptions options;
    options.pruneDominated = prune;
    EXPECT_EQ(llvm::cantFail(solve(problem, options)).choices,
              (std::vector<unsigned>{0, 0, 0}));
  }
}

TEST(SolverTest, BannedVariableIsNamed) {
  Problem problem = makeShared();
  problem.costVectors[1] = {Price::infinite()};
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_FALSE(bool(solution));
  EXPECT_TRUE(solution.errorIsA<InfeasibleError>());
  EXPECT_NE(messageOf(std::move(solution)).find("variable 'use1'"),
            std::string::npos);
}

/// A value that may not be resharded and is wanted in two layouts.
TEST(SolverTest, ForbiddenReshardIsInfeasible) {
  Problem problem = makeShared();
  for (unsigned from = 0; from < 4; ++from)
    for (unsigned to = 0; to < 4; ++to)
      if (from != to)
        problem.tables[0].entries[from * 4 + to] = Price::infinite();
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_FALSE(bool(solution));
  EXPECT_TRUE(solution.errorIsA<InfeasibleError>());
  llvm::consumeError(solution.takeError());
}

/// 2^53 ticks are 563 s; a price holds twice that less one tick.
TEST(SolverTest, TimeThatDoesNotFitIsInfeasible) {
  Problem problem = makeShared();
  problem.values.clear();
  problem.costVectors = {{price(uint64_t(1) << 53)},
                         {price(uint64_t(1) << 52)}};
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_FALSE(bool(solution));
  EXPECT_TRUE(solution.errorIsA<InfeasibleError>());
  EXPECT_NE(messageOf(std::move(solution)).find("1125 s"), std::string::npos);
  problem.costVectors[1].push_back(price((uint64_t(1) << 52) - 1));
  EXPECT_EQ(llvm::cantFail(solve(problem)).cost.getTime(),
            (uint64_t(1) << 54) - 2);
}

TEST(SolverTest, TooLargeSaysHowLarge) {
  Problem problem = makeLayers(1, 3);
  SolveOptions options;
  options.maxTableEntries = 40;
  llvm::Expected<Solution> solution = solve(problem, options);
  ASSERT_FALSE(bool(solution));
  ASSERT_TRUE(solution.errorIsA<ProblemTooLargeError>());
  uint64_t entries = 0;
  llvm::handleAllErrors(solution.takeError(),
                        [&](const ProblemTooLargeError &error) {
                          entries = error.getEntries();
                          EXPECT_EQ(error.getLimit(), 40u);
                          EXPECT_NE(error.message().find("and 40 are allowed"),
                                    std::string::npos);
                        });
  EXPECT_GT(entries, 40u);
}

/// The limit holds for the sum over distinct steps too.
TEST(SolverTest, TooLargeInTotal) {
  Problem problem = makeLayers(1, 3);
  Solution solution = llvm::cantFail(solve(problem));
  SolveOptions options;
  options.maxTableEntries = solution.statistics.tableEntries;
  EXPECT_EQ(messageOf(solve(problem, options)), "");
  ASSERT_LT(solution.statistics.largestTable, options.maxTableEntries);
  --options.maxTableEntries;
  llvm::Expected<Solution> failed = solve(problem, options);
  ASSERT_FALSE(bool(failed));
  EXPECT_TRUE(failed.errorIsA<ProblemTooLargeError>());
  llvm::consumeError(failed.takeError());
}

/// Eight consumers of 30 layouts each: no table of the trees fits, and none is
/// built before this is known.
TEST(SolverTest, ManyConsumersOfManyLayoutsAreTooLarge) {
  constexpr unsigned numLayouts = 30;
  Problem problem;
  DistanceTable table;
  table.numLayouts = numLayouts;
  std::vector<unsigned> identity;
  for (unsigned from = 0; from < numLayouts; ++from) {
    identity.push_back(from);
    for (unsigned to = 0; to < numLayouts; ++to)
      table.entries.push_back(price(from == to ? 0 : 3));
  }
  problem.tables = {table};
  problem.layoutMaps = {identity};
  problem.costVectors = {std::vector<Price>(numLayouts)};
  problem.values = {{"x", 0, {0, 0}, {}}};
  for (unsigned i = 0; i < 9; ++i)
    problem.variables.push_back({"v", 0});
  for (unsigned i = 1; i < 9; ++i)
    problem.values[0].consumers.push_back({i, 0});
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_FALSE(bool(solution));
  EXPECT_TRUE(solution.errorIsA<ProblemTooLargeError>());
  llvm::consumeError(solution.takeError());
}

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
    EXPECT_EQ(messageOf(solve(problem)), message);
  };
  EXPECT_EQ(llvm::toString(makeShared().check()), "");
  expect([](Problem &p) { p.tables[0].entries[5] = price(1); },
         "distance table 0: the distance from layout 1 to itself");
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
  expect(price(0, 1 << 19), "collectives is 1048576, which does not fit in 20");
  expect(price(0, 0, uint64_t(1) << 33), "memory in KiB is 17179869184");
  expect(price(0, 0, 0, 1 << 19), "reshard steps is 1048576");
  expect(price(0, (1 << 19) - 1, (uint64_t(1) << 33) - 1, (1 << 19) - 1), "");
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
