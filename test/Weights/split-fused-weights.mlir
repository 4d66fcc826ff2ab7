// A fused parameter becomes its blocks, and all that the product with it was.
// RUN: tp-opt %s --split-input-file --tp-split-fused-weights | FileCheck %s

// 6 query heads and 2 KV heads of 5 rows each, in the order q, k, v; weight and
// bias.

// CHECK-LABEL: func.func @rows_of_weight_and_bias(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x7xf32> {tp.name = "x"},
// CHECK-SAME: %[[WQ:[a-z0-9]+]]: tensor<30x7xf32> {tp.name = "w[0:30]", tp.parameter, tp.stored = #tp.stored<"w" [50, 7], dim 0 from 0 size 30>},
// CHECK-SAME: %[[WK:[a-z0-9]+]]: tensor<10x7xf32> {tp.name = "w[30:40]", tp.parameter, tp.stored = #tp.stored<"w" [50, 7], dim 0 from 30 size 10>},
// CHECK-SAME: %[[WV:[a-z0-9]+]]: tensor<10x7xf32> {tp.name = "w[40:50]", tp.parameter, tp.stored = #tp.stored<"w" [50, 7], dim 0 from 40 size 10>},
// CHECK-SAME: %[[BQ:[a-z0-9]+]]: tensor<30xf32> {tp.name = "b[0:30]", tp.parameter, tp.stored = #tp.stored<"b" [50], dim 0 from 0 size 30>},
// CHECK-SAME: %[[BK:[a-z0-9]+]]: tensor<10xf32> {tp.name = "b[30:40]", {{.*}}},
// CHECK-SAME: %[[BV:[a-z0-9]+]]: tensor<10xf32> {tp.name = "b[40:50]", {{.*}}})
func.func @rows_of_weight_and_bias(%x: tensor<3x7xf32> {tp.name = "x"}, %w: tensor<50x7xf32> {tp.name = "w", tp.parameter},
    %b: tensor<50xf32> {tp.name = "b", tp.parameter}) -> (tensor<3x30xf32>, tensor<3x10xf32>, tensor<3x10xf32>) {
  // CHECK-DAG: %[[Q:.*]] = tp.matmul %[[X]], %[[WQ]] {transpose_b} : (tensor<3x7xf32>, tensor<30x7xf32>) -> tensor<3x30xf32>
  // CHECK-DAG: %[[K:.*]] = tp.matmul %[[X]], %[[WK]] {transpose_b}
  // CHECK-DAG: %[[V:.*]] = tp.matmul %[[X]], %[[WV]] {transpose_b}
  // CHECK-DAG: %[[QB:.*]] = tp.add %[[Q]], %[[BQ]] : (tensor<3x30xf32>, tensor<30xf32>) -> tensor<3x30xf32>
  // CHECK-DAG: %[[KB:.*]] = tp.add %[[K]], %[[BK]]
  // CHECK-DAG: %[[VB:.*]] = tp.add %[[V]], %[[BV]]
  // CHECK-NOT: tp.slice
  // CHECK: return %[[QB]], %[[KB]], %[[VB]]
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x7xf32>, tensor<50x7xf32>) -> tensor<3x50xf32>
  %1 = tp.add %0, %b : (tensor<3x50xf32>, tensor<50xf32>) -> tensor<3x50xf32>
  %q = tp.slice %1 at [0, 0] : (tensor<3x50xf32>) -> tensor<3x30xf32>
  %k = tp.slice %1 at [0, 30] : (tensor<3x50xf32>) -> tensor<3x10xf32>
  %v = tp.slice %1 at [0, 40] : (tensor<3x50xf32>) -> tensor<3x10xf32>
  return %q, %k, %v : tensor<3x30xf32>, tensor<3x10xf32>, tensor<3x10xf32>
}

// -----

// Stored (in, out), the blocks are columns. Arguments without a name keep that
// of their old position.

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x7xf32> {tp.name = "argument 0"},
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<7x4xf32> {tp.name = "argument 1[:, 0:4]", tp.parameter, tp.stored = #tp.stored<"argument 1" [7, 9], dim 1 from 0 size 4>},
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<7x5xf32> {tp.name = "argument 1[:, 4:9]", tp.parameter, tp.stored = #tp.stored<"argument 1" [7, 9], dim 1 from 4 size 5>},
// CHECK-SAME: %{{.*}}: tensor<3x4xf32> {tp.name = "argument 2"})
func.func @columns(%x: tensor<3x7xf32>, %w: tensor<7x9xf32> {tp.parameter}, %y: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x5xf32>) {
  // CHECK-DAG: %[[L:.*]] = tp.matmul %[[X]], %[[A]] : (tensor<3x7xf32>, tensor<7x4xf32>) -> tensor<3x4xf32>
  // CHECK-DAG: %[[R:.*]] = tp.matmul %[[X]], %[[B]] : (tensor<3x7xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  // CHECK: %[[S:.*]] = tp.add %[[L]], %{{.*}}
  // CHECK: return %[[S]], %[[R]]
  %0 = tp.matmul %x, %w : (tensor<3x7xf32>, tensor<7x9xf32>) -> tensor<3x9xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x9xf32>) -> tensor<3x4xf32>
  %2 = tp.slice %0 at [0, 4] : (tensor<3x9xf32>) -> tensor<3x5xf32>
  %3 = tp.add %1, %y : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3, %2 : tensor<3x4xf32>, tensor<3x5xf32>
}

// -----

// 3 groups, each of 2 queries, a key and a value of 5 rows: every block is 3
// runs of rows.

// CHECK-LABEL: func.func @groups(
// CHECK-SAME: %[[WQ:[a-z0-9]+]]: tensor<30x7xf32> {tp.name = "w[0:10 of every 20]", tp.parameter, tp.stored = #tp.stored<"w" [60, 7], dim 0 from 0 size 10 stride 20 count 3>},
// CHECK-SAME: %[[WK:[a-z0-9]+]]: tensor<15x7xf32> {tp.name = "w[10:15 of every 20]", tp.parameter, tp.stored = #tp.stored<"w" [60, 7], dim 0 from 10 size 5 stride 20 count 3>},
// CHECK-SAME: %[[WV:[a-z0-9]+]]: tensor<15x7xf32> {tp.name = "w[15:20 of every 20]", tp.parameter, tp.stored = #tp.stored<"w" [60, 7], dim 0 from 15 size 5 stride 20 count 3>})
func.func @groups(%x: tensor<2x4x7xf32> {tp.name = "x"}, %w: tensor<60x7xf32> {tp.name = "w", tp.parameter})
    -> (tensor<2x4x3x2x5xf32>, tensor<2x4x3x1x5xf32>, tensor<2x4x3x1x5xf32>) {
  // CHECK-DAG: %[[Q:.*]] = tp.matmul %{{.*}}, %[[WQ]] {transpose_b} : (tensor<2x4x7xf32>, tensor<30x7xf32>) -> tensor<2x4x30xf32>
  // CHECK-DAG: %[[QG:.*]] = tp.reshape %[[Q]] : (tensor<2x4x30xf32>) -> tensor<2x4x3x2x5xf32>
  // CHECK-DAG: %[[K:.*]] = tp.matmul %{{.*}}, %[[WK]] {transpose_b}
  // CHECK-DAG: %[[KG:.*]] = tp.reshape %[[K]] : (tensor<2x4x15xf32>) -> tensor<2x4x3x1x5xf32>
  // CHECK-DAG: %[[V:.*]] = tp.matmul %{{.*}}, %[[WV]] {transpose_b}
  // CHECK-DAG: %[[VG:.*]] = tp.reshape %[[V]] : (tensor<2x4x15xf32>) -> tensor<2x4x3x1x5xf32>
  // CHECK: return %[[QG]], %[[KG]], %[[VG]]
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<2x4x7xf32>, tensor<60x7xf32>) -> tensor<2x4x60xf32>
  %1 = tp.reshape %0 : (tensor<2x4x60xf32>) -> tensor<2x4x3x4x5xf32>
  %q = tp.slice %1 at [0, 0, 0, 0, 0] : (tensor<2x4x3x4x5xf32>) -> tensor<2x4x3x2x5xf32>
  %k = tp.slice %1 at [0, 0, 0, 2, 0] : (tensor<2x4x3x4x5xf32>) -> tensor<2x4x3x1x5xf32>
  %v = tp.slice %1 at [0, 0, 0, 3, 0] : (tensor<2x4x3x4x5xf32>) -> tensor<2x4x3x1x5xf32>
  return %q, %k, %v : tensor<2x4x3x2x5xf32>, tensor<2x4x3x1x5xf32>, tensor<2x4x3x1x5xf32>
}

// -----

// Through calls: a layer's parameter is the caller's, and only the entry's says
// where in a file it is.

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: tensor<4x6xf32> {tp.name = "gate_up[0:4]", tp.parameter},
// CHECK-SAME: tensor<4x6xf32> {tp.name = "gate_up[4:8]", tp.parameter})
func.func private @layer(%x: tensor<3x6xf32>, %w: tensor<8x6xf32> {tp.name = "gate_up", tp.parameter}) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x8xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %2 = tp.slice %0 at [0, 4] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %3 = tp.mul %1, %2 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: tensor<4x6xf32> {tp.name = "0.gate_up[0:4]", tp.parameter, tp.stored = #tp.stored<"0.gate_up" [8, 6], dim 0 from 0 size 4>},
// CHECK-SAME: %[[A1:[a-z0-9]+]]: tensor<4x6xf32> {tp.name = "0.gate_up[4:8]"
// CHECK-SAME: %[[B0:[a-z0-9]+]]: tensor<4x6xf32> {tp.name = "1.gate_up[0:4]"
// CHECK-SAME: %[[B1:[a-z0-9]+]]: tensor<4x6xf32> {tp.name = "1.gate_up[4:8]"
func.func @main(%x: tensor<3x6xf32>, %a: tensor<8x6xf32> {tp.name = "0.gate_up", tp.parameter},
    %b: tensor<8x6xf32> {tp.name = "1.gate_up", tp.parameter}) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  // CHECK: call @layer(%{{.*}}, %[[A0]], %[[A1]]) : (tensor<3x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<3x4xf32>
  // CHECK: call @layer(%{{.*}}, %[[B0]], %[[B1]])
  %0 = call @layer(%x, %a) : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x4xf32>
  %1 = call @layer(%x, %b) : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// Slices of values that are no product with a parameter, and of a position
// table, stay.

// CHECK-LABEL: func.func @nothing_fused(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<3x8xf32>, %{{[a-z0-9]+}}: tensor<9x8xf32> {tp.parameter})
// CHECK-COUNT-2: tp.slice
func.func @nothing_fused(%x: tensor<3x8xf32>, %t: tensor<9x8xf32> {tp.parameter}) -> (tensor<3x4xf32>, tensor<3x8xf32>) {
  %0 = tp.relu %x : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = tp.slice %0 at [0, 2] : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %2 = tp.slice %t at [4, 0] : (tensor<9x8xf32>) -> tensor<3x8xf32>
  return %1, %2 : tensor<3x4xf32>, tensor<3x8xf32>
}

// -----

// A slice along the sequence does not move past the rows of a weight, and rope
// knows its positions.

// CHECK-LABEL: func.func @rows_of_the_input(
// CHECK: tp.slice
func.func @rows_of_the_input(%x: tensor<6x8xf32>, %w: tensor<5x8xf32> {tp.parameter}) -> tensor<2x5xf32> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<6x5xf32>
  %1 = tp.slice %0 at [3, 0] : (tensor<6x5xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}
// CHECK-LABEL: func.func @rope_of_a_parameter(
// CHECK: tp.rope
// CHECK: tp.slice
func.func @rope_of_a_parameter(%p: tensor<1x6x2x4xf32> {tp.parameter}) -> tensor<1x2x2x4xf32> {
  %0 = tp.rope %p {theta = 10.0 : f64} : (tensor<1x6x2x4xf32>) -> tensor<1x6x2x4xf32>
  %1 = tp.slice %0 at [0, 3, 0, 0] : (tensor<1x6x2x4xf32>) -> tensor<1x2x2x4xf32>
  return %1 : tensor<1x2x2x4xf32>
}

// -----

// Slices of the parameter itself. One alone reads the rows of a table.

// CHECK-LABEL: func.func @slices_of_the_parameter(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x5xf32> {{.*}}, %[[A:[a-z0-9]+]]: tensor<5x4xf32> {tp.name = "argument 1[:, 0:4]", tp.parameter, tp.stored = #tp.stored<"argument 1" [5, 12], dim 1 from 0 size 4>},
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<5x8xf32> {tp.name = "argument 1[:, 4:12]", {{.*}}}, %[[T:[a-z0-9]+]]: tensor<9x4xf32> {{.*}})
func.func @slices_of_the_parameter(%x: tensor<3x5xf32>, %w: tensor<5x12xf32> {tp.parameter}, %t: tensor<9x4xf32> {tp.parameter}) -> (tensor<3x4xf32>, tensor<3x8xf32>) {
  // CHECK: %[[P:.*]] = tp.slice %[[T]] at [0, 0] : (tensor<9x4xf32>) -> tensor<3x4xf32>
  // CHECK-NOT: tp.slice
  // CHECK-DAG: tp.matmul %[[X]], %[[A]]
  // CHECK-DAG: tp.matmul %[[X]], %[[B]]
  %p = tp.slice %t at [0, 0] : (tensor<9x4xf32>) -> tensor<3x4xf32>
  %a = tp.slice %w at [0, 0] : (tensor<5x12xf32>) -> tensor<5x4xf32>
  %b = tp.slice %w at [0, 4] : (tensor<5x12xf32>) -> tensor<5x8xf32>
  %q = tp.matmul %x, %a : (tensor<3x5xf32>, tensor<5x4xf32>) -> tensor<3x4xf32>
  %y = tp.add %q, %p : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = tp.matmul %x, %b : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x8xf32>
}

// -----

// What treats rows alike lets slices pass, a nonlinearity as well; what knows
// the place of an element, or meets all of them, does not.

// CHECK-LABEL: func.func @past_a_nonlinearity(
// CHECK-SAME: tensor<5x4xf32> {tp.name = "w[:, 0:4]"
// CHECK-NOT: tp.slice
// CHECK: return
func.func @past_a_nonlinearity(%x: tensor<3x5xf32>, %w: tensor<5x10xf32> {tp.name = "w", tp.parameter}) -> (tensor<3x4xf32>, tensor<3x6xf32>) {
  %0 = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x10xf32>) -> tensor<3x10xf32>
  %1 = tp.gelu %0 : (tensor<3x10xf32>) -> tensor<3x10xf32>
  %2 = tp.slice %1 at [0, 0] : (tensor<3x10xf32>) -> tensor<3x4xf32>
  %3 = tp.slice %1 at [0, 4] : (tensor<3x10xf32>) -> tensor<3x6xf32>
  return %2, %3 : tensor<3x4xf32>, tensor<3x6xf32>
}
// CHECK-LABEL: func.func @padding_knows_its_place(
// CHECK: tp.slice
func.func @padding_knows_its_place(%x: tensor<3x5xf32>, %w: tensor<5x10xf32> {tp.parameter}) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x10xf32>) -> tensor<3x10xf32>
  %1 = tp.mask_padding %0 {valid = 9 : i64} : (tensor<3x10xf32>) -> tensor<3x10xf32>
  %2 = tp.slice %1 at [0, 0] : (tensor<3x10xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
// CHECK-LABEL: func.func @softmax_needs_all(
// CHECK: tp.slice
func.func @softmax_needs_all(%x: tensor<3x5xf32>, %w: tensor<5x10xf32> {tp.parameter}) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x10xf32>) -> tensor<3x10xf32>
  %1 = tp.softmax %0 along 1 : (tensor<3x10xf32>) -> tensor<3x10xf32>
  %2 = tp.slice %1 at [0, 0] : (tensor<3x10xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
// CHECK-LABEL: func.func @dropout_knows_its_place(
// CHECK: tp.slice
func.func @dropout_knows_its_place(%x: tensor<3x5xf32>, %w: tensor<5x10xf32> {tp.parameter}, %s: tensor<i64>) -> tensor<3x4xf32> {
  %0 = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x10xf32>) -> tensor<3x10xf32>
  %1 = tp.dropout %0, %s {rate = 0.5 : f64, site = 5 : i64}
      : (tensor<3x10xf32>, tensor<i64>) -> tensor<3x10xf32>
  %2 = tp.slice %1 at [0, 0] : (tensor<3x10xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
