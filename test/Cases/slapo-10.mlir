// awslabs/slapo 10, mirage-project/mirage 722: both guard a bias that is added
// before the sum, on one rank only. That is right, and passes without a word:
// tp.to_unreduced keeps the value at coordinate 0 and zeros elsewhere. So is a
// zero, which may be added on every rank.
// RUN: tp-opt %s --tp-check 2>&1 | FileCheck %s

// CHECK-NOT: {{error|warning}}
// CHECK: tp.to_unreduced
// CHECK-NOT: {{error|warning}}
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#bias = #tp.sharding<@mesh, [{}]>
#once = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @bias_on_one_rank(%x: tensor<1x4xf32, #col>, %w: tensor<4x3xf32, #row>, %b: tensor<3xf32, #bias>) -> tensor<1x3xf32, #rep> {
  %y = tp.matmul %x, %w : (tensor<1x4xf32, #col>, tensor<4x3xf32, #row>) -> tensor<1x3xf32, #sum>
  %p = tp.to_unreduced %b over {"tp"} : (tensor<3xf32, #bias>) -> tensor<3xf32, #once>
  %z = tp.add %y, %p : (tensor<1x3xf32, #sum>, tensor<3xf32, #once>) -> tensor<1x3xf32, #sum>
  %zero = tp.constant dense<0.0> : tensor<3xf32> as tensor<3xf32, #once>
  %t = tp.add %z, %zero : (tensor<1x3xf32, #sum>, tensor<3xf32, #once>) -> tensor<1x3xf32, #sum>
  %s = tp.all_reduce %t over {"tp"} : (tensor<1x3xf32, #sum>) -> tensor<1x3xf32, #rep>
  return %s : tensor<1x3xf32, #rep>
}
