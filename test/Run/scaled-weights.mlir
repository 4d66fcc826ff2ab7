// Weights that scales multiply, as they are planned: equal on any number of
// ranks.
// RUN: split-file %s %t
// RUN: tp-run %t/rows.mlir --mesh=tp=3 --check | FileCheck %s
// RUN: tp-run %t/columns.mlir --mesh=tp=2 --check | FileCheck %s
// RUN: tp-run %t/columns.mlir --mesh=a=2,b=3 --check | FileCheck %s
// RUN: tp-run %t/tiles.mlir --mesh=tp=4 --check | FileCheck %s
// RUN: tp-run %t/tiles.mlir --mesh=tp=2,b=2 --check | FileCheck %s
// RUN: tp-run %t/tiles.mlir --mesh=tp=8 --check | FileCheck %s
// RUN: tp-run %t/tiles.mlir --mesh=tp=3 --uneven=allow --check | FileCheck %s
// RUN: tp-run %t/tiles.mlir --mesh=dp=3,tp=2 --check | FileCheck %s
// RUN: tp-run %t/repeated.mlir --mesh=tp=6 --check | FileCheck %s
// RUN: tp-run %t/twice.mlir --mesh=tp=2 --check | FileCheck %s
// RUN: tp-run %t/twice.mlir --mesh=tp=3 --check | FileCheck %s
// RUN: tp-run %t/layers.mlir --mesh=tp=4 --check | FileCheck %s
// CHECK: exact: equal in the field {{.*}}: ok

//--- rows.mlir
// A scale for each row, a type for each side of it.
func.func @main(%x: tensor<4x6xf64>, %w: tensor<9x6xf32> {tp.parameter}, %s: tensor<9xf64> {tp.parameter}) -> tensor<4x9xf64> {
  %f = tp.cast %w : (tensor<9x6xf32>) -> tensor<9x6xf64>
  %s0 = tp.broadcast %s along [1] : (tensor<9xf64>) -> tensor<9x6xf64>
  %d = tp.mul %s0, %f : (tensor<9x6xf64>, tensor<9x6xf64>) -> tensor<9x6xf64>
  %y = tp.matmul %x, %d {transpose_b} : (tensor<4x6xf64>, tensor<9x6xf64>) -> tensor<4x9xf64>
  return %y : tensor<4x9xf64>
}

//--- columns.mlir
// A scale for each column of what is stored transposed, and one for all.
func.func @main(%x: tensor<4x6xf32>, %w: tensor<12x6xf32> {tp.parameter}, %s: tensor<12xf32> {tp.parameter}, %g: tensor<f32> {tp.parameter}) -> tensor<4x12xf32> {
  %t = tp.transpose %w by [1, 0] : (tensor<12x6xf32>) -> tensor<6x12xf32>
  %d = tp.mul %t, %s : (tensor<6x12xf32>, tensor<12xf32>) -> tensor<6x12xf32>
  %e = tp.mul %d, %g : (tensor<6x12xf32>, tensor<f32>) -> tensor<6x12xf32>
  %y = tp.matmul %x, %e : (tensor<4x6xf32>, tensor<6x12xf32>) -> tensor<4x12xf32>
  return %y : tensor<4x12xf32>
}

//--- tiles.mlir
// Tiles along both dimensions, two by two, then a second product.
func.func @main(%x: tensor<3x16xf32>, %w: tensor<16x24xf32> {tp.parameter}, %s: tensor<2x2xf32> {tp.parameter}, %v: tensor<24x5xf32> {tp.parameter}) -> tensor<3x5xf32> {
  %w0 = tp.reshape %w : (tensor<16x24xf32>) -> tensor<2x8x2x12xf32>
  %s0 = tp.broadcast %s along [1, 3] : (tensor<2x2xf32>) -> tensor<2x8x2x12xf32>
  %d0 = tp.mul %w0, %s0 : (tensor<2x8x2x12xf32>, tensor<2x8x2x12xf32>) -> tensor<2x8x2x12xf32>
  %d = tp.reshape %d0 : (tensor<2x8x2x12xf32>) -> tensor<16x24xf32>
  %y = tp.matmul %x, %d : (tensor<3x16xf32>, tensor<16x24xf32>) -> tensor<3x24xf32>
  %r = tp.relu %y : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %z = tp.matmul %r, %v : (tensor<3x24xf32>, tensor<24x5xf32>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

//--- repeated.mlir
// The scale of tiles, repeated to the shape of the weight.
func.func @main(%x: tensor<4x10xf32>, %w: tensor<10x36xf32> {tp.parameter}, %s: tensor<3xf32> {tp.parameter}) -> tensor<4x36xf32> {
  %s0 = tp.broadcast %s along [0, 2] : (tensor<3xf32>) -> tensor<10x3x12xf32>
  %s1 = tp.reshape %s0 : (tensor<10x3x12xf32>) -> tensor<10x36xf32>
  %d = tp.mul %w, %s1 : (tensor<10x36xf32>, tensor<10x36xf32>) -> tensor<10x36xf32>
  %y = tp.matmul %x, %d : (tensor<4x10xf32>, tensor<10x36xf32>) -> tensor<4x36xf32>
  return %y : tensor<4x36xf32>
}

//--- twice.mlir
// One scale for two weights, one weight for two products.
func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x6xf32> {tp.parameter}, %v: tensor<6x6xf32> {tp.parameter}, %s: tensor<6xf32> {tp.parameter}) -> tensor<4x6xf32> {
  %d = tp.mul %w, %s : (tensor<6x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  %e = tp.mul %v, %s : (tensor<6x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  %0 = tp.matmul %x, %d : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %1 = tp.matmul %0, %d {transpose_b} : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %2 = tp.matmul %1, %e : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

//--- layers.mlir
// Through calls.
func.func private @layer(%x: tensor<3x8xf32>, %w: tensor<8x8xf32> {tp.parameter}, %s: tensor<2xf32> {tp.parameter}) -> tensor<3x8xf32> {
  %w0 = tp.reshape %w : (tensor<8x8xf32>) -> tensor<8x2x4xf32>
  %s0 = tp.broadcast %s along [1] : (tensor<2xf32>) -> tensor<2x4xf32>
  %d0 = tp.mul %w0, %s0 : (tensor<8x2x4xf32>, tensor<2x4xf32>) -> tensor<8x2x4xf32>
  %d = tp.reshape %d0 : (tensor<8x2x4xf32>) -> tensor<8x8xf32>
  %y = tp.matmul %x, %d : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
func.func @main(%x: tensor<3x8xf32>, %a: tensor<8x8xf32> {tp.parameter}, %p: tensor<2xf32> {tp.parameter}, %b: tensor<8x8xf32> {tp.parameter}, %q: tensor<2xf32> {tp.parameter}) -> tensor<3x8xf32> {
  %0 = call @layer(%x, %a, %p) : (tensor<3x8xf32>, tensor<8x8xf32>, tensor<2xf32>) -> tensor<3x8xf32>
  %1 = call @layer(%0, %b, %q) : (tensor<3x8xf32>, tensor<8x8xf32>, tensor<2xf32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}
