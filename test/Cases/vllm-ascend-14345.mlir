// vllm-project/vllm-ascend 14345: RMS norm of the partial sums of each rank, added
// up afterwards, is not the norm of the sum: of partials [3, 0] and [0, 4] the norm
// is 0.8485, 1.1314, the other 1.4142, 1.4142. The norm is refused, with the
// product that left the sum open; tp-legalize reduces before it.
// RUN: tp-opt %s --split-input-file --verify-diagnostics
// RUN: tp-opt %s --tp-legalize 2>/dev/null | FileCheck %s

// CHECK: %[[PARTIAL:.*]] = tp.matmul
// CHECK-NEXT: %[[SUM:.*]] = tp.all_reduce %[[PARTIAL]] over {"tp"}
// CHECK-NEXT: %[[NORM:.*]] = tp.rms_norm %[[SUM]]
// CHECK-NEXT: tp.matmul %[[NORM]]
// CHECK-NOT: tp.all_reduce
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#gain = #tp.sharding<@mesh, [{}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @norm_before_the_sum_r1(%x: tensor<3x4xf32, #col>, %w: tensor<4x2xf32, #row>, %g: tensor<2xf32, #gain>, %v: tensor<2x5xf32, #rep>) -> tensor<3x5xf32, #rep> {
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x2xf32, #row>) -> tensor<3x2xf32, #sum>
  // expected-error @below {{'tp.rms_norm' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %n = tp.rms_norm %y, %g {epsilon = 0.0 : f64} : (tensor<3x2xf32, #sum>, tensor<2xf32, #gain>) -> tensor<3x2xf32, #sum>
  %z = tp.matmul %n, %v : (tensor<3x2xf32, #sum>, tensor<2x5xf32, #rep>) -> tensor<3x5xf32, #sum>
  %s = tp.all_reduce %z over {"tp"} : (tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep>
  return %s : tensor<3x5xf32, #rep>
}
