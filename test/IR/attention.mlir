// Syntax and rules of attention, over a cache as well.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

// CHECK-LABEL: @over_a_cache
func.func @over_a_cache(%q: tensor<3x2x12x4xf32>, %k: tensor<3x2x6x4xf32>, %cache: tensor<3x9x6x4xf32>) {
  // CHECK: tp.rope %{{.*}} {offset = 9 : i64, {{.*}}theta = 1.0{{.*}}}
  %a = tp.rope %q {theta = 1.0e2 : f64, offset = 9 : i64} : (tensor<3x2x12x4xf32>) -> tensor<3x2x12x4xf32>
  %b = tp.concat %cache, %k along 1 : (tensor<3x9x6x4xf32>, tensor<3x2x6x4xf32>) -> tensor<3x11x6x4xf32>
  // CHECK: tp.attention {{.*}}"([batch,queries,kv_heads*heads_of_group,head_dim], [batch,keys,kv_heads,head_dim], [batch,keys,kv_heads,head_dim]) -> ([batch,queries,kv_heads*heads_of_group,head_dim]) {batch=3, queries=2, keys=11 whole, kv_heads=6, heads_of_group=2, head_dim=4 whole} linear {2}"
  %c = tp.attention %a, %b, %b {causal, scale = 0.5 : f64} : (tensor<3x2x12x4xf32>, tensor<3x11x6x4xf32>, tensor<3x11x6x4xf32>) -> tensor<3x2x12x4xf32>
  return
}
