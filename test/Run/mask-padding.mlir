// Padded columns on several ranks: the mask knows where a rank's columns begin.
// RUN: tp-run %s --mesh=tp=2 --weights=free --check | FileCheck %s
// RUN: tp-run %s --mesh=tp=4 --check | FileCheck %s
// RUN: tp-run %s --mesh=a=2,b=2 --check | FileCheck %s
// CHECK: logits [3, 12]: {{.*}}: ok
// CHECK: exact: equal in the field

func.func @main(%ids: tensor<3xi64> {tp.name = "ids", tp.bound = 9 : i64},
    %t: tensor<12x8xf32> {tp.name = "table", tp.parameter, tp.stored = #tp.stored<"table" [9, 8], dim 0 from 0 size 9>})
    -> (tensor<3x12xf32> {tp.name = "logits", tp.stored = #tp.stored<"logits" [3, 9], dim 1 from 0 size 9>}) {
  %e = tp.embedding %t, %ids {vocabulary = 9 : i64} : (tensor<12x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %l = tp.matmul %e, %t {transpose_b} : (tensor<3x8xf32>, tensor<12x8xf32>) -> tensor<3x12xf32>
  %m = tp.mask_padding %l {valid = 9 : i64} : (tensor<3x12xf32>) -> tensor<3x12xf32>
  return %m : tensor<3x12xf32>
}
