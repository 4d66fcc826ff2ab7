// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The solver against every plan there is, and on long chains.
#include "tp/Solver/Solver.h"
#include "RandomProblem.h"
#include "SharedReshard.h"
#include "gtest/gtest.h"

using namespace tp;

namespace {

std::string messageOf(llvm::Expected<Solution> solution) {
  return solution ? "" : llvm::toString(solution.takeError());
}

/// Messages first, however small the tables are.
SolveOptions withMessages() {
  SolveOptions options;
  options.maxEntriesAtOnce = 0;
  return options;
}

/// What the certificate of a solution proves.
Price boundOf(const Problem &problem, const Solution &solution) {
  return llvm::cantFail(
      checkCertificate(problem, solution.cost, solution.certificate));
}

TEST(SolverTest, EqualsBruteForce) {
  RandomProblem maker(7);
  unsigned solved = 0, infeasible = 0, narrowed = 0, slots = 0, covers = 0;
  for (unsigned trial = 0; trial < 2000; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    ASSERT_EQ(llvm::toString(problem.check()), "");
    Price expected = minimumByBruteForce(problem);
    for (const SolveOptions &options : {SolveOptions(), withMessages()}) {
      llvm::Expected<Solution> solution = solve(problem, options);
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
      EXPECT_EQ(boundOf(problem, *solution), expected);
      ++solved;
      const SolveStatistics &statistics = solution->statistics;
      narrowed += statistics.keptChoices < statistics.choices;
      for (const Certificate::Expansion &expansion :
           solution->certificate.expansions) {
        slots += expansion.kind == Certificate::Expansion::Kind::Slots;
        covers += expansion.kind == Certificate::Expansion::Kind::Cover;
      }
    }
  }
  // The trials mean little unless they went everywhere.
  EXPECT_GT(solved, 3000u);
  EXPECT_GT(infeasible, 100u);
  EXPECT_GT(narrowed, 1000u);
  EXPECT_GT(slots, 100u);
  EXPECT_GT(covers, 100u);
}

/// Messages alone prove less than the minimum or just it, never more; a plan
/// that is known to be worse than the best one changes nothing in that.
TEST(SolverTest, BoundsHoldForAnyPlan) {
  RandomProblem maker(17);
  unsigned checked = 0;
  for (unsigned trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    llvm::Expected<Solution> solution = solve(problem, withMessages());
    if (!solution) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    std::vector<unsigned> other;
    for (unsigned v = 0; v < problem.variables.size(); ++v)
      other.push_back(maker.draw(problem.getNumChoices(v)));
    Price worse = problem.evaluate(other);
    Certificate messages = solution->certificate;
    messages.order.clear();
    EXPECT_LE(llvm::cantFail(checkCertificate(problem, worse, messages)),
              solution->cost);
    // More choices may be left than the tables of values were meant for.
    llvm::Expected<Price> bound =
        checkCertificate(problem, worse, solution->certificate);
    if (!bound) {
      llvm::consumeError(bound.takeError());
      continue;
    }
    EXPECT_LE(*bound, solution->cost);
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

/// Steps in which equal tables meet in different places are different steps.
TEST(SolverTest, EqualTablesInOtherPlaces) {
  RandomProblem maker(12);
  for (unsigned trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.makeTriangles(/*exchanged=*/true);
    Price expected = minimumByBruteForce(problem);
    llvm::Expected<Solution> solution = solve(problem);
    ASSERT_EQ(bool(solution), expected.isFinite());
    if (!solution) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    EXPECT_EQ(solution->cost, expected);
    EXPECT_EQ(boundOf(problem, *solution), expected);
  }
}

TEST(SolverTest, OptionsDoNotChangeTheMinimum) {
  RandomProblem maker(8);
  for (unsigned trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    llvm::Expected<Solution> first = solve(problem);
    SolveOptions plain = withMessages();
    plain.reuseSteps = false;
    llvm::Expected<Solution> second = solve(problem, plain);
    ASSERT_EQ(bool(first), bool(second));
    if (!first) {
      llvm::consumeError(first.takeError());
      llvm::consumeError(second.takeError());
      continue;
    }
    EXPECT_EQ(first->cost, second->cost);
    EXPECT_EQ(second->statistics.reusedSteps, 0u);
    EXPECT_EQ(boundOf(problem, *second), first->cost);
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

/// Messages of a problem with other costs are a beginning, whatever they are
/// worth; and the minimum is the same.
TEST(SolverTest, BeginsWithMessagesOfAnother) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = makeLayers(seed, seed % 3 == 0 ? 40 : 3);
    Solution before = llvm::cantFail(solve(problem, withMessages()));
    problem.costVectors[seed % 5][seed % 6] += price(100000);
    problem.tables[seed % 2] = makeLayers(seed + 1, 1).tables[seed % 2];
    Price best = llvm::cantFail(solve(problem)).cost;
    SolveOptions options = withMessages();
    options.start = &before.certificate;
    Solution again = llvm::cantFail(solve(problem, options));
    EXPECT_EQ(again.cost, best);
    EXPECT_EQ(again.lowerBound, best);
    EXPECT_EQ(boundOf(problem, again), best);
    // Of a problem with other layouts: left alone.
    Certificate other = before.certificate;
    other.messages.front().push_back(0);
    options.start = &other;
    EXPECT_EQ(llvm::cantFail(solve(problem, options)).cost, best);
  }
}

/// Beyond the cutoff there may be a plan or not; below it the best is found.
TEST(SolverTest, Cutoff) {
  unsigned cut = 0;
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (unsigned numLayers : {3, 40}) {
      SCOPED_TRACE(seed);
      Problem problem = makeLayers(seed, numLayers);
      Solution best = llvm::cantFail(solve(problem, withMessages()));
      SolveOptions options = withMessages();
      options.start = &best.certificate;
      options.cutoff = best.cost;
      options.cutoff += price(1);
      EXPECT_EQ(llvm::cantFail(solve(problem, options)).cost, best.cost);
      options.cutoff = price(best.cost.getTime() / 2);
      llvm::Expected<Solution> none = solve(problem, options);
      cut += !none;
      if (none)
        EXPECT_EQ(none->cost, best.cost);
      else
        EXPECT_TRUE(none.errorIsA<InfeasibleError>());
      llvm::consumeError(none.takeError());
    }
  EXPECT_GT(cut, 20u);
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
    EXPECT_EQ(boundOf(problem, reused), reused.cost);
    EXPECT_EQ(boundOf(problem, unrolled), reused.cost);
    EXPECT_EQ(reused.statistics.steps, unrolled.statistics.steps);
    EXPECT_GT(reused.statistics.reusedSteps, reused.statistics.steps / 2);
    EXPECT_LT(reused.statistics.tableEntries,
              unrolled.statistics.tableEntries / 2);
  }
}

/// Messages are found on a few of the layers and hold for all.
TEST(SolverTest, MessagesOfRepeatedLayers) {
  for (unsigned seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    SCOPED_TRACE(seed);
    Problem problem = makeLayers(seed, 40);
    Solution solution = llvm::cantFail(solve(problem, withMessages()));
    EXPECT_EQ(solution.cost, llvm::cantFail(solve(problem)).cost);
    EXPECT_EQ(boundOf(problem, solution), solution.cost);
    // Those of at most 12 layers of 11 ends each.
    EXPECT_LE(solution.certificate.messages.size(), 12u * 11u);
    EXPECT_EQ(solution.certificate.messageOf.size(), 40u * 13u - 3u);
  }
}

TEST(SolverTest, IsTheSameEveryTime) {
  Problem problem = makeLayers(6, 40);
  for (const SolveOptions &options : {SolveOptions(), withMessages()}) {
    Solution first = llvm::cantFail(solve(problem, options));
    for (unsigned run = 0; run < 20; ++run) {
      Solution again = llvm::cantFail(solve(problem, options));
      EXPECT_EQ(first.choices, again.choices);
      EXPECT_TRUE(first.certificate == again.certificate);
    }
  }
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
  EXPECT_EQ(boundOf(problem, solution), price(25));
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
  for (const SolveOptions &options : {SolveOptions(), withMessages()})
    EXPECT_EQ(llvm::cantFail(solve(problem, options)).choices,
              (std::vector<unsigned>{0, 0, 0}));
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

/// 2^57 ticks are 9007 s; a price holds twice that less one tick.
TEST(SolverTest, TimeThatDoesNotFitIsInfeasible) {
  Problem problem = makeShared();
  problem.values.clear();
  problem.costVectors = {{price(uint64_t(1) << 57)},
                         {price(uint64_t(1) << 56)}};
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_FALSE(bool(solution));
  EXPECT_TRUE(solution.errorIsA<InfeasibleError>());
  EXPECT_NE(messageOf(std::move(solution)).find("18014 s"), std::string::npos);
  problem.costVectors[1].push_back(price((uint64_t(1) << 56) - 1));
  EXPECT_EQ(llvm::cantFail(solve(problem)).cost.getTime(),
            (uint64_t(1) << 58) - 2);
}

TEST(SolverTest, TooLargeSaysHowLarge) {
  Problem problem = makeLayers(1, 3);
  SolveOptions options;
  options.maxTableEntries = 4;
  options.acceptGap = false;
  llvm::Expected<Solution> solution = solve(problem, options);
  ASSERT_FALSE(bool(solution));
  ASSERT_TRUE(solution.errorIsA<ProblemTooLargeError>());
  uint64_t entries = 0;
  llvm::handleAllErrors(
      solution.takeError(), [&](const ProblemTooLargeError &error) {
        entries = error.getEntries();
        EXPECT_EQ(error.getLimit(), 4u);
        EXPECT_NE(error.message().find("and 4 are allowed"), std::string::npos);
      });
  EXPECT_GT(entries, 4u);
}

/// The limit holds for the sum over distinct steps too. Beyond it messages
/// narrow the choices down, to the same minimum.
TEST(SolverTest, TooLargeInTotal) {
  Problem problem = makeLayers(1, 3);
  Solution solution = llvm::cantFail(solve(problem));
  EXPECT_EQ(solution.statistics.passes, 0u);
  SolveOptions options;
  options.maxEntriesAtOnce = solution.statistics.tableEntries;
  EXPECT_EQ(llvm::cantFail(solve(problem, options)).statistics.passes, 0u);
  ASSERT_LT(solution.statistics.largestTable, options.maxEntriesAtOnce);
  --options.maxEntriesAtOnce;
  Solution narrowed = llvm::cantFail(solve(problem, options));
  EXPECT_GT(narrowed.statistics.passes, 0u);
  EXPECT_LT(narrowed.statistics.keptChoices, narrowed.statistics.choices);
  EXPECT_EQ(narrowed.cost, solution.cost);
}

/// Where too little can be eliminated to prove that the plan is the best one,
/// the gap is told, and the certificate proves what is claimed.
TEST(SolverTest, GapIsTold) {
  unsigned withGap = 0;
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (uint64_t limit = 20; limit < 2000; limit *= 2) {
      SCOPED_TRACE(seed);
      Problem problem = makeLayers(seed, 3);
      SolveOptions options;
      options.maxTableEntries = limit;
      llvm::Expected<Solution> solution = solve(problem, options);
      if (!solution) {
        EXPECT_TRUE(solution.errorIsA<ProblemTooLargeError>());
        llvm::consumeError(solution.takeError());
        continue;
      }
      Price best = llvm::cantFail(solve(problem)).cost;
      EXPECT_LE(solution->lowerBound, best);
      EXPECT_GE(solution->cost, best);
      EXPECT_GE(boundOf(problem, *solution), solution->lowerBound);
      withGap += solution->lowerBound < solution->cost;
    }
  EXPECT_GT(withGap, 2u);
}

/// Eight consumers of 30 layouts each: no table of the trees fits, and none is
/// built before this is known. Messages alone suggest a plan, here the best.
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
  SolveOptions exact;
  exact.acceptGap = false;
  llvm::Expected<Solution> solution = solve(problem, exact);
  ASSERT_FALSE(bool(solution));
  EXPECT_TRUE(solution.errorIsA<ProblemTooLargeError>());
  llvm::consumeError(solution.takeError());
  EXPECT_EQ(llvm::cantFail(solve(problem)).cost, Price());
}

} // namespace
