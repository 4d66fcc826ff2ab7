// What cannot be partitioned, and why.
// RUN: split-file %s %t
// RUN: not tp-opt %t/two.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not tp-opt %t/blocks.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not tp-opt %t/declared.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=DECLARED
// RUN: not tp-opt %t/open.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not tp-opt %t/nomesh.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=NOMESH
// RUN: not tp-opt %t/recursive.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: not tp-opt %t/many.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tp-opt %t/reshard.mlir --tp-partition 2>&1 | FileCheck %s --check-prefix=RESHARD
// RUN: not tp-opt %t/foreign.mlir --allow-unregistered-dialect --tp-partition 2>&1 | FileCheck %s --check-prefix=FOREIGN

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

//--- recursive.mlir
// RECURSIVE: 'func.func' op calls itself; a local program is straight-line code
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<5xf32, #tp.sharding<@mesh, [{"tp"}]>>) {
  call @main(%x) : (tensor<5xf32, #tp.sharding<@mesh, [{"tp"}]>>) -> ()
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

//--- foreign.mlir
// FOREIGN: error: 'other.barrier' op has no local form
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<6xf32, #tp.sharding<@mesh, [{"tp"}]>>) {
  "other.barrier"() : () -> ()
  return
}

//--- two.mlir
// TWO: 'tp.mesh' op is a second mesh; a local program is for the ranks of one
tp.mesh @a = <["x"=2]>
tp.mesh @b = <["y"=3, "x"=2]>
func.func @f(%x: tensor<6xf32, #tp.sharding<@b, [{"x"}]>>) {
  return
}

//--- blocks.mlir
// BLOCKS: 'func.func' op has 2 blocks; a local program is straight-line code
tp.mesh @mesh = <["tp"=2]>
func.func @f() {
  return
^bb1:
  return
}

//--- declared.mlir
// DECLARED: 'func.func' op is only declared; every function that a local program calls needs a body
tp.mesh @mesh = <["tp"=2]>
func.func private @g(tensor<3xf32>)
