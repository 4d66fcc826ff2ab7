// Reshards become the cheapest tree; steps that several uses need happen once.
// RUN: tp-opt %s --tp-insert-collectives | FileCheck %s

tp.mesh @mesh = <["x"=2, "y"=3]>
#whole = #tp.sharding<@mesh, [{}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"y"}>
#row = #tp.sharding<@mesh, [{"y"}, {}]>
#col = #tp.sharding<@mesh, [{}, {"y"}]>
#xy = #tp.sharding<@mesh, [{"x", "y"}, {}]>
#yx = #tp.sharding<@mesh, [{"y", "x"}, {}]>

// CHECK-LABEL: func.func private @all_reduce_once
func.func private @all_reduce_once(%v: tensor<6x12xf32, #sum>) -> (tensor<6x12xf32, #whole>, tensor<6x12xf32, #whole>) {
  // CHECK: %[[S:.*]] = tp.all_reduce %arg0 over {"y"}
  // CHECK: return %[[S]], %[[S]]
  %a = tp.reshard %v : (tensor<6x12xf32, #sum>) -> tensor<6x12xf32, #whole>
  %b = tp.reshard %v : (tensor<6x12xf32, #sum>) -> tensor<6x12xf32, #whole>
  return %a, %b : tensor<6x12xf32, #whole>, tensor<6x12xf32, #whole>
}

// One sum serves both uses: as fast as a scatter and a gather, and one collective.
// CHECK-LABEL: func.func private @shared_step
func.func private @shared_step(%v: tensor<6x12xf32, #sum>) -> (tensor<6x12xf32, #row>, tensor<6x12xf32, #whole>) {
  // CHECK: %[[W:.*]] = tp.all_reduce %arg0 over {"y"}
  // CHECK: %[[R:.*]] = tp.all_slice %[[W]] dim 0 over {"y"}
  // CHECK: return %[[R]], %[[W]]
  %a = tp.reshard %v : (tensor<6x12xf32, #sum>) -> tensor<6x12xf32, #row>
  %b = tp.reshard %v : (tensor<6x12xf32, #sum>) -> tensor<6x12xf32, #whole>
  return %a, %b : tensor<6x12xf32, #row>, tensor<6x12xf32, #whole>
}

// CHECK-LABEL: func.func private @moves
func.func private @moves(%v: tensor<6x12xf32, #row>, %p: tensor<6x12xf32, #xy>, %w: tensor<6x12xf32, #whole>)
    -> (tensor<6x12xf32, #col>, tensor<6x12xf32, #yx>, tensor<6x12xf32, #col>, tensor<6x12xf32, #sum>) {
  // CHECK: tp.all_to_all %arg0 from 0 to 1 over {"y"}
  %a = tp.reshard %v : (tensor<6x12xf32, #row>) -> tensor<6x12xf32, #col>
  // CHECK: tp.collective_permute %arg1 dim 0 to {"y", "x"}
  %b = tp.reshard %p : (tensor<6x12xf32, #xy>) -> tensor<6x12xf32, #yx>
  // CHECK: tp.all_slice %arg2 dim 1 over {"y"}
  %c = tp.reshard %w : (tensor<6x12xf32, #whole>) -> tensor<6x12xf32, #col>
  // CHECK: tp.to_unreduced %arg2 over {"y"}
  %d = tp.reshard %w : (tensor<6x12xf32, #whole>) -> tensor<6x12xf32, #sum>
  return %a, %b, %c, %d : tensor<6x12xf32, #col>, tensor<6x12xf32, #yx>, tensor<6x12xf32, #col>, tensor<6x12xf32, #sum>
}
