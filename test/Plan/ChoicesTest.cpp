// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Strategies against the type checker.

#include "tp/Plan/Choices.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tp/Check/Legality.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

/// Heads, split out of a product's columns, are dealt one by one or in pairs.
/// Eight in pairs leave half of eight ranks without any: the head's own
/// dimension is then not split further.
TEST(ChoicesTest, AllStrategiesOfAReshapeAreLegal) {
  MLIRContext context;
  context.loadDialect<TPDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(
      R"(tp.mesh @mesh = <["a"=8, "b"=2]>
         func.func @main(%x: tensor<3x16xf32>) -> tensor<3x8x2xf32> {
           %y = tp.reshape %x : (tensor<3x16xf32>) -> tensor<3x8x2xf32>
           return %y : tensor<3x8x2xf32>
         })",
      &context);
  ASSERT_TRUE(module);
  MeshOp mesh = *module->getOps<MeshOp>().begin();
  ShardingRuleOpInterface reshape;
  module->walk([&](ShardingRuleOpInterface op) { reshape = op; });
  ShardingRule rule = reshape.getShardingRule();
  PlanAxes axes{{{0, 1, 8}, {1, 1, 2}}, {false, false}};
  FactorUnits units;
  for (const auto &factor : rule.factors)
    units.push_back(factor.size == 8 ? SmallVector<int64_t, 2>{1, 2}
                                     : SmallVector<int64_t, 2>{1});
  unsigned inPairs = 0;
  for (const Strategy &strategy : enumerateStrategies(rule, axes, {}, &units)) {
    auto withLayout = [&](Type type, const Layout &layout) {
      return withSharding(
          type, toAttr(layout, mesh.getMesh(),
                       FlatSymbolRefAttr::get(mesh.getSymNameAttr())));
    };
    Value x = reshape->getOperand(0), y = reshape->getResult(0);
    x.setType(withLayout(x.getType(), strategy.layouts[0]));
    y.setType(withLayout(y.getType(), strategy.layouts[1]));
    for (const Violation &violation : checkOperation(reshape, mesh.getMesh()))
      ADD_FAILURE() << violation.message;
    inPairs += strategy.layouts[1].dims[1].unit == 2;
  }
  EXPECT_GT(inPairs, 0u);
}

} // namespace
