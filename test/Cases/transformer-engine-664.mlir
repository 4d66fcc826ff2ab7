// NVIDIA/TransformerEngine 664: softmax over a split dimension was accepted, and each
// rank normalised its own slice: 1/2, 1/2, 1/6, 5/6 in place of 1/8, 1/8, 1/8, 5/8.
// It is refused. Written in its parts, it needs a maximum and a sum over the ranks.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#max = #tp.sharding<@mesh, [], unreduced = max{"tp"}>
#sum = #tp.sharding<@mesh, [], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, []>
// expected-note @below {{this value is split so}}
func.func @own_slices_r5(%s: tensor<4xf32, #split>) -> tensor<4xf32, #split> {
  // expected-error @below {{'tp.softmax': 'normalised' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}]>}}
  %y = tp.softmax %s along 0 : (tensor<4xf32, #split>) -> tensor<4xf32, #split>
  return %y : tensor<4xf32, #split>
}
func.func @in_parts(%s: tensor<4xf32, #split>) -> tensor<4xf32, #split> {
  %m = tp.reduce max %s over [0] : (tensor<4xf32, #split>) -> tensor<f32, #max>
  %mw = tp.all_reduce %m over {"tp"} : (tensor<f32, #max>) -> tensor<f32, #rep>
  %d = tp.sub %s, %mw : (tensor<4xf32, #split>, tensor<f32, #rep>) -> tensor<4xf32, #split>
  %e = tp.exp %d : (tensor<4xf32, #split>) -> tensor<4xf32, #split>
  %t = tp.reduce sum %e over [0] : (tensor<4xf32, #split>) -> tensor<f32, #sum>
  %tw = tp.all_reduce %t over {"tp"} : (tensor<f32, #sum>) -> tensor<f32, #rep>
  %y = tp.div %e, %tw : (tensor<4xf32, #split>, tensor<f32, #rep>) -> tensor<4xf32, #split>
  return %y : tensor<4xf32, #split>
}
