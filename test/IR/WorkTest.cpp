// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What operations cost, against counts made by hand.

#include "mlir/Parser/Parser.h"
#include "tp/IR/TP.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

class WorkTest : public testing::Test {
protected:
  WorkTest() {
    context.loadDialect<TPDialect, func::FuncDialect, arith::ArithDialect>();
  }

  /// The only tp operation of a function with these arguments.
  ShardingRuleOpInterface parse(StringRef arguments, StringRef op) {
    std::string text = "func.func @f(" + arguments.str() +
                       ") {\n  %r = " + op.str() + "\n  return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    ShardingRuleOpInterface found;
    if (module)
      module->walk([&](ShardingRuleOpInterface ruled) { found = ruled; });
    return found;
  }

  static Work getWork(ShardingRuleOpInterface op) {
    return cast<WorkOpInterface>(op.getOperation()).getWork();
  }

  static double countFlops(ShardingRuleOpInterface op) {
    SmallVector<int64_t> sizes;
    for (const Factor &factor : op.getShardingRule().factors)
      sizes.push_back(factor.size);
    return getWork(op).countFlops(sizes);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(WorkTest, AProductMultipliesAndAdds) {
  ShardingRuleOpInterface op =
      parse("%x: tensor<5x7x13xf32>, %w: tensor<11x13xf32>",
            "tp.matmul %x, %w {transpose_b} : (tensor<5x7x13xf32>, "
            "tensor<11x13xf32>) -> tensor<5x7x11xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(countFlops(op), 2.0 * 5 * 7 * 11 * 13);
  EXPECT_EQ(getWork(op).kept, KeptForBackward::Operands);
  EXPECT_FALSE(isMove(op));
}

// Four queries over six keys see 3, 4, 5 and 6 of them; half of the diagonal
// does not count: 16 pairs a head.
TEST_F(WorkTest, AttentionCountsThePairsThatItsMaskLeaves) {
  StringRef arguments = "%q: tensor<3x4x4x8xf32>, %k: tensor<3x6x2x8xf32>";
  StringRef types = " : (tensor<3x4x4x8xf32>, tensor<3x6x2x8xf32>, "
                    "tensor<3x6x2x8xf32>) -> tensor<3x4x4x8xf32>";
  ShardingRuleOpInterface op = parse(
      arguments,
      ("tp.attention %q, %k, %k {causal, scale = 0.5 : f64}" + types).str());
  ASSERT_TRUE(op);
  EXPECT_EQ(countFlops(op), 4.0 * 16 * 3 * 4 * 8);
  auto [groups, inGroup] =
      cast<GroupedHeadsOpInterface>(op.getOperation()).getGrouping();
  EXPECT_EQ(op.getShardingRule().factors[groups].size, 2);
  EXPECT_EQ(op.getShardingRule().factors[inGroup].size, 2);
  op = parse(arguments,
             ("tp.attention %q, %k, %k {scale = 0.5 : f64}" + types).str());
  ASSERT_TRUE(op);
  EXPECT_EQ(countFlops(op), 4.0 * 4 * 6 * 3 * 4 * 8);
}

TEST_F(WorkTest, ALookupReadsAsManyRowsAsItGives) {
  ShardingRuleOpInterface op =
      parse("%t: tensor<11x7xf32>, %i: tensor<3x5xi64>",
            "tp.embedding %t, %i : (tensor<11x7xf32>, tensor<3x5xi64>) -> "
            "tensor<3x5x7xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(countFlops(op), 0);
  EXPECT_EQ(getWork(op).lookedUp, 0u);
  EXPECT_FALSE(isMove(op));
}

TEST_F(WorkTest, AMoveIsFreeAndACastIsNot) {
  ShardingRuleOpInterface op =
      parse("%x: tensor<6x5xf32>",
            "tp.reshape %x : (tensor<6x5xf32>) -> tensor<2x15xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(countFlops(op), 0);
  EXPECT_TRUE(isMove(op));
  op = parse("%x: tensor<6x5xf32>",
             "tp.cast %x : (tensor<6x5xf32>) -> tensor<6x5xf64>");
  ASSERT_TRUE(op);
  EXPECT_EQ(countFlops(op), 30);
  EXPECT_EQ(getWork(op).kept, KeptForBackward::Nothing);
  EXPECT_FALSE(isMove(op));
}
