// RUN: not tp-opt %s --tp-insert-collectives 2>&1 | FileCheck %s
// RUN: not tp-opt %s --tp-insert-collectives="machine=tpu" 2>&1 | FileCheck %s --check-prefix=MACHINE

// MACHINE: machine 'tpu' is not in share/machines
tp.mesh @mesh = <["tp"=4]>
#largest = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
#whole = #tp.sharding<@mesh, [{}]>
func.func @maximum(%v: tensor<6xf32, #whole>) -> tensor<6xf32, #largest> {
  // CHECK: error: 'tp.reshard' op from #tp.sharding<@mesh, [{}]> to #tp.sharding<@mesh, [{}], unreduced = max{"tp"}> on shape [6] has no sequence of collectives: sub-axes of one axis must nest, and a finished value is not made a maximum
  // CHECK: note: fix: all-gather or all-reduce the value first
  %a = tp.reshard %v : (tensor<6xf32, #whole>) -> tensor<6xf32, #largest>
  return %a : tensor<6xf32, #largest>
}
