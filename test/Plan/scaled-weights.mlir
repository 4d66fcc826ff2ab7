// A weight that a scale multiplies is a weight: it is split over all ranks,
// along the tiles that have a scale each.
// RUN: split-file %s %t
// RUN: tp-opt %t/tensor.mlir --tp-plan=mesh=tp=2 --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TENSOR --implicit-check-not=warning
// RUN: tp-opt %t/tensor.mlir --tp-legal-degrees="max=6" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEGREES
// RUN: not tp-opt %t/tensor.mlir --tp-plan=mesh=tp=5 2>&1 | FileCheck %s --check-prefix=FIVE
// RUN: tp-opt %t/tiles.mlir --tp-plan=mesh=tp=4 --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILES --implicit-check-not=warning
// RUN: tp-opt %t/tiles.mlir --tp-plan=mesh=tp=4 | tp-opt -o /dev/null
// RUN: tp-opt %t/blocks.mlir --tp-plan=mesh=tp=6 --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS --implicit-check-not=warning
// RUN: tp-opt %t/integers.mlir --tp-plan=mesh=tp=3 --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=INTEGERS --implicit-check-not=warning
// RUN: tp-opt %t/six-tiles.mlir --tp-plan=mesh=tp=4 --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIX
// RUN: tp-opt %t/six-tiles.mlir --tp-plan="mesh=tp=4 uneven=allow" --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEALT --implicit-check-not=warning
// RUN: tp-opt %t/six-tiles.mlir --tp-plan="mesh=tp=4 weights=free" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FREE --allow-empty
// RUN: tp-opt %t/six-tiles.mlir --tp-legal-degrees="max=4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIXDEGREES
// RUN: tp-opt %t/six-tiles.mlir --tp-legal-degrees="max=4 format=json output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIXJSON
// RUN: tp-opt %t/joined.mlir --tp-plan=mesh=tp=2 -o /dev/null 2>&1 | FileCheck %s --check-prefix=JOINED
// RUN: tp-opt %t/updated.mlir --tp-plan=mesh=tp=2 --tp-print-plan="output=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UPDATED --implicit-check-not=warning

//--- tensor.mlir
// One scale. 8x6 is not for five ranks.
// TENSOR: w [8, 6] column "tp" [:, 0:3] [:, 3:6]
// TENSOR: scale [] whole
// DEGREES: legal degrees up to 6: 1, 2, 3, 4, 6
// DEGREES: 5: 5 divides no dimension of w [8, 6]
// FIVE: error: {{.*}}'w' of shape [8, 6] has no layout over "tp" that the constraints allow: shards must be even
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x6xf32> {tp.parameter, tp.name = "w"}, %s: tensor<f32> {tp.parameter, tp.name = "scale"}) -> tensor<4x6xf32> {
  %d = tp.mul %w, %s : (tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %y = tp.matmul %x, %d : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

//--- tiles.mlir
// Two tiles of 128 columns, four ranks: 64 columns each, and a scale for two.
// TILES: w [128, 256] split "tp" [:, 0:64] [:, 192:256]
// TILES: scale [2] {{split "tp":\(1\)2 \[0:1\] \[1:2\]|whole}}
// TILES: v [256, 5] row "tp" [0:64, :] [192:256, :]
func.func @main(%x: tensor<3x128xf32>, %w: tensor<128x256xf32> {tp.parameter, tp.name = "w"}, %s: tensor<2xf32> {tp.parameter, tp.name = "scale"}, %v: tensor<256x5xf32> {tp.parameter, tp.name = "v"}) -> tensor<3x5xf32> {
  %w0 = tp.reshape %w : (tensor<128x256xf32>) -> tensor<128x2x128xf32>
  %s0 = tp.broadcast %s along [1] : (tensor<2xf32>) -> tensor<2x128xf32>
  %d0 = tp.mul %w0, %s0 : (tensor<128x2x128xf32>, tensor<2x128xf32>) -> tensor<128x2x128xf32>
  %d = tp.reshape %d0 : (tensor<128x2x128xf32>) -> tensor<128x256xf32>
  %y = tp.matmul %x, %d : (tensor<3x128xf32>, tensor<128x256xf32>) -> tensor<3x256xf32>
  %r = tp.relu %y : (tensor<3x256xf32>) -> tensor<3x256xf32>
  %z = tp.matmul %r, %v : (tensor<3x256xf32>, tensor<256x5xf32>) -> tensor<3x5xf32>
  return %z : tensor<3x5xf32>
}

//--- blocks.mlir
// Tiles of 10 rows and 8 columns, five by three, in one scale: six ranks divide
// neither number, but two share each of three tiles of columns.
// BLOCKS: w [50, 24] split "tp" [:, 0:4] [:, 20:24]
func.func @main(%x: tensor<7x50xf32>, %w: tensor<50x24xf32> {tp.parameter, tp.name = "w"}, %s: tensor<5x3xf32> {tp.parameter, tp.name = "scale"}) -> tensor<7x24xf32> {
  %w0 = tp.reshape %w : (tensor<50x24xf32>) -> tensor<5x10x3x8xf32>
  %s0 = tp.broadcast %s along [1, 3] : (tensor<5x3xf32>) -> tensor<5x10x3x8xf32>
  %d0 = tp.mul %w0, %s0 : (tensor<5x10x3x8xf32>, tensor<5x10x3x8xf32>) -> tensor<5x10x3x8xf32>
  %d = tp.reshape %d0 : (tensor<5x10x3x8xf32>) -> tensor<50x24xf32>
  %y = tp.matmul %x, %d : (tensor<7x50xf32>, tensor<50x24xf32>) -> tensor<7x24xf32>
  return %y : tensor<7x24xf32>
}

//--- integers.mlir
// Whole numbers, an offset and a scale for each row, in the other type.
// INTEGERS: w [9, 5] split "tp" [0:3, :] [6:9, :]
func.func @main(%x: tensor<4x5xf32>, %w: tensor<9x5xi32> {tp.parameter, tp.name = "w"}, %z: tensor<9xf32> {tp.parameter, tp.name = "zero"}, %s: tensor<9xf32> {tp.parameter, tp.name = "scale"}) -> tensor<4x9xf32> {
  %f = tp.cast %w : (tensor<9x5xi32>) -> tensor<9x5xf32>
  %z0 = tp.broadcast %z along [1] : (tensor<9xf32>) -> tensor<9x5xf32>
  %s0 = tp.broadcast %s along [1] : (tensor<9xf32>) -> tensor<9x5xf32>
  %c = tp.sub %f, %z0 : (tensor<9x5xf32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  %d = tp.mul %c, %s0 : (tensor<9x5xf32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  %t = tp.transpose %d by [1, 0] : (tensor<9x5xf32>) -> tensor<5x9xf32>
  %y = tp.matmul %x, %t : (tensor<4x5xf32>, tensor<5x9xf32>) -> tensor<4x9xf32>
  return %y : tensor<4x9xf32>
}

//--- six-tiles.mlir
// Six tiles on four ranks: whole, with the reason; or dealt two, two, one, one.
// SIX: six-tiles.mlir:{{.*}} warning: 'w' of shape [5, 48] lies whole on every rank of "tp": dimension 0 of 5 is no multiple of 4; dimension 1 of 48 is read in 6 tiles, and neither of 6 and 4 divides the other
// SIX: note: fix: deal whole tiles unevenly with uneven=allow
// SIX-NOT: warning
// SIX: w [5, 48] whole
// DEALT: w [5, 48] {{.*}}"tp"{{.*}} [:, 0:16] [:, 40:48]
// FREE-NOT: warning
// SIXDEGREES: legal degrees up to 4: 1, 2, 3, 4
// SIXDEGREES: 4: {{.*}}w not split: dimension 0 of 5 is no multiple of 4; dimension 1 of 48 is read in 6 tiles, and neither of 6 and 4 divides the other
// SIXJSON: "ranks": 4
// SIXJSON: "not_split": [
// SIXJSON-NEXT: {
// SIXJSON-NEXT: "weight": "w",
// SIXJSON-NEXT: "reason": "dimension 0 of 5
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x48xf32> {tp.parameter, tp.name = "w"}, %s: tensor<6xf32> {tp.parameter, tp.name = "scale"}) -> tensor<3x48xf32> {
  %w0 = tp.reshape %w : (tensor<5x48xf32>) -> tensor<5x6x8xf32>
  %s0 = tp.broadcast %s along [1] : (tensor<6xf32>) -> tensor<6x8xf32>
  %d0 = tp.mul %w0, %s0 : (tensor<5x6x8xf32>, tensor<6x8xf32>) -> tensor<5x6x8xf32>
  %d = tp.reshape %d0 : (tensor<5x6x8xf32>) -> tensor<5x48xf32>
  %y = tp.matmul %x, %d : (tensor<3x5xf32>, tensor<5x48xf32>) -> tensor<3x48xf32>
  return %y : tensor<3x48xf32>
}

//--- joined.mlir
// What is joined of weights is none of them.
// JOINED: warning: 'v' of shape [5, 4] lies whole on every rank of "tp": weights=stationary holds for what a product reads, which is computed of it
// JOINED: note: 'tp.concat' makes what the product reads
func.func @main(%x: tensor<3x5xf32>, %v: tensor<5x4xf32> {tp.parameter, tp.name = "v"}, %w: tensor<5x3xf32> {tp.parameter, tp.name = "w"}) -> tensor<3x7xf32> {
  %j = tp.concat %v, %w along 1 : (tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<5x7xf32>
  %y = tp.matmul %x, %j : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

//--- updated.mlir
// What an activation is part of is no weight; a scale of an activation is none.
// UPDATED: gain [6] {{split|whole}}
// UPDATED: w [6, 4]
func.func @main(%x: tensor<3x6xf32>, %g: tensor<6xf32> {tp.parameter, tp.name = "gain"}, %w: tensor<6x4xf32> {tp.parameter, tp.name = "w"}) -> tensor<3x4xf32> {
  %s = tp.mul %x, %g : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  %y = tp.matmul %s, %w : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
