// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which elements a rank holds, and what collectives make of it, against
// array_split of numpy and against the ranges of all ranks.

#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tp;

namespace {

/// A context and meshes in it.
class Layouts : public testing::Test {
protected:
  Layouts() { context.loadDialect<TPDialect>(); }

  /// Axes "a", "b", ... of these sizes.
  MeshAttr mesh(ArrayRef<int64_t> sizes) {
    SmallVector<MeshAxisAttr> axes;
    for (auto [index, size] : llvm::enumerate(sizes))
      axes.push_back(MeshAxisAttr::get(
          &context, StringRef("abcd").substr(index, 1), size));
    return MeshAttr::get(&context, axes);
  }

  MLIRContext context;
};

using Sizes = std::vector<int64_t>;

/// Sizes of the pieces of `size` elements over whole axes, by rank.
Sizes pieces(MeshAttr mesh, int64_t size, int64_t unit = 1) {
  DimLayout dim;
  dim.unit = unit;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes()))
    dim.parts.push_back({static_cast<unsigned>(index), 1, axis.getSize()});
  Sizes result;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    result.push_back(getRange(size, dim, mesh, rank).size);
  return result;
}

// [len(p) for p in numpy.array_split(numpy.arange(n), k)]
TEST_F(Layouts, OneAxisDealsAsNumpyDoes) {
  EXPECT_EQ(pieces(mesh({4}), 14), (Sizes{4, 4, 3, 3}));
  EXPECT_EQ(pieces(mesh({3}), 10), (Sizes{4, 3, 3}));
  EXPECT_EQ(pieces(mesh({4}), 3), (Sizes{1, 1, 1, 0}));
  EXPECT_EQ(pieces(mesh({3}), 7), (Sizes{3, 2, 2}));
  EXPECT_EQ(pieces(mesh({3}), 0), (Sizes{0, 0, 0}));
  EXPECT_EQ(pieces(mesh({5}), 17), (Sizes{4, 4, 3, 3, 3}));
}

// The same, each piece split again.
TEST_F(Layouts, SeveralAxesNest) {
  EXPECT_EQ(pieces(mesh({2, 2}), 14), (Sizes{4, 3, 4, 3}));
  EXPECT_EQ(pieces(mesh({2, 3}), 14), (Sizes{3, 2, 2, 3, 2, 2}));
  EXPECT_EQ(pieces(mesh({3, 2}), 17), (Sizes{3, 3, 3, 3, 3, 2}));
  EXPECT_EQ(pieces(mesh({2, 2}), 3), (Sizes{1, 1, 1, 0}));
  EXPECT_EQ(pieces(mesh({2, 4}), 61), (Sizes{8, 8, 8, 7, 8, 8, 7, 7}));
  EXPECT_EQ(pieces(mesh({3, 2}), 5), (Sizes{1, 1, 1, 1, 1, 0}));
}

TEST_F(Layouts, UnitsAreDealtWhole) {
  EXPECT_EQ(pieces(mesh({4}), 14, 7), (Sizes{7, 7, 0, 0}));
  EXPECT_EQ(pieces(mesh({3}), 40, 8), (Sizes{16, 16, 8}));
  EXPECT_EQ(pieces(mesh({2, 2}), 21, 3), (Sizes{6, 6, 6, 3}));
}

/// Ranges of all ranks; an empty one counts as begun nowhere.
std::vector<std::vector<Range>> rangesOf(ArrayRef<int64_t> shape,
                                         const Layout &layout, MeshAttr mesh) {
  std::vector<std::vector<Range>> all;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    auto &ranges = all.emplace_back();
    for (Range range : getRanges(shape, layout, mesh, rank))
      ranges.push_back(range.size == 0 ? Range() : range);
  }
  return all;
}

/// Every way to write an axis of 12 as nested parts.
const std::vector<AxisParts> nestings = {{{0, 1, 12}},
                                         {{0, 1, 2}, {0, 2, 6}},
                                         {{0, 1, 6}, {0, 6, 2}},
                                         {{0, 1, 3}, {0, 3, 4}},
                                         {{0, 1, 4}, {0, 4, 3}},
                                         {{0, 1, 2}, {0, 2, 3}, {0, 6, 2}},
                                         {{0, 1, 3}, {0, 3, 2}, {0, 6, 2}},
                                         {{0, 1, 2}, {0, 2, 2}, {0, 4, 3}}};

TEST_F(Layouts, NestedAndFlatMeanTheSameWhereEveryRankHoldsTheSame) {
  MeshAttr twelve = mesh({12});
  for (int64_t size = 1; size < 61; ++size)
    for (int64_t unit : {1, 2, 3})
      for (const AxisParts &lhs : nestings)
        for (const AxisParts &rhs : nestings) {
          if (size % unit != 0)
            continue;
          Layout one{{{lhs, unit}}, ReductionKind::Sum, {}};
          Layout other{{{rhs, 1}}, ReductionKind::Sum, {}};
          bool same =
              rangesOf({size}, one, twelve) == rangesOf({size}, other, twelve);
          EXPECT_EQ(one.means(other, {size}), same)
              << size << " in units of " << unit << ": "
              << toString(lhs, twelve) << " and " << toString(rhs, twelve);
        }
}

//===- Steps --------------------------------------------------------------===//

/// A step and a layout on a mesh, made at random; most do not fit.
struct RandomStep {
  std::mt19937 random;
  MeshAttr mesh;
  std::vector<AxisPart> parts;
  SmallVector<int64_t> shape;
  Layout layout;
  LayoutStep step{};

  int64_t below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
  }

  void make() {
    shape = {below(14) * 2, below(14) * 2};
    layout = Layout::whole(2);
    std::vector<AxisPart> free = parts;
    std::shuffle(free.begin(), free.end(), random);
    while (!free.empty()) {
      int64_t place = below(4);
      if (place < 2)
        layout.dims[place].parts.push_back(free.back());
      if (place == 2)
        layout.unreduced.push_back(free.back());
      free.pop_back();
    }
    for (DimLayout &dim : layout.dims)
      dim.unit = 1 + below(2);
    step.kind = static_cast<LayoutStep::Kind>(below(7));
    step.dim = below(2);
    step.target = 1 - step.dim;
    step.unit = below(3);
    step.parts.clear();
    int64_t count = 1 + below(2);
    std::shuffle(parts.begin(), parts.end(), random);
    for (int64_t i = 0; i < count && i < static_cast<int64_t>(parts.size());
         ++i)
      step.parts.push_back(parts[i]);
    // Half the time what the layout ends with.
    AxisParts &held = layout.dims[step.dim].parts;
    if (below(2) == 0 && !held.empty())
      step.parts = AxisParts(ArrayRef(held).take_back(count));
  }

  bool usesStepsParts() const {
    AxisParts used(layout.unreduced);
    for (const DimLayout &dim : layout.dims)
      used.append(dim.parts);
    return llvm::any_of(used, [&](const AxisPart &part) {
      return llvm::any_of(step.parts, [&](const AxisPart &other) {
        return part.overlaps(other);
      });
    });
  }
};

/// The pieces of a group's members along a dimension, one after the other, are
/// `whole`.
void expectTiles(const SmallVector<int64_t> &group,
                 const std::vector<std::vector<Range>> &pieces, unsigned dim,
                 Range whole) {
  int64_t next = whole.offset;
  for (int64_t rank : group) {
    Range piece = pieces[rank][dim];
    if (piece.size == 0)
      continue;
    EXPECT_EQ(piece.offset, next);
    next += piece.size;
  }
  EXPECT_EQ(next, whole.offset + whole.size);
}

void expectSound(const RandomStep &random, const Layout &after) {
  auto held = rangesOf(random.shape, random.layout, random.mesh);
  auto made = rangesOf(random.shape, after, random.mesh);
  const LayoutStep &step = random.step;
  auto groups = getGroups(step.parts, random.mesh);
  ASSERT_TRUE(succeeded(groups));
  bool gathers =
      step.kind == LayoutStep::AllGather || step.kind == LayoutStep::AllToAll;
  for (const SmallVector<int64_t> &group : *groups)
    for (int64_t rank : group) {
      if (gathers)
        expectTiles(group, held, step.dim, made[rank][step.dim]);
      if (std::optional<unsigned> split = step.getSplitDim())
        expectTiles(group, made, *split, held[rank][*split]);
      for (unsigned dim : {0u, 1u})
        if (step.getSplitDim() != dim && !(gathers && dim == step.dim) &&
            step.kind != LayoutStep::Permute)
          EXPECT_EQ(held[rank][dim], made[rank][dim]);
    }
}

/// A block that moves is some rank's shard afterwards.
void expectPermutes(const RandomStep &random, const Layout &after) {
  const DimLayout &before = random.layout.dims[random.step.dim];
  auto from = getGroups(before.parts, random.mesh);
  auto to = getGroups(after.dims[random.step.dim].parts, random.mesh);
  ASSERT_TRUE(succeeded(from) && succeeded(to));
  auto held = rangesOf(random.shape, random.layout, random.mesh);
  auto made = rangesOf(random.shape, after, random.mesh);
  for (auto [sources, targets] : llvm::zip_equal(*from, *to))
    for (auto [source, target] : llvm::zip_equal(sources, targets))
      EXPECT_EQ(held[source], made[target]);
}

TEST_F(Layouts, AcceptedStepsJoinAndSplitNeighbours) {
  RandomStep random;
  int64_t accepted = 0;
  std::pair<MeshAttr, std::vector<AxisPart>> meshes[] = {
      {mesh({3}), {{0, 1, 3}}},
      {mesh({4}), {{0, 1, 2}, {0, 2, 2}}},
      {mesh({4}), {{0, 1, 4}, {0, 2, 2}}},
      {mesh({2, 3}), {{0, 1, 2}, {1, 1, 3}}},
      {mesh({3, 4}), {{0, 1, 3}, {1, 1, 2}, {1, 2, 2}}}};
  for (auto &[on, parts] : meshes)
    for (int trial = 0; trial < 20000; ++trial) {
      random.mesh = on;
      random.parts = parts;
      random.make();
      bool adds = random.step.kind == LayoutStep::AllSlice ||
                  random.step.kind == LayoutStep::ToUnreduced;
      bool fits = random.shape[0] % random.layout.dims[0].unit == 0 &&
                  random.shape[1] % random.layout.dims[1].unit == 0;
      AxisParts used(random.layout.unreduced);
      for (const DimLayout &dim : random.layout.dims)
        used.append(dim.parts);
      bool disjoint = true;
      for (unsigned i = 0; i < used.size(); ++i)
        for (unsigned j = 0; j < i; ++j)
          disjoint &= !used[i].overlaps(used[j]);
      bool stepDisjoint = random.step.parts.size() < 2 ||
                          !random.step.parts[0].overlaps(random.step.parts[1]);
      if (!fits || !disjoint || !stepDisjoint ||
          (adds && random.usesStepsParts()))
        continue;
      std::optional<Layout> after =
          apply(random.step, random.layout, random.shape);
      if (!after)
        continue;
      ++accepted;
      expectSound(random, *after);
      if (random.step.kind == LayoutStep::Permute)
        expectPermutes(random, *after);
      if (HasFailure())
        FAIL() << "shape " << random.shape[0] << " x " << random.shape[1]
               << ", step " << toString(random.step.kind).str() << " over "
               << toString(random.step.parts, on);
    }
  EXPECT_GT(accepted, 10000);
}

} // namespace
