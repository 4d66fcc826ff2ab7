// What decides where a weight lies: sizes, pins, memory, the axes of the batch.
// UNSUPPORTED: roundtrip
// RUN: split-file %s %t
// RUN: tp-opt %t/sizes.mlir --tp-plan="mesh=tp=4" --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=SIZES
// RUN: tp-opt %t/pinned.mlir --tp-plan --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=PINNED
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2 weights=free memory-limit=60000" --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=MEMORY
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=tp=1" --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=ONE
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=dp=2,tp=2" --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=DATA
// RUN: tp-opt %t/tied.mlir --tp-plan="mesh=tp=2" --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=TIED
// RUN: tp-opt %t/stream.mlir --tp-plan="mesh=tp=2 sequence-parallel=on" --tp-explain="output=-" -o /dev/null | FileCheck %s --check-prefix=STREAM

//--- sizes.mlir
// The gather sends 3/4 of 3 * 24 * 4 bytes.
// SIZES: {{^}}w [22, 24]
// SIZES-NEXT: {{^}}  column, dimension 1 of 24 over "tp", 6 a rank
// SIZES-NEXT: {{^}}  why: each rank makes its part of what tp.matmul with w gives; it goes to all_gather (216 bytes a rank) before result 0
// SIZES-NEXT: {{^}}  forced by weights=stationary: with weights=free it is whole
// SIZES-NEXT: {{^}}  not whole: weights=stationary
// SIZES-NEXT: {{^}}  not row, dimension 0 of 22 over "tp", at most 6 a rank: 22 is not a multiple of 4
// SIZES-NEXT: {{^}}  no other layout meets weights=stationary and the pins
// SIZES: without it: no plan, forced by weights=stationary: with weights=stored there is one
func.func @main(%x: tensor<3x22xf32>, %w: tensor<22x24xf32> {tp.parameter, tp.name = "w"}) -> tensor<3x24xf32> {
  %y = tp.matmul %x, %w : (tensor<3x22xf32>, tensor<22x24xf32>) -> tensor<3x24xf32>
  return %y : tensor<3x24xf32>
}

//--- pinned.mlir
// PINNED: {{^}}  row, dimension 0 of 22 over "tp", 11 a rank
// PINNED: {{^}}  forced by the pins: with no pins it is column, dimension 1 of 24 over "tp", 12 a rank
// PINNED-NEXT: {{^}}  not whole: the source pins it otherwise
// PINNED-NEXT: {{^}}  not column, dimension 1 of 24 over "tp", 12 a rank: the source pins it otherwise
// PINNED-NEXT: {{^}}  no other layout meets weights=stationary and the pins
// PINNED: {{^}}  without the pins: {{.*}} less a step, 144 bytes fewer sent a rank, 1 more all_gather, 1 fewer all_reduce
tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<3x22xf32>, %w: tensor<22x24xf32, #row> {tp.parameter, tp.name = "w"}) -> tensor<3x24xf32> {
  %y = tp.matmul %x, %w : (tensor<3x22xf32>, tensor<22x24xf32, #row>) -> tensor<3x24xf32>
  return %y : tensor<3x24xf32>
}

//--- mlp.mlir
// Both matrices whole take 64,000 bytes.
// MEMORY: {{^}}w1 [8, 1000]
// MEMORY: {{^}}  forced by memory-limit=60000: with no memory-limit it is whole
// MEMORY-NEXT: {{^}}  next best: whole: as fast a step, 16,000 bytes more of parameters a rank
// MEMORY: without it: no plan, forced by memory-limit=60000: with no memory-limit there is one
// MEMORY: {{^}}  without memory-limit=60000: {{.*}} less a step, 64 bytes fewer sent a rank, 1 fewer all_reduce, 32,000 bytes more of parameters a rank

// ONE: {{^}}  why: tp.matmul with w1 reads it whole; what that gives is whole
// ONE-NEXT: {{^}}  decided by its price: no constraint that is given up moves it
// ONE: {{^}}no collectives

// Each axis of a collective by itself: the sum is one constraint's, the gather
// of the batch goes with the axis.
// DATA: {{^}}w1 [8, 1000]
// DATA: forced by the batch on the data axes: with model-axes=dp,tp it is column, dimension 1 of 1000 over "dp", "tp", 250 a rank
// DATA: {{^}}all_reduce of [2, 8] f32 after tp.matmul with w2, before result 0
// DATA-NEXT: over "tp", 2 groups of 2 ranks: {0, 1}, {2, 3}; 32 bytes sent a rank
// DATA-NEXT: why: tp.matmul with w2 leaves it split along dimension 0 over "dp" and an unfinished sum over "tp"; result 0 must be whole
// DATA-NEXT: without it: no plan, forced by weights=stationary: with weights=stored there is one
// DATA: {{^}}all_gather of [2, 8] f32 after tp.matmul with w2, before result 0
// DATA-NEXT: over "dp", 2 groups of 2 ranks: {0, 2}, {1, 3}; 32 bytes sent a rank
// DATA: without it: no plan, whichever constraint is given up
func.func @main(%x: tensor<2x8xf32>, %a: tensor<8x1000xf32> {tp.parameter, tp.name = "w1"},
    %b: tensor<1000x8xf32> {tp.parameter, tp.name = "w2"}) -> tensor<2x8xf32> {
  %h = tp.matmul %x, %a : (tensor<2x8xf32>, tensor<8x1000xf32>) -> tensor<2x1000xf32>
  %y = tp.matmul %h, %b : (tensor<2x1000xf32>, tensor<1000x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

//--- tied.mlir
// One matrix, looked up and multiplied with: the product names its layouts.
// TIED: {{^}}w [10, 8]
// TIED-NEXT: {{^}}  row, dimension 1 of 8 over "tp", 4 a rank
// TIED-NEXT: {{^}}  why: each rank makes its part of what tp.embedding with w gives; it goes to tp.matmul with w, which sums over the split; no collective on the way
// TIED-NEXT: {{^}}  why: its input comes split already: no collective before it; each rank makes a part of the sum, which is finished by all_reduce (120 bytes a rank)
// TIED: next best: column, dimension 0 of 10 over "tp", 5 a rank: {{.*}} more a step, 36 bytes more sent a rank, 1 more all_gather
func.func @main(%i: tensor<3xi64> {tp.bound = 10 : i64}, %w: tensor<10x8xf32> {tp.parameter, tp.name = "w"}) -> tensor<3x10xf32> {
  %e = tp.embedding %w, %i : (tensor<10x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %y = tp.matmul %e, %w {transpose_b} : (tensor<3x8xf32>, tensor<10x8xf32>) -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}

//--- stream.mlir
// A stream of one short sequence, split because it was asked for: its gather
// goes when the setting goes.
// STREAM: {{^}}reduce_scatter of [1, 2, 8] f32 after tp.matmul with w2, before tp.relu
// STREAM: without it: no plan, forced by sequence-parallel=on: with sequence-parallel=auto there is one, as fast a step
// STREAM: {{^}}  sequence-parallel=auto in place of sequence-parallel=on:
func.func @main(%x: tensor<1x2x8xf32>, %a: tensor<8x12xf32> {tp.parameter, tp.name = "w1"},
    %b: tensor<12x8xf32> {tp.parameter, tp.name = "w2"}) -> tensor<1x2x8xf32> {
  %h = tp.matmul %x, %a : (tensor<1x2x8xf32>, tensor<8x12xf32>) -> tensor<1x2x12xf32>
  %y = tp.matmul %h, %b {tp.stream} : (tensor<1x2x12xf32>, tensor<12x8xf32>) -> tensor<1x2x8xf32>
  %r = tp.relu %y : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  return %r : tensor<1x2x8xf32>
}
