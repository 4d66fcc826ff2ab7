// lightseekorg/tokenspeed 80 (also jax-ml/jax 19175): a layer had fallen back to
// whole weights, the fused norm behind it still reduced, and every output was
// doubled. A reduction of what is finished is refused, the second one of two too.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @sum_of_copies_r11(%x: tensor<2x4xf32, #rep>, %w: tensor<4x3xf32, #rep>) -> tensor<2x3xf32, #rep> {
  // expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.matmul %x, %w : (tensor<2x4xf32, #rep>, tensor<4x3xf32, #rep>) -> tensor<2x3xf32, #rep>
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "tp" [R11]}}
  // expected-note @below {{fix: leave it out}}
  %z = tp.all_reduce %y over {"tp"} : (tensor<2x3xf32, #rep>) -> tensor<2x3xf32, #rep>
  return %z : tensor<2x3xf32, #rep>
}
func.func @reduced_twice_r11(%p: tensor<2x3xf32, #sum>) -> tensor<2x3xf32, #rep> {
  // expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.all_reduce %p over {"tp"} : (tensor<2x3xf32, #sum>) -> tensor<2x3xf32, #rep>
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "tp" [R11]}}
  // expected-note @below {{fix: leave it out}}
  %z = tp.all_reduce %y over {"tp"} : (tensor<2x3xf32, #rep>) -> tensor<2x3xf32, #rep>
  return %z : tensor<2x3xf32, #rep>
}
