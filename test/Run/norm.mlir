// Normalisations in a block, with the stream whole and split along the sequence.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2,ep=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 --sequence-parallel=on | FileCheck %s

// CHECK: y [5, 12, 7]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<5x12x7xf32> {tp.name = "x", tp.stream},
                %a: tensor<24x7xf32> {tp.name = "a", tp.parameter},
                %b: tensor<7x24xf32> {tp.name = "b", tp.parameter},
                %g: tensor<7xf32> {tp.name = "norm.weight", tp.parameter},
                %o: tensor<7xf32> {tp.name = "norm.bias", tp.parameter})
    -> (tensor<5x12x7xf32> {tp.name = "y"}) {
  %n = tp.layer_norm %x, %g, %o {epsilon = 1.0e-5 : f64}
      : (tensor<5x12x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<5x12x7xf32>
  %p = tp.matmul %n, %a {transpose_b}
      : (tensor<5x12x7xf32>, tensor<24x7xf32>) -> tensor<5x12x24xf32>
  %h = tp.gelu %p tanh : (tensor<5x12x24xf32>) -> tensor<5x12x24xf32>
  %q = tp.matmul %h, %b {transpose_b}
      : (tensor<5x12x24xf32>, tensor<7x24xf32>) -> tensor<5x12x7xf32>
  %s = tp.add %x, %q {tp.stream}
      : (tensor<5x12x7xf32>, tensor<5x12x7xf32>) -> tensor<5x12x7xf32>
  %y = tp.layer_norm %s, %g {epsilon = 1.0e-3 : f64}
      : (tensor<5x12x7xf32>, tensor<7xf32>) -> tensor<5x12x7xf32>
  return %y : tensor<5x12x7xf32>
}
