// pytorch/pytorch 165962: maxima, minima and relu were taken of partial values and
// the sum was taken afterwards: relu of the partials -3 and 5 is then 5 and not 2,
// the maximum over [1, -4] and [-2, 6] is 7 and not 2.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#scalar = #tp.sharding<@mesh, [], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @relu_of_the_terms_r1(%x: tensor<3xf32, #sum>) -> tensor<3xf32, #sum> {
  // expected-error @below {{'tp.relu' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}]>}}
  %y = tp.relu %x : (tensor<3xf32, #sum>) -> tensor<3xf32, #sum>
  return %y : tensor<3xf32, #sum>
}
// expected-note @below {{it comes in unreduced}}
func.func @maximum_of_the_terms_r1(%x: tensor<3xf32, #sum>) -> tensor<f32, #scalar> {
  // expected-error @below {{'tp.reduce' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, []>}}
  %y = tp.reduce max %x over [0] : (tensor<3xf32, #sum>) -> tensor<f32, #scalar>
  return %y : tensor<f32, #scalar>
}
