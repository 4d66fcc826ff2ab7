// RUN: split-file %s %t
// RUN: not tp-opt %t/open.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not tp-opt %t/nomesh.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=NOMESH
// RUN: not tp-opt %t/uneven.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not tp-opt %t/many.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tp-opt %t/reshard.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=RESHARD

//--- open.mlir
// OPEN: has type 'tensor<4xf32>' without sharding; plan the program before partitioning it
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<4xf32>) {
  return
}

//--- nomesh.mlir
// NOMESH: has no tp.mesh to be partitioned over
func.func @main() {
  return
}

//--- uneven.mlir
// UNEVEN: shape [5] is not split evenly by
// UNEVEN-SAME: only even shards can be partitioned
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<5xf32, #tp.sharding<@mesh, [{"tp"}]>>) {
  return
}

//--- many.mlir
// MANY: has 1099511627776 ranks; local programs list their groups, up to 65536 ranks
tp.mesh @mesh = <["tp"=1099511627776]>
func.func @main(%x: tensor<4xf32, #tp.sharding<@mesh, [{}]>>) {
  return
}

//--- reshard.mlir
// RESHARD: 'tp.reshard' op is not decomposed; run tp-insert-collectives first
tp.mesh @mesh = <["tp"=2]>
#a = #tp.sharding<@mesh, [{}]>
#b = #tp.sharding<@mesh, [{"tp"}]>
func.func @main(%x: tensor<4xf32, #a>) -> tensor<4xf32, #b> {
  %y = tp.reshard %x : (tensor<4xf32, #a>) -> tensor<4xf32, #b>
  return %y : tensor<4xf32, #b>
}
