// Parameters that stay fused, and why; pins that lie across blocks.
// RUN: tp-opt %s --split-input-file --verify-diagnostics --tp-split-fused-weights

// expected-warning @below {{argument 1 (w) stays fused: blocks of it overlap}}
func.func @overlap(%x: tensor<3x6xf32>, %w: tensor<8x6xf32> {tp.name = "w", tp.parameter}) -> (tensor<3x5xf32>, tensor<3x4xf32>) {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x8xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x5xf32>
  %2 = tp.slice %0 at [0, 4] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %1, %2 : tensor<3x5xf32>, tensor<3x4xf32>
}

// -----

// expected-warning @below {{argument 1 (w) stays fused: it is used as a whole, too}}
func.func @weight_used_whole(%x: tensor<3x6xf32>, %w: tensor<8x6xf32> {tp.name = "w", tp.parameter}) -> (tensor<3x4xf32>, tensor<8x6xf32>) {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x8xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %1, %w : tensor<3x4xf32>, tensor<8x6xf32>
}

// -----

// expected-warning @below {{argument 1 stays fused: what is computed from it is used as a whole, too}}
func.func @product_used_whole(%x: tensor<3x6xf32>, %w: tensor<8x6xf32> {tp.parameter}) -> (tensor<3x4xf32>, tensor<3x8xf32>) {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x8xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %1, %0 : tensor<3x4xf32>, tensor<3x8xf32>
}

// -----

// Two dimensions of one parameter, by two products.
// expected-warning @below {{argument 1 stays fused: blocks of two dimensions are taken}}
func.func @two_dimensions(%x: tensor<3x6xf32>, %w: tensor<6x6xf32> {tp.parameter}) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = tp.matmul %x, %w : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x6xf32>) -> tensor<3x4xf32>
  %2 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
  %3 = tp.slice %2 at [0, 0] : (tensor<3x6xf32>) -> tensor<3x4xf32>
  return %1, %3 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// One caller has a parameter, the other something computed.
// expected-warning @below {{argument 1 (w) stays fused: a caller does not have its blocks}}
func.func private @layer(%x: tensor<3x6xf32>, %w: tensor<8x6xf32> {tp.name = "w", tp.parameter}) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x8xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
func.func @main(%x: tensor<3x6xf32>, %a: tensor<8x6xf32> {tp.parameter}, %b: tensor<8x6xf32> {tp.parameter}) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = call @layer(%x, %a) : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x4xf32>
  %1 = tp.relu %b : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = call @layer(%x, %1) : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x4xf32>
  return %0, %2 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#rows = #tp.sharding<@mesh, [ {"tp"}, {} ]>
// expected-error @below {{argument 1 is fused and pinned: of its 8 rows (dimension 0) each of 2 ranks gets 4 in one run, but 0 to 3 are one weight, of which every rank needs a part}}
// expected-note @below {{fix: pin the blocks that this pass makes of it, before tp-plan}}
func.func @pinned(%x: tensor<3x6xf32>, %w: tensor<8x6xf32, #rows> {tp.parameter}) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32, #rows>) -> tensor<3x8xf32>
  // expected-note @below {{a weight is taken here}}
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// Three groups do not go to two ranks.
tp.mesh @mesh = <["tp"=2]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-error @below {{argument 1 is fused and pinned: of its 12 columns (dimension 1) each of 2 ranks gets 6 in one run, but weights are taken of groups of 4, which must not be cut}}
// expected-note @below {{fix: split it over a number of ranks that divides its 3 groups}}
// expected-note @below {{fix: pin the blocks that this pass makes of it, before tp-plan}}
func.func @groups_cut(%x: tensor<5x6xf32>, %w: tensor<6x12xf32, #columns> {tp.parameter}) -> tensor<5x3x1xf32> {
  %0 = tp.matmul %x, %w : (tensor<5x6xf32>, tensor<6x12xf32, #columns>) -> tensor<5x12xf32>
  %1 = tp.reshape %0 : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
  // expected-note @below {{a weight is taken here}}
  %2 = tp.slice %1 at [0, 0, 1] : (tensor<5x3x4xf32>) -> tensor<5x3x1xf32>
  return %2 : tensor<5x3x1xf32>
}

// -----

// A part of the axis that the groups do not divide, of a product.
tp.mesh @mesh = <["tp"=6]>
#product = #tp.sharding<@mesh, [{}, {"tp":(1)3}]>
func.func @product_cut(%x: tensor<5x7xf32>, %w: tensor<7x24xf32> {tp.parameter}) -> tensor<5x2x3xf32> {
  // expected-error @below {{what is computed here is fused and pinned: of its 24 columns (dimension 1) each of 3 ranks gets 8 in one run, but weights are taken of groups of 12, which must not be cut}}
  // expected-note @below {{fix: split it over a number of ranks that divides its 2 groups}}
  // expected-note @below {{fix: pin the blocks that this pass makes of it, before tp-plan}}
  %0 = tp.matmul %x, %w : (tensor<5x7xf32>, tensor<7x24xf32>) -> tensor<5x24xf32, #product>
  %1 = tp.reshape %0 : (tensor<5x24xf32, #product>) -> tensor<5x2x12xf32>
  // expected-note @below {{a weight is taken here}}
  %2 = tp.slice %1 at [0, 0, 9] : (tensor<5x2x12xf32>) -> tensor<5x2x3xf32>
  return %2 : tensor<5x2x3xf32>
}

// -----

// Shards of uneven size, along a dimension of three.
tp.mesh @mesh = <["tp"=4]>
#slabs = #tp.sharding<@mesh, [{"tp"}, {}, {}]>
// expected-error @below {{argument 0 is fused and pinned: of its 6 elements (dimension 0) each of 4 ranks gets at most 2 in one run, but 0 to 4 are one weight, of which every rank needs a part}}
// expected-note @below {{fix: pin the blocks that this pass makes of it, before tp-plan}}
func.func @slabs(%w: tensor<6x3x2xf32, #slabs> {tp.parameter}) -> (tensor<5x3x2xf32>, tensor<1x3x2xf32>) {
  // expected-note @below {{a weight is taken here}}
  %0 = tp.slice %w at [0, 0, 0] : (tensor<6x3x2xf32, #slabs>) -> tensor<5x3x2xf32>
  %1 = tp.slice %w at [5, 0, 0] : (tensor<6x3x2xf32, #slabs>) -> tensor<1x3x2xf32>
  return %0, %1 : tensor<5x3x2xf32>, tensor<1x3x2xf32>
}
