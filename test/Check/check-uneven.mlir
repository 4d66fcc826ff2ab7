// Shards that differ in size, and empty ones, pass without a word.
// RUN: tp-opt %s --tp-check -o /dev/null 2>&1 | FileCheck %s --allow-empty --implicit-check-not="{{.}}"

tp.mesh @mesh = <["tp"=4, "dp"=3]>
#whole2 = #tp.sharding<@mesh, [{}, {}]>
#whole3 = #tp.sharding<@mesh, [{}, {}, {}]>
#rows = #tp.sharding<@mesh, [{"dp"}, {}]>
#columns = #tp.sharding<@mesh, [{}, {"tp"}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#nested = #tp.sharding<@mesh, [{}, {"tp":(1)2, "tp":(2)2}]>
#half = #tp.sharding<@mesh, [{}, {"tp":(1)2}]>
#heads = #tp.sharding<@mesh, [{}, {}, {"dp", unit = 8}]>
#heads4 = #tp.sharding<@mesh, [{}, {}, {"dp"}, {}]>

// 7 rows over 3 ranks, 14 columns over 4, 3 columns over 4.
func.func @products(%x: tensor<7x5xf32, #rows>, %w: tensor<5x3xf32, #whole2>, %y: tensor<7x14xf32, #columns>, %v: tensor<14x3xf32, #tp.sharding<@mesh, [{"tp"}, {}]>>) -> tensor<7x3xf32, #columns> {
  %0 = tp.matmul %x, %w : (tensor<7x5xf32, #rows>, tensor<5x3xf32, #whole2>) -> tensor<7x3xf32, #rows>
  %1 = tp.matmul %y, %v : (tensor<7x14xf32, #columns>, tensor<14x3xf32, #tp.sharding<@mesh, [{"tp"}, {}]>>) -> tensor<7x3xf32, #sum>
  %2 = tp.reduce_scatter %1 dim 1 over {"tp"} : (tensor<7x3xf32, #sum>) -> tensor<7x3xf32, #columns>
  return %2 : tensor<7x3xf32, #columns>
}

// 14 over 2 x 2 is 4,3,4,3: the minor axis goes, 7,7 remain.
func.func @nested(%x: tensor<7x14xf32, #nested>) -> tensor<7x14xf32, #whole2> {
  %0 = tp.all_gather %x dim 1 over {"tp":(2)2} : (tensor<7x14xf32, #nested>) -> tensor<7x14xf32, #half>
  %1 = tp.all_slice %0 dim 1 over {"tp":(2)2} : (tensor<7x14xf32, #half>) -> tensor<7x14xf32, #nested>
  %2 = tp.all_gather %1 dim 1 over {"tp"} : (tensor<7x14xf32, #nested>) -> tensor<7x14xf32, #whole2>
  return %2 : tensor<7x14xf32, #whole2>
}

// 13 over 2 x 2 is what it is over 4: 4,3,3,3.
func.func @nested_as_flat(%x: tensor<7x13xf32, #columns>) -> tensor<7x13xf32, #half> {
  %0 = tp.all_gather %x dim 1 over {"tp":(2)2} : (tensor<7x13xf32, #columns>) -> tensor<7x13xf32, #half>
  return %0 : tensor<7x13xf32, #half>
}

// 5 heads of 8 elements over 3 ranks: 2, 2 and 1, whole ones.
func.func @heads(%x: tensor<1x7x40xf32, #heads>) -> tensor<1x7x40xf32, #whole3> {
  %0 = tp.reshape %x : (tensor<1x7x40xf32, #heads>) -> tensor<1x7x5x8xf32, #heads4>
  %1 = tp.rope %0 {theta = 1.000000e+04 : f64} : (tensor<1x7x5x8xf32, #heads4>) -> tensor<1x7x5x8xf32, #heads4>
  %2 = tp.reshape %1 : (tensor<1x7x5x8xf32, #heads4>) -> tensor<1x7x40xf32, #heads>
  %3 = tp.all_gather %2 dim 2 over {"dp"} : (tensor<1x7x40xf32, #heads>) -> tensor<1x7x40xf32, #whole3>
  return %3 : tensor<1x7x40xf32, #whole3>
}

// 14 query heads and 2 KV heads on 4 ranks: a group on two ranks, 4 and 3 of
// its heads; or whole groups on two of the ranks, nothing on the others.
#kv = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>
#q = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2, "tp":(2)2}, {}]>
#kv_dealt = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#q_dealt = #tp.sharding<@mesh, [{}, {}, {"tp", unit = 7}, {}]>
func.func @grouped_heads(%q: tensor<1x5x14x8xf32, #q>, %k: tensor<1x5x2x8xf32, #kv>, %q2: tensor<1x5x14x8xf32, #q_dealt>, %k2: tensor<1x5x2x8xf32, #kv_dealt>) -> (tensor<1x5x14x8xf32, #q>, tensor<1x5x14x8xf32, #q_dealt>) {
  %0 = tp.attention %q, %k, %k {causal, scale = 2.500000e-01 : f64} : (tensor<1x5x14x8xf32, #q>, tensor<1x5x2x8xf32, #kv>, tensor<1x5x2x8xf32, #kv>) -> tensor<1x5x14x8xf32, #q>
  %1 = tp.attention %q2, %k2, %k2 {causal, scale = 2.500000e-01 : f64} : (tensor<1x5x14x8xf32, #q_dealt>, tensor<1x5x2x8xf32, #kv_dealt>, tensor<1x5x2x8xf32, #kv_dealt>) -> tensor<1x5x14x8xf32, #q_dealt>
  return %0, %1 : tensor<1x5x14x8xf32, #q>, tensor<1x5x14x8xf32, #q_dealt>
}
