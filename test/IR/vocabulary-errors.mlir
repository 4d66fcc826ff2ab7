// Look-ups in tables that do not fit their indices or results.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @table_of_three_dimensions(%t: tensor<11x3x5xf32>, %ids: tensor<7xi64>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op table of rank 3; [vocabulary, width] is wanted}}
  %y = tp.embedding %t, %ids : (tensor<11x3x5xf32>, tensor<7xi64>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @result_of_another_element_type(%t: tensor<11x5xbf16>, %ids: tensor<7xi32>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op failed to verify that all of {table, result} have same element type}}
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

func.func @vocabulary_larger_than_the_table(%t: tensor<11x5xf32>, %ids: tensor<7xi64>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op a vocabulary of 12 in a table of 11 rows}}
  %y = tp.embedding %t, %ids {vocabulary = 12 : i64} : (tensor<11x5xf32>, tensor<7xi64>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @logits_of_nothing(%x: tensor<f32>, %t: tensor<i64>) -> tensor<f32> {
  // expected-error @below {{'tp.take_target' op logits need a dimension of classes}}
  %y = tp.take_target %x, %t : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @targets_of_other_tokens(%x: tensor<3x12xf32>, %t: tensor<5xi64>) -> tensor<5xf32> {
  // expected-error @below {{'tp.take_target' op targets of shape [5] for logits of shape [3, 12]}}
  %y = tp.take_target %x, %t : (tensor<3x12xf32>, tensor<5xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @taken_as_another_type(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<3xf64> {
  // expected-error @below {{'tp.take_target' op failed to verify that all of {logits, result} have same element type}}
  %y = tp.take_target %x, %t : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

// -----

func.func @all_classes_taken(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<3x12xf32> {
  // expected-error @below {{'tp.take_target' op result shape [3, 12] should be the targets', [3]}}
  %y = tp.take_target %x, %t : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<3x12xf32>
  return %y : tensor<3x12xf32>
}

// -----

func.func @more_classes_than_columns(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @below {{'tp.take_target' op vocabulary = 13 of 12 columns}}
  %y = tp.take_target %x, %t {vocabulary = 13 : i64} : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @shard_of_an_unknown_vocabulary(%x: tensor<3x12xf32>, %t: tensor<3xi64>, %o: index) -> tensor<3xf32> {
  // expected-error @below {{'tp.take_target' op has an origin but no vocabulary that it is a place in}}
  %y = tp.take_target %x, %t from %o : (tensor<3x12xf32>, tensor<3xi64>, index) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @loss_of_each_token(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @below {{'tp.cross_entropy' op result of shape [3]; the mean is one number}}
  %y = tp.cross_entropy %x, %t : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @loss_without_classes(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<f32> {
  // expected-error @below {{'tp.cross_entropy' op has no class to choose}}
  %y = tp.cross_entropy %x, %t {vocabulary = 0 : i64} : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @classes_below_zero(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<f32> {
  // expected-error @below {{'tp.cross_entropy' op vocabulary = -1 of 12 columns}}
  %y = tp.cross_entropy %x, %t {vocabulary = -1 : i64} : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @smoothing_above_one(%x: tensor<3x12xf32>, %t: tensor<3xi64>) -> tensor<f32> {
  // expected-error @below {{'tp.cross_entropy' op label_smoothing = 1.25}}
  %y = tp.cross_entropy %x, %t {label_smoothing = 1.25 : f64} : (tensor<3x12xf32>, tensor<3xi64>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @vocabulary_below_zero(%t: tensor<11x5xf32>, %ids: tensor<7xi64>) -> tensor<7x5xf32> {
  // expected-error @below {{'tp.embedding' op a vocabulary of -1 rows}}
  %y = tp.embedding %t, %ids {vocabulary = -1 : i64} : (tensor<11x5xf32>, tensor<7xi64>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @mask_changes_the_shape(%x: tensor<3x7xf32>) -> tensor<3x8xf32> {
  // expected-error @below {{'tp.mask_padding' op result type 'tensor<3x8xf32>' differs from the operand's 'tensor<3x7xf32>'}}
  %y = tp.mask_padding %x {valid = 5 : i64} : (tensor<3x7xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

func.func @mask_of_a_scalar(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'tp.mask_padding' op a scalar has no columns}}
  %y = tp.mask_padding %x {valid = 0 : i64} : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @more_valid_columns_than_there_are(%x: tensor<3x7xf32>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.mask_padding' op 8 columns of 7 cannot be valid}}
  %y = tp.mask_padding %x {valid = 8 : i64} : (tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}
