// Pieces of local collectives that do not fit, and rank tables.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @pieces_that_fit(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %all = tp.local_all_gather %x dim 0 groups dense<[[0, 1, 2]]> : tensor<1x3xi64> pieces dense<[[3, 3, 0]]> : tensor<1x3xi64> : (tensor<3x5xf32>) -> tensor<6x5xf32>
  %own = tp.local_reduce_scatter %all sum dim 0 groups dense<[[0, 1], [2, 3]]> : tensor<2x2xi64> pieces dense<[[2, 2], [3, 3]]> : tensor<2x2xi64> : (tensor<6x5xf32>) -> tensor<3x5xf32>
  %moved = tp.local_all_to_all %own from 0 to 1 groups dense<[[0, 1]]> : tensor<1x2xi64> source_pieces dense<[[3, 4]]> : tensor<1x2xi64> target_pieces dense<[[5, 0]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<7x5xf32>
  %sent = tp.local_permute %x pairs dense<[[0, 1], [1, 0]]> : tensor<2x2xi64> counts [15, 7] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %sent : tensor<3x5xf32>
}

// -----

func.func @pieces_of_another_sum(%x: tensor<3x5xf32>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.local_all_gather' op 'pieces' has no row with a piece of 3 elements and 7 in all}}
  %y = tp.local_all_gather %x dim 0 groups dense<[[0, 1]]> : tensor<1x2xi64> pieces dense<[[3, 3]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @piece_that_nobody_has(%x: tensor<7x5xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'tp.local_reduce_scatter' op 'pieces' has no row with a piece of 4 elements and 7 in all}}
  %y = tp.local_reduce_scatter %x max dim 0 groups dense<[[0, 1]]> : tensor<1x2xi64> pieces dense<[[5, 2]]> : tensor<1x2xi64> : (tensor<7x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @pieces_of_another_shape(%x: tensor<3x5xf32>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.local_all_gather' op 'pieces' is a table of 2 x 1, 'groups' of 1 x 2}}
  %y = tp.local_all_gather %x dim 0 groups dense<[[0, 1]]> : tensor<1x2xi64> pieces dense<[[3], [4]]> : tensor<2x1xi64> : (tensor<3x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @piece_below_zero(%x: tensor<3x5xf32>) -> tensor<2x5xf32> {
  // expected-error @below {{'tp.local_all_gather' op 'pieces' has a piece of -1 elements}}
  %y = tp.local_all_gather %x dim 0 groups dense<[[0, 1]]> : tensor<1x2xi64> pieces dense<[[3, -1]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

func.func @sum_beyond_63_bits(%x: tensor<3x5xf32>) -> tensor<2x5xf32> {
  // expected-error @below {{'tp.local_all_gather' op 'pieces' has a row of more than 2^63 - 1 elements}}
  %y = tp.local_all_gather %x dim 0 groups dense<[[0, 1]]> : tensor<1x2xi64> pieces dense<[[3, 9223372036854775807]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

func.func @target_pieces_of_another_sum(%x: tensor<3x7xf32>) -> tensor<7x4xf32> {
  // expected-error @below {{'tp.local_all_to_all' op 'target_pieces' has no row with a piece of 4 elements and 7 in all}}
  %y = tp.local_all_to_all %x from 0 to 1 groups dense<[[0, 1]]> : tensor<1x2xi64> source_pieces dense<[[3, 4]]> : tensor<1x2xi64> target_pieces dense<[[4, 4]]> : tensor<1x2xi64> : (tensor<3x7xf32>) -> tensor<7x4xf32>
  return %y : tensor<7x4xf32>
}

// -----

func.func @counts_of_other_blocks(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_permute' op 'counts' must have one number of elements a pair, 2 in all, among them the operand's 15}}
  %y = tp.local_permute %x pairs dense<[[0, 1], [1, 0]]> : tensor<2x2xi64> counts [14, 7] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func private @some(%x: tensor<3xf32>) -> tensor<3xf32> attributes {tp.local} {
  return %x : tensor<3xf32>
}
// expected-error @below {{'tp.rank_table' op gives rank 2 function number 1 of 1}}
tp.rank_table @main [@some] [0, 0, 1]

// -----

// expected-error @below {{'tp.rank_table' op is for 0 ranks; 1 to 65536 can be listed}}
tp.rank_table @main [] []

// -----

func.func private @typed(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// expected-error @below {{'tp.rank_table' op names @typed, which is no tp.local function with a body}}
tp.rank_table @main [@typed] [0, 0]
