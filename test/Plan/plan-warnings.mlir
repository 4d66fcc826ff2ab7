// What is planned, but hardly as it was meant.
// RUN: split-file %s %t
// RUN: tp-opt %t/batch.mlir --tp-plan="mesh=dp=3,tp=2" 2>&1 -o /dev/null | FileCheck %s --check-prefix=IDLE
// RUN: tp-opt %t/batch.mlir --tp-plan="mesh=dp=3,tp=2 model-axes=dp,tp weights=free uneven=allow" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: tp-opt %t/batch.mlir --tp-plan="mesh=dp=1,tp=2" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: sed s/1x4x/3x4x/g %t/batch.mlir | tp-opt --tp-plan="mesh=dp=3,tp=2" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: tp-opt %t/fused.mlir --tp-plan="mesh=tp=2" 2>&1 -o /dev/null | FileCheck %s --check-prefix=FUSED
// RUN: tp-opt %t/fused.mlir --tp-split-fused-weights --tp-plan="mesh=tp=2" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: tp-opt %t/fused.mlir --tp-plan="mesh=dp=2 weights=free" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: tp-translate --import-hf-config %models/phi-3-mini-4k.json --shrink=64 --layers=2 --sequence=6 | tp-opt --tp-plan="mesh=tp=2" 2>&1 -o /dev/null | FileCheck %s --check-prefix=PHI
// NONE-NOT: warning

//--- batch.mlir
// A batch of one on three data ranks.
// IDLE: warning: axis "dp" carries the batch, but there is none to split: its 3 ranks all compute the same
// IDLE: note: fix: plan for 3 sequences or a multiple of it, or let the axis split the model: name it in model-axes
// IDLE-NOT: warning
func.func @main(%x: tensor<1x4x6xf32>, %w: tensor<6x10xf32> {tp.parameter}) -> tensor<1x4x10xf32> {
  %y = tp.matmul %x, %w : (tensor<1x4x6xf32>, tensor<6x10xf32>) -> tensor<1x4x10xf32>
  return %y : tensor<1x4x10xf32>
}

//--- fused.mlir
// FUSED: {{^.*}}fused.mlir:4:38: warning: 'gate_up' holds 2 weights that the program takes apart; planned as one, what is computed of it meets all_gather before it is cut
// FUSED: note: fix: run tp-split-fused-weights before tp-plan
// FUSED-NOT: warning
func.func @main(%x: tensor<8x6xf32>, %w: tensor<12x6xf32> {tp.parameter, tp.name = "gate_up"}) -> tensor<8x6xf32> {
  %0 = tp.matmul %x, %w {transpose_b} : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<8x12xf32>
  %1 = tp.slice %0 at [0, 0] : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %2 = tp.slice %0 at [0, 6] : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %3 = tp.mul %1, %2 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %3 : tensor<8x6xf32>
}

// Two layers with two such weights each; warned of once. An odd vocabulary.
// PHI: warning: 'model.layers.0.self_attn.qkv_proj.weight', the first of 4 such parameters, holds 3 weights that the program takes apart; planned as one
// PHI: warning: the vocabulary of 'model.embed_tokens.weight', 501, is no multiple of the 2 ranks of "tp"
// PHI-NOT: warning
