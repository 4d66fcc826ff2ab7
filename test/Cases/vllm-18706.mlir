// vllm-project/vllm 18706 (also axonn-ai/yalis 36, EleutherAI/gpt-neox 1424): the
// norm over all heads of a projection was taken of a rank's own heads. Of
// [3, 0, 0, 4] on two ranks it is 1.2, 0, 0, 1.6, not 1.4142, 0, 0, 1.4142. A norm
// over a split dimension is refused.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#gain = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{this value is split so}}
func.func @norm_of_own_heads_r5(%q: tensor<3x4xf32, #col>, %g: tensor<4xf32, #gain>) -> tensor<3x4xf32, #col> {
  // expected-error @below {{'tp.rms_norm': 'normalised' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0, operand 1); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %n = tp.rms_norm %q, %g {epsilon = 0.0 : f64} : (tensor<3x4xf32, #col>, tensor<4xf32, #gain>) -> tensor<3x4xf32, #col>
  return %n : tensor<3x4xf32, #col>
}
