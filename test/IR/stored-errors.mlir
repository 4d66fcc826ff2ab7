// Parts that no tensor has, and values that are not that part.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a stored tensor needs a name}}
func.func private @nameless(tensor<5xf32> {tp.stored = #tp.stored<"" [5], dim 0 from 0 size 5>})

// -----

// expected-error @below {{"w" cannot have the shape [5, -7]}}
func.func private @negative(tensor<5xf32> {tp.stored = #tp.stored<"w" [5, -7], dim 0 from 0 size 5>})

// -----

// expected-error @below {{"w" cannot have the shape [4294967296, 2147483648]}}
func.func private @overflow(tensor<5xf32> {tp.stored = #tp.stored<"w" [4294967296, 2147483648], dim 0 from 0 size 5>})

// -----

// expected-error @below {{"w" of shape [5] has no dimension 1}}
func.func private @dimension(tensor<5xf32> {tp.stored = #tp.stored<"w" [5], dim 1 from 0 size 5>})

// -----

// expected-error @below {{runs of 3 rows from row 0, 2 of them, each 2 rows after the one before, are not in order}}
func.func private @overlap(tensor<6xf32> {tp.stored = #tp.stored<"w" [9], dim 0 from 0 size 3 stride 2 count 2>})

// -----

// expected-error @below {{runs of 3 rows from row -1, 1 of them, each 3 rows after the one before, are not in order}}
func.func private @before(tensor<3xf32> {tp.stored = #tp.stored<"w" [9], dim 0 from -1 size 3>})

// -----

// expected-error @below {{the runs end beyond the 9 rows of "w"}}
func.func private @beyond(tensor<6xf32> {tp.stored = #tp.stored<"w" [9], dim 0 from 1 size 3 stride 6 count 2>})

// -----

// expected-error @below {{the runs end beyond the 9 rows of "w"}}
func.func private @overflowing(tensor<6xf32> {tp.stored = #tp.stored<"w" [9], dim 0 from 1 size 3 stride 9223372036854775807 count 3>})

// -----

// expected-error @below {{'tp.stored' on an argument must be a part of a stored tensor, not "w"}}
func.func private @kind(tensor<6xf32> {tp.stored = "w"})

// -----

// expected-error @below {{'tp.stored' on argument 0: rank 1 for a part of a tensor of rank 2}}
func.func private @rank(tensor<6xf32> {tp.stored = #tp.stored<"w" [9, 4], dim 0 from 0 size 6>})

// -----

// expected-error @below {{'tp.stored' on argument 1: dimension 1 has 5 elements, the part of "w" has 4}}
func.func private @other_dimension(i32, tensor<6x5xf32> {tp.stored = #tp.stored<"w" [9, 4], dim 0 from 0 size 6>})

// -----

// expected-error @below {{'tp.stored' on result 0: dimension 0 has 5 elements, the part of "w" has 6}}
func.func private @too_few() -> (tensor<5x4xf32> {tp.stored = #tp.stored<"w" [9, 4], dim 0 from 0 size 6>})

// -----

// expected-error @below {{'tp.stored' on argument 0, which is no tensor}}
func.func private @scalar(i32 {tp.stored = #tp.stored<"w" [9, 4], dim 0 from 0 size 6>})
