// vllm-project/tpu-inference 3435: the routed branch of a block had reduced itself,
// the shared one relied on a reduction that was skipped, and counted less the more
// ranks there were. Partial and finished do not add up; reduced first, or both
// partial and reduced once, they do.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @partial_branch_and_finished_branch_r2(%shared: tensor<3x5xf32, #sum>, %routed: tensor<3x5xf32, #rep>) -> tensor<3x5xf32, #sum> {
  // expected-error @below {{'tp.add': operand 0 is unreduced over "tp" but operand 1 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 1 unreduced with tp.to_unreduced over "tp"}}
  %y = tp.add %shared, %routed : (tensor<3x5xf32, #sum>, tensor<3x5xf32, #rep>) -> tensor<3x5xf32, #sum>
  return %y : tensor<3x5xf32, #sum>
}
func.func @reduced_first(%shared: tensor<3x5xf32, #sum>, %routed: tensor<3x5xf32, #rep>) -> tensor<3x5xf32, #rep> {
  %s = tp.all_reduce %shared over {"tp"} : (tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep>
  %y = tp.add %s, %routed : (tensor<3x5xf32, #rep>, tensor<3x5xf32, #rep>) -> tensor<3x5xf32, #rep>
  return %y : tensor<3x5xf32, #rep>
}
func.func @reduced_once(%shared: tensor<3x5xf32, #sum>, %routed: tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep> {
  %y = tp.add %shared, %routed : (tensor<3x5xf32, #sum>, tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #sum>
  %s = tp.all_reduce %y over {"tp"} : (tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep>
  return %s : tensor<3x5xf32, #rep>
}
