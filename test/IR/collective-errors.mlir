// Collectives of the typed phase that change more than the layout.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @reduction_to_another_shape(%x: tensor<3x5xf32, #sum>) -> tensor<5x3xf32, #rep> {
  // expected-error @below {{'tp.all_reduce' op changes 'tensor<3x5xf32>' to 'tensor<5x3xf32>'; only the sharding may change}}
  %y = tp.all_reduce %x over {"tp"} : (tensor<3x5xf32, #sum>) -> tensor<5x3xf32, #rep>
  return %y : tensor<5x3xf32, #rep>
}

// -----

#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @gather_to_another_type(%x: tensor<3x10xf32, #col>) -> tensor<3x10xf16, #rep> {
  // expected-error @below {{'tp.all_gather' op changes 'tensor<3x10xf32>' to 'tensor<3x10xf16>'; only the sharding may change}}
  %y = tp.all_gather %x dim 1 over {"tp"} : (tensor<3x10xf32, #col>) -> tensor<3x10xf16, #rep>
  return %y : tensor<3x10xf16, #rep>
}

// -----

#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @reshard_to_another_shape(%x: tensor<3x5xf32, #rep>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.reshard' op changes 'tensor<3x5xf32>' to 'tensor<3x7xf32>'; only the sharding may change}}
  %y = tp.reshard %x : (tensor<3x5xf32, #rep>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
func.func @slice_of_an_open_value(%x: tensor<6xf32>) -> tensor<6xf32, #sum> {
  // expected-error @below {{'tp.all_slice' op has a tensor without sharding; collectives act on typed IR}}
  %y = tp.all_slice %x dim 0 over {"tp"} : (tensor<6xf32>) -> tensor<6xf32, #sum>
  return %y : tensor<6xf32, #sum>
}

// -----

#rep = #tp.sharding<@mesh, [{}]>
func.func @partial_sum_of_no_layout(%x: tensor<7xf32, #rep>) -> tensor<7xf32> {
  // expected-error @below {{'tp.to_unreduced' op has a tensor without sharding; collectives act on typed IR}}
  %y = tp.to_unreduced %x over {"tp"} : (tensor<7xf32, #rep>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @gather_beyond_the_rank(%x: tensor<3x10xf32, #col>) -> tensor<3x10xf32, #rep> {
  // expected-error @below {{'tp.all_gather' op 'dim' is dimension 2 of a tensor of rank 2}}
  %y = tp.all_gather %x dim 2 over {"tp"} : (tensor<3x10xf32, #col>) -> tensor<3x10xf32, #rep>
  return %y : tensor<3x10xf32, #rep>
}

// -----

#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @scatter_below_zero(%x: tensor<3x10xf32, #sum>) -> tensor<3x10xf32, #col> {
  // expected-error @below {{'tp.reduce_scatter' op 'dim' is dimension -1 of a tensor of rank 2}}
  %y = tp.reduce_scatter %x dim -1 over {"tp"} : (tensor<3x10xf32, #sum>) -> tensor<3x10xf32, #col>
  return %y : tensor<3x10xf32, #col>
}

// -----

#ab = #tp.sharding<@mesh, [{"a", "b"}]>
#ba = #tp.sharding<@mesh, [{"b", "a"}]>
func.func @permute_beyond_the_rank(%x: tensor<30xf32, #ab>) -> tensor<30xf32, #ba> {
  // expected-error @below {{'tp.collective_permute' op 'dim' is dimension 5 of a tensor of rank 1}}
  %y = tp.collective_permute %x dim 5 to {"b", "a"} : (tensor<30xf32, #ab>) -> tensor<30xf32, #ba>
  return %y : tensor<30xf32, #ba>
}

// -----

#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @source_beyond_the_rank(%x: tensor<6x10xf32, #col>) -> tensor<6x10xf32, #row> {
  // expected-error @below {{'tp.all_to_all' op 'source' is dimension 3 of a tensor of rank 2}}
  %y = tp.all_to_all %x from 3 to 0 over {"tp"} : (tensor<6x10xf32, #col>) -> tensor<6x10xf32, #row>
  return %y : tensor<6x10xf32, #row>
}

// -----

#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @target_beyond_the_rank(%x: tensor<6x10xf32, #col>) -> tensor<6x10xf32, #row> {
  // expected-error @below {{'tp.all_to_all' op 'target' is dimension 2 of a tensor of rank 2}}
  %y = tp.all_to_all %x from 1 to 2 over {"tp"} : (tensor<6x10xf32, #col>) -> tensor<6x10xf32, #row>
  return %y : tensor<6x10xf32, #row>
}

// -----

#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @source_is_target(%x: tensor<6x10xf32, #col>) -> tensor<6x10xf32, #col> {
  // expected-error @below {{'tp.all_to_all' op source and target are both dimension 1}}
  %y = tp.all_to_all %x from 1 to 1 over {"tp"} : (tensor<6x10xf32, #col>) -> tensor<6x10xf32, #col>
  return %y : tensor<6x10xf32, #col>
}
