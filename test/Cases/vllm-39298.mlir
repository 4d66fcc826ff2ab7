// vllm-project/vllm 39298: a clean-up called the communication of a norm redundant
// because the last dimension is a head; there it was all heads. The layout tells
// the two apart: over the heads, split, it is refused, and planned with a gather;
// over one head, the heads split, nothing is sent.
// RUN: not tp-opt %s --tp-check 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: tp-opt %s --tp-legalize 2>/dev/null | FileCheck %s

// REFUSED: 'tp.rms_norm': 'normalised' of 12 must be whole but is split over "tp" [R5]
// REFUSED-NOT: error

// CHECK-LABEL: func.func @all_heads
// CHECK: tp.all_gather
// CHECK: tp.rms_norm
// CHECK-LABEL: func.func @one_head
// CHECK-NEXT: tp.rms_norm
// CHECK-NEXT: return
tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#heads = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
#gain = #tp.sharding<@mesh, [{}]>
func.func @all_heads(%q: tensor<3x12xf32, #col>, %g: tensor<12xf32, #gain>) -> tensor<3x12xf32, #col> {
  %n = tp.rms_norm %q, %g {epsilon = 0.0 : f64} : (tensor<3x12xf32, #col>, tensor<12xf32, #gain>) -> tensor<3x12xf32, #col>
  return %n : tensor<3x12xf32, #col>
}
func.func @one_head(%q: tensor<3x4x3xf32, #heads>, %g: tensor<3xf32, #gain>) -> tensor<3x4x3xf32, #heads> {
  %n = tp.rms_norm %q, %g {epsilon = 0.0 : f64} : (tensor<3x4x3xf32, #heads>, tensor<3xf32, #gain>) -> tensor<3x4x3xf32, #heads>
  return %n : tensor<3x4x3xf32, #heads>
}
