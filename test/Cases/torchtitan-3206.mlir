// pytorch/torchtitan 3206 (also EleutherAI/gpt-neox 1260): keys were gathered along
// dimension 1 after a transpose had moved the sequence to dimension 2. A gather
// names a dimension that is split; the shapes fit either way.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#before = #tp.sharding<@mesh, [{}, {"tp"}, {}, {}]>
#after = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#rep = #tp.sharding<@mesh, [{}, {}, {}, {}]>
func.func @dimension_before_the_transpose_r11(%k: tensor<2x4x2x3xf32, #before>) -> tensor<2x2x4x3xf32, #rep> {
  // expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>}}
  %t = tp.transpose %k by [0, 2, 1, 3] : (tensor<2x4x2x3xf32, #before>) -> tensor<2x2x4x3xf32, #after>
  // expected-error @below {{'tp.all_gather': needs an operand whose dimension 1 is split, minor-most, over "tp" [R11]}}
  // expected-note @below {{fix: instead all-gather dimension 2 of it over "tp"}}
  %g = tp.all_gather %t dim 1 over {"tp"} : (tensor<2x2x4x3xf32, #after>) -> tensor<2x2x4x3xf32, #rep>
  return %g : tensor<2x2x4x3xf32, #rep>
}
