// Calls and returns against signatures, and values that other dialects meet.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @partial_sum_is_returned_r13(%x: tensor<3x4xf32, #col>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep> {
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #sum>
  // expected-error @below {{'func.return': operand 0 is #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>, but the signature of @partial_sum_is_returned_r13 says #tp.sharding<@mesh, [{}, {}]> [R13]}}
  // expected-note @below {{fix: all-reduce it over "tp" before returning it}}
  return %y : tensor<3x6xf32, #sum>
}
// And what else is wrong in the module.
// expected-note @below {{it comes in unreduced}}
func.func @and_a_nonlinearity_r1(%x: tensor<3x6xf32, #sum>) -> tensor<3x6xf32, #sum> {
  // expected-error @below {{'tp.silu' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]}}
  // expected-note @below {{fix: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: reduce-scatter it over "tp" along a dimension that this operation may split, as dimension 1; the result is then #tp.sharding<@mesh, [{}, {"tp"}]>}}
  %y = tp.silu %x : (tensor<3x6xf32, #sum>) -> tensor<3x6xf32, #sum>
  return %y : tensor<3x6xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{the signature is here}}
func.func private @layer(%x: tensor<4xf32, #rep>) -> tensor<4xf32, #split> {
  %y = tp.all_slice %x dim 0 over {"tp"} : (tensor<4xf32, #rep>) -> tensor<4xf32, #split>
  return %y : tensor<4xf32, #split>
}
func.func @call_of_other_types_r13(%x: tensor<4xf32, #split>) -> tensor<4xf32, #rep> {
  // expected-error @below {{'func.call': operand 0 is #tp.sharding<@mesh, [{"tp"}]>, but the signature of @layer says #tp.sharding<@mesh, [{}]> [R13]}}
  // expected-note @below {{fix: all-gather dimension 0 of it over "tp" before the call}}
  // expected-error @below {{'func.call': result 0 is #tp.sharding<@mesh, [{}]>, but the signature of @layer says #tp.sharding<@mesh, [{"tp"}]> [R13]}}
  // expected-note @below {{fix: all-gather dimension 0 of it over "tp" after the call}}
  %y = call @layer(%x) : (tensor<4xf32, #split>) -> tensor<4xf32, #rep>
  return %y : tensor<4xf32, #rep>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
func.func private @callee(%x: tensor<4xf32, #split>) -> tensor<4xf32, #split>
// expected-note @below {{its operand is laid out here: #tp.sharding<@mesh, [{"tp"}]>}}
func.func @call_of_a_function_value_r12(%x: tensor<4xf32, #split>) -> tensor<4xf32, #split> {
  // expected-error @below {{result 0 hides a sharding in the type '(tensor<4xf32, #tp.sharding<@mesh, [{"tp"}]>>) -> tensor<4xf32, #tp.sharding<@mesh, [{"tp"}]>>' [R12]}}
  // expected-note @below {{fix: pass the tensor itself}}
  %f = constant @callee : (tensor<4xf32, #split>) -> tensor<4xf32, #split>
  // expected-error @below {{'func.call_indirect' meets a sharded value, whose layout it would ignore [R12]}}
  // expected-note @below {{fix: use the tp operation, or partition first}}
  %y = call_indirect %f(%x) : (tensor<4xf32, #split>) -> tensor<4xf32, #split>
  return %y : tensor<4xf32, #split>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{its operand is laid out here: #tp.sharding<@mesh, [{"tp"}]>}}
func.func @conversion_drops_it_r12(%x: tensor<4xf32, #split>) -> tensor<4xf32> {
  // expected-error @below {{'builtin.unrealized_conversion_cast' meets a sharded value, whose layout it would ignore [R12]}}
  // expected-note @below {{fix: use the tp operation, or partition first}}
  %y = builtin.unrealized_conversion_cast %x : tensor<4xf32, #split> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
// expected-error @below {{argument 0 hides a sharding in the type 'tuple<tensor<4xf32, #tp.sharding<@mesh, [{"tp"}]>>>' [R12]}}
// expected-note @below {{fix: pass the tensor itself}}
func.func @sharding_in_a_tuple_r12(%x: tuple<tensor<4xf32, #split>>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
func.func @sharded_constant_of_a_local_function_r12() attributes {tp.local} {
  // expected-error @below {{'tp.constant' of a local function makes a sharded value [R12]}}
  // expected-note @below {{fix: give it the local type}}
  %c = tp.constant dense<1.0> : tensor<4xf32> as tensor<4xf32, #split>
  return
}

// -----

// The verifier's own errors are not lost.
func.func @too_few_values(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.return' op has 0 operands, but enclosing function (@too_few_values) returns 1}}
  return
}

// -----

func.func @nobody_is_called(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op 'nobody' does not reference a valid function}}
  call @nobody(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
func.func @undecided_value_for_a_promise(%x: tensor<4xf32>) -> tensor<4xf32, #split> {
  // expected-error @below {{type of return operand 0 ('tensor<4xf32>') doesn't match function result type ('tensor<4xf32, #tp.sharding<@mesh, [{"tp"}]>>') in function @undecided_value_for_a_promise}}
  return %x : tensor<4xf32>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#rank2 = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-error @below {{the sharding has 2 dimensions, the tensor 1}}
func.func @dimension_that_does_not_exist(%x: tensor<4xf32, #rank2>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
// expected-error @below {{dimension 0 is dynamic; only static shapes can be split}}
func.func @dynamic(%x: tensor<?xf32, #split>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-error @below {{a value of element type 'complex<f32>' cannot be unreduced}}
func.func @unfinished_complex(%x: tensor<4xcomplex<f32>, #sum>) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-error @below {{a sum of i1 values is not defined; use max{..}}}
func.func @sum_of_bits(%x: tensor<4xi1, #sum>) {
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{'tp.relu' op operand #0 must be statically shaped tensor of floating-point values, but got 'tensor<*xf32>'}}
  %y = "tp.relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @dynamic_operand(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'tp.relu' op operand #0 must be statically shaped tensor of floating-point values, but got 'tensor<?xf32>'}}
  %y = tp.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @complex_operand(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'tp.relu' op operand #0 must be statically shaped tensor of floating-point values, but got 'tensor<4xcomplex<f32>>'}}
  %y = tp.relu %x : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %y : tensor<4xcomplex<f32>>
}

// -----

// A cache and what is new in it: rows may differ in number, not in layout.
tp.mesh @m = <["t"=2, "d"=3]>
func.func @like_r13(%cache: tensor<4x6xf32, #tp.sharding<@m, [{}, {"t"}]>>, %new: tensor<1x6xf32, #tp.sharding<@m, [{}, {"t"}]>>)
    -> (tensor<1x6xf32, #tp.sharding<@m, [{}, {"t"}]>> {tp.like = 0 : i64}) {
  return %new : tensor<1x6xf32, #tp.sharding<@m, [{}, {"t"}]>>
}

// expected-error @below {{result 0 is laid out as #tp.sharding<@m, [{}, {"d"}]>, but like argument 0, which is laid out as #tp.sharding<@m, [{}, {"t"}]> [R13]}}
// expected-note @below {{fix: give both the same layout, or leave out 'tp.like'}}
func.func @unlike_r13(%cache: tensor<4x6xf32, #tp.sharding<@m, [{}, {"t"}]>>, %new: tensor<1x6xf32, #tp.sharding<@m, [{}, {"d"}]>>)
    -> (tensor<1x6xf32, #tp.sharding<@m, [{}, {"d"}]>> {tp.like = 0 : i64}) {
  return %new : tensor<1x6xf32, #tp.sharding<@m, [{}, {"d"}]>>
}

// expected-error @below {{result 0 is laid out as #tp.sharding<@m, [{}]>, but like argument 0, which is laid out as #tp.sharding<@m, [{}, {"t"}]> [R13]}}
// expected-note @below {{fix: give both the same layout, or leave out 'tp.like'}}
func.func @other_rank_r13(%cache: tensor<4x6xf32, #tp.sharding<@m, [{}, {"t"}]>>, %new: tensor<6xf32, #tp.sharding<@m, [{}]>>)
    -> (tensor<6xf32, #tp.sharding<@m, [{}]>> {tp.like = 0 : i64}) {
  return %new : tensor<6xf32, #tp.sharding<@m, [{}]>>
}
