// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Where unfinished maxima can come from, and what can be made of them.

#include "tp/IR/TP.h"
#include "tp/Reshard/Path.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tp;

namespace {

class Maxima : public testing::Test {
protected:
  Maxima() {
    context.loadDialect<TPDialect>();
    machine.links.push_back({"all", 0, 1e9, 1e-6});
  }

  /// A layout of a [12, 5] on a mesh of a = 2 and b = 3 ranks; axes by number.
  static Layout layout(ReductionKind kind, ArrayRef<unsigned> unreduced,
                       ArrayRef<unsigned> rows = {}) {
    Layout result = Layout::whole(2);
    result.kind = kind;
    for (unsigned axis : unreduced)
      result.unreduced.push_back({axis, 1, axis == 0 ? 2 : 3});
    for (unsigned axis : rows)
      result.dims[0].parts.push_back({axis, 1, axis == 0 ? 2 : 3});
    return result;
  }

  /// The steps of a cheapest path, as words; "none" if there is no path.
  std::string path(const Layout &from, const Layout &to) {
    MeshAttr mesh =
        MeshAttr::get(&context, {MeshAxisAttr::get(&context, "a", 2),
                                 MeshAxisAttr::get(&context, "b", 3)});
    CostModel model(machine, mesh);
    LayoutSpace space(
        model, RankedTensorType::get({12, 5}, Float32Type::get(&context)),
        {{0, 1, 2}, {1, 1, 3}}, {}, /*maxima=*/true);
    std::optional<unsigned> first = space.find(from), last = space.find(to);
    if (!first || !last)
      return "no layout";
    if (!space.getDistances().at(*first, *last).isFinite())
      return "none";
    std::string steps;
    for (const LayoutStep &step : space.getPath(*first, *last))
      steps += (steps.empty() ? "" : " ") + toString(step.kind).str();
    return steps;
  }

  static constexpr ReductionKind max = ReductionKind::Max;
  static constexpr ReductionKind sum = ReductionKind::Sum;

  MLIRContext context;
  Machine machine;
};

} // namespace

TEST_F(Maxima, AreFinishedAsSumsAre) {
  Layout whole = layout(sum, {});
  EXPECT_EQ(path(layout(max, {0}), whole), "all_reduce");
  EXPECT_EQ(path(layout(max, {0, 1}), layout(max, {1})), "all_reduce");
  EXPECT_EQ(path(layout(max, {0}), layout(max, {}, {0})), "reduce_scatter");
  EXPECT_EQ(path(layout(max, {0}), layout(max, {0}, {1})), "all_slice");
}

// to_unreduced leaves zeros, the larger of which and a negative number is 0.
TEST_F(Maxima, AreNotMadeOfFinishedValues) {
  EXPECT_EQ(path(layout(sum, {}), layout(max, {0})), "none");
  EXPECT_EQ(path(layout(sum, {0}), layout(max, {0})), "none");
  EXPECT_EQ(path(layout(max, {0}), layout(max, {0, 1})), "none");
  EXPECT_EQ(path(layout(max, {0}), layout(max, {1})), "none");
}

TEST_F(Maxima, BecomeSumsWhenFinished) {
  EXPECT_EQ(path(layout(max, {0}), layout(sum, {0})),
            "all_reduce to_unreduced");
}
