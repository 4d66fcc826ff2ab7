// Reductions with shapes, counts or layouts that do not fit.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @dimensions_out_of_order(%x: tensor<3x5x7xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op reduced dimensions [2, 1] must ascend and lie below the operand's rank, 3}}
  %y = tp.reduce sum %x over [2, 1] : (tensor<3x5x7xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @dimension_beyond_the_rank(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op reduced dimensions [2] must ascend and lie below the operand's rank, 2}}
  %y = tp.reduce sum %x over [2] : (tensor<3x5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @reduced_dimension_kept(%x: tensor<3x5xf32>) -> tensor<3x1xf32> {
  // expected-error @below {{'tp.reduce' op result 'tensor<3x1xf32>' should be 'tensor<3xf32>'}}
  %y = tp.reduce sum %x over [1] : (tensor<3x5xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

func.func @sum_of_another_element_type(%x: tensor<3x5xf32>) -> tensor<3xf64> {
  // expected-error @below {{'tp.reduce' op result 'tensor<3xf64>' should be 'tensor<3xf32>'}}
  %y = tp.reduce sum %x over [1] : (tensor<3x5xf32>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

// -----

tp.mesh @mesh = <["tp"=3]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @reduced_dimension_kept_on_a_mesh(%x: tensor<5x9xf32, #columns>) {
  // expected-error @below {{should be 'tensor<5xf32>'}}
  %y = tp.reduce sum %x over [1] : (tensor<5x9xf32, #columns>) -> tensor<5x9xf32, #columns>
  return
}

// -----

func.func @sum_of_truth_values(%x: tensor<3x5xi1>) -> tensor<3xi1> {
  // expected-error @below {{'tp.reduce' op a sum of i1 values is not defined; tp.cast makes them numbers}}
  %y = tp.reduce sum %x over [1] : (tensor<3x5xi1>) -> tensor<3xi1>
  return %y : tensor<3xi1>
}

// -----

func.func @maximum_of_nothing(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op nothing has no maximum: dimensions [1] of 'tensor<3x0xf32>'}}
  %y = tp.reduce max %x over [1] : (tensor<3x0xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @maximum_of_the_first_none(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op nothing has no maximum: dimensions [1] of 'tensor<3x5xf32>'}}
  %y = tp.reduce max %x over [1] {count = 0 : i64} : (tensor<3x5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @count_of_two_dimensions(%x: tensor<3x5x7xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op count = 4 is of one reduced dimension, but there are 2}}
  %y = tp.reduce sum %x over [1, 2] {count = 4 : i64} : (tensor<3x5x7xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @count_beyond_the_end(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op count = 6 of 5 elements}}
  %y = tp.reduce sum %x over [1] {count = 6 : i64} : (tensor<3x5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @count_below_zero(%x: tensor<3x5xf32>, %o: index) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op count = -1 of 5 elements}}
  %y = tp.reduce sum %x over [1] from %o {count = -1 : i64} : (tensor<3x5xf32>, index) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @origin_without_a_count(%x: tensor<3x5xf32>, %o: index) -> tensor<3xf32> {
  // expected-error @below {{'tp.reduce' op has an origin but no count to place}}
  %y = tp.reduce sum %x over [1] from %o : (tensor<3x5xf32>, index) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @softmax_of_another_type(%x: tensor<3x5xf32>) -> tensor<3x5xf64> {
  // expected-error @below {{'tp.softmax' op result type 'tensor<3x5xf64>' differs from the operand's 'tensor<3x5xf32>'}}
  %y = tp.softmax %x along 1 : (tensor<3x5xf32>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

// -----

func.func @softmax_beyond_the_rank(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.softmax' op dimension 2 of a tensor of rank 2}}
  %y = tp.softmax %x along 2 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @softmax_from_the_end(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.softmax' op dimension -1 of a tensor of rank 2}}
  %y = tp.softmax %x along -1 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

tp.mesh @mesh = <["tp"=3]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-note @below {{this value is split so}}
func.func @softmax_of_a_part_r5(%x: tensor<5x9xf32, #columns>) {
  // expected-error @below {{'tp.softmax': 'normalised' of 9 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation}}
  %y = tp.softmax %x along 1 : (tensor<5x9xf32, #columns>) -> tensor<5x9xf32, #columns>
  return
}

// -----

tp.mesh @mesh = <["tp"=3]>
#sum2 = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#max2 = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>
#max1 = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
#sum1 = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @maximum_of_a_partial_sum_r1(%x: tensor<5x9xf32, #sum2>) {
  // expected-error @below {{'tp.reduce' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  // expected-note @below {{fix: reduce-scatter it over "tp"}}
  %y = tp.reduce max %x over [1] : (tensor<5x9xf32, #sum2>) -> tensor<5xf32, #max1>
  return
}

// expected-note @below {{it comes in unreduced}}
func.func @sum_of_an_unfinished_maximum_r1(%x: tensor<5x9xf32, #max2>) {
  // expected-error @below {{'tp.reduce' is applied to a maximum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  // expected-note @below {{fix: reduce-scatter it over "tp"}}
  %y = tp.reduce sum %x over [1] : (tensor<5x9xf32, #max2>) -> tensor<5xf32, #sum1>
  return
}

// expected-note @below {{it comes in unreduced}}
func.func @larger_of_partial_sums_r1(%x: tensor<5x9xf32, #sum2>) {
  // expected-error @below {{'tp.maximum' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  // expected-note @below {{fix: reduce-scatter it over "tp"}}
  %y = tp.maximum %x, %x : (tensor<5x9xf32, #sum2>, tensor<5x9xf32, #sum2>) -> tensor<5x9xf32, #sum2>
  return
}
