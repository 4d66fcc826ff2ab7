// A program with collectives runs if every value is typed; what enters and leaves
// is finished; a typed program has no other plan.
// RUN: split-file %s %t
// RUN: not tp-run %t/open.mlir 2>&1 | FileCheck %t/open.mlir
// RUN: not tp-run %t/callee.mlir 2>&1 | FileCheck %t/callee.mlir
// RUN: not tp-run %t/edges.mlir --check 2>&1 | FileCheck %t/edges.mlir
// RUN: not tp-run %t/typed.mlir --mesh=tp=2 --uneven=allow 2>&1 | FileCheck %t/typed.mlir
// RUN: tp-run %t/typed.mlir | FileCheck %t/typed.mlir --check-prefix=RAN
// RUN: tp-opt %t/typed.mlir --tp-partition -o %t/local.mlir
// RUN: not tp-run %t/local.mlir --weights=free 2>&1 | FileCheck %t/typed.mlir --check-prefix=LOCAL
// RUN: tp-opt %t/planned.mlir --tp-plan="mesh=tp=2" --tp-insert-collectives -o %t/collectives.mlir
// RUN: tp-run %t/collectives.mlir --check | FileCheck %t/planned.mlir
// RUN: not tp-run %t/collectives.mlir --mesh=tp=2 2>&1 | FileCheck %t/planned.mlir --check-prefix=ANEW
// RUN: not tp-run %t/meshes.mlir 2>&1 | FileCheck %t/meshes.mlir

//--- open.mlir
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#rep = #tp.sharding<@mesh, [{}]>
func.func @main(%x: tensor<4x3xf32, #row>) -> tensor<3xf32> {
  %s = tp.reduce sum %x over [0] : (tensor<4x3xf32, #row>) -> tensor<3xf32, #sum>
  // CHECK: open.mlir:[[#@LINE+3]]:{{[0-9]+}}: note: the first collective is here
  // CHECK: note: fix: give the value a layout
  // CHECK: note: fix: leave collectives to the planner: remove them, or write tp.reshard in their place
  %r = tp.all_reduce %s over {"tp"} : (tensor<3xf32, #sum>) -> tensor<3xf32, #rep>
  %y = tp.relu %r : (tensor<3xf32, #rep>) -> tensor<3xf32>
  %z = tp.tanh %y : (tensor<3xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}
// CHECK: error: the program is typed in part

//--- callee.mlir
tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#rep = #tp.sharding<@mesh, [{}]>
func.func @main(%x: tensor<4xf32, #split>) -> tensor<4xf32, #rep> {
  %r = tp.all_gather %x dim 0 over {"tp"} : (tensor<4xf32, #split>) -> tensor<4xf32, #rep>
  %y = call @inner(%r) : (tensor<4xf32, #rep>) -> tensor<4xf32, #rep>
  return %y : tensor<4xf32, #rep>
}
func.func private @inner(%x: tensor<4xf32, #rep>) -> tensor<4xf32, #rep> {
  // CHECK: callee.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: result 0 of 'tp.relu' has no layout, but the program has collectives of its own; such a program runs as it is typed, which every value has to be
  %y = tp.relu %x : (tensor<4xf32, #rep>) -> tensor<4xf32>
  %z = tp.tanh %y : (tensor<4xf32>) -> tensor<4xf32, #rep>
  return %z : tensor<4xf32, #rep>
}

//--- edges.mlir
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
// CHECK: edges.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: argument 0 is unreduced at the edge of the program: #tp.sharding<@mesh, [{}], unreduced = {"tp"}>; an input is one tensor, not a term for every rank
// CHECK: note: fix: take it finished and make it unreduced with tp.to_unreduced, or take the terms as one more dimension, split over those axes, and combine them with tp.reduce
func.func @main(%s: tensor<3xf32, #sum>, %x: tensor<4x3xf32, #row>) -> (tensor<3xf32, #sum>, tensor<3xf32, #max>) {
  %m = tp.reduce max %x over [0] : (tensor<4x3xf32, #row>) -> tensor<3xf32, #max>
  // CHECK: edges.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: result 0 is unreduced at the edge of the program: #tp.sharding<@mesh, [{}], unreduced = {"tp"}>; no rank holds an element of it
  // CHECK: note: fix: finish it with tp.all_reduce before the return
  // CHECK: edges.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: result 1 is unreduced
  // CHECK: error: the program could not be run as it is typed
  return %s, %m : tensor<3xf32, #sum>, tensor<3xf32, #max>
}

//--- typed.mlir
// CHECK: error: every value of the program has a layout, which leaves nothing to plan; leave out --mesh, --uneven, or give the program without layouts
// RAN: @main on 2 ranks
// LOCAL: error: the program is written for its ranks already; leave out --weights
tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
func.func @main(%x: tensor<3xf32, #split>) -> tensor<3xf32, #split> {
  %y = tp.relu %x : (tensor<3xf32, #split>) -> tensor<3xf32, #split>
  return %y : tensor<3xf32, #split>
}

//--- planned.mlir
// CHECK: exact: equal
// ANEW: error: every value of the program has a layout, which leaves nothing to plan; leave out --mesh, or
func.func @main(%x: tensor<4x6xf32>, %v: tensor<6x8xf32> {tp.parameter}, %w: tensor<8x3xf32> {tp.parameter}) -> tensor<4x3xf32> {
  %h = tp.matmul %x, %v : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %y = tp.matmul %h, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

//--- meshes.mlir
tp.mesh @a = <["tp"=2]>
// CHECK: meshes.mlir:[[#@LINE+1]]:1: error: 'tp.mesh' op is a second mesh; a local program is for the ranks of one
tp.mesh @b = <["tp"=2]>
func.func @main(%x: tensor<3xf32, #tp.sharding<@a, [{}]>>, %y: tensor<3xf32, #tp.sharding<@b, [{}]>>) -> tensor<3xf32, #tp.sharding<@a, [{}]>> {
  return %x : tensor<3xf32, #tp.sharding<@a, [{}]>>
}
