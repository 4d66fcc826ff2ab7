// Values that are not finished, where they must be; and where they may be.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

// All of a module in one run, the same operation included.
tp.mesh @mesh = <["dp"=3, "tp"=2]>
#sum = #tp.sharding<@mesh, [{}, {}, {}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}, {}, {}]>
#gain = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @both_operands_are_partial_r1(%q: tensor<1x3x4x2xf32, #sum>,
    %v: tensor<1x3x4x2xf32, #rep>) -> tensor<1x3x4x2xf32, #rep> {
  // expected-error @below {{'tp.attention' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  // expected-error @below {{'tp.attention' is applied to a sum that is not finished: operand 1 is unreduced over "tp" [R1]}}
  %o = tp.attention %q, %q, %v {scale = 0.5 : f64} : (tensor<1x3x4x2xf32, #sum>, tensor<1x3x4x2xf32, #sum>, tensor<1x3x4x2xf32, #rep>) -> tensor<1x3x4x2xf32, #rep>
  return %o : tensor<1x3x4x2xf32, #rep>
}
// expected-note @below {{it comes in unreduced}}
func.func @norm_of_a_partial_sum_r1(%x: tensor<1x3x4x2xf32, #sum>, %g: tensor<2xf32, #gain>) -> tensor<1x3x4x2xf32, #rep> {
  // expected-error @below {{'tp.rms_norm' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  // expected-note @below {{fix: reduce-scatter it over "tp" along a dimension that this operation may split, as dimension 2; the result is then #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>}}
  %y = tp.rms_norm %x, %g {epsilon = 0.0 : f64} : (tensor<1x3x4x2xf32, #sum>, tensor<2xf32, #gain>) -> tensor<1x3x4x2xf32, #rep>
  return %y : tensor<1x3x4x2xf32, #rep>
}

// -----

// A maximum passes nothing but data movement.
tp.mesh @mesh = <["tp"=3]>
#max = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
// expected-note @below {{it comes in unreduced}}
func.func @sum_of_a_maximum_r1(%x: tensor<5x7xf32, #max>, %w: tensor<7x2xf32, #rep>) -> tensor<5x2xf32, #max> {
  // expected-error @below {{'tp.add' is applied to a maximum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{'tp.add' left it unreduced}}
  %a = tp.add %x, %x : (tensor<5x7xf32, #max>, tensor<5x7xf32, #max>) -> tensor<5x7xf32, #max>
  // expected-error @below {{'tp.matmul' is applied to a maximum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.matmul %a, %w : (tensor<5x7xf32, #max>, tensor<7x2xf32, #rep>) -> tensor<5x2xf32, #max>
  return %y : tensor<5x2xf32, #max>
}
// expected-note @below {{it comes in unreduced}}
func.func @maximum_becomes_a_sum_r7(%x: tensor<5x7xf32, #max>) -> tensor<7x5xf32, #sum> {
  // expected-error @below {{'tp.transpose': the result is declared an unfinished sum over "tp", but its operands make it an unfinished maximum over "tp" [R7]}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>}}
  %y = tp.transpose %x by [1, 0] : (tensor<5x7xf32, #max>) -> tensor<7x5xf32, #sum>
  return %y : tensor<7x5xf32, #sum>
}
// expected-note @below {{it comes in unreduced}}
func.func @sum_becomes_a_maximum_r11(%x: tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #max> {
  // expected-error @below {{'tp.reshard': its result is an unfinished maximum over "tp", which neither a sum nor a finished value becomes [R11]}}
  // expected-note @below {{fix: leave it out; the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>}}
  %y = tp.reshard %x : (tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #max>
  return %y : tensor<5x7xf32, #max>
}
// expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}, {}]>}}
func.func @finished_becomes_a_maximum_r11(%x: tensor<5x7xf32, #rep>) -> tensor<5x7xf32, #max> {
  // expected-error @below {{'tp.to_unreduced': needs an operand that is whole over "tp", and makes a sum, never a maximum [R11]}}
  // expected-note @below {{fix: leave it out; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.to_unreduced %x over {"tp"} : (tensor<5x7xf32, #rep>) -> tensor<5x7xf32, #max>
  return %y : tensor<5x7xf32, #max>
}

// -----

tp.mesh @mesh = <["dp"=3, "tp"=2]>
#tp = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#dp = #tp.sharding<@mesh, [{}, {}], unreduced = {"dp"}>
#both = #tp.sharding<@mesh, [{}, {}], unreduced = {"dp", "tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
#vector = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @sums_over_different_axes_r2(%x: tensor<5x7xf32, #tp>, %y: tensor<5x7xf32, #dp>) -> tensor<5x7xf32, #both> {
  // expected-error @below {{'tp.add': operand 0 is unreduced over "tp" but operand 1 over "dp"; their terms do not pair up [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" and operand 1 over "dp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 0 unreduced with tp.to_unreduced over "dp" and operand 1 unreduced with tp.to_unreduced over "tp"}}
  %z = tp.add %x, %y : (tensor<5x7xf32, #tp>, tensor<5x7xf32, #dp>) -> tensor<5x7xf32, #both>
  return %z : tensor<5x7xf32, #both>
}
// expected-note @below {{it comes in unreduced}}
func.func @one_sum_over_more_axes_r2(%x: tensor<5x7xf32, #tp>, %y: tensor<5x7xf32, #both>) -> tensor<5x7xf32, #both> {
  // expected-error @below {{'tp.sub': operand 0 is unreduced over "tp" but operand 1 over "dp", "tp"; their terms do not pair up [R2]}}
  // expected-note @below {{fix: all-reduce operand 1 over "dp" first; the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>}}
  // expected-note @below {{fix: make operand 0 unreduced with tp.to_unreduced over "dp"}}
  %z = tp.sub %x, %y : (tensor<5x7xf32, #tp>, tensor<5x7xf32, #both>) -> tensor<5x7xf32, #both>
  return %z : tensor<5x7xf32, #both>
}
func.func @residual_on_every_rank_r2(%x: tensor<5x4xf32, #rep>, %w: tensor<4x7xf32, #tp>, %r: tensor<5x7xf32, #rep>) -> tensor<5x7xf32, #tp> {
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %x, %w : (tensor<5x4xf32, #rep>, tensor<4x7xf32, #tp>) -> tensor<5x7xf32, #tp>
  // expected-error @below {{'tp.add': operand 1 is unreduced over "tp" but operand 0 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 1 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 0 unreduced with tp.to_unreduced over "tp"}}
  %z = tp.add %r, %y : (tensor<5x7xf32, #rep>, tensor<5x7xf32, #tp>) -> tensor<5x7xf32, #tp>
  return %z : tensor<5x7xf32, #tp>
}
// expected-note @below {{it comes in unreduced}}
func.func @other_operand_split_over_the_axis_r3(%x: tensor<5x7xf32, #tp>, %w: tensor<7x4xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>) -> tensor<5x4xf32, #tp.sharding<@mesh, [{}, {"tp"}]>> {
  // expected-error @below {{'tp.matmul': operand 0 is unreduced over "tp", so operand 1 must be whole there; a product of sums is not the sum of products [R3]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first}}
  // expected-note @below {{fix: all-gather dimension 1 of operand 1 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>}}
  %z = tp.matmul %x, %w : (tensor<5x7xf32, #tp>, tensor<7x4xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>) -> tensor<5x4xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>
  return %z : tensor<5x4xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>
}
func.func @constant_that_is_not_zero_r7() -> tensor<2xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>> {
  // expected-error @below {{'tp.constant': the result is declared unreduced over "tp", but it is finished [R7]}}
  // expected-note @below {{fix: declare the result finished}}
  %c = tp.constant dense<[0.0, 3.0]> : tensor<2xf32> as tensor<2xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
  return %c : tensor<2xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
}

// -----

// A sub-axis is not part of another one whose border does not divide its own.
tp.mesh @mesh = <["tp"=6]>
#three = #tp.sharding<@mesh, [{}], unreduced = {"tp":(1)3}>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @sub_axis_that_is_no_part_r11(%x: tensor<5xf32, #three>) -> tensor<5xf32, #rep> {
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "tp":(1)2 [R11]}}
  // expected-note @below {{fix: instead all-reduce it over "tp":(1)3}}
  %y = tp.all_reduce %x over {"tp":(1)2} : (tensor<5xf32, #three>) -> tensor<5xf32, #rep>
  return %y : tensor<5xf32, #rep>
}

// -----

// Some axes of several are reduced, one twice.
tp.mesh @mesh = <["dp"=3, "tp"=2]>
#both = #tp.sharding<@mesh, [{}], unreduced = {"dp", "tp"}>
#dp = #tp.sharding<@mesh, [{}], unreduced = {"dp"}>
#rep = #tp.sharding<@mesh, [{}]>
#split = #tp.sharding<@mesh, [{"tp"}]>
func.func @reduced_twice_r11(%x: tensor<4xf32, #both>) -> tensor<4xf32, #rep> {
  // expected-note @below {{'tp.all_reduce' left it unreduced}}
  %a = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #both>) -> tensor<4xf32, #dp>
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "tp" [R11]}}
  // expected-note @below {{fix: leave it out}}
  %b = tp.all_reduce %a over {"tp"} : (tensor<4xf32, #dp>) -> tensor<4xf32, #dp>
  %c = tp.all_reduce %b over {"dp"} : (tensor<4xf32, #dp>) -> tensor<4xf32, #rep>
  return %c : tensor<4xf32, #rep>
}
// expected-note @below {{it comes in unreduced}}
func.func @over_the_wrong_axis_r11(%x: tensor<4xf32, #dp>) -> tensor<4xf32, #split> {
  // expected-error @below {{'tp.reduce_scatter': needs an operand that is unreduced over "tp" [R11]}}
  // expected-note @below {{fix: instead reshard it to #tp.sharding<@mesh, [{"tp"}]>}}
  %a = tp.reduce_scatter %x dim 0 over {"tp"} : (tensor<4xf32, #dp>) -> tensor<4xf32, #split>
  return %a : tensor<4xf32, #split>
}
