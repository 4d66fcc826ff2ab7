// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Collectives through the ABI, exact: each is compared with what it means for a
// global tensor of which the ranks hold slices.

#include "Grouping.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <type_traits>

using namespace tp::test;

namespace {

/// Piece `part` of `parts` equal pieces of a tensor along a dimension.
Ints slice(const Ints &tensor, const Ints &shape, size_t dim, int64_t parts,
           int64_t part) {
  int64_t size = shape[dim] / parts;
  return slicePiece(tensor, shape, dim, part * size, size);
}

TEST(Collective, AllGatherRestoresTheTensor) {
  for (const Grouping &g : groupings)
    for (size_t dim : {0u, 1u, 2u}) {
      Ints shape = {3, 5, 7};
      shape[dim] *= g.groupSize;
      onRanks(g, [&](int64_t, int64_t group, int64_t position) {
        Ints whole = codedTensor(shape, group);
        Ints in = slice(whole, shape, dim, g.groupSize, position);
        Ints out(whole.size(), -1);
        int64_t outer = product(shape, 0, dim);
        tp_all_gather(out.data(), in.data(), outer,
                      static_cast<int64_t>(in.size()) / outer, TP_I64,
                      g.table.data(), g.numGroups, g.groupSize, 4);
        EXPECT_EQ(out, whole);
      });
    }
}

TEST(Collective, ReduceScatterIsASliceOfTheSum) {
  for (const Grouping &g : groupings)
    for (size_t dim : {0u, 1u, 2u}) {
      Ints shape = {3, 5, 7};
      shape[dim] *= g.groupSize;
      onRanks(g, [&](int64_t, int64_t group, int64_t position) {
        Ints sum(static_cast<size_t>(volume(shape)), 0);
        for (int64_t p = 0; p < g.groupSize; ++p) {
          Ints part = codedTensor(shape, group * 10 + p);
          for (size_t i = 0; i < sum.size(); ++i)
            sum[i] += part[i];
        }
        Ints in = codedTensor(shape, group * 10 + position);
        Ints expected = slice(sum, shape, dim, g.groupSize, position);
        Ints out(expected.size(), -1);
        int64_t outer = product(shape, 0, dim);
        tp_reduce_scatter(out.data(), in.data(), outer,
                          static_cast<int64_t>(out.size()) / outer, TP_I64,
                          TP_SUM, g.table.data(), g.numGroups, g.groupSize, 4);
        EXPECT_EQ(out, expected);
      });
    }
}

TEST(Collective, AllToAllMovesTheSplit) {
  for (const Grouping &g : groupings)
    for (auto [source, target] : {std::pair<size_t, size_t>{0, 2},
                                  {2, 0},
                                  {1, 3},
                                  {3, 1},
                                  {0, 1},
                                  {3, 2}}) {
      Ints shape = {3, 2, 5, 7};
      shape[source] *= g.groupSize;
      shape[target] *= g.groupSize;
      onRanks(g, [&](int64_t, int64_t group, int64_t position) {
        Ints whole = codedTensor(shape, group);
        Ints in = slice(whole, shape, source, g.groupSize, position);
        Ints expected = slice(whole, shape, target, g.groupSize, position);
        Ints out(expected.size(), -1);
        Ints local = shape;
        local[source] /= g.groupSize;
        auto [first, second] = std::minmax(source, target);
        tp_all_to_all(out.data(), in.data(), product(local, 0, first),
                      local[first], product(local, first + 1, second),
                      local[second], product(local, second + 1, 4),
                      source < target, TP_I64, g.table.data(), g.numGroups,
                      g.groupSize, 4);
        EXPECT_EQ(out, expected) << source << " to " << target;
      });
    }
}

TEST(Collective, PermuteMovesBlocks) {
  // A rotation with a rank that sends to itself.
  const Ints pairs = {0, 2, 2, 3, 3, 0, 1, 1};
  Grouping world = {1, 4, {0, 1, 2, 3}};
  onRanks(world, [&](int64_t rank, int64_t, int64_t) {
    const Ints source = {3, 1, 0, 2};
    Ints in = codedTensor({5}, rank), out(5, -1);
    tp_collective_permute(out.data(), in.data(), 5, TP_I64, pairs.data(), 4, 1);
    EXPECT_EQ(out, codedTensor({5}, source[static_cast<size_t>(rank)]));
  });
}

/// Both ways to share the work: short and long, disjoint and in place.
TEST(Collective, AllReduceAddsOverTheGroup) {
  for (const Grouping &g : groupings)
    for (int64_t count : {0, 1, 7, 1025, 100003})
      for (bool inPlace : {false, true})
        onRanks(g, [&](int64_t, int64_t group, int64_t position) {
          Ints in = codedTensor({count}, group * 10 + position);
          Ints sum(in.size(), 0), out(in.size(), -1);
          for (int64_t p = 0; p < g.groupSize; ++p) {
            Ints part = codedTensor({count}, group * 10 + p);
            for (size_t i = 0; i < sum.size(); ++i)
              sum[i] += part[i];
          }
          void *result = inPlace ? in.data() : out.data();
          tp_all_reduce(result, in.data(), count, TP_I64, TP_SUM,
                        g.table.data(), g.numGroups, g.groupSize, 9);
          EXPECT_EQ(inPlace ? in : out, sum);
        });
}

/// Long enough to be written around the caches, at an address that is no
/// multiple of a vector's.
TEST(Collective, LongResultsArriveAsAWhole) {
  const int64_t count = 1100003;
  for (const Grouping &g : {groupings[2], groupings[3]})
    onRanks(g, [&](int64_t rank, int64_t, int64_t) {
      Ints in(count), out(count + 2, -1);
      for (int64_t i = 0; i < count; ++i)
        in[static_cast<size_t>(i)] = i * (rank + 1);
      tp_all_reduce(out.data() + 1, in.data(), count, TP_I64, TP_SUM,
                    g.table.data(), 1, g.groupSize, 9);
      int64_t factor = g.groupSize * (g.groupSize + 1) / 2, wrong = 0;
      for (int64_t i = 0; i < count; ++i)
        wrong += out[static_cast<size_t>(i + 1)] != i * factor;
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(out.front(), -1);
      EXPECT_EQ(out.back(), -1);
    });
}

/// Each type with values that a wrong width or sign would change. Rank r's
/// elements follow from rank and index alone.
template <typename T> T value(int64_t rank, int64_t i) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::ldexp((rank + 1) * (i % 5 - 2), -2));
  else
    return static_cast<T>(std::numeric_limits<T>::max() / 16 * (rank - 1) +
                          static_cast<T>(i % 11 - 5));
}

template <typename T> void expectReductions(TPDataType dtype) {
  Grouping g = {2, 3, {5, 0, 3, 1, 4, 2}};
  const int64_t count = 37;
  onRanks(g, [&](int64_t rank, int64_t group, int64_t) {
    for (auto kind : {TP_SUM, TP_MAX}) {
      std::vector<T> in(count), out(count), expected(count);
      for (int64_t i = 0; i < count; ++i) {
        auto at = static_cast<size_t>(i);
        in[at] = value<T>(rank, i);
        for (int64_t p = 0; p < 3; ++p) {
          T next = value<T>(g.table[static_cast<size_t>(group * 3 + p)], i);
          if (p == 0)
            expected[at] = next;
          else if (kind == TP_MAX)
            expected[at] = std::max(expected[at], next);
          else
            expected[at] = static_cast<T>(expected[at] + next);
        }
      }
      tp_all_reduce(out.data(), in.data(), count, dtype, kind, g.table.data(),
                    2, 3, kind);
      EXPECT_EQ(out, expected) << dtype << " " << kind;
    }
  });
}

TEST(Collective, EveryTypeReduces) {
  expectReductions<float>(TP_F32);
  expectReductions<double>(TP_F64);
  expectReductions<int32_t>(TP_I32);
  expectReductions<int64_t>(TP_I64);
  expectReductions<int8_t>(TP_I8);
}

TEST(Collective, SumsWrapMaximumIsOrAndKeepsNaN) {
  Grouping g = {1, 2, {0, 1}};
  onRanks(g, [&](int64_t rank, int64_t, int64_t) {
    int64_t most = std::numeric_limits<int64_t>::max(), sum = 0;
    int64_t one = rank == 0 ? most : 1;
    tp_all_reduce(&sum, &one, 1, TP_I64, TP_SUM, g.table.data(), 1, 2, 1);
    EXPECT_EQ(sum, std::numeric_limits<int64_t>::min());
    const std::array<uint8_t, 4> bits = {0, 1, uint8_t(rank),
                                         uint8_t(1 - rank)};
    std::array<uint8_t, 4> either{};
    tp_all_reduce(either.data(), bits.data(), 4, TP_I1, TP_MAX, g.table.data(),
                  1, 2, 2);
    EXPECT_EQ(either, (std::array<uint8_t, 4>{0, 1, 1, 1}));
    float nan = std::numeric_limits<float>::quiet_NaN();
    const std::array<float, 2> x = {rank == 0 ? nan : 3, rank == 1 ? nan : 3};
    std::array<float, 2> largest{};
    tp_all_reduce(largest.data(), x.data(), 2, TP_F32, TP_MAX, g.table.data(),
                  1, 2, 3);
    EXPECT_TRUE(std::isnan(largest[0]) && std::isnan(largest[1]));
  });
}

/// The sum is ((x0 + x1) + x2) + ..., whichever way the work is shared.
TEST(Collective, FloatSumsHaveTheSameBitsOnEveryRank) {
  Grouping g = {1, 6, {3, 1, 5, 0, 2, 4}};
  for (int64_t count : {13, 70001}) {
    std::vector<std::vector<float>> in(6), out(6), again(6);
    for (size_t rank = 0; rank < 6; ++rank)
      for (int64_t i = 0; i < count; ++i)
        in[rank].push_back(
            std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(rank)) *
            std::pow(10.0f, static_cast<float>(rank)));
    onRanks(g, [&](int64_t rank, int64_t, int64_t) {
      auto r = static_cast<size_t>(rank);
      out[r].resize(in[r].size());
      again[r] = in[r];
      tp_all_reduce(out[r].data(), in[r].data(), count, TP_F32, TP_SUM,
                    g.table.data(), 1, 6, 1);
      tp_all_reduce(again[r].data(), again[r].data(), count, TP_F32, TP_SUM,
                    g.table.data(), 1, 6, 2);
    });
    std::vector<float> expected = in[3];
    for (size_t rank : {1u, 5u, 0u, 2u, 4u})
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] += in[rank][i];
    for (size_t rank = 0; rank < 6; ++rank) {
      EXPECT_EQ(out[rank], expected);
      EXPECT_EQ(again[rank], expected);
    }
  }
}

/// Two ranks, [1,2,3,4] and [10,20,30,40].
TEST(Collective, SmallNumbersWorkedByHand) {
  using Four = std::vector<int32_t>;
  const Ints table = {0, 1};
  onRanks({1, 2, table}, [&](int64_t rank, int64_t, int64_t) {
    bool first = rank == 0;
    const Four in = first ? Four{1, 2, 3, 4} : Four{10, 20, 30, 40};
    const int64_t *groups = table.data();
    Four out(4), half(2), all(8);
    tp_all_reduce(out.data(), in.data(), 4, TP_I32, TP_SUM, groups, 1, 2, 1);
    EXPECT_EQ(out, (Four{11, 22, 33, 44}));
    tp_reduce_scatter(half.data(), in.data(), 1, 2, TP_I32, TP_SUM, groups, 1,
                      2, 2);
    EXPECT_EQ(half, first ? (Four{11, 22}) : (Four{33, 44}));
    Four joined(4);
    tp_all_gather(joined.data(), half.data(), 1, 2, TP_I32, groups, 1, 2, 3);
    EXPECT_EQ(joined, out);
    tp_all_gather(all.data(), in.data(), 1, 4, TP_I32, groups, 1, 2, 4);
    EXPECT_EQ(all, (Four{1, 2, 3, 4, 10, 20, 30, 40}));
    // From a dimension of 1 in front to the one of 4.
    tp_all_to_all(out.data(), in.data(), 1, 1, 1, 4, 1, 1, TP_I32, groups, 1, 2,
                  5);
    EXPECT_EQ(out, first ? (Four{1, 2, 10, 20}) : (Four{3, 4, 30, 40}));
  });
}

TEST(Collective, EmptyBuffersAreLegal) {
  const Ints table = {0, 1}, pairs = {0, 1, 1, 0};
  onRanks({1, 2, table}, [&](int64_t, int64_t, int64_t) {
    const int64_t *groups = table.data();
    tp_all_gather(nullptr, nullptr, 3, 0, TP_F32, groups, 1, 2, 1);
    tp_all_gather(nullptr, nullptr, 0, 3, TP_F32, groups, 1, 2, 2);
    tp_reduce_scatter(nullptr, nullptr, 3, 0, TP_F64, TP_SUM, groups, 1, 2, 3);
    tp_all_to_all(nullptr, nullptr, 2, 0, 3, 4, 5, 1, TP_I32, groups, 1, 2, 4);
    tp_all_to_all(nullptr, nullptr, 2, 2, 3, 0, 5, 0, TP_I32, groups, 1, 2, 5);
    tp_collective_permute(nullptr, nullptr, 0, TP_I8, pairs.data(), 2, 6);
  });
}

TEST(Collective, RanksKnowTheirNumber) {
  onRanks({1, 3, {0, 1, 2}},
          [](int64_t rank, int64_t, int64_t) { EXPECT_EQ(tp_rank(), rank); });
}

} // namespace
