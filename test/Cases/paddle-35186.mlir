// PaddlePaddle/Paddle 35186 (also huggingface/text-generation-inference 1036,
// awslabs/slapo 10, pytorch/torchtitan 4245): the bias of a row-split product was
// added on every rank before the sum: with partials 3 and 7 and a bias of 10 that
// is 30 and not 20. The addition is refused; tp-legalize puts it behind the sum.
// RUN: tp-opt %s --split-input-file --verify-diagnostics
// RUN: tp-opt %s --tp-legalize 2>/dev/null | FileCheck %s

// CHECK: %[[PARTIAL:.*]] = tp.matmul
// CHECK-NEXT: %[[SUM:.*]] = tp.all_reduce %[[PARTIAL]] over {"tp"}
// CHECK-NEXT: %[[BIASED:.*]] = tp.add %[[SUM]]
// CHECK-NEXT: return %[[BIASED]]
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#bias = #tp.sharding<@mesh, [{}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @bias_on_every_rank_r2(%x: tensor<1x4xf32, #col>, %w: tensor<4x3xf32, #row>, %b: tensor<3xf32, #bias>) -> tensor<1x3xf32, #rep> {
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %x, %w : (tensor<1x4xf32, #col>, tensor<4x3xf32, #row>) -> tensor<1x3xf32, #sum>
  // expected-error @below {{'tp.add': operand 0 is unreduced over "tp" but operand 1 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 1 unreduced with tp.to_unreduced over "tp"}}
  %z = tp.add %y, %b : (tensor<1x3xf32, #sum>, tensor<3xf32, #bias>) -> tensor<1x3xf32, #sum>
  %s = tp.all_reduce %z over {"tp"} : (tensor<1x3xf32, #sum>) -> tensor<1x3xf32, #rep>
  return %s : tensor<1x3xf32, #rep>
}
