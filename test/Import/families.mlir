// What Gemma, Phi-3 and GPT-2 differ in: scaled embeddings and offset gains;
// fused projections; layer norms, learned positions and weights stored (in,
// out).

// RUN: tp-translate --import-hf-config %models/gemma-2b.json --layers=1 \
// RUN:   --batch=3 --sequence=7 | FileCheck %s --check-prefix=GEMMA
// RUN: tp-translate --import-hf-config %models/phi-3-mini-4k.json --layers=1 \
// RUN:   --sequence=7 | FileCheck %s --check-prefix=PHI3
// RUN: tp-translate --import-hf-config %models/gpt2-xl.json --layers=2 \
// RUN:   --sequence=7 | FileCheck %s --check-prefix=GPT2

// The root of 2048 is 45.2548, which bf16 holds as 45.25.

// GEMMA-LABEL: func.func private @decoder_layer(
// GEMMA-SAME: %[[STREAM:[a-z0-9]+]]: tensor<3x7x2048xbf16>
// GEMMA-SAME: %[[W:[a-z0-9]+]]: tensor<2048xbf16> {tp.name = "input_layernorm.weight", tp.parameter}
// GEMMA-NEXT: %[[ONE:.*]] = tp.constant dense<1.000000e+00> : tensor<bf16>
// GEMMA-NEXT: %[[GAIN:.*]] = tp.add %[[W]], %[[ONE]] : (tensor<2048xbf16>, tensor<bf16>) -> tensor<2048xbf16>
// GEMMA-NEXT: tp.rms_norm %[[STREAM]], %[[GAIN]] {epsilon = 9.9999999999999995E-7 : f64}
// GEMMA: tp.attention {{.*}} {causal, scale = 6.250000e-02 : f64} : (tensor<3x7x8x256xbf16>, tensor<3x7x1x256xbf16>, tensor<3x7x1x256xbf16>)
// GEMMA: tp.gelu %{{.*}} tanh
// GEMMA-LABEL: func.func @main(
// GEMMA-SAME: %[[TABLE:[a-z0-9]+]]: tensor<256000x2048xbf16> {tp.name = "model.embed_tokens.weight", tp.parameter},
// GEMMA-NOT: lm_head
// GEMMA: %[[E:.*]] = tp.embedding %[[TABLE]], %{{.*}} :
// GEMMA-NEXT: %[[ROOT:.*]] = tp.constant dense<4.525000e+01> : tensor<bf16>
// GEMMA-NEXT: %[[S:.*]] = tp.mul %[[E]], %[[ROOT]] {tp.stream}
// GEMMA-NEXT: call @decoder_layer(%[[S]],
// GEMMA: tp.matmul %{{.*}}, %[[TABLE]] {transpose_b}

// PHI3-LABEL: func.func private @decoder_layer(
// PHI3-SAME: %[[WQKV:[a-z0-9]+]]: tensor<9216x3072xbf16> {tp.name = "self_attn.qkv_proj.weight", tp.parameter},
// PHI3-SAME: %[[WGU:[a-z0-9]+]]: tensor<16384x3072xbf16> {tp.name = "mlp.gate_up_proj.weight", tp.parameter},
// PHI3: %[[QKV:.*]] = tp.matmul %{{.*}}, %[[WQKV]] {transpose_b}
// PHI3-NEXT: tp.slice %[[QKV]] at [0, 0, 0] : (tensor<1x7x9216xbf16>) -> tensor<1x7x3072xbf16>
// PHI3-NEXT: tp.slice %[[QKV]] at [0, 0, 3072]
// PHI3-NEXT: tp.slice %[[QKV]] at [0, 0, 6144]
// PHI3: %[[GU:.*]] = tp.matmul %{{.*}}, %[[WGU]] {transpose_b}
// PHI3-NEXT: %[[GATE:.*]] = tp.slice %[[GU]] at [0, 0, 0] : (tensor<1x7x16384xbf16>) -> tensor<1x7x8192xbf16>
// PHI3-NEXT: %[[UP:.*]] = tp.slice %[[GU]] at [0, 0, 8192]
// PHI3-NEXT: %[[ACT:.*]] = tp.silu %[[GATE]]
// PHI3-NEXT: tp.mul %[[ACT]], %[[UP]]

// GPT2-LABEL: func.func private @decoder_layer(
// GPT2-SAME: %[[G1:[a-z0-9]+]]: tensor<1600xf32> {tp.name = "ln_1.weight", tp.parameter}, %[[B1:[a-z0-9]+]]: tensor<1600xf32> {tp.name = "ln_1.bias", tp.parameter}
// GPT2-SAME: %[[WA:[a-z0-9]+]]: tensor<1600x4800xf32> {tp.name = "attn.c_attn.weight", tp.parameter}, %[[BA:[a-z0-9]+]]: tensor<4800xf32> {tp.name = "attn.c_attn.bias", tp.parameter}
// GPT2-SAME: %[[WF:[a-z0-9]+]]: tensor<1600x6400xf32> {tp.name = "mlp.c_fc.weight", tp.parameter}
// GPT2-NEXT: %[[X:.*]] = tp.layer_norm %{{.*}}, %[[G1]], %[[B1]] {epsilon = 1.000000e-05 : f64}
// GPT2-NEXT: %[[A:.*]] = tp.matmul %[[X]], %[[WA]] : (tensor<1x7x1600xf32>, tensor<1600x4800xf32>) -> tensor<1x7x4800xf32>
// GPT2-NEXT: %[[AB:.*]] = tp.add %[[A]], %[[BA]]
// GPT2-COUNT-3: tp.slice %[[AB]]
// GPT2-NOT: tp.rope
// GPT2: tp.attention {{.*}} {causal, scale = 1.250000e-01 : f64} : (tensor<1x7x25x64xf32>
// GPT2: %[[F:.*]] = tp.matmul %{{.*}}, %[[WF]]
// GPT2-NEXT: %[[FB:.*]] = tp.add %[[F]]
// GPT2-NEXT: tp.gelu %[[FB]] tanh
// GPT2-NOT: tp.mul
// GPT2-LABEL: func.func @main(
// GPT2-SAME: %[[WTE:[a-z0-9]+]]: tensor<50257x1600xf32> {tp.name = "transformer.wte.weight", tp.parameter}, %[[WPE:[a-z0-9]+]]: tensor<1024x1600xf32> {tp.name = "transformer.wpe.weight", tp.parameter}
// GPT2-NEXT: %[[E:.*]] = tp.embedding %[[WTE]]
// GPT2-NEXT: %[[P:.*]] = tp.slice %[[WPE]] at [0, 0] : (tensor<1024x1600xf32>) -> tensor<7x1600xf32>
// GPT2-NEXT: tp.add %[[E]], %[[P]] {tp.stream} : (tensor<1x7x1600xf32>, tensor<7x1600xf32>) -> tensor<1x7x1600xf32>
// GPT2: tp.matmul %{{.*}}, %[[WTE]] {transpose_b}
