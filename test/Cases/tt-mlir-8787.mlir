// tenstorrent/tt-mlir 8787 (also 8492): a width of 12 divides by 4, its 6 heads do
// not. One side of the reshape was made local and the other left whole, and the
// compiler failed much later on element counts. The reshape itself is refused,
// with the heads; gathered first it is right.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#whole = #tp.sharding<@mesh, [{}, {}, {}]>
// expected-note @below {{this value is split so}}
func.func @six_heads_over_four_ranks_r6(%x: tensor<2x12xf32, #col>) -> tensor<2x6x2xf32, #whole> {
  // expected-error @below {{'tp.reshape': splits 'f1' of 6 (operand 0, dimension 1) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 2, 3, 6 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation}}
  %y = tp.reshape %x : (tensor<2x12xf32, #col>) -> tensor<2x6x2xf32, #whole>
  return %y : tensor<2x6x2xf32, #whole>
}
func.func @gathered_first(%x: tensor<2x12xf32, #col>) -> tensor<2x6x2xf32, #whole> {
  %g = tp.all_gather %x dim 1 over {"tp"} : (tensor<2x12xf32, #col>) -> tensor<2x12xf32, #rep>
  %y = tp.reshape %g : (tensor<2x12xf32, #rep>) -> tensor<2x6x2xf32, #whole>
  return %y : tensor<2x6x2xf32, #whole>
}
