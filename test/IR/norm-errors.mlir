// Normalisations with a wrong gain, shape or epsilon.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @result_of_another_type(%x: tensor<3x5xf32>, %g: tensor<5xf32>) -> tensor<3x5xf16> {
  // expected-error @below {{'tp.rms_norm' op operand 0 has element type 'f32', the result 'f16'; tp.cast changes element types}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf16>
  return %y : tensor<3x5xf16>
}

// -----

func.func @result_of_another_shape(%x: tensor<3x5xf32>, %g: tensor<5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.rms_norm' op result type 'tensor<5x3xf32>' differs from the operand's 'tensor<3x5xf32>'}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

func.func @scalar(%x: tensor<f32>, %g: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'tp.rms_norm' op needs a dimension to normalise over}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @gain_of_another_element_type(%x: tensor<3x5xbf16>, %g: tensor<5xf32>) -> tensor<3x5xbf16> {
  // expected-error @below {{'tp.rms_norm' op operand 1 has element type 'f32', the result 'bf16'; tp.cast changes element types}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5xbf16>, tensor<5xf32>) -> tensor<3x5xbf16>
  return %y : tensor<3x5xbf16>
}

// -----

func.func @gain_of_the_rows(%x: tensor<3x5xf32>, %g: tensor<3xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.rms_norm' op gain of shape [3] for a last dimension of 5}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @gain_of_the_whole_matrix(%x: tensor<3x5xf32>, %g: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.rms_norm' op gain of shape [3, 5] for a last dimension of 5}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @negative_epsilon(%x: tensor<7xf32>, %g: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error @below {{'tp.rms_norm' op epsilon = -2.5}}
  %y = tp.rms_norm %x, %g {epsilon = -2.5 : f64} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @epsilon_that_is_no_number(%x: tensor<7xf32>, %g: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error @below {{must be finite and not negative}}
  %y = tp.rms_norm %x, %g {epsilon = 0x7FF8000000000000 : f64} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

func.func @bias_of_the_rows(%x: tensor<3x5xf32>, %g: tensor<5xf32>, %b: tensor<3xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.layer_norm' op bias of shape [3] for a last dimension of 5}}
  %y = tp.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<5xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @bias_of_another_element_type(%x: tensor<3x5xf32>, %g: tensor<5xf32>, %b: tensor<5xf64>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.layer_norm' op operand 2 has element type 'f64', the result 'f32'; tp.cast changes element types}}
  %y = tp.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<5xf32>, tensor<5xf64>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @layer_norm_of_another_shape(%x: tensor<3x5xf32>, %g: tensor<5xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{'tp.layer_norm' op result type 'tensor<5x3xf32>' differs from the operand's 'tensor<3x5xf32>'}}
  %y = tp.layer_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

tp.mesh @mesh = <["tp"=3]>
#split = #tp.sharding<@mesh, [{}, {"tp"}]>
#vector = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{this value is split so}}
func.func @mean_of_a_part_r5(%x: tensor<5x9xf32, #split>, %g: tensor<9xf32, #vector>) {
  // expected-error @below {{'tp.layer_norm': 'normalised' of 9 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation}}
  %y = tp.layer_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<5x9xf32, #split>, tensor<9xf32, #vector>) -> tensor<5x9xf32, #split>
  return
}

// -----

tp.mesh @mesh = <["tp"=3]>
#whole2 = #tp.sharding<@mesh, [{}, {}]>
#sum2 = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#sum1 = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#whole1 = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @bias_on_every_rank_r2(%x: tensor<5x9xf32, #whole2>, %g: tensor<9xf32, #sum1>, %b: tensor<9xf32, #whole1>) {
  // expected-error @below {{'tp.layer_norm': operand 1 is unreduced over "tp" but operand 2 is finished; every rank would add the finished value, 3 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 1 over "tp" first}}
  // expected-note @below {{fix: make operand 2 unreduced with tp.to_unreduced over "tp"}}
  %y = tp.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64} : (tensor<5x9xf32, #whole2>, tensor<9xf32, #sum1>, tensor<9xf32, #whole1>) -> tensor<5x9xf32, #sum2>
  return
}
