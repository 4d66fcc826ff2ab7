// Split classes cost a maximum and a sum of one number a token, and one number:
// the targets' logits stay a partial sum to the end. The logits stay where they
// are.
// RUN: tp-opt %s --tp-plan=mesh=tp=4 --tp-insert-collectives | FileCheck %s

// CHECK-LABEL: @main
// CHECK-NOT: tp.{{all|reduce_scatter}}
// CHECK: %[[M:.*]] = tp.reduce max
// CHECK-NEXT: tp.all_reduce %[[M]] over {"tp"} : (tensor<63x50xf32,
// CHECK-NOT: tp.{{all|reduce_scatter}}
// CHECK: %[[S:.*]] = tp.reduce sum
// CHECK-NEXT: tp.all_reduce %[[S]] over {"tp"} : (tensor<63x50xf32,
// CHECK-NOT: tp.{{all|reduce_scatter}}
// CHECK: tp.take_target
// CHECK-NOT: tp.{{all|reduce_scatter}}
// CHECK: tp.all_reduce %{{.*}} over {"tp"} : (tensor<f32,
// CHECK-NEXT: tp.div
// CHECK-NOT: tp.{{all|reduce_scatter}}
// CHECK: return
func.func @main(%x: tensor<63x50x70xf32>, %w: tensor<1200x70xf32> {tp.parameter},
                %t: tensor<63x50xi64>) -> tensor<f32> {
  %p = tp.matmul %x, %w {transpose_b}
      : (tensor<63x50x70xf32>, tensor<1200x70xf32>) -> tensor<63x50x1200xf32>
  %l = tp.cross_entropy %p, %t
      : (tensor<63x50x1200xf32>, tensor<63x50xi64>) -> tensor<f32>
  return %l : tensor<f32>
}
