// pytorch/pytorch 163193 (also 149768, 170030, 170025): a scalar was added to a
// partial sum, on every rank: of 1, 2, 3, 4 over two ranks and 7 came 24 and not 17.
// A scalar that multiplies leaves the sum open and needs no collective of its own.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#sum = #tp.sharding<@mesh, [], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, []>
func.func @seven_on_every_rank_r2(%x: tensor<4xf32, #split>) -> tensor<f32, #sum> {
  // expected-note @below {{'tp.reduce' left it unreduced}}
  %s = tp.reduce sum %x over [0] : (tensor<4xf32, #split>) -> tensor<f32, #sum>
  %c = tp.constant dense<7.0> : tensor<f32> as tensor<f32, #rep>
  // expected-error @below {{'tp.add': operand 0 is unreduced over "tp" but operand 1 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first; the result is then #tp.sharding<@mesh, []>}}
  // expected-note @below {{fix: make operand 1 unreduced with tp.to_unreduced over "tp"}}
  %y = tp.add %s, %c : (tensor<f32, #sum>, tensor<f32, #rep>) -> tensor<f32, #sum>
  return %y : tensor<f32, #sum>
}
func.func @twice_the_sum(%x: tensor<4xf32, #split>) -> tensor<f32, #rep> {
  %s = tp.reduce sum %x over [0] : (tensor<4xf32, #split>) -> tensor<f32, #sum>
  %c = tp.constant dense<2.0> : tensor<f32> as tensor<f32, #rep>
  %y = tp.mul %s, %c : (tensor<f32, #sum>, tensor<f32, #rep>) -> tensor<f32, #sum>
  %z = tp.all_reduce %y over {"tp"} : (tensor<f32, #sum>) -> tensor<f32, #rep>
  return %z : tensor<f32, #rep>
}
