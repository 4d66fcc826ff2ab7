// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory limits against every plan there is, and on layers that are alike.
#include "tp/Solver/MemoryLimit.h"
#include "RandomProblem.h"
#include "gtest/gtest.h"
#include <set>

using namespace tp;

namespace {

Price price(uint64_t time) { return *Price::get({time, 0, 0, 0}); }

/// A chain of layers that each take 100 bytes, or 7 ticks more and 30 bytes.
/// Layers of a kind stay together, as changing from one to the other takes 5
/// ticks.
Problem makeTwoWays(unsigned numLayers) {
  Problem problem;
  problem.tables = {{2, {price(0), price(5), price(5), price(0)}}};
  problem.costVectors = {{price(3), price(10)}};
  problem.memoryVectors = {{{100, 0}, {30, 0}}};
  problem.layoutMaps = {{0, 1}};
  for (unsigned layer = 0; layer < numLayers; ++layer) {
    problem.variables.push_back({"v" + std::to_string(layer), 0, 0});
    if (layer)
      problem.values.push_back({"x", 0, {layer - 1, 0}, {{layer, 0}}});
  }
  return problem;
}

/// By total memory, the least price of the plans that take that much.
std::map<uint64_t, Price> findFrontier(const Problem &problem) {
  std::map<uint64_t, Price> frontier;
  visitPlans(problem, [&](llvm::ArrayRef<unsigned> choices, Price cost) {
    Problem::Memory memory;
    for (auto [variable, choice] : llvm::enumerate(choices)) {
      Problem::Memory own = problem.getMemory(variable, choice);
      memory.persistent += own.persistent;
      memory.working = std::max(memory.working, own.working);
    }
    if (cost.isInfinite())
      return;
    Price &best = frontier.try_emplace(memory.getTotal(), Price::infinite())
                      .first->second;
    best = std::min(best, cost);
  });
  return frontier;
}

struct LimitCounts {
  unsigned bound = 0;
  /// Where the best plan moves a value to two layouts, by a tree.
  unsigned shared = 0;
  unsigned refused = 0;
  unsigned priced = 0;
  /// Certificates that prove all, and those that leave a gap.
  unsigned proved = 0;
  unsigned gaps = 0;
  unsigned divided = 0;
};

void expectRefused(const Problem &problem, uint64_t least,
                   LimitCounts &counts) {
  llvm::Expected<Solution> solution = solveWithinMemory(problem);
  ASSERT_FALSE(bool(solution));
  ASSERT_TRUE(solution.errorIsA<MemoryLimitError>());
  llvm::handleAllErrors(
      solution.takeError(), [&](const MemoryLimitError &error) {
        EXPECT_EQ(error.getLeast().getTotal(), least);
        EXPECT_EQ(problem.memoryOf(error.getChoices()), error.getLeast());
        EXPECT_EQ(error.getLimit(), *problem.memoryLimit);
      });
  ++counts.refused;
}

/// Whether the plan moves a value to two layouts other than its own.
bool sharesReshards(const Problem &problem, llvm::ArrayRef<unsigned> choices) {
  return llvm::any_of(problem.values, [&](const Problem::Value &value) {
    std::set<unsigned> targets;
    for (Problem::Use use : value.consumers)
      targets.insert(problem.getLayout(use, choices[use.variable]));
    targets.erase(
        problem.getLayout(value.producer, choices[value.producer.variable]));
    return targets.size() > 1;
  });
}

void expectOptimal(const Problem &problem, Price expected,
                   LimitCounts &counts) {
  llvm::Expected<Solution> solution = solveWithinMemory(problem);
  ASSERT_TRUE(bool(solution)) << llvm::toString(solution.takeError());
  EXPECT_EQ(solution->cost, expected);
  EXPECT_EQ(solution->lowerBound, expected);
  EXPECT_EQ(problem.evaluate(solution->choices), expected);
  EXPECT_LE(problem.memoryOf(solution->choices).getTotal(),
            *problem.memoryLimit);
  if (!solution->memoryCertificate)
    return;
  counts.shared += sharesReshards(problem, solution->choices);
  // The same, divided as often as can be.
  SolveOptions divided;
  divided.easySums = 0;
  Solution again = llvm::cantFail(solveWithinMemory(problem, divided));
  EXPECT_EQ(again.cost, expected);
  EXPECT_EQ(again.lowerBound, expected);
  EXPECT_LE(llvm::cantFail(checkMemoryCertificate(problem, expected,
                                                  *again.memoryCertificate)),
            expected);
  counts.divided += again.memoryCertificate->ranges.size() >
                    solution->memoryCertificate->ranges.size();
  counts.priced += llvm::any_of(
      solution->memoryCertificate->ranges,
      [](const MemoryCertificate::Range &range) { return range.multiplier; });
  llvm::Expected<Price> bound = checkMemoryCertificate(
      problem, solution->cost, *solution->memoryCertificate);
  ASSERT_TRUE(bool(bound)) << llvm::toString(bound.takeError());
  EXPECT_LE(*bound, expected);
  counts.proved += *bound == expected;
  counts.gaps += *bound < expected;
}

/// Every limit at which the best plan changes, and one byte less.
void testLimits(Problem problem, LimitCounts &counts) {
  std::map<uint64_t, Price> frontier = findFrontier(problem);
  if (frontier.empty())
    return;
  uint64_t least = frontier.begin()->first;
  EXPECT_EQ(llvm::cantFail(findLeastMemory(problem)).memory.getTotal(), least);
  Price best = Price::infinite();
  for (auto [bytes, cost] : frontier) {
    problem.memoryLimit = bytes - 1;
    if (bytes > 0 && bytes == least)
      expectRefused(problem, least, counts);
    else if (bytes > 0 && cost < best)
      expectOptimal(problem, best, counts);
    if (cost >= best)
      continue;
    best = cost;
    problem.memoryLimit = bytes;
    expectOptimal(problem, best, counts);
    ++counts.bound;
  }
}

TEST(MemoryLimitTest, EqualsBruteForce) {
  RandomProblem maker(21);
  LimitCounts counts;
  for (unsigned trial = 0; trial < 2000; ++trial) {
    SCOPED_TRACE(trial);
    Problem problem = maker.make();
    maker.addMemory(problem);
    ASSERT_EQ(llvm::toString(problem.check()), "");
    testLimits(problem, counts);
    if (testing::Test::HasFailure())
      break;
  }
  // The trials mean little unless they went everywhere.
  EXPECT_GT(counts.bound, 3000u);
  EXPECT_GT(counts.shared, 1000u);
  EXPECT_GT(counts.refused, 800u);
  EXPECT_GT(counts.priced, 300u);
  EXPECT_GT(counts.proved, 500u);
  EXPECT_GT(counts.gaps, 100u);
  EXPECT_GT(counts.divided, 50u);
}

/// Changes one number of a certificate.
void mutate(MemoryCertificate &certificate, RandomProblem &random) {
  MemoryCertificate::Range &range =
      certificate.ranges[random.draw(certificate.ranges.size())];
  auto change = [&](uint64_t number) {
    return random.draw(2) ? number ^ (uint64_t(1) << random.draw(40))
                          : number + random.draw(3000) - 1500;
  };
  std::vector<std::vector<int64_t>> &messages = range.certificate.messages;
  switch (random.draw(messages.empty() ? 5 : 6)) {
  case 0:
    range.mostWorking = change(range.mostWorking);
    break;
  case 1:
    range.multiplier = change(range.multiplier);
    break;
  case 2:
    range.tolledCost = random.draw(2)
                           ? Price::infinite()
                           : range.tolledCost + price(random.draw(3000));
    break;
  case 3:
    certificate.ranges.erase(certificate.ranges.begin() +
                             random.draw(certificate.ranges.size()));
    break;
  case 4:
    if (!range.certificate.order.empty())
      range.certificate.order[random.draw(range.certificate.order.size())] =
          random.draw(range.certificate.order.size() + 1);
    break;
  case 5:
    for (int64_t &number : messages[random.draw(messages.size())])
      number += random.draw(20000) - int64_t(10000);
    break;
  }
}

/// Whatever is changed, more than the truth is never proved, and a part of the
/// plans is never forgotten. Until a thousand mutants are found out: refused,
/// or proving less than the certificate that they were.
TEST(MemoryLimitTest, MutatedCertificatesProveNoMore) {
  RandomProblem maker(22);
  unsigned refused = 0, weaker = 0;
  while (refused + weaker < 1000) {
    Problem problem = maker.make();
    maker.addMemory(problem);
    std::map<uint64_t, Price> frontier = findFrontier(problem);
    if (frontier.size() < 2)
      continue;
    auto place = std::next(frontier.begin(), maker.draw(frontier.size()));
    problem.memoryLimit = place->first;
    Price optimum = Price::infinite();
    for (auto [bytes, cost] : frontier)
      if (bytes <= *problem.memoryLimit)
        optimum = std::min(optimum, cost);
    Solution solution = llvm::cantFail(solveWithinMemory(problem));
    if (!solution.memoryCertificate)
      continue;
    MemoryCertificate mutant = *solution.memoryCertificate;
    mutate(mutant, maker);
    if (mutant == *solution.memoryCertificate)
      continue;
    llvm::Expected<Price> bound =
        checkMemoryCertificate(problem, Price::infinite(), mutant);
    if (!bound) {
      llvm::consumeError(bound.takeError());
      ++refused;
      continue;
    }
    ASSERT_LE(*bound, optimum);
    weaker += *bound < llvm::cantFail(checkMemoryCertificate(
                           problem, optimum, *solution.memoryCertificate));
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(weaker, 100u);
}

TEST(MemoryLimitTest, CertificatesThatDoNotFit) {
  Problem problem = makeTwoWays(3);
  problem.memoryLimit = 200;
  Solution solution = llvm::cantFail(solveWithinMemory(problem));
  ASSERT_TRUE(solution.memoryCertificate);
  auto check = [&](const MemoryCertificate &certificate) {
    llvm::Expected<Price> bound =
        checkMemoryCertificate(problem, solution.cost, certificate);
    return bound ? "" : llvm::toString(bound.takeError());
  };
  MemoryCertificate certificate = *solution.memoryCertificate;
  EXPECT_EQ(check(certificate), "");
  certificate.ranges.back().mostWorking = 199;
  EXPECT_EQ(check(certificate),
            "plans with 200 bytes of working memory and more are in no range");
  certificate.ranges.push_back(certificate.ranges.back());
  EXPECT_EQ(check(certificate), "range 1 ends at 199 bytes of working memory, "
                                "before it begins at 200");
  problem.memoryLimit.reset();
  EXPECT_EQ(check(*solution.memoryCertificate),
            "the certificate is for a memory limit, which the problem does not "
            "have");
}

/// With n layers of which k are light: 3 n + 7 k, and 5 if there are both.
TEST(MemoryLimitTest, LayersThatAreAlikeAreNotMovedTogether) {
  constexpr unsigned numLayers = 126;
  Problem problem = makeTwoWays(numLayers);
  for (unsigned light : {0u, 1u, 50u, 125u, 126u}) {
    SCOPED_TRACE(light);
    for (unsigned spare : {0u, 69u}) {
      problem.memoryLimit = numLayers * 100 - light * 70 + spare;
      Solution solution = llvm::cantFail(solveWithinMemory(problem));
      bool isMixed = light != 0 && light != numLayers;
      EXPECT_EQ(solution.cost, price(3 * numLayers + 7 * light + 5 * isMixed));
      EXPECT_EQ(solution.lowerBound, solution.cost);
    }
  }
}

/// The eighth layer is needed for part of what it saves, so that the Lagrangian
/// bound is below any plan. Whatever may be spent on the search, the plan fits,
/// and the optimum lies between the bound and its price.
TEST(MemoryLimitTest, SearchThatIsCutShort) {
  constexpr unsigned numLayers = 30;
  Problem problem = makeTwoWays(numLayers);
  problem.memoryLimit = numLayers * 100 - 7 * 70 - 31;
  Price best = llvm::cantFail(solveWithinMemory(problem)).cost;
  EXPECT_EQ(best, price(3 * numLayers + 7 * 8 + 5));
  bool wasCutShort = false;
  for (uint64_t maxSums : {0, 1, 10, 100, 1000, 10000}) {
    SCOPED_TRACE(maxSums);
    SolveOptions options;
    options.maxSums = maxSums;
    Solution solution = llvm::cantFail(solveWithinMemory(problem, options));
    EXPECT_LE(problem.memoryOf(solution.choices).getTotal(),
              *problem.memoryLimit);
    EXPECT_EQ(solution.cost, problem.evaluate(solution.choices));
    EXPECT_LE(solution.lowerBound, best);
    EXPECT_GE(solution.cost, best);
    wasCutShort |= solution.lowerBound < solution.cost;
  }
  EXPECT_TRUE(wasCutShort);
}

/// Beside the layers, variables that take seven bytes, or one tick. Small
/// differences are left out at first, and decide in the end.
TEST(MemoryLimitTest, SmallDifferencesCount) {
  constexpr unsigned numLayers = 40, numSmall = 50;
  Problem problem = makeTwoWays(numLayers);
  problem.memoryVectors = {{{100000, 0}, {30000, 0}}, {{7, 0}, {0, 0}}};
  problem.costVectors.push_back({price(0), price(1)});
  for (unsigned i = 0; i < numSmall; ++i)
    problem.variables.push_back({"small", 1, 1});
  for (unsigned bytes : {0u, 1u, 7u, 100u, 349u, 350u}) {
    SCOPED_TRACE(bytes);
    // 31 layers stay heavy, and `bytes` are left over.
    problem.memoryLimit = 31 * 100000 + 9 * 30000 + bytes;
    Solution solution = llvm::cantFail(solveWithinMemory(problem));
    unsigned paid = numSmall - bytes / 7;
    // Or one more layer is light, which costs seven.
    unsigned extra = std::min(paid, 7u);
    EXPECT_EQ(solution.cost, price(3 * numLayers + 7 * 9 + 5 + extra));
    EXPECT_EQ(solution.lowerBound, solution.cost);
    EXPECT_LE(problem.memoryOf(solution.choices).getTotal(),
              *problem.memoryLimit);
  }
}

/// A variable that takes as much as 29 layers, or 200 ticks: whether it is
/// light or not divides the plans.
TEST(MemoryLimitTest, OneLargeVariable) {
  constexpr unsigned numLayers = 40;
  Problem problem = makeTwoWays(numLayers);
  problem.memoryVectors.push_back({{2030, 0}, {0, 0}});
  problem.costVectors.push_back({price(0), price(200)});
  problem.variables.push_back({"large", 1, 1});
  SolveOptions divided;
  divided.easySums = 0;
  for (unsigned light : {3u, 28u, 29u, 38u}) {
    SCOPED_TRACE(light);
    // The large one heavy, and so many layers light; or the other way round.
    problem.memoryLimit = numLayers * 100 + 2030 - light * 70;
    unsigned alone = 7 * light + 5;
    unsigned rest = light > 29 ? light - 29 : 0;
    unsigned other = 200 + (rest ? 7 * rest + 5 : 0);
    for (const SolveOptions &options : {SolveOptions(), divided}) {
      Solution solution = llvm::cantFail(solveWithinMemory(problem, options));
      EXPECT_EQ(solution.cost, price(3 * numLayers + std::min(alone, other)));
      EXPECT_EQ(solution.lowerBound, solution.cost);
    }
  }
}

/// The first operation makes the second wait for nothing: only the most that
/// one of them needs counts.
TEST(MemoryLimitTest, WorkingMemoryIsTheMostOfOneOperation) {
  Problem problem = makeTwoWays(3);
  problem.memoryVectors = {{{10, 50}, {10, 20}}};
  problem.memoryLimit = 80;
  EXPECT_EQ(llvm::cantFail(solveWithinMemory(problem)).cost, price(9));
  problem.memoryLimit = 79;
  EXPECT_EQ(llvm::cantFail(solveWithinMemory(problem)).cost, price(30));
  problem.memoryLimit = 49;
  EXPECT_EQ(llvm::toString(solveWithinMemory(problem).takeError()),
            "every plan takes at least 50 bytes a rank, 30 of them for the "
            "whole step and 20 while an operation runs, but the limit is 49 "
            "bytes");
}

/// Prices near the most that one holds leave no room for tolls.
TEST(MemoryLimitTest, DearPlans) {
  Problem problem = makeTwoWays(2);
  uint64_t dear = (uint64_t(1) << (Price::timeBits - 1)) - 4;
  problem.costVectors = {{price(1), price(dear)}};
  problem.memoryLimit = 130;
  EXPECT_EQ(llvm::cantFail(solveWithinMemory(problem)).cost,
            price(dear + 1 + 5));
  problem.memoryLimit = 60;
  EXPECT_EQ(llvm::cantFail(solveWithinMemory(problem)).cost, price(2 * dear));
}

TEST(MemoryLimitTest, IsTheSameEveryTime) {
  Problem problem = makeTwoWays(40);
  problem.memoryLimit = 2500;
  Solution first = llvm::cantFail(solveWithinMemory(problem));
  Solution second = llvm::cantFail(solveWithinMemory(problem));
  EXPECT_EQ(first.choices, second.choices);
  EXPECT_TRUE(first.memoryCertificate == second.memoryCertificate);
}

/// One mistake at a time; each message names it.
TEST(MemoryLimitTest, CheckFindsMistakes) {
  auto expect = [](void (*spoil)(Problem &), const std::string &text) {
    Problem problem = makeTwoWays(2);
    problem.memoryLimit = 1000;
    spoil(problem);
    std::string message = llvm::toString(problem.check());
    EXPECT_NE(message.find(text), std::string::npos) << message;
    EXPECT_EQ(llvm::toString(solveWithinMemory(problem).takeError()), message);
  };
  expect([](Problem &p) { p.variables[1].memoryVector = 1; },
         "variable 'v1' refers to memory vector 1, but there are 1");
  expect([](Problem &p) { p.memoryVectors[0].pop_back(); },
         "variable 'v0' has 2 choices, but its memory vector has 1");
  // Both variables' persistent memory, and of what works only the most.
  static constexpr uint64_t half = uint64_t(1) << (Price::timeBits - 2);
  expect([](Problem &p) { p.memoryVectors[0][1] = {half, 5}; },
         "bytes of memory is " + std::to_string(2 * half + 5) +
             ", which does not fit in " + std::to_string(Price::timeBits - 1) +
             " bits");
  expect(
      [](Problem &p) { p.memoryVectors[0][1] = {~uint64_t(0), ~uint64_t(0)}; },
      "bytes of memory is 2^64 - 1 or more");
}

} // namespace
