// One new token over a cache of 9, whose last key is its own: it sees 10 keys
// but half of its own, 4 FLOPs each, for 3 sequences, 4 of 8 heads of 16.
// 4 * 9.5 * 3 * 4 * 16 = 7296. Queries, keys, values and results are read or
// written once: (3*4*16 + 2 * 3*10*2*16 + 3*4*16) * 4 = 9216 bytes; the cache
// grows in place.
// RUN: tp-opt %s --tp-cost-report="format=json output=-" -o /dev/null | FileCheck %s

// CHECK: "operation": "concat"
// CHECK: "total_flops": 0,
// CHECK-NEXT: "total_memory_bytes": 0,
// CHECK: "operation": "attention"
// CHECK: "total_flops": 7296,
// CHECK-NEXT: "total_memory_bytes": 9216,
tp.mesh @mesh = <["tp"=2]>
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
func.func @main(%q: tensor<3x1x8x16xf32, #heads>, %n: tensor<3x1x4x16xf32, #heads>, %c: tensor<3x9x4x16xf32, #heads>)
    -> tensor<3x1x8x16xf32, #heads> {
  %k = tp.concat %c, %n along 1 : (tensor<3x9x4x16xf32, #heads>, tensor<3x1x4x16xf32, #heads>) -> tensor<3x10x4x16xf32, #heads>
  %y = tp.attention %q, %k, %k {causal, scale = 0.25 : f64} : (tensor<3x1x8x16xf32, #heads>, tensor<3x10x4x16xf32, #heads>, tensor<3x10x4x16xf32, #heads>) -> tensor<3x1x8x16xf32, #heads>
  return %y : tensor<3x1x8x16xf32, #heads>
}
