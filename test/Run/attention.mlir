// Two new tokens after a cache of 9 that is split with the KV heads.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=2,ep=3 | FileCheck %s

// CHECK: y [3, 2, 10]: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: exact: equal in the field {{.*}}: ok
!x = tensor<3x2x10xf32>
!q = tensor<3x2x24x4xf32>
!new = tensor<3x2x12x4xf32>
!cache = tensor<3x9x12x4xf32>
!all = tensor<3x11x12x4xf32>
func.func @main(%x: !x {tp.name = "x", tp.stream},
                %wq: tensor<96x10xf32> {tp.name = "q", tp.parameter},
                %wk: tensor<48x10xf32> {tp.name = "k", tp.parameter},
                %wv: tensor<48x10xf32> {tp.name = "v", tp.parameter},
                %wo: tensor<10x96xf32> {tp.name = "o", tp.parameter},
                %kc: !cache {tp.name = "key_cache"},
                %vc: !cache {tp.name = "value_cache"})
    -> (!x {tp.name = "y"}) {
  %0 = tp.matmul %x, %wq {transpose_b} : (!x, tensor<96x10xf32>) -> tensor<3x2x96xf32>
  %1 = tp.matmul %x, %wk {transpose_b} : (!x, tensor<48x10xf32>) -> tensor<3x2x48xf32>
  %2 = tp.matmul %x, %wv {transpose_b} : (!x, tensor<48x10xf32>) -> tensor<3x2x48xf32>
  %3 = tp.reshape %0 : (tensor<3x2x96xf32>) -> !q
  %4 = tp.reshape %1 : (tensor<3x2x48xf32>) -> !new
  %5 = tp.reshape %2 : (tensor<3x2x48xf32>) -> !new
  %6 = tp.rope %3 {theta = 1.0e2 : f64, offset = 9 : i64} : (!q) -> !q
  %7 = tp.rope %4 {theta = 1.0e2 : f64, offset = 9 : i64} : (!new) -> !new
  %8 = tp.concat %kc, %7 along 1 : (!cache, !new) -> !all
  %9 = tp.concat %vc, %5 along 1 : (!cache, !new) -> !all
  %10 = tp.attention %6, %8, %9 {causal, scale = 0.5 : f64} : (!q, !all, !all) -> !q
  %11 = tp.reshape %10 : (!q) -> tensor<3x2x96xf32>
  %12 = tp.matmul %11, %wo {transpose_b} : (tensor<3x2x96xf32>, tensor<10x96xf32>) -> !x
  %y = tp.add %x, %12 : (!x, !x) -> !x
  return %y : !x
}
