// Attributes of the dialect with wrong values, on whatever carries them.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'tp.parameter' on an argument must be a unit attribute, not 1 : i64}}
func.func private @parameter(tensor<5xf32> {tp.parameter = 1 : i64})

// -----

// expected-error @below {{'tp.stream' on an argument must be a unit attribute, not "yes"}}
func.func private @stream_argument(tensor<5xf32> {tp.stream = "yes"})

// -----

func.func @stream_operation(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tp.stream' on an operation must be a unit attribute, not false}}
  %y = tp.relu %x {tp.stream = false} : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// expected-error @below {{'tp.local' on an operation must be a unit attribute, not 3 : i64}}
func.func private @local() attributes {tp.local = 3 : i64}

// -----

// expected-error @below {{'tp.name' on an argument must be a string, not 7 : i64}}
func.func private @argument_name(tensor<5xf32> {tp.name = 7 : i64})

// -----

// expected-error @below {{'tp.name' on a result must be a string, not unit}}
func.func private @result_name(tensor<5xf32>) -> (tensor<5xf32> {tp.name})

// -----

// expected-error @below {{'tp.machine' on an operation must be a string, not 100 : i64}}
module attributes {tp.machine = 100 : i64} {
}

// -----

// expected-error @below {{'tp.global' on an argument must be a type, not "5"}}
func.func private @global(tensor<5xf32> {tp.global = "5"})

// -----

// expected-error @below {{'tp.bound' on an argument must be an integer of at least 1, not 0 : i64}}
func.func private @no_value_below_the_bound(tensor<5xi64> {tp.bound = 0 : i64})

// -----

// expected-error @below {{'tp.bound' on an argument must be an integer of at least 1, not 2.500000e+00 : f64}}
func.func private @fractional_bound(tensor<5xi64> {tp.bound = 2.5 : f64})

// -----

// expected-error @below {{'tp.bound' on an argument must be an integer of at least 1, not 36893488147419103232 : i128}}
func.func private @bound_of_more_than_64_bits(tensor<5xi64> {tp.bound = 36893488147419103232 : i128})

// -----

// expected-error @below {{'tp.ranks' on an operation must be an integer of at least 1, not -3 : i64}}
func.func private @ranks() attributes {tp.local, tp.ranks = -3 : i64}

// -----

// expected-error @below {{'tp.like' on a result must be an integer of at least 0, not -1 : i64}}
func.func private @like_before_the_first(tensor<5xf32>) -> (tensor<5xf32> {tp.like = -1 : i64})

// -----

// expected-error @below {{'tp.like' names argument 2 of a function with 2 arguments}}
func.func private @like_beyond_the_last(tensor<5xf32>, tensor<3xf32>) -> (tensor<5xf32> {tp.like = 2 : i64})
