// pytorch/pytorch 143372: three rows on two ranks, 2 and 1, flattened as if six
// elements were dealt 3 and 3. The rows stay whole if the sharding says so with a
// unit of 2: the ranks then hold 4 and 2. Without it the reshape is refused.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
#even = #tp.sharding<@mesh, [{"tp"}]>
#pairs = #tp.sharding<@mesh, [{"tp", unit = 2}]>
func.func @three_and_three_r6(%x: tensor<3x2xf32, #rows>) -> tensor<6xf32, #even> {
  // expected-error @below {{'tp.reshape': splits 'f0' of 3 (the result, dimension 0) over 2 ranks, which would cut one in pieces [R6]}}
  // expected-note @below {{this value is split so}}
  // expected-note @below {{fix: split it over 1, 3 ranks}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{"tp", unit = 2}]>}}
  // expected-note @below {{fix: reshard it to #tp.sharding<@mesh, [{"tp"}]> after this operation}}
  %y = tp.reshape %x : (tensor<3x2xf32, #rows>) -> tensor<6xf32, #even>
  return %y : tensor<6xf32, #even>
}
func.func @four_and_two(%x: tensor<3x2xf32, #rows>) -> tensor<6xf32, #pairs> {
  %y = tp.reshape %x : (tensor<3x2xf32, #rows>) -> tensor<6xf32, #pairs>
  return %y : tensor<6xf32, #pairs>
}
