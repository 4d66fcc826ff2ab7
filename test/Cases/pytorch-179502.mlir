// pytorch/pytorch 179502: [2, 4] split by columns, viewed as [4, 2] split by rows.
// The local shapes agree and nothing is moved, but the rows come out as 01 45 23
// 67. The rule of a reshape knows the factors of both shapes and refuses it; what
// works is to move the axis first.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
// expected-note @below {{the operand is laid out here}}
func.func @view_that_claims_rows_r4(%x: tensor<2x4xf32, #col>) -> tensor<4x2xf32, #row> {
  // expected-error @below {{'tp.reshape': 'f0' of 2 is whole in operand 0 but is split over "tp" in the result; 'f1' of 2 is split over "tp" in operand 0 but is whole in the result [R4]}}
  // expected-note @below {{fix: move "tp" from dimension 1 to dimension 0 of operand 0 with an all-to-all}}
  %y = tp.reshape %x : (tensor<2x4xf32, #col>) -> tensor<4x2xf32, #row>
  return %y : tensor<4x2xf32, #row>
}
func.func @moved_first(%x: tensor<2x4xf32, #col>) -> tensor<4x2xf32, #row> {
  %r = tp.all_to_all %x from 1 to 0 over {"tp"} : (tensor<2x4xf32, #col>) -> tensor<2x4xf32, #row>
  %y = tp.reshape %r : (tensor<2x4xf32, #row>) -> tensor<4x2xf32, #row>
  return %y : tensor<4x2xf32, #row>
}
