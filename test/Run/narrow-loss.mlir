// A loss, padding, dropout and softmax of 16-bit types: their constants are those
// of the type, in the run as in the references.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 --seed=1 | FileCheck %s
// RUN: tp-run %s --check --mesh=a=2,b=2 --seed=2 | FileCheck %s

// CHECK: loss []: max error {{.*}}: ok
// CHECK: largest [4]: max error {{.*}}: ok
// CHECK: dropped [4, 12]: max error {{.*}}: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%x: tensor<4x6xbf16> {tp.name = "x"},
                %w: tensor<12x6xbf16> {tp.name = "w", tp.parameter},
                %t: tensor<4xi32> {tp.name = "t"},
                %s: tensor<i64> {tp.name = "seed"})
    -> (tensor<bf16> {tp.name = "loss"}, tensor<4x12xbf16> {tp.name = "padded"},
        tensor<4xf16> {tp.name = "largest"}, tensor<4x12xf64> {tp.name = "dropped"}) {
  %l = tp.matmul %x, %w {transpose_b} : (tensor<4x6xbf16>, tensor<12x6xbf16>) -> tensor<4x12xbf16>
  %0 = tp.cross_entropy %l, %t {vocabulary = 11 : i64, ignore_index = 3 : i64, label_smoothing = 0.1 : f64} : (tensor<4x12xbf16>, tensor<4xi32>) -> tensor<bf16>
  %1 = tp.mask_padding %l {valid = 11 : i64} : (tensor<4x12xbf16>) -> tensor<4x12xbf16>
  %2 = tp.cast %l : (tensor<4x12xbf16>) -> tensor<4x12xf16>
  %3 = tp.reduce max %2 over [1] {count = 11 : i64} : (tensor<4x12xf16>) -> tensor<4xf16>
  %4 = tp.dropout %2, %s {rate = 0.3 : f64} : (tensor<4x12xf16>, tensor<i64>) -> tensor<4x12xf16>
  %5 = tp.softmax %4 along 1 : (tensor<4x12xf16>) -> tensor<4x12xf16>
  %6 = tp.cast %5 : (tensor<4x12xf16>) -> tensor<4x12xf64>
  return %0, %1, %3, %6 : tensor<bf16>, tensor<4x12xbf16>, tensor<4xf16>, tensor<4x12xf64>
}
