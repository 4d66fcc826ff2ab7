// llvm/llvm-project 128803 (also 128801): a sharding of a dimension that the tensor
// does not have met an assertion and a stack dump. It is an error at its place.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
// expected-error @below {{the sharding has 2 dimensions, the tensor 1}}
func.func @dimension_1_of_a_vector(%x: tensor<4xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>) {
  return
}

// -----

tp.mesh @mesh = <["dp"=2, "tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @gathers_a_dimension_that_is_not_there(%x: tensor<4x4xf32, #col>) -> tensor<4x4xf32, #rep> {
  // expected-error @below {{'tp.all_gather' op 'dim' is dimension 2 of a tensor of rank 2}}
  %y = tp.all_gather %x dim 2 over {"tp"} : (tensor<4x4xf32, #col>) -> tensor<4x4xf32, #rep>
  return %y : tensor<4x4xf32, #rep>
}
