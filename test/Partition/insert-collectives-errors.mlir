// RUN: not tp-opt %s --tp-insert-collectives 2>&1 | FileCheck %s
// RUN: not tp-opt %s --tp-insert-collectives="machine=tpu" 2>&1 | FileCheck %s --check-prefix=MACHINE

// MACHINE: machine 'tpu' is not in share/machines
tp.mesh @mesh = <["tp"=4]>
#uneven = #tp.sharding<@mesh, [{"tp"}]>
#whole = #tp.sharding<@mesh, [{}]>
func.func @uneven(%v: tensor<6xf32, #uneven>) -> tensor<6xf32, #whole> {
  // CHECK: error: 'tp.reshard' op from #tp.sharding<@mesh, [{"tp"}]> to #tp.sharding<@mesh, [{}]> on shape [6] has no sequence of collectives: shards must be even
  // CHECK: note: fix: use ranks that divide the dimensions
  %a = tp.reshard %v : (tensor<6xf32, #uneven>) -> tensor<6xf32, #whole>
  return %a : tensor<6xf32, #whole>
}
