// deepspeedai/DeepSpeed 3844: a weight that holds queries, keys and values side by
// side was split by columns, without an error and with the wrong text: rank 0 of 2
// must own columns 0, 1, 4, 5, 8 and 9 of 12. Cutting the blocks out of the split
// dimension is refused. Where the blocks of a head lie side by side the plain split
// is right, and passes: the head is the major factor.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#heads = #tp.sharding<@mesh, [{}, {"tp"}, {}, {}]>
func.func @blocks_side_by_side_r5(%x: tensor<2x4xf32, #rep>, %w: tensor<4x12xf32, #col>) -> tensor<2x4xf32, #col> {
  // expected-note @below {{this value is split so}}
  %qkv = tp.matmul %x, %w : (tensor<2x4xf32, #rep>, tensor<4x12xf32, #col>) -> tensor<2x12xf32, #col>
  // expected-error @below {{'tp.slice': 'd1' of 12 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %k = tp.slice %qkv at [0, 4] : (tensor<2x12xf32, #col>) -> tensor<2x4xf32, #col>
  return %k : tensor<2x4xf32, #col>
}
func.func @blocks_of_a_head_side_by_side(%x: tensor<2x4xf32, #rep>, %w: tensor<4x12xf32, #col>) -> tensor<2x2x1x2xf32, #heads> {
  %qkv = tp.matmul %x, %w : (tensor<2x4xf32, #rep>, tensor<4x12xf32, #col>) -> tensor<2x12xf32, #col>
  %h = tp.reshape %qkv : (tensor<2x12xf32, #col>) -> tensor<2x2x3x2xf32, #heads>
  %k = tp.slice %h at [0, 0, 1, 0] : (tensor<2x2x3x2xf32, #heads>) -> tensor<2x2x1x2xf32, #heads>
  return %k : tensor<2x2x1x2xf32, #heads>
}
