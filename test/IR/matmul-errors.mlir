// Matrix products whose operands do not fit one another.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @two_element_types(%x: tensor<3x5xf32>, %w: tensor<5x7xbf16>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.matmul' op operand 1 has element type 'bf16', the result 'f32'; tp.cast changes element types}}
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x7xbf16>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

func.func @result_of_another_element_type(%x: tensor<3x5xf16>, %w: tensor<5x7xf16>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.matmul' op operand 0 has element type 'f16', the result 'f32'; tp.cast changes element types}}
  %y = tp.matmul %x, %w : (tensor<3x5xf16>, tensor<5x7xf16>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

func.func @vector_times_matrix(%x: tensor<5xf32>, %w: tensor<5x7xf32>) -> tensor<7xf32> {
  // expected-error @below {{'tp.matmul' op operands of rank 1 and 2; a matrix has rank 2 or more}}
  %y = tp.matmul %x, %w : (tensor<5xf32>, tensor<5x7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @matrix_times_batch(%x: tensor<3x5xf32>, %w: tensor<9x5x7xf32>) -> tensor<9x3x7xf32> {
  // expected-error @below {{'tp.matmul' op the right operand has rank 3; it must be 2 (shared by the batch) or the left operand's 2}}
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<9x5x7xf32>) -> tensor<9x3x7xf32>
  return %y : tensor<9x3x7xf32>
}

// -----

func.func @two_batches(%x: tensor<9x2x3x5xf32>, %w: tensor<9x4x5x7xf32>) -> tensor<9x2x3x7xf32> {
  // expected-error @below {{'tp.matmul' op batch dimensions [9, 2] and [9, 4] differ}}
  %y = tp.matmul %x, %w : (tensor<9x2x3x5xf32>, tensor<9x4x5x7xf32>) -> tensor<9x2x3x7xf32>
  return %y : tensor<9x2x3x7xf32>
}

// -----

func.func @columns_without_rows(%x: tensor<3x5xf32>, %w: tensor<7x9xf32>) -> tensor<3x9xf32> {
  // expected-error @below {{'tp.matmul' op contracts 5 columns with 7 rows}}
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<7x9xf32>) -> tensor<3x9xf32>
  return %y : tensor<3x9xf32>
}

// -----

// Without transpose_b this product would do.
func.func @right_operand_transposed(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.matmul' op contracts 5 columns with 7 rows}}
  %y = tp.matmul %x, %w {transpose_b} : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

// Without transpose_a this product would do.
func.func @left_operand_transposed(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.matmul' op contracts 3 columns with 5 rows}}
  %y = tp.matmul %x, %w {transpose_a} : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

func.func @result_of_another_shape(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<7x3xf32> {
  // expected-error @below {{'tp.matmul' op result shape [7, 3] should be [3, 7]}}
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<7x3xf32>
  return %y : tensor<7x3xf32>
}

// -----

func.func @result_without_the_batch(%x: tensor<2x3x5xf32>, %w: tensor<5x7xf32>) -> tensor<6x7xf32> {
  // expected-error @below {{'tp.matmul' op result shape [6, 7] should be [2, 3, 7]}}
  %y = tp.matmul %x, %w : (tensor<2x3x5xf32>, tensor<5x7xf32>) -> tensor<6x7xf32>
  return %y : tensor<6x7xf32>
}
