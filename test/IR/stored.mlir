// Parts of stored tensors are read and printed: a whole row range, runs, and
// one that padding follows.
// RUN: tp-opt %s | FileCheck %s

// CHECK: tensor<24x5xf32> {tp.stored = #tp.stored<"q\22k" [36, 5], dim 0 from 12 size 24>}
func.func private @rows(tensor<24x5xf32> {tp.stored = #tp.stored<"q\22k" [36, 5], dim 0 from 12 size 24>})
// CHECK: tensor<5x8xf32> {tp.stored = #tp.stored<"w" [5, 36], dim 1 from 6 size 2 stride 9 count 4>}
func.func private @runs(tensor<5x8xf32> {tp.stored = #tp.stored<"w" [5, 36], dim 1 from 6 size 2 stride 9 count 4>})
// CHECK: -> (tensor<3x128xf32> {tp.stored = #tp.stored<"logits" [3, 67], dim 1 from 0 size 67>})
func.func private @padded() -> (tensor<3x128xf32> {tp.stored = #tp.stored<"logits" [3, 67], dim 1 from 0 size 67>})
// The global type counts in the local phase.
// CHECK: tensor<4x5xf32> {tp.global = tensor<8x5xf32>, tp.stored = #tp.stored<"w" [16, 5], dim 0 from 8 size 8>}
func.func private @local(tensor<4x5xf32> {tp.global = tensor<8x5xf32>, tp.stored = #tp.stored<"w" [16, 5], dim 0 from 8 size 8>})
// CHECK: tensor<0x5xf32> {tp.stored = #tp.stored<"w" [0, 5], dim 0 from 0 size 0>}
func.func private @empty(tensor<0x5xf32> {tp.stored = #tp.stored<"w" [0, 5], dim 0 from 0 size 0>})
