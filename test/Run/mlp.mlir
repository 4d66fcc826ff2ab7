// RUN: tp-run %s --check --mesh=tp=1 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=dp=2,tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2 --threads-per-rank=3 | FileCheck %s

// CHECK: @main on
// CHECK: y [4, 6, 16]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<4x6x16xf32> {tp.name = "x", tp.stream},
                %a: tensor<24x16xf32> {tp.name = "gate", tp.parameter},
                %b: tensor<24x16xf32> {tp.name = "up", tp.parameter},
                %c: tensor<16x24xf32> {tp.name = "down", tp.parameter},
                %g: tensor<16xf32> {tp.name = "norm.weight", tp.parameter})
    -> (tensor<4x6x16xf32> {tp.name = "y"}) {
  %n = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64}
      : (tensor<4x6x16xf32>, tensor<16xf32>) -> tensor<4x6x16xf32>
  %p = tp.matmul %n, %a {transpose_b}
      : (tensor<4x6x16xf32>, tensor<24x16xf32>) -> tensor<4x6x24xf32>
  %q = tp.matmul %n, %b {transpose_b}
      : (tensor<4x6x16xf32>, tensor<24x16xf32>) -> tensor<4x6x24xf32>
  %s = tp.silu %p : (tensor<4x6x24xf32>) -> tensor<4x6x24xf32>
  %m = tp.mul %s, %q
      : (tensor<4x6x24xf32>, tensor<4x6x24xf32>) -> tensor<4x6x24xf32>
  %d = tp.matmul %m, %c {transpose_b}
      : (tensor<4x6x24xf32>, tensor<16x24xf32>) -> tensor<4x6x16xf32>
  %y = tp.add %x, %d
      : (tensor<4x6x16xf32>, tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  return %y : tensor<4x6x16xf32>
}
