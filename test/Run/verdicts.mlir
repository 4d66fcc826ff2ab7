// What a verdict must not overlook, and what it must not be alarmed by.
// RUN: rm -rf %t && split-file %s %t
// RUN: tp-run %t/cancellation.mlir --mesh=tp=2 --check | FileCheck %s --check-prefix=CANCELS
// RUN: tp-run %t/same-name.mlir --mesh=tp=2 --check | FileCheck %s --check-prefix=NAMES
// RUN: %python %S/Inputs/wrong-logits.py %t/wrong.safetensors
// RUN: not tp-run %t/padding.mlir --mesh=tp=2 --expect=%t/wrong.safetensors | FileCheck %s --check-prefix=PADDING
// RUN: tp-run %t/cancellation.mlir --mesh=tp=2 --check --exact=never | FileCheck %s --check-prefix=SKIPPED

//--- cancellation.mlir
// 1 - tanh 4 is 6.7e-4, and as far from the f64 value as f32 is at 1.
// CANCELS: result 0 [8]: {{.*}}: ok
// CANCELS: exact: equal {{.*}}: ok
// SKIPPED: not checked exactly
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = tp.constant dense<4.0> : tensor<8xf32>
  %one = tp.constant dense<1.0> : tensor<8xf32>
  %t = tp.tanh %c : (tensor<8xf32>) -> tensor<8xf32>
  %r = tp.sub %one, %t : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

//--- same-name.mlir
// Two weights of one name have different numbers: the difference of the
// products is none of nothing.
// NAMES: result 0 [4, 8]: max error {{[1-9].*}} vs one rank
func.func @f(%x: tensor<4x8xf32>, %a: tensor<8x8xf32> {tp.parameter, tp.name = "w"}, %b: tensor<8x8xf32> {tp.parameter, tp.name = "w"}) -> tensor<4x8xf32> {
  %0 = tp.matmul %x, %a : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = tp.matmul %x, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = tp.sub %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

//--- padding.mlir
// The padded column's 3.4e38 is no measure of the others.
// PADDING: logits [1, 4]: max error 697 {{.*}}: FAILED at [0, 2]
func.func @main(%x: tensor<1x4xf32> {tp.name = "x"}) -> (tensor<1x4xf32> {tp.name = "logits"}) {
  %m = tp.mask_padding %x {valid = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %m : tensor<1x4xf32>
}
