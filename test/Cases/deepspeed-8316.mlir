// deepspeedai/DeepSpeed 8316: the head count of a model was kept for the whole
// process, so that 12 heads on 4 ranks became 4, 4, 4 and 0 once another model
// had been planned. Here a function is judged by its own shapes, whatever stands
// before it: the one with 3 KV heads is refused, the other is not, in both orders.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#three = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>
// expected-note @below {{this value is split so}}
func.func @f(%q: tensor<1x5x12x2xf32, #heads>, %k: tensor<1x5x3x2xf32, #three>) -> tensor<1x5x12x2xf32, #heads> {
  // expected-error @below {{'tp.attention': splits 'kv_heads' of 3 (operand 0, dimension 2) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: make all operands whole before this operation, and bring the results back to their layout after it}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x5x12x2xf32, #heads>, tensor<1x5x3x2xf32, #three>, tensor<1x5x3x2xf32, #three>) -> tensor<1x5x12x2xf32, #heads>
  return %o : tensor<1x5x12x2xf32, #heads>
}
func.func @g(%q: tensor<1x5x12x2xf32, #heads>) -> tensor<1x5x12x2xf32, #heads> {
  %o = tp.attention %q, %q, %q {scale = 0.5 : f64} : (tensor<1x5x12x2xf32, #heads>, tensor<1x5x12x2xf32, #heads>, tensor<1x5x12x2xf32, #heads>) -> tensor<1x5x12x2xf32, #heads>
  return %o : tensor<1x5x12x2xf32, #heads>
}

// -----

tp.mesh @mesh = <["tp"=4]>
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#three = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>
func.func @g(%q: tensor<1x5x12x2xf32, #heads>) -> tensor<1x5x12x2xf32, #heads> {
  %o = tp.attention %q, %q, %q {scale = 0.5 : f64} : (tensor<1x5x12x2xf32, #heads>, tensor<1x5x12x2xf32, #heads>, tensor<1x5x12x2xf32, #heads>) -> tensor<1x5x12x2xf32, #heads>
  return %o : tensor<1x5x12x2xf32, #heads>
}
// expected-note @below {{this value is split so}}
func.func @f(%q: tensor<1x5x12x2xf32, #heads>, %k: tensor<1x5x3x2xf32, #three>) -> tensor<1x5x12x2xf32, #heads> {
  // expected-error @below {{'tp.attention': splits 'kv_heads' of 3 (operand 0, dimension 2) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: make all operands whole before this operation, and bring the results back to their layout after it}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x5x12x2xf32, #heads>, tensor<1x5x3x2xf32, #three>, tensor<1x5x3x2xf32, #three>) -> tensor<1x5x12x2xf32, #heads>
  return %o : tensor<1x5x12x2xf32, #heads>
}
