// Syntax and rules of arithmetic and functions.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

// CHECK-LABEL: @rules
func.func @rules(%x: tensor<3x5x7xf32>, %r: tensor<7xf32>,
    %t: tensor<3x5xi64>, %i: tensor<i64>) {
  // CHECK: tp.div %{{.*}}, %{{.*}} {tp.sharding_rule = "([d0,d1,d2], [d2]) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7} linear {0}"}
  %a = tp.div %x, %r : (tensor<3x5x7xf32>, tensor<7xf32>) -> tensor<3x5x7xf32>
  // CHECK: tp.exp %{{.*}} {tp.sharding_rule = "([d0,d1,d2]) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7}"}
  %b = tp.exp %a : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  // CHECK: tp.log %{{.*}} {tp.sharding_rule = "([d0,d1,d2]) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7}"}
  %c = tp.log %b : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  // CHECK: tp.sigmoid %{{.*}} {tp.sharding_rule = "([d0,d1,d2]) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7}"}
  %d = tp.sigmoid %c : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  // CHECK: tp.compare ne %{{.*}}, %{{.*}} {tp.sharding_rule = "([d0,d1], []) -> ([d0,d1]) {d0=3, d1=5}"} : (tensor<3x5xi64>, tensor<i64>) -> tensor<3x5xi1>
  %e = tp.compare ne %t, %i : (tensor<3x5xi64>, tensor<i64>) -> tensor<3x5xi1>
  // CHECK: tp.dropout %{{.*}}, %{{.*}} {rate = 2.5{{.*}}, site = 3 : i64, tp.sharding_rule = "([d0,d1,d2], []) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7} linear {0}"}
  %f = tp.dropout %x, %i {rate = 0.25 : f64, site = 3 : i64} : (tensor<3x5x7xf32>, tensor<i64>) -> tensor<3x5x7xf32>
  return
}

// A partial sum may be divided by what every rank has, and loses the same
// elements on all of them.
tp.mesh @mesh = <["tp"=3]>
#whole = #tp.sharding<@mesh, [{}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#scalar = #tp.sharding<@mesh, []>
// CHECK-LABEL: @partial_sums
func.func @partial_sums(%x: tensor<5x7xf32, #sum>, %y: tensor<5x7xf32, #whole>, %s: tensor<i64, #scalar>) -> tensor<5x7xf32, #sum> {
  %z = tp.div %x, %y : (tensor<5x7xf32, #sum>, tensor<5x7xf32, #whole>) -> tensor<5x7xf32, #sum>
  %d = tp.dropout %z, %s {rate = 0.5 : f64} : (tensor<5x7xf32, #sum>, tensor<i64, #scalar>) -> tensor<5x7xf32, #sum>
  return %d : tensor<5x7xf32, #sum>
}
