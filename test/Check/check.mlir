// What is right passes without a word: uneven and empty shards, sub-axes, units,
// partial sums through linear operations.
// RUN: tp-opt %s --split-input-file --tp-check | FileCheck %s

// CHECK-DAG: #[[$SUM:.*]] = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
// CHECK-DAG: #[[$UNITS:.*]] = #tp.sharding<@mesh, [{}, {"tp", unit = 2}]>
tp.mesh @mesh = <["dp"=2, "tp"=4]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
#units = #tp.sharding<@mesh, [{}, {"tp", unit = 2}]>
#heads = #tp.sharding<@mesh, [{}, {"tp"}, {}]>

// CHECK-LABEL: func.func @column_then_row
func.func @column_then_row(%x: tensor<5x6xf32, #rep>, %a: tensor<6x9xf32, #col>,
    %b: tensor<9x7xf32, #row>) -> tensor<5x7xf32, #rep> {
  %h = tp.matmul %x, %a : (tensor<5x6xf32, #rep>, tensor<6x9xf32, #col>) -> tensor<5x9xf32, #col>
  %r = tp.relu %h : (tensor<5x9xf32, #col>) -> tensor<5x9xf32, #col>
  // CHECK: tp.matmul {{.*}} -> tensor<5x7xf32, #[[$SUM]]>
  %y = tp.matmul %r, %b : (tensor<5x9xf32, #col>, tensor<9x7xf32, #row>) -> tensor<5x7xf32, #sum>
  %t = tp.add %y, %y : (tensor<5x7xf32, #sum>, tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #sum>
  %z = tp.all_reduce %t over {"tp"} : (tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #rep>
  return %z : tensor<5x7xf32, #rep>
}

// Six heads of two over four ranks, dealt whole: 2, 2, 1, 1.
// CHECK-LABEL: func.func @whole_heads
func.func @whole_heads(%x: tensor<3x12xf32, #units>) -> tensor<3x6x2xf32, #heads> {
  // CHECK: tp.reshape %{{.*}} : (tensor<3x12xf32, #[[$UNITS]]>)
  %y = tp.reshape %x : (tensor<3x12xf32, #units>) -> tensor<3x6x2xf32, #heads>
  return %y : tensor<3x6x2xf32, #heads>
}

// -----

// Grouped queries: 8 query heads, 2 KV heads, 4 ranks. Keys and values lie over
// the major sub-axis, each twice.
// CHECK-LABEL: func.func @grouped_queries
tp.mesh @mesh = <["tp"=4]>
#q = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#kv = #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>
func.func @grouped_queries(%q: tensor<1x3x8x2xf32, #q>, %k: tensor<1x5x2x2xf32, #kv>,
    %v: tensor<1x5x2x2xf32, #kv>) -> tensor<1x3x8x2xf32, #q> {
  %o = tp.attention %q, %k, %v {causal, scale = 0.5 : f64}
      : (tensor<1x3x8x2xf32, #q>, tensor<1x5x2x2xf32, #kv>, tensor<1x5x2x2xf32, #kv>) -> tensor<1x3x8x2xf32, #q>
  return %o : tensor<1x3x8x2xf32, #q>
}

// -----

// A dimension of size 1 keeps nothing, one of size 0 may be split.
// CHECK-LABEL: func.func @empty
tp.mesh @mesh = <["tp"=3]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @empty(%x: tensor<0x4xf32, #row>) -> tensor<0x4xf32, #row> {
  %y = tp.relu %x : (tensor<0x4xf32, #row>) -> tensor<0x4xf32, #row>
  return %y : tensor<0x4xf32, #row>
}

// -----

// Undecided values are nobody's error.
// CHECK-LABEL: func.func @open
func.func @open(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = tp.tanh %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Units that come out even, parts nested by hand, a zero that is unreduced, an
// unfinished maximum that only moves.
tp.mesh @mesh = <["tp"=6]>
#units = #tp.sharding<@mesh, [{"tp":(1)2, unit = 3}]>
#rows = #tp.sharding<@mesh, [{"tp":(1)2}, {}]>
#nested = #tp.sharding<@mesh, [{"tp":(1)3, "tp":(3)2}]>
#both = #tp.sharding<@mesh, [{"tp":(1)3}, {"tp":(3)2}]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{}, {}], unreduced = max{"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
// CHECK-LABEL: func.func @units_of_one_and_a_half_rows
func.func @units_of_one_and_a_half_rows(%x: tensor<12xf32, #units>) -> tensor<6x2xf32, #rows> {
  %y = tp.reshape %x : (tensor<12xf32, #units>) -> tensor<6x2xf32, #rows>
  return %y : tensor<6x2xf32, #rows>
}
// CHECK-LABEL: func.func @nested_by_hand
func.func @nested_by_hand(%x: tensor<15xf32, #nested>) -> tensor<3x5xf32, #both> {
  %y = tp.reshape %x : (tensor<15xf32, #nested>) -> tensor<3x5xf32, #both>
  return %y : tensor<3x5xf32, #both>
}
// CHECK-LABEL: func.func @zero
func.func @zero(%x: tensor<7xf32, #sum>) -> tensor<7xf32, #sum> {
  %z = tp.constant dense<0.0> : tensor<7xf32> as tensor<7xf32, #sum>
  %y = tp.add %x, %z : (tensor<7xf32, #sum>, tensor<7xf32, #sum>) -> tensor<7xf32, #sum>
  return %y : tensor<7xf32, #sum>
}
// CHECK-LABEL: func.func @maximum_that_moves
func.func @maximum_that_moves(%x: tensor<5x7xf32, #max>) -> tensor<7x5xf32, #rep> {
  %y = tp.transpose %x by [1, 0] : (tensor<5x7xf32, #max>) -> tensor<7x5xf32, #max>
  %z = tp.all_reduce %y over {"tp"} : (tensor<7x5xf32, #max>) -> tensor<7x5xf32, #rep>
  return %z : tensor<7x5xf32, #rep>
}
