// A program that is refused gets no rules, and the pass wants a whole module.
// RUN: split-file %s %t
// RUN: not tp-opt %t/sum.mlir --tp-print-sharding-rules 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not tp-opt %t/sum.mlir --pass-pipeline="builtin.module(func.func(tp-print-sharding-rules))" 2>&1 | FileCheck %s --check-prefix=FUNC

//--- sum.mlir
// SUM: error: 'tp.relu' is applied to a sum that is not finished
// SUM-NOT: tp.sharding_rule
// FUNC: error: Can't add pass 'PrintShardingRules' restricted to 'builtin.module'
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
func.func @main(%x: tensor<5xf32, #sum>) -> tensor<5xf32, #sum> {
  %y = tp.relu %x : (tensor<5xf32, #sum>) -> tensor<5xf32, #sum>
  return %y : tensor<5xf32, #sum>
}
