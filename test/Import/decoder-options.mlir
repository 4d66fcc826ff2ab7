// What the options of tp-translate choose, and what it says about it.

// A folder stands for the config.json in it; the sequence is 2048 by default.
// RUN: rm -rf %t && mkdir %t
// RUN: cp %models/llama-2-7b.json %t/config.json
// RUN: tp-translate --import-hf-config %t | FileCheck %s --check-prefix=FOLDER
// FOLDER-LABEL: func.func @main(
// FOLDER-SAME: tensor<1x2048xi64>
// FOLDER-COUNT-32: call @decoder_layer
// FOLDER-NOT: call

// A model with fewer positions takes them all.
// RUN: sed 's/"max_position_embeddings": 4096/"max_position_embeddings": 96/' \
// RUN:   %models/llama-2-7b.json > %t/short.json
// RUN: tp-translate --import-hf-config %t/short.json \
// RUN:   | FileCheck %s --check-prefix=SHORT
// RUN: tp-translate --import-hf-config %t/short.json --shrink=2 \
// RUN:   | FileCheck %s --check-prefix=SHORT
// SHORT: func.func @main(%arg0: tensor<1x96xi64>

// RUN: tp-translate --import-hf-config %models/qwen3-0.6b.json --dtype=f64 \
// RUN:   --layers=3 | FileCheck %s --check-prefix=TYPE
// TYPE: tensor<1x2048x1024xf64> {tp.name = "hidden_states"
// TYPE-COUNT-3: call @decoder_layer
// TYPE-NOT: call

// Half of the head is divided, so that it stays even.
// RUN: tp-translate --import-hf-config %models/qwen2.5-0.5b.json --shrink=5 \
// RUN:   -o %t/small.mlir 2> %t/said
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t/said
// RUN: FileCheck %s --check-prefix=SMALL --input-file=%t/small.mlir
// SAID: {{^}}shrink: hidden_size 896 -> 224 (divided by 4, not by 5)
// SAID-NEXT: {{^}}shrink: head_dim 64 -> 16 (divided by 4, not by 5)
// SAID-NEXT: {{^}}shrink: intermediate_size 4864 -> 1216 (divided by 4, not by 5)
// SAID-NEXT: {{^}}shrink: vocab_size 151936 -> 37984 (divided by 4, not by 5)
// SMALL: tensor<1x128x224xf32> {tp.name = "hidden_states"
// SMALL-SAME: tensor<224x224xf32> {tp.name = "self_attn.q_proj.weight"
// SMALL-SAME: tensor<32x224xf32> {tp.name = "self_attn.k_proj.weight"

// Locations are names.
// RUN: tp-translate --import-hf-config %models/llama-3-8b.json --layers=1 \
// RUN:   --mlir-print-debuginfo | FileCheck %s --check-prefix=NAMES
// NAMES: tp.matmul {{.*}} loc(#[[Q:loc[0-9]*]])
// NAMES: #[[Q]] = loc("layer/q_proj")
