// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Where shards lie and how a tensor is put together, against tables that were
/// made by hand.

#include "tp/Reference/Shards.h"
#include "mlir/IR/MLIRContext.h"
#include "tp/IR/TP.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

class Shards : public testing::Test {
protected:
  Shards() {
    context.loadDialect<TPDialect>();
    mesh = MeshAttr::get(&context, {MeshAxisAttr::get(&context, "a", 2),
                                    MeshAxisAttr::get(&context, "x", 6)});
  }

  AxisRefAttr axis(StringRef name, int64_t pre = 1, int64_t size = 0) {
    return AxisRefAttr::get(&context, name, pre, size);
  }
  DimShardingAttr dim(ArrayRef<AxisRefAttr> axes, int64_t unit = 1) {
    return DimShardingAttr::get(&context, axes, unit);
  }
  ShardingAttr rows(DimShardingAttr first) {
    return ShardingAttr::get(&context, FlatSymbolRefAttr::get(&context, "mesh"),
                             {first, dim({})}, ReductionKind::Sum, {});
  }
  /// Offset and size of every rank's part, one rank after the other.
  std::vector<std::pair<int64_t, int64_t>> spans(int64_t size,
                                                 DimShardingAttr split) {
    std::vector<std::pair<int64_t, int64_t>> result;
    for (int64_t rank = 0; rank < 12; ++rank) {
      std::optional<Span> span = findSpan(size, split, mesh, rank);
      if (!span)
        return {};
      result.emplace_back(span->offset, span->size);
    }
    return result;
  }

  MLIRContext context;
  MeshAttr mesh;
};

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST_F(Shards, Coordinates) {
  // Rank 10 is a = 1, x = 4; 4 is (2, 0) in 3 x 2 and (1, 1) in 2 x 3.
  EXPECT_EQ(findCoordinate(10, axis("a"), mesh), 1);
  EXPECT_EQ(findCoordinate(10, axis("x"), mesh), 4);
  EXPECT_EQ(findCoordinate(10, axis("x", 1, 3), mesh), 2);
  EXPECT_EQ(findCoordinate(10, axis("x", 3, 2), mesh), 0);
  EXPECT_EQ(findCoordinate(10, axis("x", 1, 2), mesh), 1);
  EXPECT_EQ(findCoordinate(10, axis("x", 2, 3), mesh), 1);
  EXPECT_EQ(findCoordinate(10, axis("y"), mesh), std::nullopt);
  EXPECT_EQ(findCoordinate(10, axis("x", 1, 4), mesh), std::nullopt);
}

TEST_F(Shards, TheFirstRanksGetOneMore) {
  Pairs half = {{0, 3}, {3, 3}, {6, 2}, {8, 2}, {10, 2}, {12, 2}};
  Pairs all = half;
  all.insert(all.end(), half.begin(), half.end());
  EXPECT_EQ(spans(14, dim({axis("x")})), all);
}

TEST_F(Shards, NestedSplitsAreNotFlat) {
  // 14 over 2 is 7, 7; each over 3 is 3, 2, 2.
  Pairs half = {{0, 3}, {3, 2}, {5, 2}, {7, 3}, {10, 2}, {12, 2}};
  Pairs all = half;
  all.insert(all.end(), half.begin(), half.end());
  EXPECT_EQ(spans(14, dim({axis("x", 1, 2), axis("x", 2, 3)})), all);
}

TEST_F(Shards, WholeUnitsAreDealtAndRanksMayGetNone) {
  // 3 units of 4 over 2 are 2, 1; those over 3 are 1, 1, 0 and 1, 0, 0.
  Pairs a0 = {{0, 4}, {4, 4}, {8, 0}}, a1 = {{8, 4}, {12, 0}, {12, 0}};
  Pairs all;
  for (const Pairs &part : {a0, a0, a1, a1})
    all.insert(all.end(), part.begin(), part.end());
  EXPECT_EQ(spans(12, dim({axis("a"), axis("x", 2, 3)}, 4)), all);
  EXPECT_TRUE(spans(13, dim({axis("a")}, 4)).empty());
}

TEST_F(Shards, BordersOfEverySplit) {
  MeshAttr one = MeshAttr::get(&context, {MeshAxisAttr::get(&context, "x", 3)});
  EXPECT_EQ(findBorders(7, one), (SmallVector<int64_t>{0, 3, 5, 7}));
}

//===- Assembly -----------------------------------------------------------===//

TensorOf<double> part(int64_t rows, std::vector<double> values) {
  TensorOf<double> tensor;
  tensor.shape = {rows, 1};
  tensor.values = std::move(values);
  return tensor;
}

/// What keeps the parts from being 5 rows split over three ranks, twice.
std::string faultOf(Shards *, ShardingAttr sharding, MeshAttr mesh,
                    ArrayRef<TensorOf<double>> parts) {
  SmallVector<int64_t> shape = {5, 1};
  SmallVector<const TensorOf<double> *> pointers;
  for (const TensorOf<double> &part : parts)
    pointers.push_back(&part);
  return assemble<double>({"y", shape, sharding, mesh}, pointers).fault;
}

TEST_F(Shards, Assembly) {
  mesh = MeshAttr::get(&context, {MeshAxisAttr::get(&context, "r", 2),
                                  MeshAxisAttr::get(&context, "x", 3)});
  ShardingAttr sharding = rows(dim({axis("x")}));
  std::vector<TensorOf<double>> good = {part(2, {1, 2}), part(2, {3, 4}),
                                        part(1, {5})};
  good.insert(good.end(), {good[0], good[1], good[2]});
  EXPECT_EQ(faultOf(this, sharding, mesh, good), "");

  std::vector<TensorOf<double>> replica = good;
  replica[4] = part(2, {3, 4.5});
  EXPECT_EQ(faultOf(this, sharding, mesh, replica),
            "ranks 1 and 4 hold different values of `y` at [3, 0]");

  std::vector<TensorOf<double>> missing = good;
  missing[1] = missing[4] = part(1, {3});
  std::string fault = faultOf(this, sharding, mesh, missing);
  EXPECT_NE(fault.find("no rank holds row 4 of dimension 0 of `y`"),
            std::string::npos)
      << fault;

  std::vector<TensorOf<double>> larger = good;
  larger[2] = part(2, {5, 6});
  EXPECT_NE(faultOf(this, sharding, mesh, larger), "");
}

} // namespace
