// Syntax and rules of normalisations.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

// CHECK-LABEL: @rules
func.func @rules(%x: tensor<3x5x7xf32>, %g: tensor<7xf32>, %b: tensor<7xf32>) {
  // CHECK: tp.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.0{{.*}}, tp.sharding_rule = "([d0,d1,normalised], [normalised], [normalised]) -> ([d0,d1,normalised]) {d0=3, d1=5, normalised=7 whole} linear {1, 2}"}
  %n = tp.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64} : (tensor<3x5x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<3x5x7xf32>
  // CHECK: tp.layer_norm %{{.*}}, %{{.*}} {epsilon = 1.0{{.*}}, tp.sharding_rule = "([d0,d1,normalised], [normalised]) -> ([d0,d1,normalised]) {d0=3, d1=5, normalised=7 whole} linear {1}"}
  %m = tp.layer_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5x7xf32>, tensor<7xf32>) -> tensor<3x5x7xf32>
  return
}
