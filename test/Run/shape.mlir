// Slices, broadcasts and transposes next to dimensions that are split.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2,ep=3 | FileCheck %s

// CHECK: y [3, 5, 7]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<3x5x7xf32> {tp.name = "x"},
                %a: tensor<12x7xf32> {tp.name = "a", tp.parameter},
                %b: tensor<7x12xf32> {tp.name = "b", tp.parameter},
                %bias: tensor<12xf32> {tp.name = "bias", tp.parameter},
                %positions: tensor<9x12xf32> {tp.name = "p", tp.parameter},
                %scale: tensor<3xf32> {tp.name = "s"})
    -> (tensor<3x5x7xf32> {tp.name = "y"}) {
  %p = tp.matmul %x, %a {transpose_b}
      : (tensor<3x5x7xf32>, tensor<12x7xf32>) -> tensor<3x5x12xf32>
  %w = tp.broadcast %bias along [0, 1] : (tensor<12xf32>) -> tensor<3x5x12xf32>
  %q = tp.add %p, %w
      : (tensor<3x5x12xf32>, tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %t = tp.slice %positions at [3, 0] : (tensor<9x12xf32>) -> tensor<5x12xf32>
  %r = tp.add %q, %t
      : (tensor<3x5x12xf32>, tensor<5x12xf32>) -> tensor<3x5x12xf32>
  %f = tp.broadcast %scale along [1, 2] : (tensor<3xf32>) -> tensor<3x5x12xf32>
  %u = tp.mul %r, %f
      : (tensor<3x5x12xf32>, tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %g = tp.gelu %u : (tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %h = tp.transpose %g by [1, 2, 0]
      : (tensor<3x5x12xf32>) -> tensor<5x12x3xf32>
  %i = tp.transpose %h by [2, 0, 1]
      : (tensor<5x12x3xf32>) -> tensor<3x5x12xf32>
  %y = tp.matmul %i, %b {transpose_b}
      : (tensor<3x5x12xf32>, tensor<7x12xf32>) -> tensor<3x5x7xf32>
  return %y : tensor<3x5x7xf32>
}
