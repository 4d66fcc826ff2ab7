// A program of sums and products of small whole numbers gives the same bits
// however it is split: no difference at all from one rank and from f64.
//
// RUN: tp-run %s --check --inputs=integers --mesh=tp=1 | FileCheck %s
// RUN: tp-run %s --check --inputs=integers --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --inputs=integers --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --inputs=integers --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --inputs=integers --mesh=a=2,b=2 | FileCheck %s
// RUN: tp-run %s --check --inputs=integers --mesh=dp=3,tp=4 --seed=5 | FileCheck %s
// RUN: tp-run %s --check --inputs=integers --mesh=tp=3 --weights=free | FileCheck %s
// RUN: tp-run %s --check --inputs=normal --mesh=tp=3 | FileCheck %s --check-prefix=NORMAL
//
// CHECK: y [6, 5]: max error 0 (0 relative) vs one rank, 0 (0 relative) vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal
// NORMAL-NOT: max error 0 (0 relative) vs one rank, 0 (0 relative) vs f64
// NORMAL: exact: equal
func.func @main(%x: tensor<6x7xf32> {tp.name = "x"},
                %a: tensor<24x7xf32> {tp.name = "up", tp.parameter},
                %b: tensor<5x24xf32> {tp.name = "down", tp.parameter},
                %c: tensor<6x5xf32> {tp.name = "residual"})
    -> (tensor<6x5xf32> {tp.name = "y"}) {
  %h = tp.matmul %x, %a {transpose_b}
      : (tensor<6x7xf32>, tensor<24x7xf32>) -> tensor<6x24xf32>
  %r = tp.relu %h : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %d = tp.matmul %r, %b {transpose_b}
      : (tensor<6x24xf32>, tensor<5x24xf32>) -> tensor<6x5xf32>
  %y = tp.add %d, %c
      : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}
