// NVIDIA/nccl 1417 (also pytorch/pytorch 140563): ranks called one all-reduce with
// different counts, from a split that does not divide, and it hung or gave a wrong
// tail. Ranks whose pieces differ in size hold pieces, not terms of a sum: the
// reduction is refused, and the gather that fits is named.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{"tp"}]>}}
func.func @four_and_three_r11(%x: tensor<7xf32, #split>) -> tensor<7xf32, #rep> {
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "tp" [R11]}}
  // expected-note @below {{fix: instead all-gather dimension 0 of it over "tp"}}
  %y = tp.all_reduce %x over {"tp"} : (tensor<7xf32, #split>) -> tensor<7xf32, #rep>
  return %y : tensor<7xf32, #rep>
}
