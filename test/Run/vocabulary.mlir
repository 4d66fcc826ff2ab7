// A lookup in, and losses over, a split vocabulary; of 12 columns 10 are classes,
// and two of the tokens are not counted. With dp the tokens are split as well.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 | FileCheck %s
// RUN: tp-run %s --check --mesh=dp=3,tp=4 | FileCheck %s

// CHECK: loss []: max error {{.*}} vs one rank, {{.*}} vs f64; {{.*}} of the tolerance of the element: ok
// CHECK: smoothed []: max error {{.*}}: ok
// CHECK: taken [3, 5]: max error {{.*}}: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%ids: tensor<3x5xi64> {tp.name = "ids"},
                %e: tensor<12x7xf32> {tp.name = "e", tp.parameter},
                %w: tensor<12x7xf32> {tp.name = "w", tp.parameter},
                %t: tensor<3x5xi32> {tp.name = "t"})
    -> (tensor<f32> {tp.name = "loss"}, tensor<f32> {tp.name = "smoothed"},
        tensor<3x5xf32> {tp.name = "taken"}) {
  %x = tp.embedding %e, %ids
      : (tensor<12x7xf32>, tensor<3x5xi64>) -> tensor<3x5x7xf32>
  %p = tp.matmul %x, %w {transpose_b}
      : (tensor<3x5x7xf32>, tensor<12x7xf32>) -> tensor<3x5x12xf32>
  %a = tp.cross_entropy %p, %t {vocabulary = 10 : i64}
      : (tensor<3x5x12xf32>, tensor<3x5xi32>) -> tensor<f32>
  %u = tp.constant dense<[[0, 1, -100, 3, 9], [4, -100, 5, 6, 7], [8, 2, 9, 0, 1]]> : tensor<3x5xi64>
  %b = tp.cross_entropy %p, %u
      {ignore_index = -100 : i64, label_smoothing = 0.1 : f64, vocabulary = 10 : i64}
      : (tensor<3x5x12xf32>, tensor<3x5xi64>) -> tensor<f32>
  %g = tp.take_target %p, %u {ignore_index = -100 : i64}
      : (tensor<3x5x12xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
  return %a, %b, %g : tensor<f32>, tensor<f32>, tensor<3x5xf32>
}
