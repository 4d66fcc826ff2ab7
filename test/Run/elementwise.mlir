// Arithmetic and functions of columns that are split.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2,ep=3 | FileCheck %s

// CHECK: y [3, 5, 7]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<3x5x7xf32> {tp.name = "x"},
                %a: tensor<12x7xf32> {tp.name = "a", tp.parameter},
                %b: tensor<7x12xf32> {tp.name = "b", tp.parameter},
                %r: tensor<12xf32> {tp.name = "r", tp.parameter},
                %i: tensor<12xi32> {tp.name = "i", tp.bound = 9},
                %j: tensor<12xi32> {tp.name = "j", tp.bound = 9})
    -> (tensor<3x5x7xf32> {tp.name = "y"}) {
  %p = tp.matmul %x, %a {transpose_b}
      : (tensor<3x5x7xf32>, tensor<12x7xf32>) -> tensor<3x5x12xf32>
  %e = tp.exp %p : (tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %s = tp.sigmoid %p : (tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %u = tp.add %e, %s
      : (tensor<3x5x12xf32>, tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %l = tp.log %u : (tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %q = tp.div %l, %u
      : (tensor<3x5x12xf32>, tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %v = tp.div %q, %r : (tensor<3x5x12xf32>, tensor<12xf32>) -> tensor<3x5x12xf32>
  %g = tp.tanh %v : (tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %m = tp.compare lt %i, %j : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
  %c = tp.cast %m : (tensor<12xi1>) -> tensor<12xf32>
  %k = tp.mul %g, %c : (tensor<3x5x12xf32>, tensor<12xf32>) -> tensor<3x5x12xf32>
  %w = tp.cast %k : (tensor<3x5x12xf32>) -> tensor<3x5x12xf64>
  %n = tp.cast %w : (tensor<3x5x12xf64>) -> tensor<3x5x12xf32>
  %y = tp.matmul %n, %b {transpose_b}
      : (tensor<3x5x12xf32>, tensor<7x12xf32>) -> tensor<3x5x7xf32>
  return %y : tensor<3x5x7xf32>
}
