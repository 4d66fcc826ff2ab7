// Syntax and rules of reductions.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

// CHECK-LABEL: @rules
func.func @rules(%x: tensor<3x5x7xf32>, %m: tensor<3x5xi1>) {
  // CHECK: tp.reduce sum %{{.*}} over [0, 2] {tp.sharding_rule = "([d0,d1,d2]) -> ([d1]) {d0=3 sum, d1=5, d2=7 sum} linear {0}"}
  %a = tp.reduce sum %x over [0, 2] : (tensor<3x5x7xf32>) -> tensor<5xf32>
  // CHECK: tp.reduce max %{{.*}} over [2] {count = 6 : i64, tp.sharding_rule = "([d0,d1,d2]) -> ([d0,d1]) {d0=3, d1=5, d2=7 max} maximum"}
  %b = tp.reduce max %x over [2] {count = 6 : i64} : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  // CHECK: tp.reduce max %{{.*}} over [0, 1] {{.*}} -> tensor<i1>
  %c = tp.reduce max %m over [0, 1] : (tensor<3x5xi1>) -> tensor<i1>
  // CHECK: tp.softmax %{{.*}} along 1 {tp.sharding_rule = "([d0,normalised,d2]) -> ([d0,normalised,d2]) {d0=3, normalised=5 whole, d2=7}"}
  %d = tp.softmax %x along 1 : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  // CHECK: tp.maximum %{{.*}}, %{{.*}} {tp.sharding_rule = "([d0,d1,d2], [d0,d1,d2]) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7} maximum"}
  %e = tp.maximum %x, %d : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  return
}

tp.mesh @mesh = <["dp"=2, "tp"=3]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
#both = #tp.sharding<@mesh, [{"dp"}, {"tp"}]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
#max_dp = #tp.sharding<@mesh, [{}], unreduced = max{"dp"}>
#max_both = #tp.sharding<@mesh, [{}], unreduced = max{"dp", "tp"}>
#max_scalar = #tp.sharding<@mesh, [], unreduced = max{"dp", "tp"}>
#whole = #tp.sharding<@mesh, [{}]>
#whole2 = #tp.sharding<@mesh, [{}, {}]>
#max2 = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>

// Splitting what is reduced leaves a partial value of the kind; maxima pass
// through maxima, next to finished values and to maxima over other axes.
// CHECK-LABEL: @partial_values
func.func @partial_values(%x: tensor<4x9xf32, #columns>, %y: tensor<4xf32, #whole>,
    %z: tensor<4xf32, #max_dp>, %w: tensor<4x9xf32, #both>) {
  %a = tp.reduce sum %x over [1] : (tensor<4x9xf32, #columns>) -> tensor<4xf32, #sum>
  %b = tp.reduce max %x over [1] : (tensor<4x9xf32, #columns>) -> tensor<4xf32, #max>
  %c = tp.maximum %b, %y : (tensor<4xf32, #max>, tensor<4xf32, #whole>) -> tensor<4xf32, #max>
  %d = tp.maximum %c, %z : (tensor<4xf32, #max>, tensor<4xf32, #max_dp>) -> tensor<4xf32, #max_both>
  %e = tp.reduce max %d over [0] : (tensor<4xf32, #max_both>) -> tensor<f32, #max_scalar>
  %f = tp.broadcast %b along [1] : (tensor<4xf32, #max>) -> tensor<4x9xf32, #max2>
  %g = tp.reduce max %w over [0, 1] : (tensor<4x9xf32, #both>) -> tensor<f32, #max_scalar>
  return
}
