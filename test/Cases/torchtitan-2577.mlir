// pytorch/torchtitan 2577: 8 heads, 2 KV heads, 4 ranks. Keys and values were split
// by columns, half a head a rank, and the user met a reshape error deep in the
// forward pass. The heads of the keys do not divide, which is said where they
// become heads; two ranks, or each KV head on two ranks, are right.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
#rep = #tp.sharding<@mesh, [{}, {}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#columns = #tp.sharding<@mesh, [{}, {}, {"tp"}]>
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
func.func @half_a_kv_head_r4(%x: tensor<1x3x32xf32, #rep>, %wk: tensor<32x8xf32, #col>) -> tensor<1x3x2x4xf32, #heads> {
  // expected-note @below {{the operand is laid out here}}
  %k = tp.matmul %x, %wk : (tensor<1x3x32xf32, #rep>, tensor<32x8xf32, #col>) -> tensor<1x3x8xf32, #columns>
  // expected-error @below {{'tp.reshape': 'f1' of 2 is split over "tp":(1)2 in operand 0 but is split over "tp" in the result; 'f2' of 4 is split over "tp":(2)2 in operand 0 but is whole in the result [R4]}}
  // expected-note @below {{fix: reshard operand 0 to the layout of the result: #tp.sharding<@mesh, [{}, {}, {"tp", unit = 4}]>}}
  // expected-note @below {{fix: declare the result #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {"tp":(2)2}]>}}
  // expected-note @below {{fix: reshard it to #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]> after this operation}}
  %h = tp.reshape %k : (tensor<1x3x8xf32, #columns>) -> tensor<1x3x2x4xf32, #heads>
  return %h : tensor<1x3x2x4xf32, #heads>
}
