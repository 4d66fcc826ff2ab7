// A program of bf16 and f16 with casts between them, planned on its own types
// and run as f32.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 --uneven=allow | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 --seed=7 | FileCheck %s
// RUN: tp-run %s --check --mesh=dp=3,tp=2 --weights=free | FileCheck %s
// The plan moves bf16 where the sum is: half of what f32 would take.
// RUN: tp-opt %s --tp-plan=mesh=tp=2 --tp-insert-collectives | FileCheck %s --check-prefix=PLAN

// PLAN: tp.{{(all_reduce|reduce_scatter)}} {{.*}}tensor<6x5xbf16
// CHECK: note: 16-bit floating-point types run as f32; casts to them round
// CHECK: y [6, 5]: max error {{.*}}; {{.*}} of the tolerance of the element: ok
// CHECK: z [6, 5]: max error {{.*}}; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<6x7xbf16> {tp.name = "x"},
                %a: tensor<24x7xbf16> {tp.name = "up", tp.parameter},
                %b: tensor<5x24xbf16> {tp.name = "down", tp.parameter},
                %g: tensor<5xf32> {tp.name = "gain", tp.parameter})
    -> (tensor<6x5xbf16> {tp.name = "y"}, tensor<6x5xf16> {tp.name = "z"}) {
  %h = tp.matmul %x, %a {transpose_b}
      : (tensor<6x7xbf16>, tensor<24x7xbf16>) -> tensor<6x24xbf16>
  %r = tp.gelu %h tanh : (tensor<6x24xbf16>) -> tensor<6x24xbf16>
  %d = tp.matmul %r, %b {transpose_b}
      : (tensor<6x24xbf16>, tensor<5x24xbf16>) -> tensor<6x5xbf16>
  // The norm in f32, as models have it.
  %w = tp.cast %d : (tensor<6x5xbf16>) -> tensor<6x5xf32>
  %n = tp.rms_norm %w, %g {epsilon = 1.0e-5 : f64}
      : (tensor<6x5xf32>, tensor<5xf32>) -> tensor<6x5xf32>
  %y = tp.cast %n : (tensor<6x5xf32>) -> tensor<6x5xbf16>
  %z = tp.cast %y : (tensor<6x5xbf16>) -> tensor<6x5xf16>
  return %y, %z : tensor<6x5xbf16>, tensor<6x5xf16>
}
