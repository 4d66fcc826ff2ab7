// bigscience-workshop/Megatron-DeepSpeed 227 (also flashinfer-ai/flashinfer 1606):
// every rank used the slopes of the first heads. A constant with one number a head
// is split with the heads: rank 1 of 2 takes 1/64 and 1/256 out of the four. Left
// whole beside split scores it is refused, and the fix is a slice, nothing sent.
// RUN: split-file %s %t
// RUN: tp-opt %t/right.mlir --tp-partition | FileCheck %t/right.mlir
// RUN: tp-opt %t/wrong.mlir --split-input-file --verify-diagnostics

//--- right.mlir
// CHECK: %[[ALL:.*]] = tp.constant dense<[2.500000e-01, 6.250000e-02, 1.562500e-02, 3.906250e-03]>
// CHECK: %[[ORIGIN:.*]] = tp.shard_origin @mesh {"tp"} of 4
// CHECK: %[[OWN:.*]] = tp.local_slice %[[ALL]] from %[[ORIGIN]] dim 0 : (tensor<4xf32>, index) -> tensor<2xf32>
// CHECK: tp.broadcast %[[OWN]] along [1, 2] : (tensor<2xf32>) -> tensor<2x3x3xf32>
tp.mesh @mesh = <["tp"=2]>
#heads = #tp.sharding<@mesh, [{"tp"}, {}, {}]>
#slopes = #tp.sharding<@mesh, [{"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @main(%scores: tensor<4x3x3xf32, #heads>, %distance: tensor<3x3xf32, #rep>) -> tensor<4x3x3xf32, #heads> {
  %s = tp.constant dense<[0.25, 0.0625, 0.015625, 0.00390625]> : tensor<4xf32> as tensor<4xf32, #slopes>
  %b = tp.broadcast %s along [1, 2] : (tensor<4xf32, #slopes>) -> tensor<4x3x3xf32, #heads>
  %d = tp.mul %b, %distance : (tensor<4x3x3xf32, #heads>, tensor<3x3xf32, #rep>) -> tensor<4x3x3xf32, #heads>
  %y = tp.add %scores, %d : (tensor<4x3x3xf32, #heads>, tensor<4x3x3xf32, #heads>) -> tensor<4x3x3xf32, #heads>
  return %y : tensor<4x3x3xf32, #heads>
}

//--- wrong.mlir
tp.mesh @mesh = <["tp"=2]>
#heads = #tp.sharding<@mesh, [{"tp"}, {}, {}]>
#whole = #tp.sharding<@mesh, [{}, {}, {}]>
func.func @slopes_of_all_heads_r4(%scores: tensor<4x3x3xf32, #heads>, %slopes: tensor<4x3x3xf32, #whole>) -> tensor<4x3x3xf32, #heads> {
  // expected-note @above {{the other layout is given here}}
  // expected-error @below {{'tp.add': 'd0' of 4 is split over "tp" in operand 0 but is whole in operand 1 [R4]}}
  // expected-note @below {{fix: slice dimension 0 of operand 1 over "tp"}}
  // expected-note @below {{fix: all-gather dimension 0 of operand 0 over "tp"}}
  %y = tp.add %scores, %slopes : (tensor<4x3x3xf32, #heads>, tensor<4x3x3xf32, #whole>) -> tensor<4x3x3xf32, #heads>
  return %y : tensor<4x3x3xf32, #heads>
}
