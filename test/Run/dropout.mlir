// The same elements are dropped however the tensor is split: along columns, rows
// by dp, both, and in the whole tensor on one rank.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=dp=3,tp=4 | FileCheck %s

// CHECK: y [3, 5, 7]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: d [3, 5, 12]: max error {{.*}}: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<3x5x7xf32> {tp.name = "x"},
                %a: tensor<12x7xf32> {tp.name = "a", tp.parameter},
                %b: tensor<7x12xf32> {tp.name = "b", tp.parameter})
    -> (tensor<3x5x7xf32> {tp.name = "y"}, tensor<3x5x12xf32> {tp.name = "d"}) {
  %s = tp.constant dense<81985529216486895> : tensor<i64>
  %p = tp.matmul %x, %a {transpose_b}
      : (tensor<3x5x7xf32>, tensor<12x7xf32>) -> tensor<3x5x12xf32>
  %d = tp.dropout %p, %s {rate = 0.4 : f64, site = 5 : i64}
      : (tensor<3x5x12xf32>, tensor<i64>) -> tensor<3x5x12xf32>
  %q = tp.matmul %d, %b {transpose_b}
      : (tensor<3x5x12xf32>, tensor<7x12xf32>) -> tensor<3x5x7xf32>
  %y = tp.dropout %q, %s {rate = 0.3 : f64}
      : (tensor<3x5x7xf32>, tensor<i64>) -> tensor<3x5x7xf32>
  return %y, %d : tensor<3x5x7xf32>, tensor<3x5x12xf32>
}
