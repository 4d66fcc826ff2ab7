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
