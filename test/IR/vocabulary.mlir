// Syntax and rules of targets and losses.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

// CHECK-LABEL: @rules
func.func @rules(%x: tensor<3x5x12xf32>, %t: tensor<3x5xi64>) {
  // CHECK: tp.take_target %{{.*}}, %{{.*}} {ignore_index = -100 : i64, tp.sharding_rule = "([t0,t1,classes], [t0,t1]) -> ([t0,t1]) {t0=3, t1=5, classes=12 sum} linear {0}", vocabulary = 11 : i64}
  %g = tp.take_target %x, %t {ignore_index = -100 : i64, vocabulary = 11 : i64} : (tensor<3x5x12xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
  // CHECK: tp.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 1.0{{.*}}, tp.sharding_rule = "([t0,t1,classes], [t0,t1]) -> ([]) {t0=3 whole, t1=5 whole, classes=12 whole}"}
  %l = tp.cross_entropy %x, %t {label_smoothing = 0.1 : f64} : (tensor<3x5x12xf32>, tensor<3x5xi64>) -> tensor<f32>
  return
}

tp.mesh @mesh = <["tp"=3]>
#classes = #tp.sharding<@mesh, [{}, {"tp"}]>
#sum2 = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#whole = #tp.sharding<@mesh, [{}]>
// CHECK-LABEL: @partial_values
func.func @partial_values(%x: tensor<5x12xf32, #classes>, %y: tensor<5x12xf32, #sum2>, %t: tensor<5xi32, #whole>) {
  %a = tp.take_target %x, %t : (tensor<5x12xf32, #classes>, tensor<5xi32, #whole>) -> tensor<5xf32, #sum>
  %b = tp.take_target %y, %t : (tensor<5x12xf32, #sum2>, tensor<5xi32, #whole>) -> tensor<5xf32, #sum>
  return
}
