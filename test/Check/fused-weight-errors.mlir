// A parameter that holds several weights, split as if it were one.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#bias = #tp.sharding<@mesh, [{"tp"}]>
func.func @slice_of_a_product_with_a_bias_r5(%x: tensor<3x7xf32, #rep>, %w: tensor<12x7xf32, #row> {tp.parameter, tp.name = "qkv.weight"}, %b: tensor<12xf32, #bias> {tp.parameter}) -> tensor<3x4xf32, #rep> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x7xf32, #rep>, tensor<12x7xf32, #row>) -> tensor<3x12xf32, #col>
  // expected-note @below {{this value is split so}}
  %qkv = tp.add %0, %b : (tensor<3x12xf32, #col>, tensor<12xf32, #bias>) -> tensor<3x12xf32, #col>
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: argument 1 (qkv.weight) holds several weights: run tp-split-fused-weights before it is laid out}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %k = tp.slice %qkv at [0, 4] : (tensor<3x12xf32, #col>) -> tensor<3x4xf32, #rep>
  return %k : tensor<3x4xf32, #rep>
}

// -----

// What is taken of the parameter itself: two blocks, or the rows of a table.
tp.mesh @mesh = <["tp"=3]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
// expected-note @below {{this value is split so}}
func.func @slices_of_the_parameter_r5(%w: tensor<5x12xf32, #col> {tp.parameter}) -> (tensor<5x4xf32, #rep>, tensor<5x8xf32, #rep>) {
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: argument 0 holds several weights: run tp-split-fused-weights before it is laid out}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %q = tp.slice %w at [0, 0] : (tensor<5x12xf32, #col>) -> tensor<5x4xf32, #rep>
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: argument 0 holds several weights: run tp-split-fused-weights before it is laid out}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %kv = tp.slice %w at [0, 4] : (tensor<5x12xf32, #col>) -> tensor<5x8xf32, #rep>
  return %q, %kv : tensor<5x4xf32, #rep>, tensor<5x8xf32, #rep>
}
// expected-note @below {{this value is split so}}
func.func @rows_of_a_table_r5(%w: tensor<12x5xf32, #row> {tp.parameter}) -> tensor<7x5xf32, #rep> {
  // expected-error @below {{'tp.slice': 'd0' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %p = tp.slice %w at [0, 0] : (tensor<12x5xf32, #row>) -> tensor<7x5xf32, #rep>
  return %p : tensor<7x5xf32, #rep>
}

// -----

// The reshape before the slice; without a slice it is an ordinary head count.
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#rep3 = #tp.sharding<@mesh, [{}, {}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @reshape_before_the_slice_r6(%x: tensor<2x5xf32, #rep>, %w: tensor<5x12xf32, #col> {tp.parameter}) -> tensor<2x1x4xf32, #rep3> {
  // expected-note @below {{this value is split so}}
  %qkv = tp.matmul %x, %w : (tensor<2x5xf32, #rep>, tensor<5x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-error @below {{'tp.reshape': splits 'f1' of 3 (operand 0, dimension 1) over 2 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: argument 1 holds several weights: run tp-split-fused-weights before it is laid out}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation}}
  %h = tp.reshape %qkv : (tensor<2x12xf32, #col>) -> tensor<2x3x4xf32, #rep3>
  %k = tp.slice %h at [0, 1, 0] : (tensor<2x3x4xf32, #rep3>) -> tensor<2x1x4xf32, #rep3>
  return %k : tensor<2x1x4xf32, #rep3>
}
func.func @heads_r6(%x: tensor<2x5xf32, #rep>, %w: tensor<5x12xf32, #col> {tp.parameter}) -> tensor<2x3x4xf32, #rep3> {
  // expected-note @below {{this value is split so}}
  %q = tp.matmul %x, %w : (tensor<2x5xf32, #rep>, tensor<5x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-error @below {{'tp.reshape': splits 'f1' of 3 (operand 0, dimension 1) over 2 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: all-gather the dimension before this operation}}
  %h = tp.reshape %q : (tensor<2x12xf32, #col>) -> tensor<2x3x4xf32, #rep3>
  return %h : tensor<2x3x4xf32, #rep3>
}

// -----

// What treats every column alike stands between, and what does not; what is
// joined instead of cut.
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @half_of_an_activation_r5(%x: tensor<2x5xf32, #rep>, %w: tensor<5x12xf32, #col> {tp.parameter}) -> tensor<2x4xf32, #rep> {
  %y = tp.matmul %x, %w : (tensor<2x5xf32, #rep>, tensor<5x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-note @below {{this value is split so}}
  %a = tp.relu %y : (tensor<2x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: argument 1 holds several weights: run tp-split-fused-weights before it is laid out}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %k = tp.slice %a at [0, 4] : (tensor<2x12xf32, #col>) -> tensor<2x4xf32, #rep>
  return %k : tensor<2x4xf32, #rep>
}
func.func @half_of_the_masked_r5(%x: tensor<2x5xf32, #rep>, %w: tensor<5x12xf32, #col> {tp.parameter}) -> tensor<2x4xf32, #rep> {
  %y = tp.matmul %x, %w : (tensor<2x5xf32, #rep>, tensor<5x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-note @below {{this value is split so}}
  %a = tp.mask_padding %y {valid = 11 : i64} : (tensor<2x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %k = tp.slice %a at [0, 4] : (tensor<2x12xf32, #col>) -> tensor<2x4xf32, #rep>
  return %k : tensor<2x4xf32, #rep>
}
// expected-note @below {{this value is split so}}
func.func @joined_r5(%v: tensor<5x4xf32, #col> {tp.parameter}, %w: tensor<5x6xf32, #rep> {tp.parameter}) -> tensor<5x10xf32, #rep> {
  // expected-error @below {{'tp.concat': 'part0' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %a = tp.concat %v, %w along 1 : (tensor<5x4xf32, #col>, tensor<5x6xf32, #rep>) -> tensor<5x10xf32, #rep>
  return %a : tensor<5x10xf32, #rep>
}
