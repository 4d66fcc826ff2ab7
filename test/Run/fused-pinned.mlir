// Fused weights that are pinned so that ranks hold whole groups of blocks: they
// stay fused, run, and nothing is said of them.
// RUN: split-file %s %t
// RUN: tp-run %t/pairs.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/threes.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/heads.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/gate-up.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/sub-axis.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/transposed.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/left.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/uneven.mlir --check --uneven=allow 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/product.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/two-axes.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// RUN: tp-run %t/summed.mlir --check 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not=error:
// CHECK: exact: equal in the field {{.*}}: ok

//--- pairs.mlir
// Columns b0 a0 b1 a1.
tp.mesh @mesh = <["tp"=2]>
#c = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x4xf32, #c> {tp.parameter, tp.name = "ba"}) -> tensor<3x2x1xf32> {
  %y = tp.matmul %x, %w : (tensor<3x4xf32>, tensor<4x4xf32, #c>) -> tensor<3x4xf32>
  %h = tp.reshape %y : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  %b = tp.slice %h at [0, 0, 0] : (tensor<3x2x2xf32>) -> tensor<3x2x1xf32>
  %a = tp.slice %h at [0, 0, 1] : (tensor<3x2x2xf32>) -> tensor<3x2x1xf32>
  %m = tp.mul %b, %a : (tensor<3x2x1xf32>, tensor<3x2x1xf32>) -> tensor<3x2x1xf32>
  return %m : tensor<3x2x1xf32>
}

//--- threes.mlir
// Rows of three kinds, two of each, in three groups; a bias lies as they do.
tp.mesh @mesh = <["tp"=3]>
#r = #tp.sharding<@mesh, [{"tp"}, {}]>
#b = #tp.sharding<@mesh, [{"tp"}]>
func.func @main(%x: tensor<4x5xf32>, %w: tensor<18x5xf32, #r> {tp.parameter}, %b: tensor<18xf32, #b> {tp.parameter}) -> tensor<4x3x2xf32> {
  %y = tp.matmul %x, %w {transpose_b} : (tensor<4x5xf32>, tensor<18x5xf32, #r>) -> tensor<4x18xf32>
  %z = tp.add %y, %b : (tensor<4x18xf32>, tensor<18xf32, #b>) -> tensor<4x18xf32>
  %h = tp.reshape %z : (tensor<4x18xf32>) -> tensor<4x3x3x2xf32>
  %p = tp.slice %h at [0, 0, 0, 0] : (tensor<4x3x3x2xf32>) -> tensor<4x3x1x2xf32>
  %q = tp.slice %h at [0, 0, 1, 0] : (tensor<4x3x3x2xf32>) -> tensor<4x3x1x2xf32>
  %r = tp.slice %h at [0, 0, 2, 0] : (tensor<4x3x3x2xf32>) -> tensor<4x3x1x2xf32>
  %s = tp.mul %p, %q : (tensor<4x3x1x2xf32>, tensor<4x3x1x2xf32>) -> tensor<4x3x1x2xf32>
  %t = tp.add %s, %r : (tensor<4x3x1x2xf32>, tensor<4x3x1x2xf32>) -> tensor<4x3x1x2xf32>
  %u = tp.reshape %t : (tensor<4x3x1x2xf32>) -> tensor<4x3x2xf32>
  return %u : tensor<4x3x2xf32>
}

//--- heads.mlir
// Two KV groups, each of three queries, a key and a value of 4 rows.
tp.mesh @mesh = <["tp"=2]>
#r = #tp.sharding<@mesh, [{"tp"}, {}]>
!h = tensor<3x5x2x5x4xf32>
func.func @main(%x: tensor<3x5x7xf32>, %w: tensor<40x7xf32, #r> {tp.parameter}) -> tensor<3x5x6x4xf32> {
  %y = tp.matmul %x, %w {transpose_b} : (tensor<3x5x7xf32>, tensor<40x7xf32, #r>) -> tensor<3x5x40xf32>
  %h = tp.reshape %y : (tensor<3x5x40xf32>) -> !h
  %0 = tp.slice %h at [0, 0, 0, 0, 0] : (!h) -> tensor<3x5x2x3x4xf32>
  %1 = tp.slice %h at [0, 0, 0, 3, 0] : (!h) -> tensor<3x5x2x1x4xf32>
  %2 = tp.slice %h at [0, 0, 0, 4, 0] : (!h) -> tensor<3x5x2x1x4xf32>
  %q = tp.reshape %0 : (tensor<3x5x2x3x4xf32>) -> tensor<3x5x6x4xf32>
  %k = tp.reshape %1 : (tensor<3x5x2x1x4xf32>) -> tensor<3x5x2x4xf32>
  %v = tp.reshape %2 : (tensor<3x5x2x1x4xf32>) -> tensor<3x5x2x4xf32>
  %o = tp.attention %q, %k, %v {causal, scale = 0.5 : f64} : (tensor<3x5x6x4xf32>, tensor<3x5x2x4xf32>, tensor<3x5x2x4xf32>) -> tensor<3x5x6x4xf32>
  return %o : tensor<3x5x6x4xf32>
}

//--- gate-up.mlir
// Gate and up column by column, past a nonlinearity before the slices.
tp.mesh @mesh = <["tp"=3]>
#c = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%x: tensor<5x4xf32>, %w: tensor<4x12xf32, #c> {tp.parameter}) -> tensor<5x6x1xf32> {
  %y = tp.matmul %x, %w : (tensor<5x4xf32>, tensor<4x12xf32, #c>) -> tensor<5x12xf32>
  %n = tp.relu %y : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %h = tp.reshape %n : (tensor<5x12xf32>) -> tensor<5x6x2xf32>
  %g = tp.slice %h at [0, 0, 0] : (tensor<5x6x2xf32>) -> tensor<5x6x1xf32>
  %u = tp.slice %h at [0, 0, 1] : (tensor<5x6x2xf32>) -> tensor<5x6x1xf32>
  %m = tp.mul %g, %u : (tensor<5x6x1xf32>, tensor<5x6x1xf32>) -> tensor<5x6x1xf32>
  return %m : tensor<5x6x1xf32>
}

//--- sub-axis.mlir
// Two groups over half of the axis.
tp.mesh @mesh = <["tp"=4]>
#c = #tp.sharding<@mesh, [{}, {"tp":(1)2}]>
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x6xf32, #c> {tp.parameter}) -> tensor<3x2x1xf32> {
  %y = tp.matmul %x, %w : (tensor<3x4xf32>, tensor<4x6xf32, #c>) -> tensor<3x6xf32>
  %h = tp.reshape %y : (tensor<3x6xf32>) -> tensor<3x2x3xf32>
  %b = tp.slice %h at [0, 0, 0] : (tensor<3x2x3xf32>) -> tensor<3x2x1xf32>
  %a = tp.slice %h at [0, 0, 2] : (tensor<3x2x3xf32>) -> tensor<3x2x1xf32>
  %m = tp.mul %b, %a : (tensor<3x2x1xf32>, tensor<3x2x1xf32>) -> tensor<3x2x1xf32>
  return %m : tensor<3x2x1xf32>
}

//--- transposed.mlir
// Rows, of which a transpose makes columns.
tp.mesh @mesh = <["tp"=2]>
#r = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<3x5xf32>, %w: tensor<8x5xf32, #r> {tp.parameter}) -> tensor<3x4x1xf32> {
  %t = tp.transpose %w by [1, 0] : (tensor<8x5xf32, #r>) -> tensor<5x8xf32>
  %y = tp.matmul %x, %t : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  %h = tp.reshape %y : (tensor<3x8xf32>) -> tensor<3x4x2xf32>
  %b = tp.slice %h at [0, 0, 0] : (tensor<3x4x2xf32>) -> tensor<3x4x1xf32>
  %a = tp.slice %h at [0, 0, 1] : (tensor<3x4x2xf32>) -> tensor<3x4x1xf32>
  %m = tp.sub %b, %a : (tensor<3x4x1xf32>, tensor<3x4x1xf32>) -> tensor<3x4x1xf32>
  return %m : tensor<3x4x1xf32>
}

//--- left.mlir
// The left operand of the product.
tp.mesh @mesh = <["tp"=3]>
#r = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<5x4xf32>, %w: tensor<6x5xf32, #r> {tp.parameter}) -> tensor<3x1x4xf32> {
  %y = tp.matmul %w, %x : (tensor<6x5xf32, #r>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %h = tp.reshape %y : (tensor<6x4xf32>) -> tensor<3x2x4xf32>
  %b = tp.slice %h at [0, 0, 0] : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %a = tp.slice %h at [0, 1, 0] : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %m = tp.mul %b, %a : (tensor<3x1x4xf32>, tensor<3x1x4xf32>) -> tensor<3x1x4xf32>
  return %m : tensor<3x1x4xf32>
}

//--- uneven.mlir
// Three groups of two columns, dealt whole: two and one.
tp.mesh @mesh = <["tp"=2]>
#c = #tp.sharding<@mesh, [{}, {"tp", unit = 2}]>
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x6xf32, #c> {tp.parameter}) -> tensor<3x3x1xf32> {
  %y = tp.matmul %x, %w : (tensor<3x4xf32>, tensor<4x6xf32, #c>) -> tensor<3x6xf32>
  %h = tp.reshape %y : (tensor<3x6xf32>) -> tensor<3x3x2xf32>
  %b = tp.slice %h at [0, 0, 0] : (tensor<3x3x2xf32>) -> tensor<3x3x1xf32>
  %a = tp.slice %h at [0, 0, 1] : (tensor<3x3x2xf32>) -> tensor<3x3x1xf32>
  %m = tp.mul %b, %a : (tensor<3x3x1xf32>, tensor<3x3x1xf32>) -> tensor<3x3x1xf32>
  return %m : tensor<3x3x1xf32>
}

//--- product.mlir
// The product is pinned instead.
tp.mesh @mesh = <["tp"=2]>
#c = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x8xf32> {tp.parameter}) -> tensor<3x4x1xf32> {
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32, #c>
  %h = tp.reshape %y : (tensor<3x8xf32, #c>) -> tensor<3x4x2xf32>
  %b = tp.slice %h at [0, 0, 0] : (tensor<3x4x2xf32>) -> tensor<3x4x1xf32>
  %a = tp.slice %h at [0, 0, 1] : (tensor<3x4x2xf32>) -> tensor<3x4x1xf32>
  %m = tp.mul %b, %a : (tensor<3x4x1xf32>, tensor<3x4x1xf32>) -> tensor<3x4x1xf32>
  return %m : tensor<3x4x1xf32>
}

//--- two-axes.mlir
// Six groups over two axes, minor first.
tp.mesh @mesh = <["a"=2, "b"=3]>
#c = #tp.sharding<@mesh, [{}, {"b", "a"}]>
func.func @main(%x: tensor<5x4xf32>, %w: tensor<4x18xf32, #c> {tp.parameter}) -> tensor<5x6x1xf32> {
  %y = tp.matmul %x, %w : (tensor<5x4xf32>, tensor<4x18xf32, #c>) -> tensor<5x18xf32>
  %h = tp.reshape %y : (tensor<5x18xf32>) -> tensor<5x6x3xf32>
  %g = tp.slice %h at [0, 0, 0] : (tensor<5x6x3xf32>) -> tensor<5x6x1xf32>
  %u = tp.slice %h at [0, 0, 1] : (tensor<5x6x3xf32>) -> tensor<5x6x1xf32>
  %m = tp.mul %g, %u : (tensor<5x6x1xf32>, tensor<5x6x1xf32>) -> tensor<5x6x1xf32>
  return %m : tensor<5x6x1xf32>
}

//--- summed.mlir
// The pin splits what the product sums over: blocks lie as the whole does, and
// so does a pinned block.
tp.mesh @mesh = <["tp"=2]>
#r = #tp.sharding<@mesh, [{"tp"}, {}]>
#c = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x10xf32, #r> {tp.parameter}) -> (tensor<3x6xf32>, tensor<3x4xf32>) {
  %y = tp.matmul %x, %w : (tensor<3x4xf32>, tensor<4x10xf32, #r>) -> tensor<3x10xf32>
  %b = tp.slice %y at [0, 0] : (tensor<3x10xf32>) -> tensor<3x6xf32>
  %a = tp.slice %y at [0, 6] : (tensor<3x10xf32>) -> tensor<3x4xf32, #c>
  %m = tp.relu %a : (tensor<3x4xf32, #c>) -> tensor<3x4xf32>
  return %b, %m : tensor<3x6xf32>, tensor<3x4xf32>
}
