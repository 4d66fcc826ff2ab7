// Elementwise operations whose shapes or element types do not agree.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @relu_of_another_shape(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.relu' op result type 'tensor<5x3xf32>' differs from the operand's 'tensor<3x5xf32>'}}
  %y = tp.relu %x : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

func.func @silu_of_another_rank(%x: tensor<3x5xf32>) -> tensor<15xf32> {
  // expected-error @below {{'tp.silu' op result type 'tensor<15xf32>' differs from the operand's 'tensor<3x5xf32>'}}
  %y = tp.silu %x : (tensor<3x5xf32>) -> tensor<15xf32>
  return %y : tensor<15xf32>
}

// -----

func.func @tanh_of_another_type(%x: tensor<3x7xf32>) -> tensor<3x7xf16> {
  // expected-error @below {{'tp.tanh' op result type 'tensor<3x7xf16>' differs from the operand's 'tensor<3x7xf32>'}}
  %y = tp.tanh %x : (tensor<3x7xf32>) -> tensor<3x7xf16>
  return %y : tensor<3x7xf16>
}

// -----

func.func @gelu_of_another_type(%x: tensor<9xbf16>) -> tensor<9xf64> {
  // expected-error @below {{'tp.gelu' op result type 'tensor<9xf64>' differs from the operand's 'tensor<9xbf16>'}}
  %y = tp.gelu %x tanh : (tensor<9xbf16>) -> tensor<9xf64>
  return %y : tensor<9xf64>
}

// -----

func.func @sum_of_two_types(%x: tensor<3x5xf32>, %y: tensor<3x5xf64>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.add' op operand 1 has element type 'f64', the result 'f32'; tp.cast changes element types}}
  %z = tp.add %x, %y : (tensor<3x5xf32>, tensor<3x5xf64>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

// -----

// A size of 1 is not stretched.
func.func @difference_with_one_row(%x: tensor<3x5xf32>, %y: tensor<1x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.sub' op operand 1 of shape [1, 5] does not align with the last dimensions of the result [3, 5]}}
  %z = tp.sub %x, %y : (tensor<3x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

// -----

// A vector lies along the last dimension, not the first.
func.func @bias_of_the_rows(%x: tensor<3x5xf32>, %y: tensor<3xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.add' op operand 1 of shape [3] does not align with the last dimensions of the result [3, 5]}}
  %z = tp.add %x, %y : (tensor<3x5xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

// -----

func.func @operand_of_higher_rank(%x: tensor<7x3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.mul' op operand 0 of shape [7, 3, 5] does not align with the last dimensions of the result [3, 5]}}
  %z = tp.mul %x, %y : (tensor<7x3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

// -----

func.func @both_operands_broadcast(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.mul' op no operand has the result's rank of 2}}
  %z = tp.mul %x, %y : (tensor<5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

// -----

func.func @cast_to_another_shape(%x: tensor<3x5xf32>) -> tensor<3x7xbf16> {
  // expected-error @below {{'tp.cast' op result shape [3, 7] differs from operand shape [3, 5]}}
  %y = tp.cast %x : (tensor<3x5xf32>) -> tensor<3x7xbf16>
  return %y : tensor<3x7xbf16>
}

// -----

func.func @cast_of_floats_to_integers(%x: tensor<3x5xf32>) -> tensor<3x5xi64> {
  // expected-error @below {{'tp.cast' op cannot cast 'f32' to 'i64': it would lose whole values}}
  %y = tp.cast %x : (tensor<3x5xf32>) -> tensor<3x5xi64>
  return %y : tensor<3x5xi64>
}

// -----

func.func @cast_of_integers_to_narrower_ones(%x: tensor<7xi64>) -> tensor<7xi32> {
  // expected-error @below {{'tp.cast' op cannot cast 'i64' to 'i32': it would lose whole values}}
  %y = tp.cast %x : (tensor<7xi64>) -> tensor<7xi32>
  return %y : tensor<7xi32>
}

// -----

func.func @constant_of_another_shape() -> tensor<5x3xf32> {
  // expected-error @below {{'tp.constant' op value of type 'tensor<3x5xf32>' for a result of type 'tensor<5x3xf32>'}}
  %c = tp.constant dense<2.5> : tensor<3x5xf32> as tensor<5x3xf32>
  return %c : tensor<5x3xf32>
}

// -----

func.func @constant_of_another_type() -> tensor<3xi32> {
  // expected-error @below {{'tp.constant' op value of type 'tensor<3xi64>' for a result of type 'tensor<3xi32>'}}
  %c = tp.constant dense<[2, 3, 5]> : tensor<3xi64> as tensor<3xi32>
  return %c : tensor<3xi32>
}

// -----

func.func @quotient_of_integers(%x: tensor<7xi32>) -> tensor<7xi32> {
  // expected-error @below {{'tp.div' op operand #0 must be}}
  %y = tp.div %x, %x : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  return %y : tensor<7xi32>
}

// -----

func.func @denominator_of_the_rows(%x: tensor<3x5xf32>, %r: tensor<3xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.div' op operand 1 of shape [3] does not align with the last dimensions of the result [3, 5]}}
  %y = tp.div %x, %r : (tensor<3x5xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @exponentials_of_another_shape(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.exp' op result type 'tensor<5x3xf32>' differs from the operand's 'tensor<3x5xf32>'}}
  %y = tp.exp %x : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

tp.mesh @mesh = <["tp"=3]>
#whole = #tp.sharding<@mesh, [{}]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @partial_denominator_r1(%x: tensor<5xf32, #whole>, %y: tensor<5xf32, #sum>) {
  // expected-error @below {{'tp.div' is applied to a sum that is not finished: operand 1 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  %a = tp.div %x, %y : (tensor<5xf32, #whole>, tensor<5xf32, #sum>) -> tensor<5xf32, #sum>
  return
}

// -----

tp.mesh @mesh = <["tp"=3]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @functions_of_a_partial_sum_r1(%x: tensor<5xf32, #sum>) {
  // expected-error @below {{'tp.exp' is applied to a sum that is not finished}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  %a = tp.exp %x : (tensor<5xf32, #sum>) -> tensor<5xf32, #sum>
  // expected-error @below {{'tp.log' is applied to a sum that is not finished}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  %b = tp.log %x : (tensor<5xf32, #sum>) -> tensor<5xf32, #sum>
  // expected-error @below {{'tp.sigmoid' is applied to a sum that is not finished}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation}}
  %c = tp.sigmoid %x : (tensor<5xf32, #sum>) -> tensor<5xf32, #sum>
  return
}

// -----

func.func @comparison_of_two_types(%x: tensor<7xi32>, %y: tensor<7xi64>) -> tensor<7xi1> {
  // expected-error @below {{'tp.compare' op failed to verify that all of {lhs, rhs} have same element type}}
  %z = tp.compare lt %x, %y : (tensor<7xi32>, tensor<7xi64>) -> tensor<7xi1>
  return %z : tensor<7xi1>
}

// -----

func.func @comparison_to_a_number(%x: tensor<7xi32>) -> tensor<7xi32> {
  // expected-error @below {{'tp.compare' op result #0 must be}}
  %z = tp.compare ge %x, %x : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  return %z : tensor<7xi32>
}

// -----

func.func @rate_above_one(%x: tensor<7xf32>, %s: tensor<i64>) -> tensor<7xf32> {
  // expected-error @below {{'tp.dropout' op rate = 1.5}}
  %y = tp.dropout %x, %s {rate = 1.5 : f64} : (tensor<7xf32>, tensor<i64>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @rate_that_is_no_number(%x: tensor<7xf32>, %s: tensor<i64>) -> tensor<7xf32> {
  // expected-error @below {{must be from 0 to 1}}
  %y = tp.dropout %x, %s {rate = 0x7FF8000000000000 : f64} : (tensor<7xf32>, tensor<i64>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @two_seeds(%x: tensor<7xf32>, %s: tensor<2xi64>) -> tensor<7xf32> {
  // expected-error @below {{'tp.dropout' op seed of shape [2]; one number is wanted}}
  %y = tp.dropout %x, %s {rate = 0.5 : f64} : (tensor<7xf32>, tensor<2xi64>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @dropout_nowhere(%x: tensor<7xf32>, %s: tensor<i64>, %o: index) -> tensor<7xf32> {
  // expected-error @below {{'tp.dropout' op has an origin but no global_shape that it is a place in}}
  %y = tp.dropout %x, %s from %o {rate = 0.5 : f64} : (tensor<7xf32>, tensor<i64>, index) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @dropout_beyond_the_whole(%x: tensor<7xf32>, %s: tensor<i64>, %o: index) -> tensor<7xf32> {
  // expected-error @below {{'tp.dropout' op operand of shape [7] is no part of a tensor of shape [5]}}
  %y = tp.dropout %x, %s from %o {rate = 0.5 : f64, global_shape = array<i64: 5>} : (tensor<7xf32>, tensor<i64>, index) -> tensor<7xf32>
  return %y : tensor<7xf32>
}
