// Local shapes, groups, origins.
// RUN: tp-opt %s --tp-partition | FileCheck %s

tp.mesh @mesh = <["dp"=2, "tp"=3]>
#ids = #tp.sharding<@mesh, [{"dp"}]>
#table = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{"dp"}, {}], unreduced = {"tp"}>
#whole = #tp.sharding<@mesh, [{"dp"}, {}]>
#col = #tp.sharding<@mesh, [{"dp"}, {"tp"}]>

// CHECK: func.func @lookup(%[[T:.*]]: tensor<5x6xf32> {tp.global = tensor<15x6xf32, #{{.*}}>}, %[[I:.*]]: tensor<4xi64>
// CHECK-SAME: attributes {tp.local, tp.ranks = 6 : i64}
func.func @lookup(%t: tensor<15x6xf32, #table>, %i: tensor<8xi64, #ids>) -> tensor<8x6xf32, #whole> {
  // CHECK: %[[O:.*]] = tp.shard_origin @mesh {"tp"} of 15 : index
  // CHECK: %[[E:.*]] = tp.embedding %[[T]], %[[I]] from %[[O]] {vocabulary = 15 : i64} : (tensor<5x6xf32>, tensor<4xi64>, index) -> tensor<4x6xf32>
  %e = tp.embedding %t, %i : (tensor<15x6xf32, #table>, tensor<8xi64, #ids>) -> tensor<8x6xf32, #sum>
  // CHECK: %[[R:.*]] = tp.local_reduce_scatter %[[E]] sum dim 1 groups dense<{{\[\[}}0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64> : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %s = tp.reduce_scatter %e dim 1 over {"tp"} : (tensor<8x6xf32, #sum>) -> tensor<8x6xf32, #col>
  // CHECK: %[[G:.*]] = tp.local_all_gather %[[R]] dim 1 groups dense<{{\[\[}}0, 1, 2], [3, 4, 5]]>
  %g = tp.all_gather %s dim 1 over {"tp"} : (tensor<8x6xf32, #col>) -> tensor<8x6xf32, #whole>
  // CHECK: return %[[G]] : tensor<4x6xf32>
  return %g : tensor<8x6xf32, #whole>
}

#seq = #tp.sharding<@mesh, [{}, {"tp"}, {}, {}]>
#all = #tp.sharding<@mesh, [{}, {}, {}, {}]>
// The positions of a rank's queries start where its shard does; 3 keys came before.
// CHECK-LABEL: func.func private @positions
func.func private @positions(%q: tensor<1x6x2x4xf32, #seq>, %k: tensor<1x9x2x4xf32, #all>) -> tensor<1x6x2x4xf32, #seq> {
  // CHECK: %[[P:.*]] = tp.shard_origin @mesh {"tp"} of 6
  // CHECK: %[[R:.*]] = tp.rope %{{.*}} from %[[P]] {theta
  %r = tp.rope %q {theta = 500.0 : f64} : (tensor<1x6x2x4xf32, #seq>) -> tensor<1x6x2x4xf32, #seq>
  // CHECK: %[[Q:.*]] = tp.shard_origin @mesh {"tp"} of 6
  // CHECK: %[[C:.*]] = arith.constant 3 : index
  // CHECK: %[[A:.*]] = arith.addi %[[Q]], %[[C]] : index
  // CHECK: tp.attention %[[R]], %{{.*}}, %{{.*}} from %[[A]] {causal
  %o = tp.attention %r, %k, %k {causal, scale = 0.5 : f64} : (tensor<1x6x2x4xf32, #seq>, tensor<1x9x2x4xf32, #all>, tensor<1x9x2x4xf32, #all>) -> tensor<1x6x2x4xf32, #seq>
  return %o : tensor<1x6x2x4xf32, #seq>
}

// CHECK-LABEL: func.func private @order_of_axes
#xy = #tp.sharding<@mesh, [{"dp", "tp"}]>
#yx = #tp.sharding<@mesh, [{"tp", "dp"}]>
func.func private @order_of_axes(%v: tensor<12xf32, #xy>) -> tensor<12xf32, #yx> {
  // CHECK: tp.local_permute %{{.*}} pairs dense<{{\[\[}}0, 0], [1, 3], [2, 1], [3, 4], [4, 2], [5, 5]]>
  %p = tp.collective_permute %v dim 0 to {"tp", "dp"} : (tensor<12xf32, #xy>) -> tensor<12xf32, #yx>
  return %p : tensor<12xf32, #yx>
}
