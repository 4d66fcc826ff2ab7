// A batch whose targets are all ignored has the loss 0, not NaN.
// RUN: tp-run %s --mesh=tp=1 | FileCheck %s
// RUN: tp-run %s --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --mesh=dp=3,tp=2 | FileCheck %s
// RUN: tp-run %s --mesh=tp=3 --check | FileCheck %s --check-prefix=EQUAL
//
// CHECK: loss []: largest magnitude 0
// EQUAL: loss []: max error 0 (0 relative) vs one rank, 0 (0 relative) vs f64
// EQUAL: exact: equal
func.func @main(%x: tensor<3x5x12xf32> {tp.name = "logits"})
    -> (tensor<f32> {tp.name = "loss"}) {
  %t = tp.constant dense<-7> : tensor<3x5xi64>
  %l = tp.cross_entropy %x, %t {ignore_index = -7 : i64}
      : (tensor<3x5x12xf32>, tensor<3x5xi64>) -> tensor<f32>
  return %l : tensor<f32>
}
