// A maximum over split columns is left unfinished, and finished by an all-reduce
// of maxima of what is smallest.
// RUN: tp-opt %s --tp-plan=mesh=tp=3 --tp-insert-collectives | FileCheck %s

// CHECK: #[[LAYOUT:.*]] = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>
// CHECK-LABEL: @main
// CHECK: %[[PARTIAL:.*]] = tp.reduce max {{.*}} -> tensor<40x50xf32, #[[LAYOUT]]>
// CHECK-NEXT: %[[MAX:.*]] = tp.all_reduce %[[PARTIAL]] over {"tp"}
// CHECK: tp.sub
func.func @main(%x: tensor<40x50x70xf32>, %a: tensor<1200x70xf32> {tp.parameter})
    -> tensor<40x50xf32> {
  %p = tp.matmul %x, %a {transpose_b}
      : (tensor<40x50x70xf32>, tensor<1200x70xf32>) -> tensor<40x50x1200xf32>
  %m = tp.reduce max %p over [2] : (tensor<40x50x1200xf32>) -> tensor<40x50xf32>
  %n = tp.broadcast %m along [2] : (tensor<40x50xf32>) -> tensor<40x50x1200xf32>
  %c = tp.sub %p, %n
      : (tensor<40x50x1200xf32>, tensor<40x50x1200xf32>) -> tensor<40x50x1200xf32>
  %e = tp.exp %c : (tensor<40x50x1200xf32>) -> tensor<40x50x1200xf32>
  %s = tp.reduce sum %e over [2] : (tensor<40x50x1200xf32>) -> tensor<40x50xf32>
  return %s : tensor<40x50xf32>
}
