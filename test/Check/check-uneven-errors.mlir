// Uneven layouts that would pair elements of different ranks.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=3]>
#units = #tp.sharding<@mesh, [{}, {"tp", unit = 2}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
// 10 over 3 is 4,3,3; in units of 2 it is 4,4,2.
// expected-note @below {{the other layout is given here}}
func.func @contracted_in_other_units(%x: tensor<7x10xf32, #units>, %w: tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #sum> {
  // expected-error @+3 {{'tp.matmul': 'k' of 10 is split over "tp" in units of 2 in operand 0 but is split over "tp" in operand 1 [R4]}}
  // expected-note @+2 {{fix: reshard operand 1 to the layout of operand 0: #tp.sharding<@mesh, [{"tp", unit = 2}, {}]>}}
  // expected-note @+1 {{fix: reshard operand 0 to the layout of operand 1: #tp.sharding<@mesh, [{}, {"tp"}]>}}
  %0 = tp.matmul %x, %w : (tensor<7x10xf32, #units>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #sum>
  return %0 : tensor<7x5xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=4]>
#flat = #tp.sharding<@mesh, [{}, {"tp"}]>
#nested = #tp.sharding<@mesh, [{}, {"tp":(1)2, "tp":(2)2}]>
#half = #tp.sharding<@mesh, [{}, {"tp":(1)2}]>
// expected-note @+2 {{the other layout is given here}}
// expected-note @+1 {{the operand is laid out here: #tp.sharding<@mesh, [{}, {"tp"}]>}}
func.func @flat_is_not_nested(%x: tensor<7x14xf32, #flat>, %y: tensor<7x14xf32, #nested>) -> (tensor<7x14xf32, #flat>, tensor<7x14xf32, #half>) {
  // expected-error @+3 {{'tp.add': 'd1' of 14 is split over "tp" in operand 0 but is split over "tp":(1)2, "tp":(2)2 in operand 1 [R4]}}
  // expected-note @+2 {{fix: reshard operand 1 to the layout of operand 0: #tp.sharding<@mesh, [{}, {"tp"}]>}}
  // expected-note @+1 {{fix: reshard operand 0 to the layout of operand 1: #tp.sharding<@mesh, [{}, {"tp":(1)2, "tp":(2)2}]>; the result is then #tp.sharding<@mesh, [{}, {"tp":(1)2, "tp":(2)2}]>}}
  %0 = tp.add %x, %y : (tensor<7x14xf32, #flat>, tensor<7x14xf32, #nested>) -> tensor<7x14xf32, #flat>
  // Pieces of 4,4,3,3 do not make 7,7.
  // expected-error @+2 {{'tp.all_gather': needs an operand whose dimension 1 is split, minor-most, over "tp":(2)2 [R11]}}
  // expected-note @+1 {{fix: instead reshard it to #tp.sharding<@mesh, [{}, {"tp":(1)2}]>}}
  %1 = tp.all_gather %x dim 1 over {"tp":(2)2} : (tensor<7x14xf32, #flat>) -> tensor<7x14xf32, #half>
  return %0, %1 : tensor<7x14xf32, #flat>, tensor<7x14xf32, #half>
}

// -----

// Two units of 6 on 4 ranks are 6,6,0,0: no rank has 3 of the 12 heads.
tp.mesh @mesh = <["tp"=4]>
#dealt = #tp.sharding<@mesh, [{}, {"tp", unit = 6}]>
#heads = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
// expected-note @+1 {{the operand is laid out here}}
func.func @units_are_not_shards(%x: tensor<7x12xf32, #dealt>) -> tensor<7x4x3xf32, #heads> {
  // expected-error @+4 {{'tp.reshape': 'f1' of 4 is split over "tp" in units of 2 in operand 0 but is split over "tp" in the result [R4]}}
  // expected-note @+3 {{fix: reshard operand 0 to the layout of the result: #tp.sharding<@mesh, [{}, {"tp"}]>}}
  // expected-note @+2 {{fix: declare the result #tp.sharding<@mesh, [{}, {"tp", unit = 2}, {}]>}}
  // expected-note @+1 {{fix: reshard it to #tp.sharding<@mesh, [{}, {"tp"}, {}]> after this operation}}
  %0 = tp.reshape %x : (tensor<7x12xf32, #dealt>) -> tensor<7x4x3xf32, #heads>
  return %0 : tensor<7x4x3xf32, #heads>
}

// -----

// 14 heads over 4 flat are 4,4,3,3: the second rank would need both groups.
tp.mesh @mesh = <["tp"=4]>
#kv = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>
#q = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#nested = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2, "tp":(2)2}, {}]>
// expected-note @below {{this value is split so}}
func.func @heads_of_two_groups(%q: tensor<1x5x14x8xf32, #q>, %k: tensor<1x5x2x8xf32, #kv>) -> tensor<1x5x14x8xf32, #nested> {
  // expected-error @+3 {{'tp.attention': splits 'kv_heads' of 2 (operand 0, dimension 2) over 4 ranks, which would cut one in pieces [R6]}}
  // expected-note @+2 {{fix: split it over 1, 2 ranks}}
  // expected-note @+1 {{fix: make all operands whole before this operation, and bring the results back to their layout after it}}
  %0 = tp.attention %q, %k, %k {causal, scale = 2.500000e-01 : f64} : (tensor<1x5x14x8xf32, #q>, tensor<1x5x2x8xf32, #kv>, tensor<1x5x2x8xf32, #kv>) -> tensor<1x5x14x8xf32, #nested>
  return %0 : tensor<1x5x14x8xf32, #nested>
}

// -----

// Shards that lie by single elements are not slices in units of 2.
tp.mesh @mesh = <["a"=3, "b"=2]>
#by1 = #tp.sharding<@mesh, [{"a"}]>
#by2 = #tp.sharding<@mesh, [{"a", "b", unit = 2}]>
// expected-note @+1 {{the operand is laid out here: #tp.sharding<@mesh, [{"a"}]>}}
func.func @unit_changed_on_the_way(%x: tensor<10xf32, #by1>) -> tensor<10xf32, #by2> {
  // expected-error @+2 {{'tp.all_slice': needs an operand that is whole over "b" [R11]}}
  // expected-note @+1 {{fix: instead reshard it to #tp.sharding<@mesh, [{"a", "b", unit = 2}]>}}
  %0 = tp.all_slice %x dim 0 over {"b"} : (tensor<10xf32, #by1>) -> tensor<10xf32, #by2>
  return %0 : tensor<10xf32, #by2>
}

// -----

// Over a x b the pieces of 7 are 2,2,1,2,... in another order than over b x a.
tp.mesh @mesh = <["a"=3, "b"=2]>
#ab = #tp.sharding<@mesh, [{"a", "b"}]>
#ba = #tp.sharding<@mesh, [{"b", "a"}]>
// expected-note @+1 {{the operand is laid out here: #tp.sharding<@mesh, [{"a", "b"}]>}}
func.func @permuted_uneven(%x: tensor<7xf32, #ab>) -> tensor<7xf32, #ba> {
  // expected-error @+2 {{'tp.collective_permute': needs an operand whose dimension 0 is split evenly over "b", "a" in some order [R11]}}
  // expected-note @+1 {{fix: instead reshard it to #tp.sharding<@mesh, [{"b", "a"}]>}}
  %0 = tp.collective_permute %x dim 0 to {"b", "a"} : (tensor<7xf32, #ab>) -> tensor<7xf32, #ba>
  return %0 : tensor<7xf32, #ba>
}
