// vllm-project/vllm 41511 (also ml-explore/mlx-lm 1734): a weight was split along its
// rows and its scales were not, so that a group looked half as long. Scales are
// factors of the weight's rows: they are split with them, or the product is
// refused.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#groups = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
// The 64 rows of a group in front, so that the scales align with the rest.
// expected-note @below {{the other layout is given here}}
func.func @scales_stay_whole_r4(%w: tensor<64x4x3xf32, #groups>, %scales: tensor<4x3xf32, #rep>) -> tensor<64x4x3xf32, #groups> {
  // expected-error @below {{'tp.mul': 'd1' of 4 is split over "tp" in operand 0 but is whole in operand 1 [R4]}}
  // expected-note @below {{fix: slice dimension 0 of operand 1 over "tp"}}
  // expected-note @below {{fix: all-gather dimension 1 of operand 0 over "tp"; the result is then #tp.sharding<@mesh, [{}, {}, {}]>}}
  %d = tp.mul %w, %scales : (tensor<64x4x3xf32, #groups>, tensor<4x3xf32, #rep>) -> tensor<64x4x3xf32, #groups>
  return %d : tensor<64x4x3xf32, #groups>
}
func.func @scales_follow(%w: tensor<64x4x3xf32, #groups>, %scales: tensor<4x3xf32, #row>) -> tensor<64x4x3xf32, #groups> {
  %d = tp.mul %w, %scales : (tensor<64x4x3xf32, #groups>, tensor<4x3xf32, #row>) -> tensor<64x4x3xf32, #groups>
  return %d : tensor<64x4x3xf32, #groups>
}
