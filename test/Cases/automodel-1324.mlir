// NVIDIA-NeMo/Automodel 1324: four query heads and two KV heads side by side, eight
// columns on two ranks: one rank got the queries, the other keys and values. The
// shapes are legal, the slices are not.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-note @below {{this value is split so}}
func.func @q_k_and_v_r5(%qkv: tensor<3x8xf32, #col>) -> (tensor<3x4xf32, #col>, tensor<3x2xf32, #col>, tensor<3x2xf32, #col>) {
  // expected-error @below {{'tp.slice': 'd1' of 8 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %q = tp.slice %qkv at [0, 0] : (tensor<3x8xf32, #col>) -> tensor<3x4xf32, #col>
  // expected-error @below {{'tp.slice': 'd1' of 8 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %k = tp.slice %qkv at [0, 4] : (tensor<3x8xf32, #col>) -> tensor<3x2xf32, #col>
  // expected-error @below {{'tp.slice': 'd1' of 8 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %v = tp.slice %qkv at [0, 6] : (tensor<3x8xf32, #col>) -> tensor<3x2xf32, #col>
  return %q, %k, %v : tensor<3x4xf32, #col>, tensor<3x2xf32, #col>, tensor<3x2xf32, #col>
}
