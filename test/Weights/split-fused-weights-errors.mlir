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
// expected-error @below {{argument 1 is fused and pinned: its rows in dimension 0 are blocks that ranks must split one by one}}
// expected-note @below {{fix: pin the blocks that this pass makes of it, before tp-plan}}
func.func @pinned(%x: tensor<3x6xf32>, %w: tensor<8x6xf32, #rows> {tp.parameter}) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32, #rows>) -> tensor<3x8xf32>
  // expected-note @below {{a block is taken here}}
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
