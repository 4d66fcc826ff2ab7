// RUN: not tp-opt %s --tp-insert-collectives 2>&1 | FileCheck %s
// RUN: not tp-opt %s --tp-insert-collectives="machine=tpu" 2>&1 | FileCheck %s --check-prefix=MACHINE

// MACHINE: machine 'tpu' is not in share/machines
tp.mesh @mesh = <["tp"=6]>
#halves = #tp.sharding<@mesh, [{"tp":(1)2}]>
#thirds = #tp.sharding<@mesh, [{"tp":(1)3}]>
func.func @torn(%v: tensor<6xf32, #halves>) -> tensor<6xf32, #thirds> {
  // CHECK: error: 'tp.reshard' op from #tp.sharding<@mesh, [{"tp":(1)2}]> to #tp.sharding<@mesh, [{"tp":(1)3}]> on shape [6] has no sequence of collectives: sub-axes of one axis must nest
  // CHECK: note: fix: all-gather or all-reduce the value first
  %a = tp.reshard %v : (tensor<6xf32, #halves>) -> tensor<6xf32, #thirds>
  return %a : tensor<6xf32, #thirds>
}
