// pytorch/pytorch 172041: a pending sum was relabelled a pending average, for free.
// Kinds are different functions of the local values: one does not become the other.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @relabelled_r11(%x: tensor<3xf32, #sum>) -> tensor<3xf32, #max> {
  // expected-error @below {{'tp.reshard': its result is an unfinished maximum over "tp", which neither a sum nor a finished value becomes [R11]}}
  // expected-note @below {{fix: leave it out; the result is then #tp.sharding<@mesh, [{}], unreduced = {"tp"}>}}
  %y = tp.reshard %x : (tensor<3xf32, #sum>) -> tensor<3xf32, #max>
  return %y : tensor<3xf32, #max>
}
// expected-note @below {{it comes in unreduced}}
func.func @relabelled_by_an_operation_r7(%x: tensor<3xf32, #sum>) -> tensor<3xf64, #max> {
  // expected-error @below {{'tp.cast': the result is declared an unfinished maximum over "tp", but its operands make it an unfinished sum over "tp" [R7]}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{}], unreduced = {"tp"}>}}
  %y = tp.cast %x : (tensor<3xf32, #sum>) -> tensor<3xf64, #max>
  return %y : tensor<3xf64, #max>
}
