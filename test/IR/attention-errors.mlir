// Attention and rotary embeddings with shapes or numbers that do not fit.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @rope_to_another_type(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf16> {
  // expected-error @below {{'tp.rope' op result type 'tensor<1x3x5x2xf16>' differs from the operand's 'tensor<1x3x5x2xf32>'}}
  %y = tp.rope %x {theta = 500.0 : f64} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf16>
  return %y : tensor<1x3x5x2xf16>
}

// -----

func.func @rope_without_heads(%x: tensor<1x3x10xf32>) -> tensor<1x3x10xf32> {
  // expected-error @below {{'tp.rope' op operand of rank 3; [batch, sequence, heads, d] is wanted}}
  %y = tp.rope %x {theta = 500.0 : f64} : (tensor<1x3x10xf32>) -> tensor<1x3x10xf32>
  return %y : tensor<1x3x10xf32>
}

// -----

func.func @rope_of_an_odd_head(%x: tensor<1x3x5x7xf32>) -> tensor<1x3x5x7xf32> {
  // expected-error @below {{'tp.rope' op turns pairs, but a head has 7 elements}}
  %y = tp.rope %x {theta = 500.0 : f64} : (tensor<1x3x5x7xf32>) -> tensor<1x3x5x7xf32>
  return %y : tensor<1x3x5x7xf32>
}

// -----

func.func @rope_with_theta_of_zero(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error-re @below {{'tp.rope' op theta = {{0.*}} must be positive and finite}}
  %y = tp.rope %x {theta = 0.0 : f64} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}

// -----

func.func @rope_with_infinite_theta(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error-re @below {{'tp.rope' op theta = {{[Ii][Nn][Ff]}} must be positive and finite}}
  %y = tp.rope %x {theta = 0x7FF0000000000000 : f64} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}

// -----

func.func @llama3_of_three_numbers(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error @below {{'tp.rope' op llama3 must be [factor, low, high, original], all positive, low < high}}
  %y = tp.rope %x {theta = 500.0 : f64, llama3 = array<f64: 8.0, 1.0, 4.0>} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}

// -----

func.func @llama3_with_low_and_high_exchanged(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error @below {{'tp.rope' op llama3 must be [factor, low, high, original], all positive, low < high}}
  %y = tp.rope %x {theta = 500.0 : f64, llama3 = array<f64: 8.0, 4.0, 1.0, 8192.0>} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}

// -----

func.func @llama3_with_a_factor_of_zero(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error @below {{'tp.rope' op llama3 must be [factor, low, high, original], all positive, low < high}}
  %y = tp.rope %x {theta = 500.0 : f64, llama3 = array<f64: 0.0, 1.0, 4.0, 8192.0>} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}

// -----

func.func @query_without_batch(%q: tensor<3x6x4xf32>, %k: tensor<1x5x2x4xf32>) -> tensor<3x6x4xf32> {
  // expected-error @below {{'tp.attention' op tensor of rank 3; [batch, sequence, heads, d] is wanted}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<3x6x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<3x6x4xf32>
  return %o : tensor<3x6x4xf32>
}

// -----

func.func @value_of_another_element_type(%q: tensor<1x3x6x4xf32>, %k: tensor<1x5x2x4xf32>, %v: tensor<1x5x2x4xf16>) -> tensor<1x3x6x4xf32> {
  // expected-error @below {{'tp.attention' op operand 2 has element type 'f16', the result 'f32'; tp.cast changes element types}}
  %o = tp.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<1x3x6x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x4xf16>) -> tensor<1x3x6x4xf32>
  return %o : tensor<1x3x6x4xf32>
}

// -----

func.func @more_values_than_keys(%q: tensor<1x3x6x4xf32>, %k: tensor<1x5x2x4xf32>, %v: tensor<1x7x2x4xf32>) -> tensor<1x3x6x4xf32> {
  // expected-error @below {{'tp.attention' op key shape [1, 5, 2, 4] differs from value shape [1, 7, 2, 4]}}
  %o = tp.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<1x3x6x4xf32>, tensor<1x5x2x4xf32>, tensor<1x7x2x4xf32>) -> tensor<1x3x6x4xf32>
  return %o : tensor<1x3x6x4xf32>
}

// -----

func.func @result_of_the_keys(%q: tensor<1x3x6x4xf32>, %k: tensor<1x5x2x4xf32>) -> tensor<1x5x6x4xf32> {
  // expected-error @below {{'tp.attention' op result shape [1, 5, 6, 4] differs from query shape [1, 3, 6, 4]}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x6x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<1x5x6x4xf32>
  return %o : tensor<1x5x6x4xf32>
}

// -----

func.func @two_batches(%q: tensor<7x3x6x4xf32>, %k: tensor<9x5x2x4xf32>) -> tensor<7x3x6x4xf32> {
  // expected-error @below {{'tp.attention' op query [7, 3, 6, 4] and key [9, 5, 2, 4] differ in batch or head size}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<7x3x6x4xf32>, tensor<9x5x2x4xf32>, tensor<9x5x2x4xf32>) -> tensor<7x3x6x4xf32>
  return %o : tensor<7x3x6x4xf32>
}

// -----

func.func @two_head_sizes(%q: tensor<1x3x6x4xf32>, %k: tensor<1x5x2x8xf32>) -> tensor<1x3x6x4xf32> {
  // expected-error @below {{'tp.attention' op query [1, 3, 6, 4] and key [1, 5, 2, 8] differ in batch or head size}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x6x4xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>) -> tensor<1x3x6x4xf32>
  return %o : tensor<1x3x6x4xf32>
}

// -----

func.func @heads_that_form_no_groups(%q: tensor<1x3x7x4xf32>, %k: tensor<1x5x2x4xf32>) -> tensor<1x3x7x4xf32> {
  // expected-error @below {{'tp.attention' op 7 query heads are not a multiple of 2 KV heads}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x7x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<1x3x7x4xf32>
  return %o : tensor<1x3x7x4xf32>
}

// -----

func.func @queries_without_kv_heads(%q: tensor<1x3x7x4xf32>, %k: tensor<1x5x0x4xf32>) -> tensor<1x3x7x4xf32> {
  // expected-error @below {{'tp.attention' op 7 query heads are not a multiple of 0 KV heads}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x7x4xf32>, tensor<1x5x0x4xf32>, tensor<1x5x0x4xf32>) -> tensor<1x3x7x4xf32>
  return %o : tensor<1x3x7x4xf32>
}

// -----

func.func @infinite_scale(%q: tensor<1x3x6x4xf32>, %k: tensor<1x5x2x4xf32>) -> tensor<1x3x6x4xf32> {
  // expected-error @below {{'tp.attention' op scale must be finite}}
  %o = tp.attention %q, %k, %k {scale = 0x7FF0000000000000 : f64} : (tensor<1x3x6x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<1x3x6x4xf32>
  return %o : tensor<1x3x6x4xf32>
}

// -----

func.func @rope_before_the_first_position(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error @below {{'tp.rope' op offset = -1 is no position of a sequence of 3}}
  %y = tp.rope %x {theta = 500.0 : f64, offset = -1 : i64} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}

// -----

func.func @rope_beyond_the_last_position(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32> {
  // expected-error @below {{'tp.rope' op offset = 9223372036854775807 is no position of a sequence of 3}}
  %y = tp.rope %x {theta = 500.0 : f64, offset = 9223372036854775807 : i64} : (tensor<1x3x5x2xf32>) -> tensor<1x3x5x2xf32>
  return %y : tensor<1x3x5x2xf32>
}
