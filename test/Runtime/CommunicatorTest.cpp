// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What one rank alone can tell about a call: malformed tables and sizes, and
// how a call reads in an error.

#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>

using namespace tp::runtime;
using namespace tp::test;

namespace {

using Ints = std::vector<int64_t>;

/// The error of rank 1 of three, whose groups or pairs are malformed.
std::string errorOfTable(const Ints &table, int64_t numGroups,
                         int64_t groupSize) {
  ThreadWorld world(3, 60);
  try {
    world.communicator(1).findGroup(table.data(), numGroups, groupSize);
  } catch (const RuntimeError &error) {
    return error.what();
  }
  return "";
}

TEST(Communicator, FindsTheRowOfARank) {
  ThreadWorld world(6, 60);
  const Ints table = {4, 0, 2, 1, 5, 3};
  auto row = world.communicator(5).findGroup(table.data(), 2, 3);
  EXPECT_EQ(Ints(row.begin(), row.end()), (Ints{1, 5, 3}));
  row = world.communicator(2).findGroup(table.data(), 3, 2);
  EXPECT_EQ(Ints(row.begin(), row.end()), (Ints{2, 1}));
}

TEST(Communicator, TablesMustHoldEachRankOnce) {
  EXPECT_EQ(errorOfTable({0, 1, 2}, 1, 3), "");
  EXPECT_EQ(errorOfTable({0, 1}, 1, 2),
            "1 groups of 2 do not hold each of 3 ranks once");
  EXPECT_EQ(errorOfTable({0, 1, 2}, -1, -3),
            "-1 groups of -3 do not hold each of 3 ranks once");
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_NE(errorOfTable({0, 1, 2}, huge, huge), "");
  EXPECT_EQ(errorOfTable({0, 1, 1}, 1, 3),
            "rank 1 is twice in a table of groups");
  EXPECT_EQ(errorOfTable({0, 1, 3}, 3, 1),
            "rank 3 in a table of groups is none of 3");
  EXPECT_EQ(errorOfTable({0, -1, 2}, 3, 1),
            "rank -1 in a table of groups is none of 3");
}

TEST(Communicator, PairsMustBeAPermutation) {
  auto errorOfPairs = [](const Ints &pairs) {
    return errorOf([&] {
      tp_collective_permute(nullptr, nullptr, 0, TP_F32, pairs.data(),
                            static_cast<int64_t>(pairs.size() / 2), 0);
    });
  };
  const std::string name = "rank 0: tp_collective_permute: ";
  EXPECT_EQ(errorOfPairs({0, 0}), "");
  EXPECT_EQ(errorOfPairs({}),
            name + "0 pairs do not move the blocks of 1 ranks");
  EXPECT_EQ(errorOfPairs({1, 0}),
            name + "source 1 of a permutation is none of 1 ranks");
  EXPECT_EQ(errorOfPairs({0, -7}),
            name + "target -7 of a permutation is none of 1 ranks");
  ThreadWorld world(2, 60);
  const Ints twice = {0, 1, 1, 1};
  try {
    world.communicator(0).findPairs(twice.data(), 2);
    ADD_FAILURE() << "accepted";
  } catch (const RuntimeError &error) {
    EXPECT_STREQ(error.what(), "rank 1 is twice a target of a permutation");
  }
}

TEST(Communicator, MalformedCallsAreErrors) {
  const Ints zero = {0};
  const int64_t *g = zero.data();
  std::vector<float> x(8);
  float *p = x.data();
  EXPECT_EQ(
      errorOf([&] { tp_all_reduce(p, p, -1, TP_F32, TP_SUM, g, 1, 1, 0); }),
      "rank 0: tp_all_reduce: size \"count\" is -1");
  EXPECT_EQ(errorOf([&] { tp_all_reduce(p, p, 1, 6, TP_SUM, g, 1, 1, 0); }),
            "rank 0: tp_all_reduce: element type 6 is none of TPDataType");
  EXPECT_EQ(errorOf([&] { tp_all_reduce(p, p, 1, TP_F32, 2, g, 1, 1, 0); }),
            "rank 0: tp_all_reduce: reduction 2 is none of TPReduction");
  EXPECT_EQ(
      errorOf([&] { tp_all_reduce(p, p, 1, TP_I1, TP_SUM, g, 1, 1, 5); }),
      "rank 0: tp_all_reduce: a sum of i1 is not defined: all_reduce(sum, "
      "1 x i1) at site 5 over ranks {0}");
  EXPECT_EQ(
      errorOf([&] { tp_all_gather(p + 1, p, 1, 2, TP_F32, g, 1, 1, 5); }),
      "rank 0: tp_all_gather: the result of all_gather(1 x 2 x f32) at site 5 "
      "over ranks {0} overlaps its operand");
  EXPECT_EQ(errorOf([&] { tp_all_gather(p + 2, p, 1, 2, TP_F32, g, 1, 1, 5); }),
            "");
  int64_t large = int64_t(1) << 62;
  EXPECT_NE(errorOf([&] {
              tp_all_gather(p, p, large, large, TP_F32, g, 1, 1, 5);
            }).find("larger than memory"),
            std::string::npos);
}

TEST(Communicator, AllToAllMustDivide) {
  const Ints table = {0, 1};
  std::vector<float> in(15), out(15);
  auto errors = runRanks(2, 60, [&](int64_t) {
    tp_all_to_all(out.data(), in.data(), 1, 3, 1, 5, 1, 1, TP_F32, table.data(),
                  1, 2, 8);
  });
  EXPECT_NE(
      errors[0].value_or("").find(
          "a dimension of 5 cannot be split among the 2 members of "
          "all_to_all(1 x 3 x 1 x 5 x 1 x f32, gathers the first dimension)"
          " at site 8 over ranks {0, 1}"),
      std::string::npos)
      << *errors[0];
}

TEST(Communicator, LongGroupsAreShortened) {
  Ints ranks(256);
  std::iota(ranks.begin(), ranks.end(), int64_t(0));
  EXPECT_EQ(describeRanks(std::span(ranks).first(3)), "{0, 1, 2}");
  EXPECT_EQ(describeRanks(ranks), "{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "
                                  "13, 14, ..., 255}");
}

TEST(Communicator, WorldsRefuseSenselessSizes) {
  EXPECT_THROW(ThreadWorld(0, 1), RuntimeError);
  EXPECT_THROW(ThreadWorld(-3, 1), RuntimeError);
  EXPECT_THROW(ThreadWorld(4097, 1), RuntimeError);
  EXPECT_THROW(ThreadWorld(2, 0), RuntimeError);
  EXPECT_THROW(ThreadWorld(2, std::numeric_limits<double>::quiet_NaN()),
               RuntimeError);
  ThreadWorld world(2, 1);
  EXPECT_THROW(world.communicator(2), RuntimeError);
  EXPECT_THROW(world.communicator(-1), RuntimeError);
}

} // namespace
