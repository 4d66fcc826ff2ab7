// Each violation is reported once, with its cause and fixes.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @nonlinear_before_the_sum_r1(%x: tensor<3x4xf32, #col>,
    %w: tensor<4x10xf32, #row>) -> tensor<3x10xf32, #sum> {
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x10xf32, #row>) -> tensor<3x10xf32, #sum>
  // expected-error @below {{'tp.gelu' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: reduce-scatter it over "tp" along a dimension that this operation may split, as dimension 1; the result is then #tp.sharding<@mesh, [{}, {"tp"}]>}}
  %z = tp.gelu %y : (tensor<3x10xf32, #sum>) -> tensor<3x10xf32, #sum>
  return %z : tensor<3x10xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=3]>
#bias = #tp.sharding<@mesh, [{}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @bias_before_the_sum_r2(%y: tensor<5x7xf32, #sum>,
    %b: tensor<7xf32, #bias>) -> tensor<5x7xf32, #sum> {
  // expected-error @below {{'tp.add': operand 0 is unreduced over "tp" but operand 1 is finished; every rank would add the finished value, 3 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 1 unreduced with tp.to_unreduced over "tp"}}
  %z = tp.add %y, %b : (tensor<5x7xf32, #sum>, tensor<7xf32, #bias>) -> tensor<5x7xf32, #sum>
  return %z : tensor<5x7xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @product_of_sums_r3(%x: tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #sum> {
  // expected-error @below {{'tp.mul': operand 0 is unreduced over "tp", so operand 1 must be whole there; a product of sums is not the sum of products [R3]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first}}
  // expected-note @below {{fix: all-reduce operand 1 over "tp" first}}
  %z = tp.mul %x, %x : (tensor<5x7xf32, #sum>, tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #sum>
  return %z : tensor<5x7xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
// expected-note @below {{the other layout is given here}}
func.func @contraction_split_on_one_side_r4(%x: tensor<3x4xf32, #rep>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep> {
  // expected-error @below {{'tp.matmul': 'k' of 4 is whole in operand 0 but is split over "tp" in operand 1 [R4]}}
  // expected-note @below {{fix: all-gather dimension 0 of operand 1 over "tp"}}
  // expected-note @below {{fix: slice dimension 1 of operand 0 over "tp"; the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #rep>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep>
  return %y : tensor<3x6xf32, #rep>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#gain = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{this value is split so}}
func.func @norm_over_a_split_dimension_r5(%x: tensor<3x8xf32, #col>, %g: tensor<8xf32, #gain>) -> tensor<3x8xf32, #col> {
  // expected-error @below {{'tp.rms_norm': 'normalised' of 8 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0, operand 1); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x8xf32, #col>, tensor<8xf32, #gain>) -> tensor<3x8xf32, #col>
  return %y : tensor<3x8xf32, #col>
}

// -----

// 12 columns divide by 4, 6 heads do not.
tp.mesh @mesh = <["tp"=4]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}, {}]>
// expected-note @below {{this value is split so}}
func.func @half_a_head_r6(%x: tensor<2x12xf32, #col>) -> tensor<2x6x2xf32, #rep> {
  // expected-error @below {{'tp.reshape': splits 'f1' of 6 (operand 0, dimension 1) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 2, 3, 6 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation}}
  %y = tp.reshape %x : (tensor<2x12xf32, #col>) -> tensor<2x6x2xf32, #rep>
  return %y : tensor<2x6x2xf32, #rep>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
// expected-note @below {{'k' is split over "tp" here}}
func.func @sum_forgotten_r7(%x: tensor<3x4xf32, #col>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep> {
  // expected-error @below {{'tp.matmul': the result is declared finished, but its operands make it unreduced over "tp" [R7]}}
  // expected-note @below {{fix: declare the result unreduced over "tp"}}
  // expected-note @below {{fix: all-reduce it over "tp" after this operation}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep>
  return %y : tensor<3x6xf32, #rep>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @narrowing_a_partial_sum_r8(%x: tensor<5xf32, #sum>) -> tensor<5xbf16, #sum> {
  // expected-error @below {{'tp.cast' is applied to a sum that is not finished: operand 0 is unreduced over "tp"; rounding f32 to bf16 before the sum is finished is not rounding the sum [R8]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}]>}}
  %y = tp.cast %x : (tensor<5xf32, #sum>) -> tensor<5xbf16, #sum>
  return %y : tensor<5xbf16, #sum>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#split = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{'vocabulary' is split here}}
// expected-note @below {{'t0' is split here}}
func.func @axis_splits_vocabulary_and_tokens_r9(%t: tensor<6x3xf32, #row>, %ids: tensor<4xi64, #split>) -> tensor<4x3xf32, #row> {
  // expected-error @below {{'tp.embedding': axis "tp" splits both 'vocabulary' and 't0': a rank would hold only the diagonal [R9]}}
  // expected-note @below {{fix: all-gather 'vocabulary' over "tp" (operand 0)}}
  // expected-note @below {{fix: all-gather 't0' over "tp" (operand 1); the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>}}
  %y = tp.embedding %t, %ids : (tensor<6x3xf32, #row>, tensor<4xi64, #split>) -> tensor<4x3xf32, #row>
  return %y : tensor<4x3xf32, #row>
}

// -----

tp.mesh @mesh = <["tp"=2, "dp"=3]>
#unknown = #tp.sharding<@mesh, [{"pp"}]>
// expected-error @below {{argument 0 is laid out wrongly [R10]: axis "pp" is not one of the mesh's axes}}
// expected-note @below {{the mesh is #tp.mesh<["tp"=2, "dp"=3]>}}
func.func @unknown_axis_r10(%x: tensor<6xf32, #unknown>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=6]>
#sub = #tp.sharding<@mesh, [{"tp":(1)4}]>
// expected-error @below {{argument 0 is laid out wrongly [R10]: sub-axis #tp.axis_ref<"tp":(1)4> does not divide axis "tp" of 6 ranks: 1 * 4 must divide 6}}
func.func @sub_axis_r10(%x: tensor<8xf32, #sub>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#twice = #tp.sharding<@mesh, [{"tp"}, {"tp"}]>
// expected-error @below {{argument 0 is laid out wrongly [R10]: axis "tp" is used twice in one sharding}}
func.func @axis_twice_r10(%x: tensor<4x4xf32, #twice>) {
  return
}

// -----

#lost = #tp.sharding<@nowhere, [{}]>
// expected-error @below {{argument 0 is laid out on @nowhere, but the module has no such mesh [R10]}}
// expected-note @below {{fix: add a tp.mesh of that name}}
func.func @no_mesh_r10(%x: tensor<4xf32, #lost>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{}]>}}
func.func @reduction_of_what_is_whole_r11(%x: tensor<4xf32, #rep>) -> tensor<4xf32, #rep> {
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "tp" [R11]}}
  // expected-note @below {{fix: leave it out}}
  %y = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #rep>) -> tensor<4xf32, #rep>
  return %y : tensor<4xf32, #rep>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @gather_of_a_partial_sum_r11(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #rep> {
  // expected-error @below {{'tp.all_gather': needs an operand whose dimension 0 is split, minor-most, over "tp" [R11]}}
  // expected-note @below {{fix: instead all-reduce it over "tp"}}
  %y = tp.all_gather %x dim 0 over {"tp"} : (tensor<4xf32, #sum>) -> tensor<4xf32, #rep>
  return %y : tensor<4xf32, #rep>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @result_of_a_collective_r11(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #sum> {
  // expected-error @below {{'tp.all_reduce': its result should be #tp.sharding<@mesh, [{}]> [R11]}}
  // expected-note @below {{fix: declare the result so}}
  // expected-note @below {{fix: leave it out}}
  %y = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #sum>) -> tensor<4xf32, #sum>
  return %y : tensor<4xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{its operand is laid out here: #tp.sharding<@mesh, [{}], unreduced = {"tp"}>}}
func.func @foreign_operation_r12(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #sum> {
  // expected-error @below {{'arith.addf' meets a sharded value, whose layout it would ignore [R12]}}
  // expected-note @below {{fix: use the tp operation, or partition first}}
  %y = arith.addf %x, %x : tensor<4xf32, #sum>
  return %y : tensor<4xf32, #sum>
}

// -----

// expected-error @below {{argument 0 has more than 2^63 - 1 elements: 'tensor<4611686018427387904x4xf32>' [R10]}}
func.func @too_many_elements_r10(%x: tensor<4611686018427387904x4xf32>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#other = #tp.sharding<@mesh, [{"dp"}]>
// expected-error @below {{argument 1 is laid out wrongly [R10]: axis "dp" is not one of the mesh's axes}}
// expected-note @below {{the mesh is #tp.mesh<["tp"=2]>}}
func.func @place_of_a_wrong_layout_r10(%x: tensor<5xf32>, %y: tensor<6xf32, #other>) {
  return
}

// -----

tp.mesh @a = <["tp"=2]>
tp.mesh @b = <["tp"=3]>
#on_a = #tp.sharding<@a, [{}]>
#on_b = #tp.sharding<@b, [{}]>
// expected-note @below {{this value lies on @b}}
func.func @two_meshes_r10(%x: tensor<5xf32, #on_a>, %y: tensor<5xf32, #on_b>) -> tensor<5xf32, #on_a> {
  // expected-error @below {{'tp.add' mixes values of different meshes [R10]}}
  // expected-note @below {{fix: lay all of them out on one mesh}}
  %z = tp.add %x, %y : (tensor<5xf32, #on_a>, tensor<5xf32, #on_b>) -> tensor<5xf32, #on_a>
  return %z : tensor<5xf32, #on_a>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
// expected-error @below {{argument 1 of a local function carries a sharding [R12]}}
// expected-note @below {{fix: give it the local type; 'tp.global' on the argument may say the global one}}
func.func @sharded_local_argument_r12(%x: tensor<3xf32>, %y: tensor<6xf32, #split>) attributes {tp.local} {
  return
}
