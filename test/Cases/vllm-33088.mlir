// vllm-project/vllm 33088: a rewrite turned the sum of a row-split product into an
// average over the ranks; norms behind it hid the factor. A value says by which
// kind it is unreduced, sum or max, and a reduction is of the value's kind: an
// average cannot be written, and a sum is not finished as a maximum.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
// expected-error @below {{values combine as sum or max, not as 'avg'}}
func.func @average(%x: tensor<4x3xf32, #tp.sharding<@mesh, [{}, {}], unreduced = avg{"tp"}>>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
// expected-note @below {{it comes in unreduced}}
func.func @finished_as_a_maximum_r11(%x: tensor<4x3xf32, #sum>) -> tensor<4x3xf32, #row> {
  // expected-error @below {{'tp.reshard': its result is an unfinished maximum over "tp", which neither a sum nor a finished value becomes [R11]}}
  // expected-note @below {{fix: leave it out; the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>}}
  %m = tp.reshard %x : (tensor<4x3xf32, #sum>) -> tensor<4x3xf32, #max>
  %y = tp.reduce_scatter %m dim 0 over {"tp"} : (tensor<4x3xf32, #max>) -> tensor<4x3xf32, #row>
  return %y : tensor<4x3xf32, #row>
}
