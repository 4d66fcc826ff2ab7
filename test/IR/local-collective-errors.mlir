// Collectives of the local phase with wrong tables of ranks, or wrong shapes.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @table_of_one_dimension(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_all_reduce' op 'groups' is a table of rank 1; rows of ranks are wanted}}
  %y = tp.local_all_reduce %x sum groups dense<[0, 1, 2]> : tensor<3xi64> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// The few bytes of this text stand for more ranks than a table may name.
func.func @table_of_too_many_ranks(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_all_reduce' op 'groups' of shape [65537, 3] is for more than 65536 ranks}}
  %y = tp.local_all_reduce %x sum groups dense<0> : tensor<65537x3xi64> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @rank_beyond_the_last(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_all_reduce' op 'groups' names rank 6 of 6 ranks}}
  %y = tp.local_all_reduce %x max groups dense<[[0, 1, 2], [3, 4, 6]]> : tensor<2x3xi64> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @rank_below_zero(%x: tensor<3x5xf32>) -> tensor<3x10xf32> {
  // expected-error @below {{'tp.local_all_gather' op 'groups' names rank -1 of 2 ranks}}
  %y = tp.local_all_gather %x dim 1 groups dense<[[0, -1]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}

// -----

func.func @rank_in_two_groups(%x: tensor<3x5xf32>) -> tensor<3x10xf32> {
  // expected-error @below {{'tp.local_all_gather' op 'groups' names rank 2 twice}}
  %y = tp.local_all_gather %x dim 1 groups dense<[[0, 2], [2, 3]]> : tensor<2x2xi64> : (tensor<3x5xf32>) -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}

// -----

func.func @no_rank(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_reduce_scatter' op 'groups' is empty}}
  %y = tp.local_reduce_scatter %x sum dim 0 groups dense<> : tensor<2x0xi64> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @typed_operand(%x: tensor<3x5xf32, #rep>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_all_reduce' op is of the local phase; its tensors carry no sharding}}
  %y = tp.local_all_reduce %x sum groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x5xf32, #rep>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

#rep = #tp.sharding<@mesh, [{}]>
func.func @typed_mask(%x: tensor<5xf32>, %c: index) -> tensor<5xf32, #rep> {
  // expected-error @below {{'tp.local_mask' op is of the local phase; its tensors carry no sharding}}
  %y = tp.local_mask %x if %c : (tensor<5xf32>, index) -> tensor<5xf32, #rep>
  return %y : tensor<5xf32, #rep>
}

// -----

func.func @gather_beyond_the_rank(%x: tensor<3x5xf32>) -> tensor<3x10xf32> {
  // expected-error @below {{'tp.local_all_gather' op dimension 2 of a tensor of rank 2}}
  %y = tp.local_all_gather %x dim 2 groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}

// -----

func.func @scatter_below_zero(%x: tensor<3x10xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.local_reduce_scatter' op dimension -1 of a tensor of rank 2}}
  %y = tp.local_reduce_scatter %x sum dim -1 groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x10xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @slice_beyond_the_rank(%x: tensor<7xf32>, %o: index) -> tensor<7xf32> {
  // expected-error @below {{'tp.local_slice' op dimension 3 of a tensor of rank 1}}
  %y = tp.local_slice %x from %o dim 3 : (tensor<7xf32>, index) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @gather_of_two_pieces_into_three(%x: tensor<3x5xf32>) -> tensor<3x15xf32> {
  // expected-error @below {{'tp.local_all_gather' op 15 elements are not 2 pieces of 5}}
  %y = tp.local_all_gather %x dim 1 groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<3x15xf32>
  return %y : tensor<3x15xf32>
}

// -----

func.func @reduction_to_another_type(%x: tensor<3x5xf32>) -> tensor<3x5xf64> {
  // expected-error @below {{'tp.local_all_reduce' op result 'tensor<3x5xf64>' should be 'tensor<3x5xf32>'}}
  %y = tp.local_all_reduce %x sum groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x5xf32>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

// -----

func.func @scatter_into_uneven_pieces(%x: tensor<3x10xf32>) -> tensor<3x3xf32> {
  // expected-error @below {{'tp.local_reduce_scatter' op 10 elements are not 3 pieces of 3}}
  %y = tp.local_reduce_scatter %x sum dim 1 groups dense<[[0, 1, 2]]> : tensor<1x3xi64> : (tensor<3x10xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// -----

func.func @exchange_of_uneven_pieces(%x: tensor<3x7xf32>) -> tensor<6x3xf32> {
  // expected-error @below {{'tp.local_all_to_all' op 7 elements are not 2 pieces of 3}}
  %y = tp.local_all_to_all %x from 0 to 1 groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x7xf32>) -> tensor<6x3xf32>
  return %y : tensor<6x3xf32>
}

// -----

func.func @source_is_target(%x: tensor<3x10xf32>) -> tensor<3x10xf32> {
  // expected-error @below {{'tp.local_all_to_all' op source and target are both dimension 1}}
  %y = tp.local_all_to_all %x from 1 to 1 groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<3x10xf32>) -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}

// -----

func.func @pairs_of_three(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tp.local_permute' op 'pairs' has 3 columns; (source, target) are wanted}}
  %y = tp.local_permute %x pairs dense<[[0, 1, 2]]> : tensor<1x3xi64> : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @pairs_without_rows(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tp.local_permute' op 'pairs' is a table of rank 1; rows of ranks are wanted}}
  %y = tp.local_permute %x pairs dense<[1, 0]> : tensor<2xi64> : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @target_of_two_ranks(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tp.local_permute' op 'pairs' must name each of 3 ranks once as source and once as target; rank 1 breaks that}}
  %y = tp.local_permute %x pairs dense<[[0, 1], [1, 2], [2, 1]]> : tensor<3x2xi64> : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @slice_of_more_than_there_is(%x: tensor<3x5xf32>, %o: index) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.local_slice' op takes 7 of 5 elements}}
  %y = tp.local_slice %x from %o dim 1 : (tensor<3x5xf32>, index) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

tp.mesh @mesh = <["tp"=2]>
func.func @origin_of_half_a_head() -> index {
  // expected-error @below {{'tp.shard_origin' op a dimension of 14 elements with unit = 4}}
  %o = tp.shard_origin @mesh {"tp", unit = 4} of 14 : index
  return %o : index
}

// -----

tp.mesh @mesh = <["tp"=2]>
func.func @origin_in_less_than_nothing() -> index {
  // expected-error @below {{'tp.shard_origin' op a dimension of -6 elements with unit = 1}}
  %o = tp.shard_origin @mesh {"tp"} of -6 : index
  return %o : index
}

// -----

func.func @groups_of_other_ranks(%x: tensor<3x5xf32>) -> tensor<3x5xf32>
    attributes {tp.local, tp.ranks = 3} {
  // expected-error @below {{'tp.local_all_reduce' op 'groups' is for 6 ranks, the program for 3}}
  %y = tp.local_all_reduce %x sum groups dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @pairs_of_other_ranks(%x: tensor<3x5xf32>) -> tensor<3x5xf32>
    attributes {tp.local, tp.ranks = 4} {
  // expected-error @below {{'tp.local_permute' op 'pairs' is for 2 ranks, the program for 4}}
  %y = tp.local_permute %x pairs dense<[[0, 1], [1, 0]]> : tensor<2x2xi64> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
