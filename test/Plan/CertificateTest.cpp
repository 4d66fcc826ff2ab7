// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A certificate that was tampered with proves nothing false.
#include "tp/Plan/Certificate.h"
#include "RandomProblem.h"
#include "tp/Plan/Solver.h"
#include "gtest/gtest.h"

using namespace tp;

namespace {

/// A problem that has a plan, with the plan.
struct Case {
  Problem problem;
  Solution solution;
};

Case makeCase(RandomProblem &maker) {
  while (true) {
    Problem problem = maker.make();
    llvm::Expected<Solution> solution = solve(problem);
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

Price next(Price price) { return Price::fromWord(price.getWord() + 1); }

bool setCell(Certificate &certificate, Random &random, Price value) {
  Price &cell = pick(pick(certificate.messages, random), random);
  std::swap(cell, value);
  return cell != value;
}

/// What a certificate claims after it was tampered with. If more, it must be
/// refused.
enum class Claim { More, Less, Other };

/// One way to tamper; `change` says whether it changed anything.
struct Mutation {
  const char *name;
  Claim claim;
  bool (*change)(Certificate &, Random &);
};

const Mutation mutations[] = {
    {"raise a constant", Claim::More,
     [](Certificate &c, Random &random) {
       Price &constant = pick(c.steps, random).constant;
       constant = next(constant);
       return true;
     }},
    {"raise a cell", Claim::More,
     [](Certificate &c, Random &random) {
       Price &cell = pick(pick(c.messages, random), random);
       if (cell.isInfinite())
         return false;
       cell = next(cell);
       return true;
     }},
    {"make a cell infinite", Claim::More,
     [](Certificate &c, Random &random) {
       return setCell(c, random, Price::infinite());
     }},
    {"make a constant infinite", Claim::More,
     [](Certificate &c, Random &random) {
       pick(c.steps, random).constant = Price::infinite();
       return true;
     }},
    {"lower a cell", Claim::Other,
     [](Certificate &c, Random &random) {
       return setCell(c, random, Price());
     }},
    {"lower a constant", Claim::Less,
     [](Certificate &c, Random &random) {
       pick(c.steps, random).constant = Price();
       return true;
     }},
    {"shorten a message", Claim::Other,
     [](Certificate &c, Random &random) {
       return eraseAny(pick(c.messages, random), random);
     }},
    {"swap two steps", Claim::Other,
     [](Certificate &c, Random &random) {
       std::swap(pick(c.order, random), pick(c.order, random));
       return true;
     }},
    {"remove a variable twice", Claim::Other,
     [](Certificate &c, Random &random) {
       pick(c.order, random) = pick(c.order, random);
       return true;
     }},
    {"leave out a step", Claim::Other,
     [](Certificate &c, Random &random) {
       unsigned position = random.draw(c.order.size());
       c.order.erase(c.order.begin() + position);
       c.stepOf.erase(c.stepOf.begin() + position);
       return true;
     }},
    {"refer to another step", Claim::Other,
     [](Certificate &c, Random &random) {
       pick(c.stepOf, random) = random.draw(c.steps.size() + 1);
       return true;
     }},
    {"refer to another message", Claim::Other,
     [](Certificate &c, Random &random) {
       pick(c.steps, random).message = random.draw(c.messages.size() + 1);
       return true;
     }},
    {"drop one more choice", Claim::Other,
     [](Certificate &c, Random &random) {
       pick(c.dropped, random).push_back({random.draw(5), random.draw(5)});
       return true;
     }},
    {"drop one choice less", Claim::Other,
     [](Certificate &c, Random &random) {
       return eraseAny(pick(c.dropped, random), random);
     }},
    {"refer to other dropped choices", Claim::Other,
     [](Certificate &c, Random &random) {
       pick(c.droppedOf, random) = random.draw(c.dropped.size() + 1);
       return true;
     }},
    {"change a slot's layout", Claim::Other,
     [](Certificate &c, Random &random) {
       if (c.expansions.empty())
         return false;
       auto &layouts = pick(c.expansions, random).slotLayouts;
       if (!layouts.empty())
         pick(layouts, random) = random.draw(6);
       return !layouts.empty();
     }},
    {"leave out a slot's layout", Claim::Other,
     [](Certificate &c, Random &random) {
       return !c.expansions.empty() &&
              eraseAny(pick(c.expansions, random).slotLayouts, random);
     }},
    {"leave out a set of layouts", Claim::Other,
     [](Certificate &c, Random &random) {
       return !c.expansions.empty() &&
              eraseAny(pick(c.expansions, random).layoutSets, random);
     }},
    {"change a set of layouts", Claim::Other,
     [](Certificate &c, Random &random) {
       if (c.expansions.empty())
         return false;
       auto &sets = pick(c.expansions, random).layoutSets;
       if (!sets.empty())
         pick(sets, random).push_back(random.draw(6));
       return !sets.empty();
     }},
    {"expand a value in another way", Claim::Other,
     [](Certificate &c, Random &random) {
       if (c.expansions.empty())
         return false;
       pick(c.expansions, random).kind =
           Certificate::Expansion::Kind(random.draw(4));
       return true;
     }},
    {"refer to another expansion", Claim::Other,
     [](Certificate &c, Random &random) {
       pick(c.expansionOf, random) = random.draw(c.expansions.size() + 1);
       return true;
     }},
};

/// At least 60 certificates spoilt in each way. None proves more than is true,
/// and those that claim more are refused.
TEST(CertificateTest, MutationsProveNothingFalse) {
  Random random(3);
  unsigned numMutated = 0;
  for (const Mutation &mutation : mutations) {
    SCOPED_TRACE(mutation.name);
    unsigned tried = 0, refused = 0;
    while (tried < 60) {
      Case base = makeCase(random);
      Certificate certificate = base.solution.certificate;
      if (!mutation.change(certificate, random) ||
          certificate == base.solution.certificate)
        continue;
      ++tried;
      llvm::Expected<Price> bound = checkCertificate(base.problem, certificate);
      if (bound) {
        EXPECT_NE(mutation.claim, Claim::More);
        EXPECT_LE(*bound, base.solution.cost);
        continue;
      }
      EXPECT_FALSE(llvm::toString(bound.takeError()).empty());
      ++refused;
    }
    EXPECT_EQ(refused > 0, mutation.claim != Claim::Less);
    numMutated += tried;
  }
  EXPECT_GE(numMutated, 1000u);
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
    llvm::Expected<Price> bound = checkCertificate(base.problem, certificate);
    if (bound)
      EXPECT_LE(*bound, base.solution.cost);
    else
      llvm::consumeError(bound.takeError());
  }
}

/// A certificate does not carry over to a problem in which something is
/// cheaper.
TEST(CertificateTest, IsForOneProblem) {
  Random random(5);
  unsigned refused = 0;
  for (unsigned trial = 0; trial < 300; ++trial) {
    Case base = makeCase(random);
    Problem cheaper = base.problem;
    pick(pick(cheaper.costVectors, random), random) = Price();
    llvm::Expected<Price> bound =
        checkCertificate(cheaper, base.solution.certificate);
    if (bound) {
      EXPECT_LE(*bound, minimumByBruteForce(cheaper));
      continue;
    }
    llvm::consumeError(bound.takeError());
    ++refused;
  }
  EXPECT_GT(refused, 50u);
}

/// Nor to one in which the same tables meet in other places.
TEST(CertificateTest, IsForOneGraph) {
  SolveOptions options;
  options.pruneDominated = false;
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Problem problem = Random(seed).makeTriangles(/*exchanged=*/false);
    Problem other = Random(seed).makeTriangles(/*exchanged=*/true);
    llvm::Expected<Solution> solution = solve(problem, options);
    if (!solution) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    llvm::Expected<Price> bound =
        checkCertificate(other, solution->certificate);
    if (bound) {
      EXPECT_LE(*bound, minimumByBruteForce(other));
      continue;
    }
    llvm::consumeError(bound.takeError());
    ++refused;
  }
  EXPECT_GT(refused, 100u);
}

/// Two ways to a value, and the two ways to claim that one need not be looked
/// at: a choice drops another that costs more by at least the detour.
TEST(CertificateTest, DroppedChoicesAreRecomputed) {
  Problem problem;
  auto price = [](uint64_t time) { return *Price::get({time, 0, 0, 0}); };
  problem.tables = {{2, {price(0), price(4), price(7), price(0)}}};
  problem.costVectors = {{price(10), price(15)}, {price(0)}};
  problem.layoutMaps = {{0, 1}, {1}};
  problem.variables = {{"make", 0}, {"use", 1}};
  problem.values = {{"x", 0, {0, 0}, {{1, 1}}}};
  // From layout 0 the detour costs 4, and 10 + 4 is no more than 15.
  Solution solution = llvm::cantFail(solve(problem));
  EXPECT_EQ(solution.cost, price(14));
  ASSERT_EQ(solution.certificate.dropped[0].size(), 1u);
  EXPECT_EQ(solution.certificate.dropped[0][0], (Certificate::Dropped{1, 0}));
  EXPECT_EQ(llvm::cantFail(checkCertificate(problem, solution.certificate)),
            price(14));
  // At 13 the other way is the better one.
  problem.costVectors[0][1] = price(13);
  llvm::Expected<Price> bound = checkCertificate(problem, solution.certificate);
  ASSERT_FALSE(bool(bound));
  EXPECT_EQ(llvm::toString(bound.takeError()),
            "variable 'make': choice 1 is left out, but choice 0 need not do "
            "as well");
}

std::string refusalOf(const Problem &problem, const Certificate &certificate) {
  llvm::Expected<Price> bound = checkCertificate(problem, certificate);
  return bound ? "" : llvm::toString(bound.takeError());
}

Price ticks(uint64_t time) { return *Price::get({time, 0, 0, 0}); }

/// Two equal choices that drop each other leave only the expensive one.
TEST(CertificateTest, ChoicesMayNotDropEachOther) {
  Problem problem;
  problem.costVectors = {{ticks(1), ticks(1), ticks(5)}};
  problem.variables = {{"v", 0}};
  Certificate certificate;
  certificate.dropped = {{{0, 1}, {1, 0}}};
  certificate.droppedOf = {0};
  certificate.order = {0};
  certificate.messages = {{Price()}};
  certificate.steps = {{ticks(5), 0}};
  certificate.stepOf = {0};
  EXPECT_EQ(refusalOf(problem, certificate),
            "variable 'v': choice 1 is left out, but choice 0 need not do as "
            "well");
  certificate.dropped = {{{2, 1}, {1, 0}}};
  certificate.steps = {{ticks(1), 0}};
  EXPECT_EQ(refusalOf(problem, certificate), "");
}

/// A step found right is not taken for another one on the same tables.
TEST(CertificateTest, EqualStepsMustClaimTheSame) {
  Problem problem;
  problem.costVectors = {{ticks(3)}};
  problem.variables = {{"v", 0}, {"w", 0}};
  Certificate certificate;
  certificate.dropped = {{}};
  certificate.droppedOf = {0, 0};
  certificate.order = {0, 1};
  certificate.messages = {{Price()}};
  certificate.steps = {{ticks(3), 0}, {ticks(9), 0}};
  certificate.stepOf = {0, 1};
  EXPECT_EQ(refusalOf(problem, certificate),
            "step 1 removes variable 'w' and claims more than the minimum");
}

/// Without slots nothing reaches the consumer, and any claim would hold.
TEST(CertificateTest, SingleUseHasNoSlots) {
  Problem problem;
  problem.tables = {{2, {ticks(0), ticks(4), ticks(7), ticks(0)}}};
  problem.costVectors = {{ticks(1)}};
  problem.layoutMaps = {{0}, {1}};
  problem.variables = {{"make", 0}, {"use", 0}};
  problem.values = {{"x", 0, {0, 0}, {{1, 1}}}};
  Solution solution = llvm::cantFail(solve(problem));
  ASSERT_EQ(solution.cost, ticks(6));
  Certificate certificate = solution.certificate;
  certificate.expansions[0].kind = Certificate::Expansion::Kind::Slots;
  certificate.expansions[0].slotLayouts = {0, 1};
  certificate.steps[certificate.stepOf[0]].constant = ticks(1000);
  EXPECT_EQ(refusalOf(problem, certificate),
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
  EXPECT_EQ(refusalOf(problem, without.certificate), "");
  // Over the hub: 6, 2 and 2.
  problem.tables = {makeHub(/*withHub=*/true)};
  Solution with = llvm::cantFail(solve(problem));
  ASSERT_EQ(with.cost, ticks(10));
  EXPECT_EQ(refusalOf(problem, without.certificate),
            "value 'x' has slots that leave out layout 3, over which a way "
            "leads");
  EXPECT_EQ(refusalOf(problem, with.certificate), "");
}

TEST(CertificateTest, ImproperProblemIsRefused) {
  Random random(6);
  Case base = makeCase(random);
  base.problem.variables[0].costVector = 99;
  llvm::Expected<Price> bound =
      checkCertificate(base.problem, base.solution.certificate);
  ASSERT_FALSE(bool(bound));
  EXPECT_NE(llvm::toString(bound.takeError()).find("cost vector 99"),
            std::string::npos);
}

TEST(CertificateTest, EmptyCertificateIsRefused) {
  Random random(6);
  Case base = makeCase(random);
  llvm::Expected<Price> bound = checkCertificate(base.problem, {});
  ASSERT_FALSE(bool(bound));
  llvm::consumeError(bound.takeError());
}

} // namespace
