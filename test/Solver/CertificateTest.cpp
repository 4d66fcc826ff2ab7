// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A certificate that was tampered with proves nothing false.
#include "tp/Solver/Certificate.h"
#include "RandomProblem.h"
#include "tp/Solver/CertificateNumbers.h"
#include "tp/Solver/Solver.h"
#include "gtest/gtest.h"
#include <limits>

using namespace tp;

namespace {

/// A problem that has a plan, with the plan. Every other one is bounded by
/// messages.
struct Case {
  Problem problem;
  Solution solution;
};

Case makeCase(RandomProblem &maker) {
  while (true) {
    Problem problem = maker.make();
    SolveOptions options;
    if (maker.draw(2))
      options.maxEntriesAtOnce = 0;
    llvm::Expected<Solution> solution = solve(problem, options);
    if (solution)
      return {std::move(problem), std::move(*solution)};
    llvm::consumeError(solution.takeError());
  }
}

using Random = RandomProblem;

template <typename List> auto &pick(List &list, Random &random) {
  return list[random.draw(list.size())];
}

template <typename List> bool eraseAny(List &list, Random &random) {
  if (list.empty())
    return false;
  list.erase(list.begin() + random.draw(list.size()));
  return true;
}

/// A number of a message.
int64_t *pickNumber(Certificate &certificate, Random &random) {
  return certificate.messages.empty()
             ? nullptr
             : &pick(pick(certificate.messages, random), random);
}

/// The sum, wrapped round: a number may have been made huge before.
int64_t add(int64_t number, int64_t difference) {
  return static_cast<int64_t>(static_cast<uint64_t>(number) +
                              static_cast<uint64_t>(difference));
}

/// One way to tamper; `change` says whether it could change anything.
struct Mutation {
  const char *name;
  bool (*change)(Certificate &, Random &);
};

const Mutation mutations[] = {
    {"move more cost to a tree",
     [](Certificate &c, Random &random) {
       int64_t *number = pickNumber(c, random);
       if (number)
         *number = add(*number, 1 + random.draw(1000000));
       return number != nullptr;
     }},
    {"move more cost to a variable",
     [](Certificate &c, Random &random) {
       int64_t *number = pickNumber(c, random);
       if (number)
         *number = add(*number, -int64_t(1) - random.draw(1000000));
       return number != nullptr;
     }},
    {"make a number huge",
     [](Certificate &c, Random &random) {
       int64_t *number = pickNumber(c, random);
       if (number)
         *number = random.draw(2) ? std::numeric_limits<int64_t>::max()
                                  : std::numeric_limits<int64_t>::min();
       return number != nullptr;
     }},
    {"shorten a message",
     [](Certificate &c, Random &random) {
       return !c.messages.empty() && eraseAny(pick(c.messages, random), random);
     }},
    {"refer to another message",
     [](Certificate &c, Random &random) {
       if (c.messageOf.empty())
         return false;
       pick(c.messageOf, random) = random.draw(c.messages.size() + 1);
       return true;
     }},
    {"leave out an end",
     [](Certificate &c, Random &random) {
       return eraseAny(c.messageOf, random);
     }},
    {"one end more",
     [](Certificate &c, Random &random) {
       c.messageOf.push_back(0);
       return true;
     }},
    {"remove a variable twice",
     [](Certificate &c, Random &random) {
       if (c.order.empty())
         return false;
       pick(c.order, random) = pick(c.order, random);
       return true;
     }},
    {"leave out a step",
     [](Certificate &c, Random &random) { return eraseAny(c.order, random); }},
    {"remove a variable that there is not",
     [](Certificate &c, Random &random) {
       if (c.order.empty())
         return false;
       pick(c.order, random) += 1 + random.draw(8);
       return true;
     }},
    {"leave out the elimination",
     [](Certificate &c, Random &random) {
       bool had = !c.order.empty();
       c.order.clear();
       return had;
     }},
    {"change a slot's layout",
     [](Certificate &c, Random &random) {
       if (c.expansions.empty())
         return false;
       auto &layouts = pick(c.expansions, random).slotLayouts;
       if (!layouts.empty())
         pick(layouts, random) = random.draw(6);
       return !layouts.empty();
     }},
    {"leave out a slot's layout",
     [](Certificate &c, Random &random) {
       return !c.expansions.empty() &&
              eraseAny(pick(c.expansions, random).slotLayouts, random);
     }},
    {"leave out a set of layouts",
     [](Certificate &c, Random &random) {
       return !c.expansions.empty() &&
              eraseAny(pick(c.expansions, random).layoutSets, random);
     }},
    {"change a set of layouts",
     [](Certificate &c, Random &random) {
       if (c.expansions.empty())
         return false;
       auto &sets = pick(c.expansions, random).layoutSets;
       if (!sets.empty())
         pick(sets, random).push_back(random.draw(6));
       return !sets.empty();
     }},
    {"expand a value in another way",
     [](Certificate &c, Random &random) {
       if (c.expansions.empty())
         return false;
       pick(c.expansions, random).kind =
           Certificate::Expansion::Kind(random.draw(4));
       return true;
     }},
    {"refer to another expansion",
     [](Certificate &c, Random &random) {
       if (c.expansionOf.empty())
         return false;
       pick(c.expansionOf, random) = random.draw(c.expansions.size() + 1);
       return true;
     }},
};

/// A plan drawn at random: what the one who asks for the check may know.
Price priceOfSomePlan(const Problem &problem, Random &random) {
  std::vector<unsigned> choices;
  for (unsigned v = 0; v < problem.variables.size(); ++v)
    choices.push_back(random.draw(problem.getNumChoices(v)));
  return problem.evaluate(choices);
}

/// Certificates spoilt in each way. None proves more than is true, whatever
/// plan is known, and those that no longer prove the plan optimal are found
/// out: at least 60 of each kind.
TEST(CertificateTest, MutationsProveNothingFalse) {
  Random random(3);
  unsigned refused = 0;
  for (const Mutation &mutation : mutations) {
    SCOPED_TRACE(mutation.name);
    unsigned refusedHere = 0;
    for (unsigned trial = 0; trial < 4000 && refusedHere < 60; ++trial) {
      Case base = makeCase(random);
      Certificate certificate = base.solution.certificate;
      if (!mutation.change(certificate, random) ||
          certificate == base.solution.certificate)
        continue;
      Price optimum = base.solution.cost;
      llvm::Expected<Price> bound =
          checkCertificate(base.problem, optimum, certificate);
      refusedHere += !bound || *bound < optimum;
      if (!bound)
        EXPECT_FALSE(llvm::toString(bound.takeError()).empty());
      llvm::Expected<Price> other = checkCertificate(
          base.problem, priceOfSomePlan(base.problem, random), certificate);
      if (other)
        EXPECT_LE(*other, optimum);
      else
        llvm::consumeError(other.takeError());
    }
    EXPECT_EQ(refusedHere, 60u);
    refused += refusedHere;
  }
  EXPECT_GE(refused, 1000u);
}

/// Another order takes other tables and gives the same minimum.
TEST(CertificateTest, OrderDoesNotMatter) {
  Random random(8);
  for (unsigned trial = 0; trial < 200; ++trial) {
    Case base = makeCase(random);
    Certificate certificate = base.solution.certificate;
    for (unsigned swaps = 0; swaps < 5; ++swaps)
      std::swap(pick(certificate.order, random),
                pick(certificate.order, random));
    EXPECT_EQ(llvm::cantFail(checkCertificate(base.problem, base.solution.cost,
                                              certificate)),
              base.solution.cost);
  }
}

/// Several changes at once, which may make up for each other.
TEST(CertificateTest, ManyMutationsProveNothingFalse) {
  Random random(4);
  for (unsigned trial = 0; trial < 1000; ++trial) {
    Case base = makeCase(random);
    Certificate certificate = base.solution.certificate;
    for (unsigned change = 0; change < 3; ++change)
      if (llvm::none_of(certificate.messages,
                        [](auto &message) { return message.empty(); }))
        mutations[random.draw(std::size(mutations))].change(certificate,
                                                            random);
    llvm::Expected<Price> bound = checkCertificate(
        base.problem, priceOfSomePlan(base.problem, random), certificate);
    if (bound)
      EXPECT_LE(*bound, base.solution.cost);
    else
      llvm::consumeError(bound.takeError());
  }
}

TEST(CertificateTest, NumbersGiveItBack) {
  Random random(9);
  unsigned refused = 0;
  for (unsigned trial = 0; trial < 300; ++trial) {
    PlanProof proof;
    for (unsigned range = 0, count = random.draw(3); range < count; ++range) {
      if (!proof.withinMemory)
        proof.withinMemory.emplace();
      Case base = makeCase(random);
      proof.withinMemory->ranges.push_back(
          {~uint64_t(0) - range, range, Price::infinite(),
           std::move(base.solution.certificate)});
    }
    if (!proof.withinMemory)
      proof.certificate = makeCase(random).solution.certificate;
    std::vector<int64_t> numbers = toNumbers(proof);
    EXPECT_TRUE(llvm::cantFail(fromNumbers(numbers)) == proof);
    // Whatever was changed, it is read as something or refused.
    int64_t &changed = pick(numbers, random);
    changed = add(changed, int64_t(random.draw(5)) - 2);
    if (random.draw(4) == 0)
      pick(numbers, random) = std::numeric_limits<int64_t>::max();
    if (random.draw(4) == 0)
      numbers.pop_back();
    llvm::Expected<PlanProof> read = fromNumbers(numbers);
    refused += !read;
    if (!read)
      llvm::consumeError(read.takeError());
  }
  EXPECT_GT(refused, 100u);
  EXPECT_LT(refused, 300u);
}

/// A certificate proves what it does for the problem at hand.
TEST(CertificateTest, IsForOneProblem) {
  Random random(5);
  unsigned less = 0;
  for (unsigned trial = 0; trial < 300; ++trial) {
    Case base = makeCase(random);
    Problem cheaper = base.problem;
    pick(pick(cheaper.costVectors, random), random) = Price();
    Price optimum = minimumByBruteForce(cheaper);
    llvm::Expected<Price> bound = checkCertificate(cheaper, base.solution.cost,
                                                   base.solution.certificate);
    if (bound) {
      EXPECT_LE(*bound, optimum);
      less += *bound < base.solution.cost;
      continue;
    }
    llvm::consumeError(bound.takeError());
    ++less;
  }
  EXPECT_GT(less, 50u);
}

/// Where the same tables meet in other places, the minimum is another one.
TEST(CertificateTest, IsForOneGraph) {
  unsigned different = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Problem problem = Random(seed).makeTriangles(/*exchanged=*/false);
    Problem other = Random(seed).makeTriangles(/*exchanged=*/true);
    llvm::Expected<Solution> solution = solve(problem);
    if (!solution) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    llvm::Expected<Price> bound = checkCertificate(
        other, priceOfSomePlan(other, *std::make_unique<Random>(seed)),
        solution->certificate);
    Price optimum = minimumByBruteForce(other);
    if (bound) {
      EXPECT_LE(*bound, optimum);
      different += optimum != solution->cost;
      continue;
    }
    llvm::consumeError(bound.takeError());
  }
  EXPECT_GT(different, 30u);
}

std::string refusalOf(const Problem &problem, Price cost,
                      const Certificate &certificate) {
  llvm::Expected<Price> bound = checkCertificate(problem, cost, certificate);
  return bound ? "" : llvm::toString(bound.takeError());
}

Price ticks(uint64_t time) { return *Price::get({time, 0, 0, 0}); }

/// One value between two variables of two choices each. By hand: the minima
/// alone are 3 + 1 + 0, the plans cost 3 + 4 + 1, 3 + 5, 6 + 1 and 6 + 7 + 5.
Problem makePair() {
  Problem problem;
  problem.tables = {{2, {ticks(0), ticks(4), ticks(7), ticks(0)}}};
  problem.costVectors = {{ticks(3), ticks(6)}, {ticks(5), ticks(1)}};
  problem.layoutMaps = {{0, 1}};
  problem.variables = {{"make", 0}, {"use", 1}};
  problem.values = {{"x", 0, {0, 0}, {{1, 0}}}};
  return problem;
}

TEST(CertificateTest, MessagesByHand) {
  Problem problem = makePair();
  Certificate certificate;
  EXPECT_EQ(llvm::cantFail(checkCertificate(problem, ticks(7), certificate)),
            Price());
  certificate.messages = {{0, 0}};
  certificate.messageOf = {0, 0};
  EXPECT_EQ(llvm::cantFail(checkCertificate(problem, ticks(7), certificate)),
            ticks(4));
  // All that choice 0 of the user costs above choice 1 goes to the tree, whose
  // ways then cost 4, 4, 11 and 0; and 3 of the maker's second choice.
  certificate.messages = {{0, 3}, {4, 0}};
  certificate.messageOf = {0, 1};
  EXPECT_EQ(llvm::cantFail(checkCertificate(problem, ticks(7), certificate)),
            ticks(7));
  // A plan of less than the bound is none; nothing above it is claimed.
  EXPECT_EQ(llvm::cantFail(checkCertificate(problem, ticks(2), certificate)),
            ticks(2));
}

TEST(CertificateTest, RefusalsSayWhere) {
  Problem problem = makePair();
  Certificate certificate;
  certificate.messages = {{0, 3}, {4}};
  certificate.messageOf = {0};
  EXPECT_EQ(refusalOf(problem, ticks(7), certificate),
            "the certificate is for another problem: it ends before value 'x'");
  certificate.messageOf = {0, 1};
  EXPECT_EQ(refusalOf(problem, ticks(7), certificate),
            "value 'x' has a message of 1 numbers for 2 layouts");
  certificate.messageOf = {0, 2};
  EXPECT_EQ(refusalOf(problem, ticks(7), certificate),
            "value 'x' refers to message 2 of 2");
  certificate.messageOf = {0, 0, 0};
  EXPECT_EQ(refusalOf(problem, ticks(7), certificate),
            "the certificate is for another problem: it has 3 messages for 2 "
            "ends of values");
  certificate.messageOf = {0, 0};
  certificate.messages[0][0] = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(refusalOf(problem, ticks(7), certificate),
            "the certificate's numbers are too large to be added up");
}

/// Without slots nothing reaches the consumer, and any claim would hold.
TEST(CertificateTest, SingleUseHasNoSlots) {
  Problem problem = makePair();
  Solution solution = llvm::cantFail(solve(problem));
  ASSERT_EQ(solution.cost, ticks(7));
  Certificate certificate = solution.certificate;
  certificate.expansions[0].kind = Certificate::Expansion::Kind::Slots;
  certificate.expansions[0].slotLayouts = {0, 1};
  EXPECT_EQ(refusalOf(problem, ticks(7), certificate),
            "value 'x' with 1 different uses has the wrong kind of expansion");
}

/// Layouts 0 (where the value is made), 1, 2 and 4 (wanted) and 3 (a hub).
DistanceTable makeHub(bool withHub) {
  DistanceTable table;
  table.numLayouts = 5;
  auto distance = [&](unsigned from, unsigned to) {
    if (from == to)
      return Price();
    if (to == 0)
      return Price::infinite();
    if (from == 3 || to == 3)
      return withHub ? ticks(from == 0 ? 6 : 2) : Price::infinite();
    return ticks(from == 0 ? 8 : 4);
  };
  for (unsigned from = 0; from < 5; ++from)
    for (unsigned to = 0; to < 5; ++to)
      table.entries.push_back(distance(from, to));
  return table;
}

/// The certificate of a problem without the hub is right in all its tables; it
/// only leaves out the layout that makes a cheaper plan.
TEST(CertificateTest, SlotsMayNotLeaveOutAHub) {
  Problem problem;
  problem.tables = {makeHub(/*withHub=*/false)};
  problem.costVectors = {{Price()},
                         {ticks(0), ticks(3), ticks(3)},
                         {ticks(3), ticks(0), ticks(3)}};
  problem.layoutMaps = {{0}, {1, 2, 4}};
  problem.variables = {{"make", 0}, {"use1", 1}, {"use2", 2}};
  problem.values = {{"x", 0, {0, 0}, {{1, 1}, {2, 1}}}};
  Solution without = llvm::cantFail(solve(problem));
  // Both in layout 1: 8 and 3. Nothing is gained by layouts 1 and 2: 8 and 4.
  ASSERT_EQ(without.cost, ticks(11));
  ASSERT_EQ(without.certificate.expansions[0].kind,
            Certificate::Expansion::Kind::Slots);
  EXPECT_EQ(refusalOf(problem, ticks(11), without.certificate), "");
  // Over the hub: 6, 2 and 2.
  problem.tables = {makeHub(/*withHub=*/true)};
  Solution with = llvm::cantFail(solve(problem));
  ASSERT_EQ(with.cost, ticks(10));
  EXPECT_EQ(refusalOf(problem, ticks(11), without.certificate),
            "value 'x' has slots that leave out layout 3, over which a way "
            "leads");
  EXPECT_EQ(refusalOf(problem, ticks(10), with.certificate), "");
}

/// What has no way is worked out in tables that hold shortest paths.
TEST(CertificateTest, DetoursAreRefused) {
  Problem problem = makePair();
  problem.tables = {{3,
                     {ticks(0), ticks(1), Price::infinite(), //
                      ticks(1), ticks(0), ticks(1),          //
                      ticks(1), ticks(1), ticks(0)}}};
  EXPECT_EQ(refusalOf(problem, ticks(7), {}),
            "distance table 0: the distance from layout 0 to layout 2 is "
            "larger than the detour over layout 1; the table must hold "
            "shortest paths");
}

} // namespace
