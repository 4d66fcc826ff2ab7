// sgl-project/sglang 19086: 2 KV heads on 4 ranks, gathered into a cache as 4: the
// total was rebuilt as heads of a rank times ranks, which counts copies. A
// sharding says that each head lies on two ranks; the gather goes over the major
// half of the axis and gives 2 heads. Over the whole axis it is refused.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
#kv = #tp.sharding<@mesh, [{}, {"tp":(1)2}, {}]>
#rep = #tp.sharding<@mesh, [{}, {}, {}]>
// expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}, {"tp":(1)2}, {}]>}}
func.func @gather_of_copies_r11(%k: tensor<5x2x3xf32, #kv>) -> tensor<5x2x3xf32, #rep> {
  // expected-error @below {{'tp.all_gather': needs an operand whose dimension 1 is split, minor-most, over "tp" [R11]}}
  // expected-note @below {{fix: instead all-gather dimension 1 of it over "tp":(1)2}}
  %g = tp.all_gather %k dim 1 over {"tp"} : (tensor<5x2x3xf32, #kv>) -> tensor<5x2x3xf32, #rep>
  return %g : tensor<5x2x3xf32, #rep>
}
func.func @gather_of_heads(%k: tensor<5x2x3xf32, #kv>) -> tensor<5x2x3xf32, #rep> {
  %g = tp.all_gather %k dim 1 over {"tp":(1)2} : (tensor<5x2x3xf32, #kv>) -> tensor<5x2x3xf32, #rep>
  return %g : tensor<5x2x3xf32, #rep>
}
