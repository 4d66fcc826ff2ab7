// vllm-project/vllm 2652 (also 414, 4232): 28 heads on 8 ranks. The width of 56
// divides by 8, so a check of widths alone splits a head in two; users asked
// which numbers of ranks are legal. A head stays whole, and the legal numbers are
// named.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=8]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#heads = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
func.func @three_and_a_half_heads_r6(%x: tensor<4x56xf32, #rep>, %w: tensor<56x56xf32, #col>) -> tensor<4x28x2xf32, #heads> {
  // expected-note @below {{this value is split so}}
  %q = tp.matmul %x, %w : (tensor<4x56xf32, #rep>, tensor<56x56xf32, #col>) -> tensor<4x56xf32, #col>
  // expected-error @below {{'tp.reshape': splits 'f1' of 28 (operand 0, dimension 1) over 8 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 2, 4, 7, 14, 28 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation; the result is then #tp.sharding<@mesh, [{}, {}, {}]>}}
  %h = tp.reshape %q : (tensor<4x56xf32, #col>) -> tensor<4x28x2xf32, #heads>
  return %h : tensor<4x28x2xf32, #heads>
}

// -----

// Seven ranks hold four heads each.
tp.mesh @mesh = <["tp"=7]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#heads = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
func.func @four_heads(%q: tensor<4x56xf32, #col>) -> tensor<4x28x2xf32, #heads> {
  %h = tp.reshape %q : (tensor<4x56xf32, #col>) -> tensor<4x28x2xf32, #heads>
  return %h : tensor<4x28x2xf32, #heads>
}
