// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layout spaces: every path ends where it should, evenly or not.

#include "tp/Reshard/Path.h"
#include "tp/IR/LocalShape.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

class Spaces : public testing::Test {
protected:
  Spaces() {
    context.loadDialect<TPDialect>();
    machine.links.push_back({"all", 0, 1e9, 1e-6});
  }

  MeshAttr mesh(ArrayRef<int64_t> sizes) {
    SmallVector<MeshAxisAttr> axes;
    for (auto [index, size] : llvm::enumerate(sizes))
      axes.push_back(MeshAxisAttr::get(
          &context, StringRef("abcd").substr(index, 1), size));
    return MeshAttr::get(&context, axes);
  }
  RankedTensorType tensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }

  MLIRContext context;
  Machine machine;
};

/// Walks every path of a space; the number of layouts with unequal shards.
int64_t checkPaths(const LayoutSpace &space, ArrayRef<int64_t> shape) {
  EXPECT_FALSE(bool(space.getDistances().check()));
  int64_t numUneven = 0;
  for (unsigned from = 0; from < space.size(); ++from) {
    numUneven += !isEven(shape, space[from]);
    EXPECT_EQ(space.find(space[from]), from);
    for (unsigned to = 0; to < space.size(); ++to) {
      if (!space.getDistances().at(from, to).isFinite()) {
        ADD_FAILURE() << from << " to " << to << ": no path";
        continue;
      }
      Layout layout = space[from];
      for (const LayoutStep &step : space.getPath(from, to)) {
        std::optional<Layout> after = apply(step, layout, shape);
        if (!after) {
          ADD_FAILURE() << toString(step.kind).str() << " does not fit";
          break;
        }
        layout = *after;
      }
      EXPECT_TRUE(layout.means(space[to], shape)) << from << " to " << to;
    }
  }
  return numUneven;
}

TEST_F(Spaces, EvenSpacesHoldEvenLayoutsOnly) {
  CostModel model(machine, mesh({2, 3}));
  AxisParts parts = {{0, 1, 2}, {1, 1, 3}};
  LayoutSpace space(model, tensor({6, 4}), parts);
  EXPECT_EQ(checkPaths(space, {6, 4}), 0);
  // "a" is idle, unreduced or splits either dimension, "b" not the second; both
  // on the first lie in two orders.
  EXPECT_EQ(space.size(), 4u * 3 + 1);
}

TEST_F(Spaces, UnevenSpacesReachEveryLayout) {
  CostModel model(machine, mesh({2, 3}));
  AxisParts parts = {{0, 1, 2}, {1, 1, 3}};
  LayoutSpace space(model, tensor({5, 14}), parts, {}, false,
                    DimUnits{{1}, {1, 7}});
  EXPECT_GT(checkPaths(space, {5, 14}), 10);
}

/// An axis of 4 in two parts: 14 columns lie nested or flat.
TEST_F(Spaces, NestedAndFlatAreDifferentPlaces) {
  CostModel model(machine, mesh({4}));
  AxisParts parts = {{0, 1, 2}, {0, 2, 2}};
  LayoutSpace space(model, tensor({5, 14}), parts, {}, false,
                    DimUnits{{1}, {1, 7}});
  EXPECT_GT(checkPaths(space, {5, 14}), 10);
  Layout nested = Layout::whole(2), flat = Layout::whole(2);
  nested.dims[1].parts = parts;
  flat.dims[1].parts = {{0, 1, 4}};
  ASSERT_TRUE(space.find(nested) && space.find(flat));
  EXPECT_NE(space.find(nested), space.find(flat));
  // 12 columns lie alike.
  LayoutSpace even(model, tensor({5, 12}), parts);
  ASSERT_TRUE(even.find(nested));
  EXPECT_EQ(even.find(nested), even.find(flat));
}

/// An all-gather of 5 over 3: two steps of 2 elements, the largest piece.
TEST_F(Spaces, SilentAxesLeaveWhatTheOthersDo) {
  MeshAttr twoAxes = mesh({2, 3});
  CostModel model(machine, twoAxes);
  AxisPart first{0, 1, 2}, second{1, 1, 3};
  LayoutSpace space(model, tensor({6, 12}), {first, second});
  const DistanceTable &all = space.getDistances();
  EXPECT_EQ(space.getDistancesWithout({}).entries, all.entries);
  DistanceTable noneTalk = space.getDistancesWithout({first, second});
  DistanceTable secondTalks = space.getDistancesWithout({first});
  EXPECT_FALSE(bool(noneTalk.check()));
  EXPECT_FALSE(bool(secondTalks.check()));
  auto holds = [](const Layout &layout, const AxisPart &part) {
    return llvm::is_contained(layout.getUsedParts(), part);
  };
  for (unsigned from = 0; from < space.size(); ++from)
    for (unsigned to = 0; to < space.size(); ++to) {
      Price free = noneTalk.at(from, to), some = secondTalks.at(from, to);
      if (all.at(from, to).getCollectives() == 0)
        EXPECT_EQ(free, all.at(from, to));
      else
        EXPECT_TRUE(free.isInfinite());
      EXPECT_LE(all.at(from, to), some);
      // Nobody else can undo or move what lies along the first axis.
      bool undone = holds(space[from], first) && !holds(space[to], first);
      EXPECT_TRUE(!undone || some.isInfinite()) << from << " to " << to;
      bool apart = !holds(space[from], first) && !holds(space[to], first);
      if (apart)
        EXPECT_EQ(some, all.at(from, to)) << from << " to " << to;
    }
}

TEST_F(Spaces, TheLargestPieceSetsTheTime) {
  CostModel model(machine, mesh({3}));
  Layout split = Layout::whole(1);
  split.dims[0].parts = {{0, 1, 3}};
  AxisParts axis = {{0, 1, 3}};
  Cost gather = model.priceStep({LayoutStep::AllGather, 0, 0, axis, 0},
                                tensor({5}), split);
  EXPECT_EQ(gather.sentBytes, 2 * 2 * 4);
  Layout sum = Layout::whole(1);
  sum.unreduced = axis;
  Cost scatter = model.priceStep({LayoutStep::ReduceScatter, 0, 0, axis, 0},
                                 tensor({5}), sum);
  EXPECT_EQ(scatter.sentBytes, 2 * 2 * 4);
}

} // namespace
