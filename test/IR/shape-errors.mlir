// Reshapes and transposes that change more than the shape.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @reshape_to_another_element_type(%x: tensor<3x5xf32>) -> tensor<15xf64> {
  // expected-error @below {{'tp.reshape' op operand 0 has element type 'f32', the result 'f64'; tp.cast changes element types}}
  %y = tp.reshape %x : (tensor<3x5xf32>) -> tensor<15xf64>
  return %y : tensor<15xf64>
}

// -----

func.func @reshape_to_fewer_elements(%x: tensor<3x5xf32>) -> tensor<2x7xf32> {
  // expected-error @below {{'tp.reshape' op from 15 elements to 14}}
  %y = tp.reshape %x : (tensor<3x5xf32>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}

// -----

func.func @reshape_of_nothing_to_something(%x: tensor<0x5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tp.reshape' op from 0 elements to 5}}
  %y = tp.reshape %x : (tensor<0x5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @reshape_of_too_many_elements(%x: tensor<4611686018427387904x6xf32>) -> tensor<6x4611686018427387904xf32> {
  // expected-error @below {{'tp.reshape' op has more than 2^63 - 1 elements}}
  %y = tp.reshape %x : (tensor<4611686018427387904x6xf32>) -> tensor<6x4611686018427387904xf32>
  return %y : tensor<6x4611686018427387904xf32>
}

// -----

func.func @transpose_to_another_element_type(%x: tensor<3x5xi32>) -> tensor<5x3xi64> {
  // expected-error @below {{'tp.transpose' op operand 0 has element type 'i32', the result 'i64'; tp.cast changes element types}}
  %y = tp.transpose %x by [1, 0] : (tensor<3x5xi32>) -> tensor<5x3xi64>
  return %y : tensor<5x3xi64>
}

// -----

func.func @dimension_twice(%x: tensor<3x5x7xf32>) -> tensor<3x5x5xf32> {
  // expected-error @below {{'tp.transpose' op [0, 1, 1] is not a permutation of the 3 dimensions}}
  %y = tp.transpose %x by [0, 1, 1] : (tensor<3x5x7xf32>) -> tensor<3x5x5xf32>
  return %y : tensor<3x5x5xf32>
}

// -----

func.func @dimension_missing(%x: tensor<3x5x7xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.transpose' op [1, 0] is not a permutation of the 3 dimensions}}
  %y = tp.transpose %x by [1, 0] : (tensor<3x5x7xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

func.func @dimension_beyond_the_rank(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.transpose' op [1, 2] is not a permutation of the 2 dimensions}}
  %y = tp.transpose %x by [1, 2] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

func.func @dimension_below_zero(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.transpose' op [-1, 0] is not a permutation of the 2 dimensions}}
  %y = tp.transpose %x by [-1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// Dimension i of the result is dimension permutation[i]; this is the inverse.
func.func @permutation_read_backwards(%x: tensor<3x5x7xf32>) -> tensor<5x7x3xf32> {
  // expected-error @below {{'tp.transpose' op result shape [5, 7, 3] should be [7, 3, 5]}}
  %y = tp.transpose %x by [2, 0, 1] : (tensor<3x5x7xf32>) -> tensor<5x7x3xf32>
  return %y : tensor<5x7x3xf32>
}

// -----

func.func @slice_to_another_element_type(%x: tensor<3x5xi32>) -> tensor<3x4xi64> {
  // expected-error @below {{'tp.slice' op operand 0 has element type 'i32', the result 'i64'; tp.cast changes element types}}
  %y = tp.slice %x at [0, 1] : (tensor<3x5xi32>) -> tensor<3x4xi64>
  return %y : tensor<3x4xi64>
}

// -----

func.func @slice_that_drops_a_dimension(%x: tensor<3x5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tp.slice' op operand of rank 2, result of rank 1 and 2 offsets must agree}}
  %y = tp.slice %x at [1, 0] : (tensor<3x5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @slice_without_an_offset(%x: tensor<3x5xf32>) -> tensor<3x4xf32> {
  // expected-error @below {{'tp.slice' op operand of rank 2, result of rank 2 and 1 offsets must agree}}
  %y = tp.slice %x at [1] : (tensor<3x5xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @slice_beyond_the_end(%x: tensor<3x5xf32>) -> tensor<3x4xf32> {
  // expected-error @below {{'tp.slice' op takes 4 elements from 2 of dimension 1, which has 5}}
  %y = tp.slice %x at [0, 2] : (tensor<3x5xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @slice_before_the_start(%x: tensor<3x5xf32>) -> tensor<2x5xf32> {
  // expected-error @below {{'tp.slice' op takes 2 elements from -1 of dimension 0, which has 3}}
  %y = tp.slice %x at [-1, 0] : (tensor<3x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

func.func @slice_from_an_offset_that_overflows(%x: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tp.slice' op takes 2 elements from 9223372036854775807 of dimension 0, which has 3}}
  %y = tp.slice %x at [9223372036854775807] : (tensor<3xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @broadcast_to_another_element_type(%x: tensor<5xf32>) -> tensor<3x5xf64> {
  // expected-error @below {{'tp.broadcast' op operand 0 has element type 'f32', the result 'f64'; tp.cast changes element types}}
  %y = tp.broadcast %x along [0] : (tensor<5xf32>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

// -----

func.func @new_dimensions_out_of_order(%x: tensor<5xf32>) -> tensor<3x7x5xf32> {
  // expected-error @below {{'tp.broadcast' op new dimensions [1, 0] must ascend and lie below the result's rank, 3}}
  %y = tp.broadcast %x along [1, 0] : (tensor<5xf32>) -> tensor<3x7x5xf32>
  return %y : tensor<3x7x5xf32>
}

// -----

func.func @new_dimension_beyond_the_rank(%x: tensor<5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.broadcast' op new dimensions [2] must ascend and lie below the result's rank, 2}}
  %y = tp.broadcast %x along [2] : (tensor<5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// Dimensions of size 1 are not stretched.
func.func @stretched_dimension(%x: tensor<1x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.broadcast' op operand shape [1, 5] differs from the result's other dimensions [3, 5]}}
  %y = tp.broadcast %x along [] : (tensor<1x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// Each rank would take 2 of its own 4 columns: 0, 1, 4, 5, 8 and 9.
tp.mesh @mesh = <["tp"=3]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-note @below {{this value is split so}}
func.func @slice_of_a_split_dimension_r5(%x: tensor<5x12xf32, #columns>) {
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation}}
  %a = tp.slice %x at [0, 0] : (tensor<5x12xf32, #columns>) -> tensor<5x6xf32, #columns>
  return
}
