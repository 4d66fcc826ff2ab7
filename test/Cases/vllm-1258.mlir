// vllm-project/vllm 1258 (also 2419, QwenLM/Qwen3 698): 11008 rows over 4 ranks are
// 21.5 quantisation groups of 128 each; the kernel then complained of a group size
// of 344. Rows with their groups are two factors: half a group is refused, with
// the numbers that keep groups whole.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#groups = #tp.sharding<@mesh, [{"tp"}, {}, {}]>
// expected-note @below {{this value is split so}}
func.func @one_and_a_half_groups_r6(%w: tensor<12x4xf32, #row>) -> tensor<6x2x4xf32, #groups> {
  // expected-error @below {{'tp.reshape': splits 'f0' of 6 (operand 0, dimension 0) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 2, 3, 6 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation; the result is then #tp.sharding<@mesh, [{}, {}, {}]>}}
  %g = tp.reshape %w : (tensor<12x4xf32, #row>) -> tensor<6x2x4xf32, #groups>
  return %g : tensor<6x2x4xf32, #groups>
}
// expected-note @below {{this value is split so}}
func.func @published_size_r6(%w: tensor<11008x4xf32, #row>) -> tensor<86x128x4xf32, #groups> {
  // expected-error @below {{'tp.reshape': splits 'f0' of 86 (operand 0, dimension 0) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 2, 43, 86 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation; the result is then #tp.sharding<@mesh, [{}, {}, {}]>}}
  %g = tp.reshape %w : (tensor<11008x4xf32, #row>) -> tensor<86x128x4xf32, #groups>
  return %g : tensor<86x128x4xf32, #groups>
}
