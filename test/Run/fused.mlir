// Fused weights on several ranks: both orders of the blocks, weights stored
// (out, in) and (in, out), with a bias. The references compute the program as it
// is written, with the fused weight.

// RUN: split-file %s %t
// RUN: tp-run %t/grouped.mlir --mesh=tp=3 --check | FileCheck %s
// RUN: tp-run %t/grouped.mlir --mesh=a=3,b=1 --check | FileCheck %s
// RUN: tp-run %t/columns.mlir --mesh=tp=2 --check | FileCheck %s
// RUN: tp-run %t/columns.mlir --mesh=a=2,b=2 --check | FileCheck %s
// CHECK: {{y|z}} {{.*}}: ok
// CHECK: exact: equal in the field

//--- grouped.mlir
// 3 groups of 2 queries, a key and a value of 4.
func.func @grouped(%x: tensor<2x5x6xf32> {tp.name = "x"}, %w: tensor<48x6xf32> {tp.name = "query_key_value", tp.parameter},
    %o: tensor<6x24xf32> {tp.name = "dense", tp.parameter}) -> (tensor<2x5x6xf32> {tp.name = "y"}) {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<2x5x6xf32>, tensor<48x6xf32>) -> tensor<2x5x48xf32>
  %1 = tp.reshape %0 : (tensor<2x5x48xf32>) -> tensor<2x5x3x4x4xf32>
  %q = tp.slice %1 at [0, 0, 0, 0, 0] : (tensor<2x5x3x4x4xf32>) -> tensor<2x5x3x2x4xf32>
  %k = tp.slice %1 at [0, 0, 0, 2, 0] : (tensor<2x5x3x4x4xf32>) -> tensor<2x5x3x1x4xf32>
  %v = tp.slice %1 at [0, 0, 0, 3, 0] : (tensor<2x5x3x4x4xf32>) -> tensor<2x5x3x1x4xf32>
  %qh = tp.reshape %q : (tensor<2x5x3x2x4xf32>) -> tensor<2x5x6x4xf32>
  %kh = tp.reshape %k : (tensor<2x5x3x1x4xf32>) -> tensor<2x5x3x4xf32>
  %vh = tp.reshape %v : (tensor<2x5x3x1x4xf32>) -> tensor<2x5x3x4xf32>
  %a = tp.attention %qh, %kh, %vh {causal, scale = 0.5 : f64} : (tensor<2x5x6x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x5x6x4xf32>
  %f = tp.reshape %a : (tensor<2x5x6x4xf32>) -> tensor<2x5x24xf32>
  %y = tp.matmul %f, %o {transpose_b} : (tensor<2x5x24xf32>, tensor<6x24xf32>) -> tensor<2x5x6xf32>
  return %y : tensor<2x5x6xf32>
}

//--- columns.mlir
// The up projection before the gate.
func.func @columns(%x: tensor<5x6xf32> {tp.name = "x"}, %w: tensor<6x16xf32> {tp.name = "up_gate", tp.parameter},
    %b: tensor<16xf32> {tp.name = "up_gate.bias", tp.parameter}, %d: tensor<8x6xf32> {tp.name = "down", tp.parameter}) -> (tensor<5x6xf32> {tp.name = "z"}) {
  %0 = tp.matmul %x, %w : (tensor<5x6xf32>, tensor<6x16xf32>) -> tensor<5x16xf32>
  %1 = tp.add %0, %b : (tensor<5x16xf32>, tensor<16xf32>) -> tensor<5x16xf32>
  %up = tp.slice %1 at [0, 0] : (tensor<5x16xf32>) -> tensor<5x8xf32>
  %gate = tp.slice %1 at [0, 8] : (tensor<5x16xf32>) -> tensor<5x8xf32>
  %2 = tp.gelu %gate : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %3 = tp.mul %2, %up : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %z = tp.matmul %3, %d : (tensor<5x8xf32>, tensor<8x6xf32>) -> tensor<5x6xf32>
  return %z : tensor<5x6xf32>
}
