// Reshapes and transposes that change more than the shape.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @reshape_to_another_element_type(%x: tensor<3x5xf32>) -> tensor<15xf64> {
  // expected-error @below {{'tp.reshape' op changes the element type from 'f32' to 'f64'}}
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
  // expected-error @below {{'tp.transpose' op changes the element type from 'i32' to 'i64'}}
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
