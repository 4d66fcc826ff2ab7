// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/Work.h"
#include "tp/IR/TP.h"

using namespace tp;

double Work::countFlops(llvm::ArrayRef<int64_t> factorSizes) const {
  double flops = flopsPerPoint;
  for (auto [factor, size] : llvm::enumerate(factorSizes))
    if (!llvm::is_contained(summedFactors, factor))
      flops *= static_cast<double>(size);
  return flops;
}

bool tp::isMove(ShardingRuleOpInterface op) {
  return cast<WorkOpInterface>(op.getOperation()).getWork().flopsPerPoint ==
             0 &&
         op.getShardingRule().movesData;
}
