// lightseekorg/tokenspeed 254 (also NVIDIA/Megatron-LM 6400): a learned sink, one
// number a head, kept its global length beside split scores, and a view failed in
// the attention kernel. The sink follows the heads; left whole it is refused where
// it joins the scores, with the slice that puts it right.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#heads = #tp.sharding<@mesh, [{"tp"}, {}, {}]>
#whole = #tp.sharding<@mesh, [{}, {}, {}]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#rep = #tp.sharding<@mesh, [{}]>
func.func @sink_of_all_heads_r4(%scores: tensor<4x3x3xf32, #heads>, %sink: tensor<4xf32, #rep>) -> tensor<4x3x4xf32, #heads> {
  // expected-note @below {{the other layout is given here}}
  %s = tp.broadcast %sink along [1, 2] : (tensor<4xf32, #rep>) -> tensor<4x3x1xf32, #whole>
  // expected-error @below {{'tp.concat': 'd0' of 4 is split over "tp" in operand 0 but is whole in operand 1 [R4]}}
  // expected-note @below {{fix: slice dimension 0 of operand 1 over "tp"}}
  // expected-note @below {{fix: all-gather dimension 0 of operand 0 over "tp"; the result is then #tp.sharding<@mesh, [{}, {}, {}]>}}
  %y = tp.concat %scores, %s along 2 : (tensor<4x3x3xf32, #heads>, tensor<4x3x1xf32, #whole>) -> tensor<4x3x4xf32, #heads>
  return %y : tensor<4x3x4xf32, #heads>
}
func.func @sink_of_own_heads(%scores: tensor<4x3x3xf32, #heads>, %sink: tensor<4xf32, #split>) -> tensor<4x3x4xf32, #heads> {
  %s = tp.broadcast %sink along [1, 2] : (tensor<4xf32, #split>) -> tensor<4x3x1xf32, #heads>
  %y = tp.concat %scores, %s along 2 : (tensor<4x3x3xf32, #heads>, tensor<4x3x1xf32, #heads>) -> tensor<4x3x4xf32, #heads>
  return %y : tensor<4x3x4xf32, #heads>
}
