// Look-ups in tables that do not fit their indices or results.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @table_of_three_dimensions(%t: tensor<11x3x5xf32>, %ids: tensor<7xi64>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op table of rank 3; [vocabulary, width] is wanted}}
  %y = tp.embedding %t, %ids : (tensor<11x3x5xf32>, tensor<7xi64>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @result_of_another_element_type(%t: tensor<11x5xbf16>, %ids: tensor<7xi32>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op table of element type 'bf16' for a result of 'f32'}}
  %y = tp.embedding %t, %ids : (tensor<11x5xbf16>, tensor<7xi32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @result_without_the_sequence(%t: tensor<11x5xf32>, %ids: tensor<3x7xi64>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.embedding' op result shape [3, 5] should be [3, 7, 5]}}
  %y = tp.embedding %t, %ids : (tensor<11x5xf32>, tensor<3x7xi64>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @shard_larger_than_the_vocabulary(%t: tensor<11x5xf32>, %ids: tensor<7xi64>, %o: index) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op a vocabulary of 9 has no shard of 11 rows}}
  %y = tp.embedding %t, %ids from %o {vocabulary = 9 : i64} : (tensor<11x5xf32>, tensor<7xi64>, index) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}
