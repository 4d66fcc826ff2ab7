// jax-ml/jax 24576 (also 19106): concatenating on a mesh of two axes multiplied every
// value by the ranks of the axis that split nothing: data was put together by a sum
// that ran over the copies as well. The copies are finished: a sum over their axis
// is refused, and so is putting pieces of a split dimension side by side.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["data"=2, "model"=2]>
#split = #tp.sharding<@mesh, [{"data"}]>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{this value is split so}}
func.func @pieces_side_by_side_r5(%a: tensor<4xf32, #split>, %b: tensor<4xf32, #split>) -> tensor<8xf32, #split> {
  // expected-error @below {{'tp.concat': 'part0' of 4 must be whole but is split over "data" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "data" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}]>}}
  // expected-error @below {{'tp.concat': 'part1' of 4 must be whole but is split over "data" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "data" before this operation (operand 1); the result is then #tp.sharding<@mesh, [{}]>}}
  %c = tp.concat %a, %b along 0 : (tensor<4xf32, #split>, tensor<4xf32, #split>) -> tensor<8xf32, #split>
  return %c : tensor<8xf32, #split>
}
func.func @sum_of_copies_r11(%a: tensor<4xf32, #split>, %b: tensor<4xf32, #split>) -> tensor<8xf32, #rep> {
  %x = tp.all_gather %a dim 0 over {"data"} : (tensor<4xf32, #split>) -> tensor<4xf32, #rep>
  %y = tp.all_gather %b dim 0 over {"data"} : (tensor<4xf32, #split>) -> tensor<4xf32, #rep>
  // expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}]>}}
  %c = tp.concat %x, %y along 0 : (tensor<4xf32, #rep>, tensor<4xf32, #rep>) -> tensor<8xf32, #rep>
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "model" [R11]}}
  // expected-note @below {{fix: leave it out}}
  %s = tp.all_reduce %c over {"model"} : (tensor<8xf32, #rep>) -> tensor<8xf32, #rep>
  return %s : tensor<8xf32, #rep>
}
