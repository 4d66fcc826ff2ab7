// The loss by its parts: which reductions count classes, and what is masked.
// RUN: tp-opt %s --tp-decompose-cross-entropy | FileCheck %s

// CHECK-LABEL: @ignored_and_smoothed
// CHECK-SAME: (%[[X:.*]]: tensor<3x12xf32>, %[[T:.*]]: tensor<3xi32>)
// CHECK: %[[M:.*]] = tp.reduce max %[[X]] over [1] {count = 11 : i64}
// CHECK: %[[B:.*]] = tp.broadcast %[[M]] along [1]
// CHECK: %[[C:.*]] = tp.sub %[[X]], %[[B]]
// CHECK: %[[E:.*]] = tp.exp %[[C]]
// CHECK: %[[S:.*]] = tp.reduce sum %[[E]] over [1] {count = 11 : i64}
// CHECK: %[[L:.*]] = tp.log %[[S]]
// CHECK: %[[G:.*]] = tp.take_target %[[C]], %[[T]] {ignore_index = -7 : i64, vocabulary = 11 : i64}
// CHECK: %[[ALL:.*]] = tp.reduce sum %[[C]] over [1] {count = 11 : i64}
// CHECK: tp.constant dense<7.500000e-01> : tensor<f32>
// CHECK: tp.mul %[[G]]
// CHECK: tp.constant dense<0.0227272734> : tensor<f32>
// CHECK: tp.mul %[[ALL]]
// CHECK: %[[P:.*]] = tp.add
// CHECK: %[[LOSS:.*]] = tp.sub %[[L]], %[[P]]
// CHECK: %[[I:.*]] = tp.constant dense<-7> : tensor<i32>
// CHECK: %[[MASK:.*]] = tp.compare ne %[[T]], %[[I]]
// CHECK: %[[COUNTS:.*]] = tp.cast %[[MASK]] : (tensor<3xi1>) -> tensor<3xf32>
// CHECK: %[[MASKED:.*]] = tp.mul %[[LOSS]], %[[COUNTS]]
// CHECK: %[[TOTAL:.*]] = tp.reduce sum %[[MASKED]] over [0]
// CHECK: %[[NUMBER:.*]] = tp.reduce sum %[[COUNTS]] over [0]
// CHECK: %[[ONE:.*]] = tp.constant dense<1.0{{.*}}> : tensor<f32>
// CHECK: %[[DIVISOR:.*]] = tp.maximum %[[NUMBER]], %[[ONE]]
// CHECK: %[[MEAN:.*]] = tp.div %[[TOTAL]], %[[DIVISOR]]
// CHECK: return %[[MEAN]]
func.func @ignored_and_smoothed(%x: tensor<3x12xf32>, %t: tensor<3xi32>) -> tensor<f32> {
  %l = tp.cross_entropy %x, %t {ignore_index = -7 : i64, label_smoothing = 0.25 : f64, vocabulary = 11 : i64}
      : (tensor<3x12xf32>, tensor<3xi32>) -> tensor<f32>
  return %l : tensor<f32>
}

// CHECK-LABEL: @plain
// CHECK-NOT: compare
// CHECK-NOT: count =
// CHECK: return
func.func @plain(%x: tensor<12xf64>, %t: tensor<i64>) -> tensor<f64> {
  %l = tp.cross_entropy %x, %t {vocabulary = 12 : i64} : (tensor<12xf64>, tensor<i64>) -> tensor<f64>
  return %l : tensor<f64>
}
