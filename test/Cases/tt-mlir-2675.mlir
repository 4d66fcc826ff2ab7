// tenstorrent/tt-mlir 2675 (also 2626, tenstorrent/tt-metal 29692): an all-reduce of
// [3, 5] on two ranks was taken apart into a reduce-scatter and an all-gather, which
// need a size that divides; the result had another shape. The all-reduce itself
// needs none: it stays one, and the shape too.
// RUN: tp-opt %s --tp-insert-collectives --tp-partition | FileCheck %s

// CHECK: tp.local_all_reduce %{{.*}} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: return
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @main(%x: tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep> {
  %y = tp.reshard %x : (tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep>
  return %y : tensor<3x5xf32, #rep>
}
