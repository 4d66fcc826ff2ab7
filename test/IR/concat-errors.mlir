// Operands that do not follow one another.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

func.func @nothing() -> tensor<0x5xf32> {
  // expected-error @below {{'tp.concat' op has no operand}}
  %y = tp.concat along 0 : () -> tensor<0x5xf32>
  return %y : tensor<0x5xf32>
}

// -----

func.func @dimension_beyond_the_rank(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'tp.concat' op dimension 2 of a tensor of rank 2}}
  %y = tp.concat %x along 2 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @other_dimensions_differ(%x: tensor<3x5xf32>, %z: tensor<4x2xf32>) -> tensor<3x7xf32> {
  // expected-error @below {{'tp.concat' op operand 1 of type 'tensor<4x2xf32>' differs from the result, 'tensor<3x7xf32>', in more than dimension 1}}
  %y = tp.concat %x, %z along 1 : (tensor<3x5xf32>, tensor<4x2xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

func.func @ranks_differ(%x: tensor<3x5xf32>, %z: tensor<3xf32>) -> tensor<3x6xf32> {
  // expected-error @below {{'tp.concat' op operand 1 of type 'tensor<3xf32>' differs from the result, 'tensor<3x6xf32>', in more than dimension 1}}
  %y = tp.concat %x, %z along 1 : (tensor<3x5xf32>, tensor<3xf32>) -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// -----

func.func @elements_missing(%x: tensor<3x5xf32>, %z: tensor<3x2xf32>) -> tensor<3x8xf32> {
  // expected-error @below {{'tp.concat' op operands have 7 elements in dimension 1, the result 8}}
  %y = tp.concat %x, %z along 1 : (tensor<3x5xf32>, tensor<3x2xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

func.func @too_many_elements(%x: tensor<9223372036854775807xi1>) -> tensor<5xi1> {
  // expected-error @below {{'tp.concat' op has more than 2^63 - 1 elements in dimension 0}}
  %y = tp.concat %x, %x along 0 : (tensor<9223372036854775807xi1>, tensor<9223372036854775807xi1>) -> tensor<5xi1>
  return %y : tensor<5xi1>
}

// -----

// Rank r has other columns of the first operand than of the result.
tp.mesh @mesh = <["tp"=3]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
#whole = #tp.sharding<@mesh, [{}, {}]>
// expected-note @below {{this value is split so}}
func.func @blocks_of_split_columns_r5(%x: tensor<5x9xf32, #columns>, %z: tensor<5x6xf32, #whole>) {
  // expected-error @below {{'tp.concat': 'part0' of 9 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation}}
  %y = tp.concat %x, %z along 1 : (tensor<5x9xf32, #columns>, tensor<5x6xf32, #whole>) -> tensor<5x15xf32, #whole>
  return
}

// -----

tp.mesh @mesh = <["tp"=3]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#whole = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @partial_next_to_finished_r2(%x: tensor<5xf32, #sum>, %z: tensor<7xf32, #whole>) {
  // expected-error @below {{'tp.concat': operand 0 is unreduced over "tp" but operand 1 is finished; every rank would add the finished value, 3 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first}}
  // expected-note @below {{fix: make operand 1 unreduced with tp.to_unreduced over "tp"}}
  %y = tp.concat %x, %z along 0 : (tensor<5xf32, #sum>, tensor<7xf32, #whole>) -> tensor<12xf32, #sum>
  return
}
