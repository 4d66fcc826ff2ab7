// huggingface/transformers 48519: a weight is stored as its transpose, and the
// transpose was taken of the shard. Transposing moves the axis with its dimension;
// every other pair of layouts is refused. Half a rotary pair is refused as well:
// the permutation of a head needs the whole head.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#dims = #tp.sharding<@mesh, [{}, {}, {}, {"tp"}]>
func.func @axis_follows(%w: tensor<4x6xf32, #col>) -> tensor<6x4xf32, #row> {
  %t = tp.transpose %w by [1, 0] : (tensor<4x6xf32, #col>) -> tensor<6x4xf32, #row>
  return %t : tensor<6x4xf32, #row>
}
// expected-note @below {{the operand is laid out here}}
func.func @axis_stays_r4(%w: tensor<4x6xf32, #row>) -> tensor<6x4xf32, #row> {
  // expected-error @below {{'tp.transpose': 'd0' of 4 is split over "tp" in operand 0 but is whole in the result; 'd1' of 6 is whole in operand 0 but is split over "tp" in the result [R4]}}
  // expected-note @below {{fix: move "tp" from dimension 0 to dimension 1 of operand 0 with an all-to-all}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{}, {"tp"}]>}}
  // expected-note @below {{fix: move "tp" from dimension 1 to dimension 0 of it with an all-to-all after this operation}}
  %t = tp.transpose %w by [1, 0] : (tensor<4x6xf32, #row>) -> tensor<6x4xf32, #row>
  return %t : tensor<6x4xf32, #row>
}
// expected-note @below {{this value is split so}}
func.func @half_a_head_turns_r5(%q: tensor<1x3x2x8xf32, #dims>) -> tensor<1x3x2x8xf32, #dims> {
  // expected-error @below {{'tp.rope': 'head_dim' of 8 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}, {}, {}]>}}
  %r = tp.rope %q {theta = 10000.0 : f64} : (tensor<1x3x2x8xf32, #dims>) -> tensor<1x3x2x8xf32, #dims>
  return %r : tensor<1x3x2x8xf32, #dims>
}
