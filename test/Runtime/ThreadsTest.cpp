// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks that disagree, leave, fail or hang stop the others with an error that
// says so, long before any deadline; ranks that agree never do.

#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <type_traits>

using namespace tp::runtime;
using namespace tp::test;

namespace {

using Ints = std::vector<int64_t>;

/// A deadline that no test waits for.
constexpr double far = 120;

/// Ranks of a table of groups, row by row.
using Table = std::array<int64_t, 256>;

/// A collective with buffers of its own, as a program would issue it. A call
/// that fails does not come back: like compiled code, this and the programs
/// below hold nothing that needs a destructor.
struct Issue {
  enum { Reduce, Gather, Scatter, ToAll } op = Reduce;
  int64_t outer = 1, inner = 12;
  int64_t dtype = TP_F32, kind = TP_SUM, site = 7;
  Table groups{};
  int64_t numRanks = 0, groupSize = 0;

  void operator()() const {
    double in[256] = {}, out[256];
    int64_t numGroups = numRanks / groupSize;
    if (op == Reduce)
      tp_all_reduce(out, in, outer * inner, dtype, kind, groups.data(),
                    numGroups, groupSize, site);
    else if (op == Gather)
      tp_all_gather(out, in, outer, inner, dtype, groups.data(), numGroups,
                    groupSize, site);
    else if (op == Scatter)
      tp_reduce_scatter(out, in, outer, inner, dtype, kind, groups.data(),
                        numGroups, groupSize, site);
    else
      tp_all_to_all(out, in, outer, inner, 1, inner, 1, kind == TP_SUM, dtype,
                    groups.data(), numGroups, groupSize, site);
  }
};
static_assert(std::is_trivially_destructible_v<Issue>);

Issue onWorld(int64_t numRanks) {
  Issue issue;
  std::iota(issue.groups.begin(), issue.groups.begin() + numRanks, int64_t(0));
  issue.numRanks = issue.groupSize = numRanks;
  return issue;
}

/// Fails unless every rank has an error with all of `parts`, the same on each.
void expectErrors(const Errors &errors, const std::vector<std::string> &parts) {
  for (const auto &error : errors) {
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(*error, *errors[0]);
    for (const std::string &part : parts)
      EXPECT_NE(error->find(part), std::string::npos)
          << "no `" << part << "` in: " << *error;
  }
}

void expectNoErrors(const Errors &errors) {
  for (const auto &error : errors)
    EXPECT_EQ(error, std::nullopt);
}

struct Mismatch {
  const char *what;
  std::function<void(Issue &)> change;
  /// How the changed call differs in the error; the other is in `usual`.
  std::string changed;
};

TEST(Threads, DifferentCallsNameBothSides) {
  const std::string usual = "all_gather(2 x 6 x f32) at site 7";
  const std::vector<Mismatch> mismatches = {
      {"op", [](Issue &i) { i.op = Issue::Scatter; },
       "reduce_scatter(sum, 2 x 6 x f32) at site 7"},
      {"shape", [](Issue &i) { std::swap(i.outer, i.inner); },
       "all_gather(6 x 2 x f32) at site 7"},
      {"count", [](Issue &i) { i.inner = 5; },
       "all_gather(2 x 5 x f32) at site 7"},
      {"dtype", [](Issue &i) { i.dtype = TP_I32; },
       "all_gather(2 x 6 x i32) at site 7"},
      {"site", [](Issue &i) { i.site = 8; },
       "all_gather(2 x 6 x f32) at site 8"},
      {"order", [](Issue &i) { std::swap(i.groups[0], i.groups[1]); },
       "over ranks {1, 0"},
  };
  for (int64_t numRanks : {2, 3, 4, 6})
    for (int64_t odd : {int64_t(0), numRanks - 1})
      for (const Mismatch &mismatch : mismatches) {
        SCOPED_TRACE(std::string(mismatch.what) + " at " +
                     std::to_string(numRanks));
        Errors errors = runRanks(numRanks, far, [&](int64_t rank) {
          Issue issue = onWorld(numRanks);
          issue.op = Issue::Gather;
          issue.outer = 2;
          issue.inner = 6;
          if (rank == odd)
            mismatch.change(issue);
          issue();
        });
        int64_t other = odd == 0 ? 1 : odd;
        expectErrors(errors, {usual, mismatch.changed, "rank 0 issued",
                              "rank " + std::to_string(other) + " issued"});
      }
}

TEST(Threads, DifferentReductionsAndDirectionsNameBothSides) {
  Errors errors = runRanks(3, far, [](int64_t rank) {
    Issue issue = onWorld(3);
    issue.kind = rank == 1 ? TP_MAX : TP_SUM;
    issue();
  });
  expectErrors(errors, {"rank 0 issued all_reduce(sum, 12 x f32)",
                        "rank 1 issued all_reduce(max, 12 x f32)"});
  errors = runRanks(2, far, [](int64_t rank) {
    Issue issue = onWorld(2);
    issue.op = Issue::ToAll;
    issue.kind = rank;
    issue();
  });
  expectErrors(errors,
               {"gathers the first dimension", "gathers the second dimension"});
}

TEST(Threads, SwappedCallsNameBothSides) {
  Errors errors = runRanks(2, far, [](int64_t rank) {
    Issue first = onWorld(2), second = onWorld(2);
    first.site = 1;
    second.site = 2;
    if (rank == 1)
      std::swap(first.site, second.site);
    first();
    second();
  });
  expectErrors(errors, {"rank 0 issued all_reduce(sum, 12 x f32) at site 1",
                        "rank 1 issued all_reduce(sum, 12 x f32) at site 2"});
}

TEST(Threads, DifferentPermutationsNameBothSides) {
  Errors errors = runRanks(3, far, [](int64_t rank) {
    float in = 0, out = 0;
    const Table left = {0, 1, 1, 2, 2, 0}, right = {0, 2, 1, 0, 2, 1};
    tp_collective_permute(&out, &in, 1, TP_F32,
                          (rank == 2 ? left : right).data(), 3, 4);
  });
  expectErrors(errors, {"along 0->1, 1->2, 2->0", "along 0->2, 1->0, 2->1",
                        "rank 0 issued", "rank 2 issued"});
}

/// Rank 0 means the row of a mesh, rank 1 the column: neither meets anyone.
TEST(Threads, DifferentGroupsAreADeadlockThatIsNamed) {
  Errors errors = runRanks(4, far, [](int64_t rank) {
    Issue issue = onWorld(4);
    issue.groupSize = 2;
    if (rank == 1 || rank == 2)
      issue.groups = {0, 2, 1, 3};
    issue();
  });
  expectErrors(errors,
               {"a deadlock: ", "over ranks {0, 1}", "over ranks {1, 3}",
                "over ranks {2, 3}", "over ranks {0, 2}", "rank 0 waits",
                "rank 1 waits", "rank 2 waits", "rank 3 waits"});
}

/// Rank 0 waits for 1, 1 for 2, 2 for 0, and rank 3 for all of them.
TEST(Threads, CirclesOfThreeAreFound) {
  const std::vector<Table> groups = {
      {0, 1, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}, {0, 1, 2, 3}};
  Errors errors = runRanks(4, far, [&](int64_t rank) {
    Issue issue = onWorld(4);
    issue.groups = groups[static_cast<size_t>(rank)];
    issue.groupSize = rank == 3 ? 4 : 2;
    issue.site = rank;
    issue();
  });
  expectErrors(errors,
               {"a deadlock: ", "at site 0 over ranks {0, 1} for rank 1",
                "at site 1 over ranks {1, 2} for rank 2",
                "at site 2 over ranks {2, 0} for rank 0"});
  EXPECT_EQ(errors[0]->find("rank 3 waits"), std::string::npos) << *errors[0];
}

/// The same set of ranks in another order is a mismatch at once.
TEST(Threads, OrderOfAGroupIsPartOfTheCall) {
  Errors errors = runRanks(2, far, [](int64_t rank) {
    Issue issue = onWorld(2);
    if (rank == 1)
      issue.groups = {1, 0};
    issue();
  });
  expectErrors(errors, {"over ranks {0, 1}", "over ranks {1, 0}"});
}

TEST(Threads, RankThatEndsEarlyIsNamed) {
  for (int64_t numRanks : {2, 3, 4, 6})
    for (bool waitFirst : {false, true}) {
      Errors errors = runRanks(numRanks, far, [&](int64_t rank) {
        Issue issue = onWorld(numRanks);
        issue();
        if (rank == 1) {
          // The others are already asleep, or find the rank gone.
          if (waitFirst)
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
          return;
        }
        issue.site = 8;
        issue();
      });
      EXPECT_EQ(errors[1], std::nullopt);
      errors.erase(errors.begin() + 1);
      expectErrors(errors, {"rank 1 has ended without the call that rank ",
                            " waits in: all_reduce(sum, 12 x f32) at site 8"});
    }
}

TEST(Threads, RankThatFailsIsNamed) {
  for (int64_t numRanks : {2, 3, 6}) {
    Errors errors = runRanks(numRanks, far, [&](int64_t rank) {
      Issue issue = onWorld(numRanks);
      issue();
      if (rank == numRanks - 1) {
        const int64_t id = 77;
        float row = 0;
        tp_embedding_f32_i64(&row, &row, &id, 1, 1, 1, 0, 50);
      }
      issue();
    });
    expectErrors(errors,
                 {"rank " + std::to_string(numRanks - 1) +
                  ": tp_embedding_f32_i64: token 0 has id 77, outside a "
                  "vocabulary of 50"});
  }
}

TEST(Threads, RankThatThrowsIsNamed) {
  Errors errors = runRanks(3, far, [&](int64_t rank) {
    if (rank == 2)
      throw std::runtime_error("disk full");
    onWorld(3)();
  });
  expectErrors(errors, {"rank 2: program: disk full"});
}

TEST(Threads, RankThatHangsIsNamedAtTheDeadline) {
  using Clock = std::chrono::steady_clock;
  ThreadWorld world(4, 0.3);
  std::atomic<int> stopped = 0;
  Errors errors(4);
  Clock::time_point begin = Clock::now();
  Clock::duration longest{};
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      RankScope scope(world.communicator(static_cast<int64_t>(rank)));
      errors[rank] = runRank(scope, [&] {
        Issue issue = onWorld(4);
        issue();
        // The last one goes on only after the others have given up.
        while (rank == 3 && stopped < 3)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        issue.site = 8;
        issue();
      });
      if (++stopped == 3)
        longest = Clock::now() - begin;
    });
  for (std::thread &thread : threads)
    thread.join();
  expectErrors(errors,
               {"deadline of 0.300000 s passed: rank ",
                " waits in all_reduce(sum, 12 x f32) at site 8 over "
                "ranks {0, 1, 2, 3} for ranks {3}; rank 3 is elsewhere; "
                "the last collective it issued is all_reduce at site 7"});
  EXPECT_GE(longest, std::chrono::milliseconds(300));
  EXPECT_LT(longest, std::chrono::seconds(20));
}

TEST(Threads, RankThatNeverStartsIsNamedAtTheDeadline) {
  ThreadWorld world(2, 0.05);
  RankScope scope(world.communicator(0));
  std::string error = runRank(scope, [] { onWorld(2)(); }).value_or("");
  EXPECT_NE(error.find("for ranks {1}; rank 1 has issued no collective"),
            std::string::npos)
      << error;
}

/// A rank outside the group of the failing ones computes on, and stops at its
/// next collective.
TEST(Threads, FailureReachesRanksOfOtherGroups) {
  Errors errors = runRanks(4, far, [](int64_t rank) {
    Issue issue = onWorld(4);
    issue.groupSize = 2;
    if (rank == 1)
      issue.dtype = TP_F64;
    for (int i = 0; i < 200; ++i) {
      issue();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    onWorld(4)();
  });
  expectErrors(errors, {"rank 0 issued", "rank 1 issued", "12 x f64"});
}

TEST(Threads, FailedWorldStaysFailed) {
  ThreadWorld world(2, far);
  Errors first = runRanks(world, [](int64_t rank) {
    if (rank == 0)
      throw std::runtime_error("disk full");
  });
  EXPECT_EQ(first[0], "rank 0: program: disk full");
  Errors second = runRanks(world, [](int64_t) { onWorld(2)(); });
  expectErrors(second, {"disk full"});
}

/// The third run of one rank meets the third run of the others, whoever is
/// faster; ending it without the last call is an early exit of that run only.
TEST(Threads, RunsAreCounted) {
  ThreadWorld world(2, far);
  std::vector<Errors> errors(2, Errors(4));
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      RankScope scope(world.communicator(static_cast<int64_t>(rank)));
      for (size_t run = 0; run < 4; ++run) {
        // The other sleeps in its next run while this one is between two.
        if (run % 2 == rank)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        errors[rank][run] = runRank(scope, [&] {
          if (run == 3 && rank == 1)
            return;
          onWorld(2)();
        });
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t run = 0; run < 3; ++run) {
    EXPECT_EQ(errors[0][run], std::nullopt);
    EXPECT_EQ(errors[1][run], std::nullopt);
  }
  EXPECT_EQ(errors[1][3], std::nullopt);
  EXPECT_NE(errors[0][3].value_or("").find("rank 1 has ended"),
            std::string::npos);
}

/// The error of rank 0, which waits for rank 1, whose thread does `other` while
/// its scope lives on until rank 0 has given up.
static std::string waitFor(const std::function<void(RankScope &)> &other,
                           bool scopeLivesOn) {
  ThreadWorld world(2, far);
  std::atomic<bool> givenUp = false;
  std::thread peer([&] {
    std::optional<RankScope> scope(world.communicator(1));
    other(*scope);
    if (!scopeLivesOn)
      scope.reset();
    while (!givenUp)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  RankScope scope(world.communicator(0));
  std::optional<std::string> error = runRank(scope, [] { onWorld(2)(); });
  givenUp = true;
  peer.join();
  return error.value_or("");
}

TEST(Threads, RunThatEndsInALongerScopeIsNoticed) {
  auto emptyRun = [](RankScope &scope) {
    EXPECT_EQ(runRank(scope, [] {}), std::nullopt);
  };
  std::string error = waitFor(emptyRun, /*scopeLivesOn=*/true);
  EXPECT_NE(
      error.find("rank 1 has ended without the call that rank 0 waits in"),
      std::string::npos)
      << error;
}

TEST(Threads, ScopeThatEndsWithoutARunIsNoticed) {
  std::string error = waitFor([](RankScope &) {}, /*scopeLivesOn=*/false);
  EXPECT_NE(
      error.find("rank 1 has ended without the call that rank 0 waits in"),
      std::string::npos)
      << error;
}

/// Sums over the three axes of a 2x2x2 mesh and the planes of two of them, with
/// ranks that lag at random: crossing groups never wait in a circle.
TEST(Threads, CrossingGroupsDoNotDeadlock) {
  const std::vector<std::pair<int64_t, Ints>> axes = {
      {2, {0, 4, 1, 5, 2, 6, 3, 7}}, {2, {0, 2, 1, 3, 4, 6, 5, 7}},
      {2, {0, 1, 2, 3, 4, 5, 6, 7}}, {4, {0, 1, 2, 3, 4, 5, 6, 7}},
      {4, {0, 1, 4, 5, 2, 3, 6, 7}}, {8, {7, 6, 5, 4, 3, 2, 1, 0}}};
  Errors errors = runRanks(8, far, [&](int64_t rank) {
    std::mt19937 lag(static_cast<unsigned>(rank));
    std::mt19937 choice(1234);
    for (int64_t i = 0; i < 3000; ++i) {
      const auto &[size, table] = axes[choice() % axes.size()];
      int64_t in = rank + i, out = 0, expected = 0;
      auto at = std::ranges::find(table, rank) - table.begin();
      for (int64_t p = 0; p < size; ++p)
        expected += table[static_cast<size_t>(at / size * size + p)] + i;
      if (lag() % 64 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(lag() % 300));
      tp_all_reduce(&out, &in, 1, TP_I64, TP_SUM, table.data(), 8 / size, size,
                    i);
      ASSERT_EQ(out, expected);
    }
  });
  expectNoErrors(errors);
}

TEST(Threads, ManyRanks) {
  for (int64_t odd : {int64_t(-1), int64_t(200)}) {
    Errors errors = runRanks(256, far, [&](int64_t rank) {
      Issue issue = onWorld(256);
      int64_t in = rank, out = 0;
      for (int64_t site = 0; site < 5; ++site) {
        tp_all_reduce(&out, &in, 1, TP_I64, TP_SUM, issue.groups.data(), 1, 256,
                      site);
        ASSERT_EQ(out, 255 * 128);
        // Rows of 16.
        issue.groupSize = 16;
        issue();
      }
      if (rank == odd)
        return;
      issue.groupSize = 256;
      issue();
    });
    if (odd < 0) {
      expectNoErrors(errors);
      continue;
    }
    EXPECT_EQ(errors[200], std::nullopt);
    errors.erase(errors.begin() + 200);
    expectErrors(errors, {"rank 200 has ended"});
  }
}

} // namespace
