// A rank may hold nothing: moves of empty tensors lower to nothing.
// UNSUPPORTED: roundtrip
// RUN: tp-opt %s --tp-lower-to-cpu | FileCheck %s

// CHECK: llvm.func @main
func.func @main(%x: tensor<5x0xf32>, %y: tensor<3x4xf32>, %z: tensor<3x0xf32>)
    -> (tensor<2x0xf32>, tensor<8x0xf32>, tensor<0x5xf32>, tensor<3x4xf32>) attributes {tp.local} {
  %s = tp.slice %x at [2, 0] : (tensor<5x0xf32>) -> tensor<2x0xf32>
  %c = tp.concat %x, %z along 0 : (tensor<5x0xf32>, tensor<3x0xf32>) -> tensor<8x0xf32>
  %r = tp.reshape %x : (tensor<5x0xf32>) -> tensor<0x5xf32>
  %j = tp.concat %z, %y along 1 : (tensor<3x0xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %s, %c, %r, %j : tensor<2x0xf32>, tensor<8x0xf32>, tensor<0x5xf32>, tensor<3x4xf32>
}
