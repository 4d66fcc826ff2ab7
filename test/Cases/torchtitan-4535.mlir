// pytorch/torchtitan 4535: gate and up of width 3, interleaved, were split over two
// ranks because twice the width is even. The width itself is the factor, and 3
// does not divide.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#pairs = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
// expected-note @below {{this value is split so}}
func.func @one_and_a_half_pairs_r6(%y: tensor<4x6xf32, #col>) -> tensor<4x3x2xf32, #pairs> {
  // expected-error @below {{'tp.reshape': splits 'f1' of 3 (operand 0, dimension 1) over 2 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation; the result is then #tp.sharding<@mesh, [{}, {}, {}]>}}
  %p = tp.reshape %y : (tensor<4x6xf32, #col>) -> tensor<4x3x2xf32, #pairs>
  return %p : tensor<4x3x2xf32, #pairs>
}
