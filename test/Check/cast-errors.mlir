// What is not linear: casts of partial sums that round, and every cast of a
// partial sum of integers, which wraps around at its own width.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=3]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @integers_to_floats_r8(%x: tensor<5xi32, #sum>, %y: tensor<5xi64, #sum>) {
  // expected-error @below {{'tp.cast' is applied to a sum that is not finished: operand 0 is unreduced over "tp"; f16 does not hold every i32, so rounding before the sum is finished is not rounding the sum [R8]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}]>}}
  %0 = tp.cast %x : (tensor<5xi32, #sum>) -> tensor<5xf16, #sum>
  // expected-error @below {{bf16 does not hold every i32}}
  // expected-note @below {{fix: all-reduce it}}
  %1 = tp.cast %x : (tensor<5xi32, #sum>) -> tensor<5xbf16, #sum>
  // expected-error @below {{f32 does not hold every i32}}
  // expected-note @below {{fix: all-reduce it}}
  %2 = tp.cast %x : (tensor<5xi32, #sum>) -> tensor<5xf32, #sum>
  // expected-error @below {{sums of i32 wrap around, so casting to f64 before the sum is finished is not casting the sum [R8]}}
  // expected-note @below {{fix: all-reduce it}}
  %3 = tp.cast %x : (tensor<5xi32, #sum>) -> tensor<5xf64, #sum>
  // expected-error @below {{f64 does not hold every i64}}
  // expected-note @below {{fix: all-reduce it}}
  %4 = tp.cast %y : (tensor<5xi64, #sum>) -> tensor<5xf64, #sum>
  return
}

// -----

// Over a part of an axis.
tp.mesh @mesh = <["dp"=2, "tp"=4]>
#sum = #tp.sharding<@mesh, [{"dp"}], unreduced = {"tp":(2)2}>
// expected-note @below {{it comes in unreduced}}
func.func @wider_integers_r8(%x: tensor<6xi32, #sum>) -> tensor<6xi64, #sum> {
  // expected-error @below {{operand 0 is unreduced over "tp":(2)2; sums of i32 wrap around, so casting to i64 before the sum is finished is not casting the sum [R8]}}
  // expected-note @below {{fix: all-reduce it over "tp":(2)2 before this operation; the result is then #tp.sharding<@mesh, [{"dp"}]>}}
  %y = tp.cast %x : (tensor<6xi32, #sum>) -> tensor<6xi64, #sum>
  return %y : tensor<6xi64, #sum>
}

// -----

// Neither of f16 and bf16 holds the other.
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @floats_r8(%x: tensor<7xf16, #sum>, %y: tensor<7xbf16, #sum>, %z: tensor<7xf64, #sum>) {
  // expected-error @below {{rounding f16 to bf16 before the sum is finished is not rounding the sum [R8]}}
  // expected-note @below {{fix: all-reduce it}}
  %0 = tp.cast %x : (tensor<7xf16, #sum>) -> tensor<7xbf16, #sum>
  // expected-error @below {{rounding bf16 to f16 before the sum is finished is not rounding the sum [R8]}}
  // expected-note @below {{fix: all-reduce it}}
  %1 = tp.cast %y : (tensor<7xbf16, #sum>) -> tensor<7xf16, #sum>
  // expected-error @below {{rounding f64 to f32 before}}
  // expected-note @below {{fix: all-reduce it}}
  %2 = tp.cast %z : (tensor<7xf64, #sum>) -> tensor<7xf32, #sum>
  // expected-error @below {{rounding f64 to bf16 before}}
  // expected-note @below {{fix: all-reduce it}}
  %3 = tp.cast %z : (tensor<7xf64, #sum>) -> tensor<7xbf16, #sum>
  // expected-error @below {{rounding f64 to f16 before}}
  // expected-note @below {{fix: all-reduce it}}
  %4 = tp.cast %z : (tensor<7xf64, #sum>) -> tensor<7xf16, #sum>
  return
}

// -----

// In a called function, at the end of a chain that is legal until then.
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
func.func private @chain_r8(%x: tensor<5xbf16, #sum>) -> tensor<5xf16, #sum> {
  // expected-note @below {{'tp.cast' left it unreduced}}
  %0 = tp.cast %x : (tensor<5xbf16, #sum>) -> tensor<5xf32, #sum>
  %1 = tp.cast %0 : (tensor<5xf32, #sum>) -> tensor<5xf64, #sum>
  // expected-error @below {{rounding f64 to f16 before the sum is finished is not rounding the sum [R8]}}
  // expected-note @below {{fix: all-reduce it}}
  %2 = tp.cast %1 : (tensor<5xf64, #sum>) -> tensor<5xf16, #sum>
  return %2 : tensor<5xf16, #sum>
}

// -----

// A cast is linear or it is not; a maximum of its result is another matter.
tp.mesh @mesh = <["tp"=2]>
#max = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @maximum_as_a_sum_r7(%x: tensor<5xi32, #max>) -> tensor<5xi64, #sum> {
  // expected-error @below {{[R7]}}
  // expected-note @below {{fix: }}
  %y = tp.cast %x : (tensor<5xi32, #max>) -> tensor<5xi64, #sum>
  return %y : tensor<5xi64, #sum>
}
