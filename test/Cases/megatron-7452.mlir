// NVIDIA/Megatron-LM 7452, finding 2: whole logits were fed to the loss for split
// ones, which added the exponentials once a rank: too high by the logarithm of the
// number of ranks. A sum over ranks that hold the same is refused.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#tokens = #tp.sharding<@mesh, [{}]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
func.func @exponentials_of_all_ranks_r7(%x: tensor<3x4xf32, #rep>) -> tensor<3xf32, #tokens> {
  // expected-note @below {{operand 0 is finished}}
  %e = tp.exp %x : (tensor<3x4xf32, #rep>) -> tensor<3x4xf32, #rep>
  // expected-error @below {{'tp.reduce': the result is declared unreduced over "tp", but its operands make it finished [R7]}}
  // expected-note @below {{fix: declare the result finished}}
  %s = tp.reduce sum %e over [1] : (tensor<3x4xf32, #rep>) -> tensor<3xf32, #sum>
  %a = tp.all_reduce %s over {"tp"} : (tensor<3xf32, #sum>) -> tensor<3xf32, #tokens>
  return %a : tensor<3xf32, #tokens>
}
