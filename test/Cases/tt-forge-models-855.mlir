// tenstorrent/tt-forge-models 855: the two halves of a fused gate and up projection
// were taken of each rank's own columns, which pairs up with up and gate with gate:
// of the row [1 2 3 4] silu(g) * u is 2.8577, 7.8561, not 1.7616, 11.7842. Half of
// a split dimension is refused; gathered first it is right.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-note @below {{this value is split so}}
func.func @own_halves_r5(%y: tensor<3x4xf32, #col>) -> tensor<3x2xf32, #col> {
  // expected-error @below {{'tp.slice': 'd1' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %u = tp.slice %y at [0, 0] : (tensor<3x4xf32, #col>) -> tensor<3x2xf32, #col>
  return %u : tensor<3x2xf32, #col>
}
func.func @halves_of_the_whole(%y: tensor<3x4xf32, #col>) -> tensor<3x2xf32, #rep> {
  %w = tp.all_gather %y dim 1 over {"tp"} : (tensor<3x4xf32, #col>) -> tensor<3x4xf32, #rep>
  %u = tp.slice %w at [0, 0] : (tensor<3x4xf32, #rep>) -> tensor<3x2xf32, #rep>
  %g = tp.slice %w at [0, 2] : (tensor<3x4xf32, #rep>) -> tensor<3x2xf32, #rep>
  %s = tp.silu %g : (tensor<3x2xf32, #rep>) -> tensor<3x2xf32, #rep>
  %z = tp.mul %s, %u : (tensor<3x2xf32, #rep>, tensor<3x2xf32, #rep>) -> tensor<3x2xf32, #rep>
  return %z : tensor<3x2xf32, #rep>
}
