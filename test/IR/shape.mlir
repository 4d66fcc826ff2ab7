// Syntax and rules of what moves elements.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

// CHECK-LABEL: @rules
func.func @rules(%x: tensor<3x15x7xf32>, %m: tensor<5xi32>) {
  // CHECK: tp.slice %{{.*}} at [0, 4, 0] {tp.sharding_rule = "([d0,d1,d2]) -> ([d0,cut1,d2]) {d0=3, d1=15 whole, cut1=6 whole, d2=7} linear {0} moves"}
  %a = tp.slice %x at [0, 4, 0] : (tensor<3x15x7xf32>) -> tensor<3x6x7xf32>
  // CHECK: tp.slice %{{.*}} at [0, 15, 2] {{.*}} -> tensor<3x0x4xf32>
  %b = tp.slice %x at [0, 15, 2] : (tensor<3x15x7xf32>) -> tensor<3x0x4xf32>
  // CHECK: tp.broadcast %{{.*}} along [0, 2] {tp.sharding_rule = "([d1]) -> ([d0,d1,d2]) {d0=3, d1=5, d2=7} linear {0} moves"}
  %c = tp.broadcast %m along [0, 2] : (tensor<5xi32>) -> tensor<3x5x7xi32>
  // CHECK: tp.broadcast %{{.*}} along [] {tp.sharding_rule = "([d0]) -> ([d0]) {d0=5} linear {0} moves"}
  %d = tp.broadcast %m along [] : (tensor<5xi32>) -> tensor<5xi32>
  // CHECK: tp.concat %{{.*}}, %{{.*}} along 1 {tp.sharding_rule = "([d0,part0,d2], [d0,part1,d2]) -> ([d0,joined,d2]) {d0=3, joined=21 whole, d2=7, part0=15 whole, part1=6 whole} linear {0, 1} moves"}
  %e = tp.concat %x, %a along 1 : (tensor<3x15x7xf32>, tensor<3x6x7xf32>) -> tensor<3x21x7xf32>
  return
}

// New and whole dimensions may be split, and partial values pass.
tp.mesh @mesh = <["tp"=3]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
#whole = #tp.sharding<@mesh, [{}]>
// CHECK-LABEL: @split_and_partial
func.func @split_and_partial(%x: tensor<5x7xf32, #sum>, %y: tensor<5x7xf32, #max>,
    %z: tensor<6x7xf32, #rows>, %v: tensor<7xf32, #whole>) {
  %a = tp.slice %x at [1, 2] : (tensor<5x7xf32, #sum>) -> tensor<3x4xf32, #sum>
  %b = tp.slice %y at [1, 2] : (tensor<5x7xf32, #max>) -> tensor<3x4xf32, #max>
  %c = tp.slice %z at [0, 2] : (tensor<6x7xf32, #rows>) -> tensor<6x4xf32, #rows>
  %d = tp.broadcast %v along [0] : (tensor<7xf32, #whole>) -> tensor<6x7xf32, #rows>
  %e = tp.concat %z, %c along 1 : (tensor<6x7xf32, #rows>, tensor<6x4xf32, #rows>) -> tensor<6x11xf32, #rows>
  %f = tp.concat %x, %x along 0 : (tensor<5x7xf32, #sum>, tensor<5x7xf32, #sum>) -> tensor<10x7xf32, #sum>
  return
}
