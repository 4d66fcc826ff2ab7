// Typed by hand: every collective between unequal shards, run.
// RUN: tp-opt %s --tp-insert-collectives --tp-partition | tp-run - | FileCheck %s
// RUN: tp-run %s --check | FileCheck %s --check-prefix=CHECKED

// CHECK: @main on 3 ranks
// CHECK: y [7, 5]: largest magnitude
// CHECKED: y [7, 5]: max error {{.*}}: ok
// CHECKED: exact: equal in the field of 2^61 - 1 elements on every rank
tp.mesh @mesh = <["tp"=3]>
#whole = #tp.sharding<@mesh, [{}, {}]>
#cols = #tp.sharding<@mesh, [{}, {"tp"}]>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func private @layer(%x: tensor<7x5xf32, #whole>, %w: tensor<5x10xf32, #cols>, %v: tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #rows> {
  %0 = tp.matmul %x, %w : (tensor<7x5xf32, #whole>, tensor<5x10xf32, #cols>) -> tensor<7x10xf32, #cols>
  %1 = tp.relu %0 : (tensor<7x10xf32, #cols>) -> tensor<7x10xf32, #cols>
  %2 = tp.matmul %1, %v : (tensor<7x10xf32, #cols>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #sum>
  %3 = tp.reshard %2 : (tensor<7x5xf32, #sum>) -> tensor<7x5xf32, #rows>
  return %3 : tensor<7x5xf32, #rows>
}
func.func @main(%x: tensor<7x5xf32, #whole> {tp.name = "x"}, %w: tensor<5x10xf32, #cols>, %v: tensor<10x5xf32, #rows>) -> (tensor<7x5xf32, #cols> {tp.name = "y"}) {
  %0 = call @layer(%x, %w, %v) : (tensor<7x5xf32, #whole>, tensor<5x10xf32, #cols>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #rows>
  %1 = tp.reshard %0 : (tensor<7x5xf32, #rows>) -> tensor<7x5xf32, #whole>
  %2 = call @layer(%1, %w, %v) : (tensor<7x5xf32, #whole>, tensor<5x10xf32, #cols>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #rows>
  %3 = tp.reshard %2 : (tensor<7x5xf32, #rows>) -> tensor<7x5xf32, #cols>
  return %3 : tensor<7x5xf32, #cols>
}
