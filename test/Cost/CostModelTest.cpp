// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prices of operations, and how groups of mesh axes lie in a machine.

#include "tp/Cost/CostModel.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

class Prices : public testing::Test {
protected:
  Prices() {
    context.loadDialect<TPDialect>();
    machine.peaks = {{"f32", 1000}};
    machine.memoryBandwidth = 1e30;
    machine.links = {{"inside", 8, 1e9, 0}, {"between", 0, 1e9, 0}};
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
  SmallVector<int64_t, 6> inBlocks(ArrayRef<int64_t> sizes, AxisParts parts) {
    RankGroup group = CostModel(machine, mesh(sizes)).getGroup(parts);
    return llvm::to_vector_of<int64_t, 6>(group.inBlock);
  }
  /// A rule and its work.
  struct Priced {
    ShardingRule rule;
    Work work;
  };
  double seconds(const Priced &op, ArrayRef<SmallVector<int64_t>> shapes) {
    SmallVector<Type> types;
    SmallVector<Layout> layouts;
    for (const SmallVector<int64_t> &shape : shapes) {
      types.push_back(tensor(shape));
      layouts.emplace_back();
      layouts.back().dims.resize(shape.size());
    }
    return CostModel(machine, mesh({2}))
        .priceOperation(op.rule, op.work, types, layouts)
        .seconds;
  }
  static Priced product(int64_t m, int64_t n, int64_t k) {
    ShardingRuleBuilder builder;
    unsigned rows = builder.factor("m", m), columns = builder.factor("n", n);
    unsigned depth = builder.factor("k", k, FactorKind::Sum);
    builder.operand({{rows}, {depth}}).operand({{depth}, {columns}});
    builder.result({{rows}, {columns}});
    return {builder.build(), {.flopsPerPoint = 2}};
  }
  /// Attention of 3 sequences, 2 x 4 heads of 16, over 64 keys, of which a
  /// query sees half.
  static Priced attention() {
    ShardingRuleBuilder builder;
    unsigned batch = builder.factor("batch", 3);
    unsigned queries = builder.factor("queries", 64);
    unsigned keys = builder.factor("keys", 64, FactorKind::Whole);
    unsigned groups = builder.factor("groups", 2);
    unsigned inGroup = builder.factor("in_group", 4);
    unsigned dim = builder.factor("dim", 16, FactorKind::Whole);
    builder.operand({{batch}, {queries}, {groups, inGroup}, {dim}})
        .operand({{batch}, {keys}, {groups}, {dim}})
        .operand({{batch}, {keys}, {groups}, {dim}})
        .result({{batch}, {queries}, {groups, inGroup}, {dim}});
    return {builder.build(),
            {.flopsPerPoint = 4 * 32.0, .summedFactors = {keys}}};
  }

  MLIRContext context;
  Machine machine;
};

} // namespace

TEST_F(Prices, GroupsLieInBlocks) {
  using Counts = SmallVector<int64_t, 6>;
  // The last axis is the one of neighbours.
  EXPECT_EQ(inBlocks({4, 8}, {{1, 1, 8}}), Counts({8}));
  EXPECT_EQ(inBlocks({4, 8}, {{0, 1, 4}}), Counts({1, 4}));
  EXPECT_EQ(inBlocks({16}, {{0, 1, 16}}), Counts({8, 16}));
  EXPECT_EQ(inBlocks({16}, {{0, 1, 4}}), Counts({2, 4}));
  EXPECT_EQ(inBlocks({16}, {{0, 2, 8}}), Counts({8}));
  EXPECT_EQ(inBlocks({6, 4}, {{0, 1, 6}}), Counts({2, 6}));
  EXPECT_EQ(inBlocks({3, 4}, {{0, 1, 3}, {1, 1, 4}}), Counts({4, 12}));
  // Neither nests in the other: no level inside is counted on.
  EXPECT_EQ(inBlocks({12}, {{0, 1, 12}}), Counts({1, 12}));
}

TEST_F(Prices, AProductReachesAShareOfThePeak) {
  Priced op = product(7, 11, 13);
  double flops = 2 * 7 * 11 * 13;
  SmallVector<SmallVector<int64_t>> shapes = {{7, 13}, {13, 11}, {7, 11}};
  EXPECT_EQ(seconds(op, shapes), flops / 1000);
  machine.products = {0.5, 14, 22, 39, 1};
  EXPECT_DOUBLE_EQ(seconds(op, shapes), flops / 1000 / 0.5 * (1 + 2 + 2 + 3));
  // Splitting never makes a piece dearer.
  machine.products = {0.8, 64, 64, 256, 1};
  for (int64_t m = 1; m < 40; ++m)
    EXPECT_LE(
        seconds(product(m, 11, 13), {{m, 13}, {13, 11}, {m, 11}}),
        seconds(product(m + 1, 11, 13), {{m + 1, 13}, {13, 11}, {m + 1, 11}}));
}

TEST_F(Prices, AttentionAndOtherOperationsHaveRatesOfTheirOwn) {
  Priced op = attention();
  SmallVector<SmallVector<int64_t>> shapes = {
      {3, 64, 8, 16}, {3, 64, 2, 16}, {3, 64, 2, 16}, {3, 64, 8, 16}};
  double flops = 4.0 * 32 * 3 * 64 * 8 * 16;
  machine.products = {0.5, 14, 22, 39, 0.25};
  EXPECT_DOUBLE_EQ(seconds(op, shapes), flops / 1000 / 0.25);
  machine.products.attentionHalfHead = 48;
  EXPECT_DOUBLE_EQ(seconds(op, shapes), flops / 1000 / 0.25 * (1 + 48 / 16));
  ShardingRuleBuilder builder;
  unsigned size = builder.factor("d0", 50);
  Priced relu = {builder.operand({{size}}).result({{size}}).build(), {1}};
  EXPECT_DOUBLE_EQ(seconds(relu, {{50}, {50}}), 0.05);
  machine.vectorFlops = 10;
  EXPECT_DOUBLE_EQ(seconds(relu, {{50}, {50}}), 5);
  machine.launch = {7, true};
  EXPECT_DOUBLE_EQ(seconds(relu, {{50}, {50}}), 7);
}

TEST_F(Prices, ConventionsForFlops) {
  Priced op = attention();
  SmallVector<Layout> layouts(4);
  for (Layout &layout : layouts)
    layout.dims.resize(4);
  double full = 4.0 * 64 * 3 * 64 * 8 * 16;
  EXPECT_EQ(CostModel::countProductFlops(op.rule, op.work, layouts,
                                         FlopConvention::Full),
            full);
  EXPECT_EQ(CostModel::countProductFlops(op.rule, op.work, layouts,
                                         FlopConvention::Causal),
            full / 2);
  Priced matmul = product(7, 11, 13);
  layouts.resize(3);
  for (Layout &layout : layouts)
    layout.dims.resize(2);
  for (FlopConvention convention :
       {FlopConvention::Full, FlopConvention::Causal})
    EXPECT_EQ(CostModel::countProductFlops(matmul.rule, matmul.work, layouts,
                                           convention),
              2 * 7 * 11 * 13);
  ShardingRuleBuilder builder;
  unsigned size = builder.factor("d0", 50);
  Priced relu = {builder.operand({{size}}).result({{size}}).build(), {1}};
  layouts.resize(2);
  for (Layout &layout : layouts)
    layout.dims.resize(1);
  EXPECT_EQ(CostModel::countProductFlops(relu.rule, relu.work, layouts,
                                         FlopConvention::Full),
            0);
}
