// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-print-sharding-rules: rules as attributes, for readers and tests.

#include "tp/IR/TP.h"
#include "tp/Passes.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PRINTSHARDINGRULES
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

struct PrintShardingRulesPass
    : tp::impl::PrintShardingRulesBase<PrintShardingRulesPass> {
  void runOnOperation() final {
    getOperation().walk([](ShardingRuleOpInterface op) {
      op->setAttr(
          "tp.sharding_rule",
          StringAttr::get(op->getContext(), op.getShardingRule().str()));
    });
  }
};

} // namespace
