// vllm-project/vllm 39707: keys and queries were local, the number of heads that
// the attention carried beside them was the global one. Here attention has no
// such number: heads are a dimension of its tensors, so that one rank's program
// has its own, and the scale is a number that splitting does not touch.
// RUN: tp-opt %s --tp-partition | FileCheck %s

tp.mesh @mesh = <["tp"=2]>
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
// CHECK: tp.attention %{{.*}} {scale = 0.70710{{[0-9]*}} : f64}
// CHECK-SAME: (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
func.func @main(%q: tensor<1x4x4x2xf32, #heads>) -> tensor<1x4x4x2xf32, #heads> {
  %o = tp.attention %q, %q, %q {scale = 0.70710678118654752 : f64} : (tensor<1x4x4x2xf32, #heads>, tensor<1x4x4x2xf32, #heads>, tensor<1x4x4x2xf32, #heads>) -> tensor<1x4x4x2xf32, #heads>
  return %o : tensor<1x4x4x2xf32, #heads>
}
