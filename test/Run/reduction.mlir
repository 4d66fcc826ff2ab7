// A softmax over split columns by its parts, and other reductions. The columns
// from 10 on are padding: whole ranks of them where 6 ranks split 12 columns.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2,ep=3 | FileCheck %s

// CHECK: y [3, 5, 7]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: s [5]: max error {{.*}}: ok
// CHECK: t [3, 13]: max error {{.*}}: ok
// CHECK: n [2]: max error 0 {{.*}}: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<3x5x7xf32> {tp.name = "x"},
                %a: tensor<12x7xf32> {tp.name = "a", tp.parameter},
                %b: tensor<7x12xf32> {tp.name = "b", tp.parameter},
                %floor: tensor<12xf32> {tp.name = "floor", tp.parameter},
                %i: tensor<3x12x2xi32> {tp.name = "i", tp.bound = 100})
    -> (tensor<3x5x7xf32> {tp.name = "y"}, tensor<5xf32> {tp.name = "s"},
        tensor<3x13xf32> {tp.name = "t"}, tensor<2xi32> {tp.name = "n"}) {
  %p = tp.matmul %x, %a {transpose_b}
      : (tensor<3x5x7xf32>, tensor<12x7xf32>) -> tensor<3x5x12xf32>
  %f = tp.maximum %p, %floor
      : (tensor<3x5x12xf32>, tensor<12xf32>) -> tensor<3x5x12xf32>
  %m = tp.reduce max %f over [2] {count = 10 : i64}
      : (tensor<3x5x12xf32>) -> tensor<3x5xf32>
  %n = tp.broadcast %m along [2] : (tensor<3x5xf32>) -> tensor<3x5x12xf32>
  %c = tp.sub %f, %n
      : (tensor<3x5x12xf32>, tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %e = tp.exp %c : (tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %z = tp.reduce sum %e over [2] {count = 10 : i64}
      : (tensor<3x5x12xf32>) -> tensor<3x5xf32>
  %w = tp.broadcast %z along [2] : (tensor<3x5xf32>) -> tensor<3x5x12xf32>
  %q = tp.div %e, %w
      : (tensor<3x5x12xf32>, tensor<3x5x12xf32>) -> tensor<3x5x12xf32>
  %y = tp.matmul %q, %b {transpose_b}
      : (tensor<3x5x12xf32>, tensor<7x12xf32>) -> tensor<3x5x7xf32>
  %s = tp.reduce sum %q over [0, 2] : (tensor<3x5x12xf32>) -> tensor<5xf32>
  %h = tp.softmax %y along 1 : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %j = tp.reduce max %h over [1] : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  %k = tp.slice %j at [0, 1] : (tensor<3x7xf32>) -> tensor<3x6xf32>
  %t = tp.concat %j, %k along 1 : (tensor<3x7xf32>, tensor<3x6xf32>) -> tensor<3x13xf32>
  %l = tp.reduce sum %i over [0] : (tensor<3x12x2xi32>) -> tensor<12x2xi32>
  %o = tp.reduce max %l over [0] {count = 7 : i64} : (tensor<12x2xi32>) -> tensor<2xi32>
  return %y, %s, %t, %o : tensor<3x5x7xf32>, tensor<5xf32>, tensor<3x13xf32>, tensor<2xi32>
}
