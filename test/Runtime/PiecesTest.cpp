// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Collectives whose pieces differ in size, exact: each is compared with what it
// means for a global tensor of which the ranks hold slices.

#include "Grouping.h"
#include "tp/Runtime/Abi.h"

#include <array>

using namespace tp::test;

namespace {

/// Tables of pieces for a grouping, of the shape of its groups: numpy's
/// array_split of 0, 1, and of sizes that leave every remainder; and pieces in
/// no order.
std::vector<Ints> piecesOf(const Grouping &g) {
  std::vector<Ints> tables;
  for (int64_t size : {int64_t(0), int64_t(1), g.groupSize - 1,
                       2 * g.groupSize + 1, 3 * g.groupSize - 1}) {
    Ints &table = tables.emplace_back();
    for (int64_t row = 0; row < g.numGroups; ++row)
      for (int64_t p = 0; p < g.groupSize; ++p)
        table.push_back(size / g.groupSize + (p < size % g.groupSize));
  }
  Ints &irregular = tables.emplace_back();
  for (int64_t i = 0; i < g.numRanks(); ++i)
    irregular.push_back(i * 5 % 4);
  return tables;
}

/// The pieces of one group.
struct Row {
  Ints sizes;

  Row(const Grouping &g, const Ints &table, int64_t group)
      : sizes(table.begin() + group * g.groupSize,
              table.begin() + (group + 1) * g.groupSize) {}
  int64_t before(int64_t p) const {
    return std::accumulate(sizes.begin(), sizes.begin() + p, int64_t(0));
  }
  int64_t whole() const { return before(static_cast<int64_t>(sizes.size())); }
  int64_t operator[](int64_t p) const { return sizes[static_cast<size_t>(p)]; }
};

Ints pieceOf(const Ints &whole, const Ints &shape, size_t dim, const Row &row,
             int64_t p) {
  return slicePiece(whole, shape, dim, row.before(p), row[p]);
}

TEST(Pieces, AllGatherRestoresTheTensor) {
  for (const Grouping &g : groupings)
    for (const Ints &table : piecesOf(g))
      for (size_t dim : {0u, 1u, 2u})
        onRanks(g, [&](int64_t, int64_t group, int64_t position) {
          Row row(g, table, group);
          Ints shape = {3, 5, 7};
          shape[dim] = row.whole();
          Ints whole = codedTensor(shape, group), out(whole.size(), -1);
          Ints in = pieceOf(whole, shape, dim, row, position);
          tp_all_gather_v(out.data(), in.data(), product(shape, 0, dim),
                          product(shape, dim + 1, 3), TP_I64, table.data(),
                          g.table.data(), g.numGroups, g.groupSize, 4);
          EXPECT_EQ(out, whole);
        });
}

TEST(Pieces, ReduceScatterIsASliceOfTheSum) {
  for (const Grouping &g : groupings)
    for (const Ints &table : piecesOf(g))
      for (size_t dim : {0u, 1u, 2u})
        onRanks(g, [&](int64_t, int64_t group, int64_t position) {
          Row row(g, table, group);
          Ints shape = {3, 5, 7};
          shape[dim] = row.whole();
          Ints sum(static_cast<size_t>(volume(shape)), 0);
          for (int64_t p = 0; p < g.groupSize; ++p) {
            Ints part = codedTensor(shape, group * 10 + p);
            for (size_t i = 0; i < sum.size(); ++i)
              sum[i] += part[i];
          }
          Ints in = codedTensor(shape, group * 10 + position);
          Ints expected = pieceOf(sum, shape, dim, row, position);
          Ints out(expected.size(), -1);
          tp_reduce_scatter_v(out.data(), in.data(), product(shape, 0, dim),
                              product(shape, dim + 1, 3), TP_I64, TP_SUM,
                              table.data(), g.table.data(), g.numGroups,
                              g.groupSize, 4);
          EXPECT_EQ(out, expected);
        });
}

TEST(Pieces, AllToAllMovesTheSplit) {
  for (const Grouping &g : groupings) {
    std::vector<Ints> tables = piecesOf(g);
    for (size_t i = 0; i < tables.size(); ++i)
      for (auto [source, target] : {std::pair<size_t, size_t>{0, 2},
                                    {2, 0},
                                    {1, 3},
                                    {3, 1},
                                    {0, 1},
                                    {3, 2}})
        onRanks(g, [&, source = source, target = target](int64_t, int64_t group,
                                                         int64_t position) {
          const Ints &sources = tables[i];
          const Ints &targets = tables[(i + 3) % tables.size()];
          Row from(g, sources, group), to(g, targets, group);
          Ints shape = {3, 2, 5, 7};
          shape[source] = from.whole();
          shape[target] = to.whole();
          Ints whole = codedTensor(shape, group);
          Ints in = pieceOf(whole, shape, source, from, position);
          Ints expected = pieceOf(whole, shape, target, to, position);
          Ints out(expected.size(), -1);
          auto [first, second] = std::minmax(source, target);
          tp_all_to_all_v(out.data(), in.data(), product(shape, 0, first),
                          product(shape, first + 1, second),
                          product(shape, second + 1, 4), source < target,
                          TP_I64, sources.data(), targets.data(),
                          g.table.data(), g.numGroups, g.groupSize, 4);
          EXPECT_EQ(out, expected) << source << " to " << target;
        });
  }
}

TEST(Pieces, PermuteMovesBlocksOfAnySize) {
  // A swap of empty blocks, a swap, and a rank that sends to itself.
  const Ints pairs = {0, 2, 2, 0, 1, 3, 3, 1, 4, 4};
  const Ints counts = {0, 0, 7, 7, 3};
  const Ints source = {2, 3, 0, 1, 4}, own = {0, 7, 0, 7, 3};
  onRanks({1, 5, {0, 1, 2, 3, 4}}, [&](int64_t rank, int64_t, int64_t) {
    auto r = static_cast<size_t>(rank);
    Ints in = codedTensor({own[r]}, rank), out(in.size(), -1);
    tp_collective_permute_v(out.data(), in.data(), TP_I64, counts.data(),
                            pairs.data(), 5, 1);
    EXPECT_EQ(out, codedTensor({own[r]}, source[r]));
  });
}

/// Rank 0 believes in other pieces than rank 1, though in the same sum.
TEST(Pieces, MembersThatDisagreeFailAlike) {
  const Ints table = {0, 1}, right = {2, 1}, wrong = {1, 2};
  Errors errors = runRanks(2, 60, [&](int64_t rank) {
    // A failing call returns to nobody who would free a vector.
    std::array<int64_t, 2> in = {rank, rank};
    std::array<int64_t, 3> out = {};
    tp_all_gather_v(out.data(), in.data(), 1, 1, TP_I64,
                    rank == 0 ? right.data() : wrong.data(), table.data(), 1, 2,
                    7);
  });
  for (const auto &error : errors) {
    ASSERT_TRUE(error.has_value());
    EXPECT_NE(error->find("pieces {2, 1}"), std::string::npos) << *error;
    EXPECT_NE(error->find("pieces {1, 2}"), std::string::npos) << *error;
    EXPECT_NE(error->find("at site 7"), std::string::npos) << *error;
  }
}

TEST(Pieces, EqualAndUnequalCallsDoNotMeet) {
  const Ints table = {0, 1}, pieces = {2, 2};
  Errors errors = runRanks(2, 60, [&](int64_t rank) {
    std::array<int64_t, 2> in = {rank, rank};
    std::array<int64_t, 4> out = {};
    if (rank == 0)
      tp_all_gather(out.data(), in.data(), 1, 1, TP_I64, table.data(), 1, 2, 7);
    else
      tp_all_gather_v(out.data(), in.data(), 1, 1, TP_I64, pieces.data(),
                      table.data(), 1, 2, 7);
  });
  EXPECT_TRUE(errors[0] && errors[1]);
}

TEST(Pieces, WrongPiecesAreRefused) {
  const Ints table = {0}, negative = {-1}, huge = {INT64_MAX / 4};
  int64_t in = 0, out = 0;
  auto gather = [&](const Ints &pieces) {
    return errorOf([&] {
      tp_all_gather_v(&out, &in, 1, 3, TP_I64, pieces.data(), table.data(), 1,
                      1, 7);
    });
  };
  EXPECT_NE(gather(negative).find("a piece of -1 elements among {-1}"),
            std::string::npos);
  EXPECT_NE(gather(huge).find("larger than memory can be"), std::string::npos);
}

} // namespace
