// Layouts that do not go together although local shapes may agree.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

// Rank 0 of 2 would hold 8 elements before and 6 after.
tp.mesh @mesh = <["tp"=2]>
#units = #tp.sharding<@mesh, [{"tp", unit = 4}]>
#even = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{the operand is laid out here}}
func.func @half_a_unit_r4(%x: tensor<12xf32, #units>) -> tensor<12xf32, #even> {
  // expected-error @below {{'tp.relu': 'd0' of 12 is split over "tp" in units of 4 in operand 0 but is split over "tp" in the result [R4]}}
  // expected-note @below {{fix: reshard operand 0 to the layout of the result: #tp.sharding<@mesh, [{"tp"}]>}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{"tp", unit = 4}]>}}
  // expected-note @below {{fix: reshard it to #tp.sharding<@mesh, [{"tp"}]> after this operation}}
  %y = tp.relu %x : (tensor<12xf32, #units>) -> tensor<12xf32, #even>
  return %y : tensor<12xf32, #even>
}
// expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{"tp", unit = 4}]>}}
func.func @collective_that_changes_the_unit_r11(%x: tensor<12xf32, #tp.sharding<@mesh, [{"tp", unit = 4}]>>) -> tensor<12xf32, #even> {
  // expected-error @below {{'tp.collective_permute': needs an operand whose dimension 0 is split evenly over "tp" in some order [R11]}}
  // expected-note @below {{fix: instead reshard it to #tp.sharding<@mesh, [{"tp"}]>}}
  %y = tp.collective_permute %x dim 0 to {"tp"} : (tensor<12xf32, #units>) -> tensor<12xf32, #even>
  return %y : tensor<12xf32, #even>
}

// -----

// Three ranks hold 6, 3 and 3 elements: one and a half rows.
tp.mesh @mesh = <["tp"=3]>
#units = #tp.sharding<@mesh, [{"tp", unit = 3}]>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
// expected-note @below {{this value is split so}}
func.func @units_across_rows_r6(%x: tensor<12xf32, #units>) -> tensor<6x2xf32, #rows> {
  // expected-error @below {{'tp.reshape': splits 'f1' of 2 (operand 0, dimension 0) over 3 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 2 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.reshape %x : (tensor<12xf32, #units>) -> tensor<6x2xf32, #rows>
  return %y : tensor<6x2xf32, #rows>
}

// -----

// 15 elements over 6 ranks are 3,3,3,2,2,2; 5 over the last 2 of 3 x 2 are
// 3,2,3,2,3,2.
tp.mesh @mesh = <["tp"=6]>
#flat = #tp.sharding<@mesh, [{"tp"}]>
#nested = #tp.sharding<@mesh, [{"tp":(1)3}, {"tp":(3)2}]>
// expected-note @below {{this value is split so}}
func.func @nested_is_not_flat_r6(%x: tensor<15xf32, #flat>) -> tensor<3x5xf32, #nested> {
  // expected-error @below {{'tp.reshape': splits 'f0' of 3 (operand 0, dimension 0) over 6 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.reshape %x : (tensor<15xf32, #flat>) -> tensor<3x5xf32, #nested>
  return %y : tensor<3x5xf32, #nested>
}

// -----

tp.mesh @mesh = <["tp"=6]>
#torn = #tp.sharding<@mesh, [{"tp":(1)2}, {"tp":(3)2}]>
// expected-error @below {{argument 0 is laid out wrongly [R10]: sub-axes "tp":(1)2 and "tp":(3)2 do not go together: 1 * 2 must divide 3}}
func.func @sub_axes_that_do_not_go_together_r10(%x: tensor<4x4xf32, #torn>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
#flat = #tp.sharding<@mesh, [{"tp"}]>
// Both pieces are 4 x 4 or 1 x 6.
// expected-note @below {{the operand is laid out here}}
func.func @label_without_moving_r4(%x: tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #columns> {
  // expected-error @below {{'tp.tanh': 'd0' of 4 is split over "tp" in operand 0 but is whole in the result; 'd1' of 4 is whole in operand 0 but is split over "tp" in the result [R4]}}
  // expected-note @below {{fix: move "tp" from dimension 0 to dimension 1 of operand 0 with an all-to-all}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{"tp"}, {}]>}}
  // expected-note @below {{fix: move "tp" from dimension 0 to dimension 1 of it with an all-to-all after this operation}}
  %y = tp.tanh %x : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #columns>
  return %y : tensor<4x4xf32, #columns>
}
// expected-note @below {{the operand is laid out here}}
func.func @flatten_a_split_column_r4(%x: tensor<2x6xf32, #columns>) -> tensor<12xf32, #flat> {
  // expected-error @below {{'tp.reshape': 'f0' of 2 is whole in operand 0 but is split over "tp" in the result; 'f1' of 6 is split over "tp" in operand 0 but is whole in the result [R4]}}
  // expected-note @below {{fix: move "tp" from dimension 1 to dimension 0 of operand 0 with an all-to-all}}
  %y = tp.reshape %x : (tensor<2x6xf32, #columns>) -> tensor<12xf32, #flat>
  return %y : tensor<12xf32, #flat>
}
// expected-note @below {{this value is split so}}
func.func @interleaved_r5(%x: tensor<4x3xf32, #rows>) -> tensor<3x4xf32, #tp.sharding<@mesh, [{}, {}]>> {
  // expected-error @below {{'tp.reshape': 'f0' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %y = tp.reshape %x : (tensor<4x3xf32, #rows>) -> tensor<3x4xf32, #tp.sharding<@mesh, [{}, {}]>>
  return %y : tensor<3x4xf32, #tp.sharding<@mesh, [{}, {}]>>
}
// expected-note @below {{the operand is laid out here}}
func.func @transposed_the_wrong_way_r4(%x: tensor<6x4xf32, #rows>) -> tensor<4x6xf32, #rows> {
  // expected-error @below {{'tp.transpose': 'd0' of 6 is split over "tp" in operand 0 but is whole in the result; 'd1' of 4 is whole in operand 0 but is split over "tp" in the result [R4]}}
  // expected-note @below {{fix: move "tp" from dimension 0 to dimension 1 of operand 0 with an all-to-all}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{}, {"tp"}]>}}
  // expected-note @below {{fix: move "tp" from dimension 1 to dimension 0 of it with an all-to-all after this operation}}
  %y = tp.transpose %x by [1, 0] : (tensor<6x4xf32, #rows>) -> tensor<4x6xf32, #rows>
  return %y : tensor<4x6xf32, #rows>
}
// expected-note @below {{this value is split so}}
func.func @half_a_rotary_pair_r5(%x: tensor<1x3x2x4xf32, #tp.sharding<@mesh, [{}, {}, {}, {"tp"}]>>) -> tensor<1x3x2x4xf32, #tp.sharding<@mesh, [{}, {}, {}, {"tp"}]>> {
  // expected-error @below {{'tp.rope': 'head_dim' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}, {}, {}]>}}
  %y = tp.rope %x {theta = 500.0 : f64} : (tensor<1x3x2x4xf32, #tp.sharding<@mesh, [{}, {}, {}, {"tp"}]>>) -> tensor<1x3x2x4xf32, #tp.sharding<@mesh, [{}, {}, {}, {"tp"}]>>
  return %y : tensor<1x3x2x4xf32, #tp.sharding<@mesh, [{}, {}, {}, {"tp"}]>>
}

// -----

// Four ranks, two KV heads; and keys that lie on the wrong half of the ranks.
tp.mesh @mesh = <["tp"=4]>
#q = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#minor = #tp.sharding<@mesh, [{}, {}, {"tp":(2)2}, {}]>
// expected-note @below {{the other layout is given here}}
func.func @two_kv_heads_on_four_ranks_r4(%q: tensor<1x3x8x2xf32, #q>, %k: tensor<1x5x2x2xf32, #q>) -> tensor<1x3x8x2xf32, #q> {
  // expected-error @below {{'tp.attention': 'kv_heads' of 2 is split over "tp":(1)2 in operand 0 but is split over "tp" in operand 1 [R4]}}
  // expected-note @below {{fix: reshard operand 1 to the layout of operand 0: #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x8x2xf32, #q>, tensor<1x5x2x2xf32, #q>, tensor<1x5x2x2xf32, #q>) -> tensor<1x3x8x2xf32, #q>
  return %o : tensor<1x3x8x2xf32, #q>
}
// expected-note @below {{the other layout is given here}}
func.func @keys_on_the_wrong_ranks_r4(%q: tensor<1x3x8x2xf32, #q>, %k: tensor<1x5x2x2xf32, #minor>) -> tensor<1x3x8x2xf32, #q> {
  // expected-error @below {{'tp.attention': 'kv_heads' of 2 is split over "tp":(1)2 in operand 0 but is split over "tp":(2)2 in operand 1 [R4]}}
  // expected-note @below {{fix: reshard operand 1 to the layout of operand 0: #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x8x2xf32, #q>, tensor<1x5x2x2xf32, #minor>, tensor<1x5x2x2xf32, #minor>) -> tensor<1x3x8x2xf32, #q>
  return %o : tensor<1x3x8x2xf32, #q>
}

// -----

// One wrong sharding, used often, is one error; what is right beside it is
// checked all the same.
tp.mesh @mesh = <["tp"=2]>
#lost = #tp.sharding<@other, [{}]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-error @below {{argument 0 is laid out on @other, but the module has no such mesh [R10]}}
// expected-note @below {{fix: name one of @mesh}}
func.func @wrong_sharding_used_often_r10(%x: tensor<4xf32, #lost>, %z: tensor<4xf32, #sum>) -> tensor<4xf32, #lost> {
  %a = tp.relu %x : (tensor<4xf32, #lost>) -> tensor<4xf32, #lost>
  // expected-note @below {{'tp.reshard' left it unreduced}}
  %b = tp.reshard %a : (tensor<4xf32, #lost>) -> tensor<4xf32, #sum>
  // expected-error @below {{'tp.relu' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}]>}}
  // expected-note @below {{fix: reduce-scatter it over "tp" along a dimension that this operation may split, as dimension 0; the result is then #tp.sharding<@mesh, [{"tp"}]>}}
  %c = tp.relu %b : (tensor<4xf32, #sum>) -> tensor<4xf32, #sum>
  return %a : tensor<4xf32, #lost>
}
