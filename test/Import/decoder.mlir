// What the four families differ in: biases, norms of q and k, tied embeddings,
// rotary scaling. Weights keep the checkpoint's (out, in) layout.

// RUN: tp-translate --import-hf-config %models/llama-3-8b.json --layers=2 \
// RUN:   --batch=3 --sequence=7 | FileCheck %s --check-prefix=LLAMA
// RUN: tp-translate --import-hf-config %models/llama-3.2-1b.json --layers=1 \
// RUN:   --sequence=7 | FileCheck %s --check-prefix=TIED
// RUN: tp-translate --import-hf-config %models/mistral-7b-v0.1.json \
// RUN:   --layers=1 --sequence=4096 | FileCheck %s --check-prefix=MISTRAL
// RUN: tp-translate --import-hf-config %models/qwen2.5-7b.json --layers=1 \
// RUN:   --sequence=7 | FileCheck %s --check-prefix=QWEN2
// RUN: tp-translate --import-hf-config %models/qwen3-0.6b.json --layers=1 \
// RUN:   --sequence=7 | FileCheck %s --check-prefix=QWEN3

// 32 heads of 128 and 8 KV heads on 4096; every operation of a layer in order.

// LLAMA-LABEL: func.func private @decoder_layer(
// LLAMA-SAME: %[[STREAM:[a-z0-9]+]]: tensor<3x7x4096xbf16> {tp.name = "hidden_states", tp.stream},
// LLAMA-SAME: %[[NORM1:[a-z0-9]+]]: tensor<4096xbf16> {tp.name = "input_layernorm.weight", tp.parameter},
// LLAMA-SAME: %[[WQ:[a-z0-9]+]]: tensor<4096x4096xbf16> {tp.name = "self_attn.q_proj.weight", tp.parameter},
// LLAMA-SAME: %[[WK:[a-z0-9]+]]: tensor<1024x4096xbf16> {tp.name = "self_attn.k_proj.weight", tp.parameter},
// LLAMA-SAME: %[[WV:[a-z0-9]+]]: tensor<1024x4096xbf16> {tp.name = "self_attn.v_proj.weight", tp.parameter},
// LLAMA-SAME: %[[WO:[a-z0-9]+]]: tensor<4096x4096xbf16> {tp.name = "self_attn.o_proj.weight", tp.parameter},
// LLAMA-SAME: %[[NORM2:[a-z0-9]+]]: tensor<4096xbf16> {tp.name = "post_attention_layernorm.weight", tp.parameter},
// LLAMA-SAME: %[[WGATE:[a-z0-9]+]]: tensor<14336x4096xbf16> {tp.name = "mlp.gate_proj.weight", tp.parameter},
// LLAMA-SAME: %[[WUP:[a-z0-9]+]]: tensor<14336x4096xbf16> {tp.name = "mlp.up_proj.weight", tp.parameter},
// LLAMA-SAME: %[[WDOWN:[a-z0-9]+]]: tensor<4096x14336xbf16> {tp.name = "mlp.down_proj.weight", tp.parameter})
// LLAMA-SAME: -> (tensor<3x7x4096xbf16> {tp.stream}) {
// LLAMA-NEXT: %[[X:.*]] = tp.rms_norm %[[STREAM]], %[[NORM1]]
// LLAMA-NEXT: %[[Q:.*]] = tp.matmul %[[X]], %[[WQ]] {transpose_b} : (tensor<3x7x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<3x7x4096xbf16>
// LLAMA-NEXT: %[[QH:.*]] = tp.reshape %[[Q]] : (tensor<3x7x4096xbf16>) -> tensor<3x7x32x128xbf16>
// LLAMA-NEXT: %[[K:.*]] = tp.matmul %[[X]], %[[WK]] {transpose_b} : (tensor<3x7x4096xbf16>, tensor<1024x4096xbf16>) -> tensor<3x7x1024xbf16>
// LLAMA-NEXT: %[[KH:.*]] = tp.reshape %[[K]] : (tensor<3x7x1024xbf16>) -> tensor<3x7x8x128xbf16>
// LLAMA-NEXT: %[[V:.*]] = tp.matmul %[[X]], %[[WV]] {transpose_b} : (tensor<3x7x4096xbf16>, tensor<1024x4096xbf16>) -> tensor<3x7x1024xbf16>
// LLAMA-NEXT: %[[VH:.*]] = tp.reshape %[[V]] : (tensor<3x7x1024xbf16>) -> tensor<3x7x8x128xbf16>
// LLAMA-NEXT: %[[QR:.*]] = tp.rope %[[QH]] {theta = 5.000000e+05 : f64}
// LLAMA-NEXT: %[[KR:.*]] = tp.rope %[[KH]] {theta = 5.000000e+05 : f64}
// LLAMA-NEXT: %[[MIXED:.*]] = tp.attention %[[QR]], %[[KR]], %[[VH]] {causal, scale = 0.08838834764831{{[0-9]+}} : f64}
// LLAMA-NEXT: %[[FLAT:.*]] = tp.reshape %[[MIXED]] : (tensor<3x7x32x128xbf16>) -> tensor<3x7x4096xbf16>
// LLAMA-NEXT: %[[O:.*]] = tp.matmul %[[FLAT]], %[[WO]] {transpose_b}
// LLAMA-NEXT: %[[MIDDLE:.*]] = tp.add %[[STREAM]], %[[O]] {tp.stream}
// LLAMA-NEXT: %[[Y:.*]] = tp.rms_norm %[[MIDDLE]], %[[NORM2]] {epsilon = 1.000000e-05 : f64}
// LLAMA-NEXT: %[[GATE:.*]] = tp.matmul %[[Y]], %[[WGATE]] {transpose_b}
// LLAMA-NEXT: %[[UP:.*]] = tp.matmul %[[Y]], %[[WUP]] {transpose_b}
// LLAMA-NEXT: %[[ACTIVE:.*]] = tp.silu %[[GATE]]
// LLAMA-NEXT: %[[GATED:.*]] = tp.mul %[[ACTIVE]], %[[UP]]
// LLAMA-NEXT: %[[DOWN:.*]] = tp.matmul %[[GATED]], %[[WDOWN]] {transpose_b}
// LLAMA-NEXT: %[[END:.*]] = tp.add %[[MIDDLE]], %[[DOWN]] {tp.stream}
// LLAMA-NEXT: return %[[END]]

// LLAMA-LABEL: func.func @main(
// LLAMA-SAME: %[[IDS:[a-z0-9]+]]: tensor<3x7xi64> {tp.bound = 128256 : i64, tp.name = "input_ids"},
// LLAMA-SAME: %[[TABLE:[a-z0-9]+]]: tensor<128256x4096xbf16> {tp.name = "model.embed_tokens.weight", tp.parameter},
// LLAMA-SAME: %[[FIRST0:[a-z0-9]+]]: tensor<4096xbf16> {tp.name = "model.layers.0.input_layernorm.weight", tp.parameter},
// LLAMA-SAME: %[[LAST0:[a-z0-9]+]]: tensor<4096x14336xbf16> {tp.name = "model.layers.0.mlp.down_proj.weight", tp.parameter},
// LLAMA-SAME: %[[FIRST1:[a-z0-9]+]]: tensor<4096xbf16> {tp.name = "model.layers.1.input_layernorm.weight", tp.parameter},
// LLAMA-SAME: %[[LAST1:[a-z0-9]+]]: tensor<4096x14336xbf16> {tp.name = "model.layers.1.mlp.down_proj.weight", tp.parameter},
// LLAMA-SAME: %[[NORM:[a-z0-9]+]]: tensor<4096xbf16> {tp.name = "model.norm.weight", tp.parameter},
// LLAMA-SAME: %[[HEAD:[a-z0-9]+]]: tensor<128256x4096xbf16> {tp.name = "lm_head.weight", tp.parameter})
// LLAMA-SAME: -> (tensor<3x7x128256xbf16> {tp.name = "logits"}) {
// LLAMA-NEXT: %[[S0:.*]] = tp.embedding %[[TABLE]], %[[IDS]] {tp.stream}
// LLAMA-NEXT: %[[S1:.*]] = call @decoder_layer(%[[S0]], %[[FIRST0]], {{.*}}, %[[LAST0]])
// LLAMA-NEXT: %[[S2:.*]] = call @decoder_layer(%[[S1]], %[[FIRST1]], {{.*}}, %[[LAST1]])
// LLAMA-NEXT: %[[Z:.*]] = tp.rms_norm %[[S2]], %[[NORM]]
// LLAMA-NEXT: %[[LOGITS:.*]] = tp.matmul %[[Z]], %[[HEAD]] {transpose_b}
// LLAMA-NEXT: return %[[LOGITS]]

// TIED-COUNT-2: tp.rope %{{.*}} {llama3 = array<f64: 3.200000e+01, 1.000000e+00, 4.000000e+00, 8.192000e+03>, theta = 5.000000e+05 : f64}
// TIED-LABEL: func.func @main(
// TIED-SAME: %[[TABLE:[a-z0-9]+]]: tensor<128256x2048xbf16> {tp.name = "model.embed_tokens.weight", tp.parameter},
// TIED-NOT: lm_head
// TIED: tp.matmul %{{.*}}, %[[TABLE]] {transpose_b} : {{.*}} -> tensor<1x7x128256xbf16>

// Up to the window of 4096 the attention is a plain causal one.

// MISTRAL: tensor<1024x4096xbf16> {tp.name = "self_attn.k_proj.weight", tp.parameter}
// MISTRAL: tp.attention {{.*}} {causal, scale = {{.*}}} : (tensor<1x4096x32x128xbf16>, tensor<1x4096x8x128xbf16>, tensor<1x4096x8x128xbf16>)

// 28 heads of 128 and 4 KV heads on 3584; biases on q, k and v only.

// QWEN2-LABEL: func.func private @decoder_layer(
// QWEN2-SAME: %[[WQ:[a-z0-9]+]]: tensor<3584x3584xbf16> {tp.name = "self_attn.q_proj.weight", tp.parameter},
// QWEN2-SAME: %[[BQ:[a-z0-9]+]]: tensor<3584xbf16> {tp.name = "self_attn.q_proj.bias", tp.parameter},
// QWEN2-SAME: %[[WK:[a-z0-9]+]]: tensor<512x3584xbf16> {tp.name = "self_attn.k_proj.weight", tp.parameter},
// QWEN2-SAME: %[[BK:[a-z0-9]+]]: tensor<512xbf16> {tp.name = "self_attn.k_proj.bias", tp.parameter},
// QWEN2-SAME: %[[WV:[a-z0-9]+]]: tensor<512x3584xbf16> {tp.name = "self_attn.v_proj.weight", tp.parameter},
// QWEN2-SAME: %[[BV:[a-z0-9]+]]: tensor<512xbf16> {tp.name = "self_attn.v_proj.bias", tp.parameter},
// QWEN2-NOT: .bias
// QWEN2: %[[Q:.*]] = tp.matmul %{{.*}}, %[[WQ]]
// QWEN2-NEXT: %[[QB:.*]] = tp.add %[[Q]], %[[BQ]] : (tensor<1x7x3584xbf16>, tensor<3584xbf16>) -> tensor<1x7x3584xbf16>
// QWEN2-NEXT: tp.reshape %[[QB]] {{.*}} -> tensor<1x7x28x128xbf16>
// QWEN2-NEXT: %[[K:.*]] = tp.matmul %{{.*}}, %[[WK]]
// QWEN2-NEXT: %[[KB:.*]] = tp.add %[[K]], %[[BK]]
// QWEN2-NEXT: tp.reshape %[[KB]] {{.*}} -> tensor<1x7x4x128xbf16>
// QWEN2-NEXT: %[[V:.*]] = tp.matmul %{{.*}}, %[[WV]]
// QWEN2-NEXT: %[[VB:.*]] = tp.add %[[V]], %[[BV]]
// QWEN2-NEXT: tp.reshape %[[VB]] {{.*}} -> tensor<1x7x4x128xbf16>

// 16 heads of 128 are wider than the stream of 1024; norms before the rotation.

// QWEN3-LABEL: func.func private @decoder_layer(
// QWEN3-SAME: tensor<2048x1024xbf16> {tp.name = "self_attn.q_proj.weight", tp.parameter},
// QWEN3-SAME: tensor<1024x1024xbf16> {tp.name = "self_attn.k_proj.weight", tp.parameter},
// QWEN3-SAME: tensor<1024x1024xbf16> {tp.name = "self_attn.v_proj.weight", tp.parameter},
// QWEN3-SAME: %[[NQ:[a-z0-9]+]]: tensor<128xbf16> {tp.name = "self_attn.q_norm.weight", tp.parameter},
// QWEN3-SAME: %[[NK:[a-z0-9]+]]: tensor<128xbf16> {tp.name = "self_attn.k_norm.weight", tp.parameter},
// QWEN3-SAME: tensor<1024x2048xbf16> {tp.name = "self_attn.o_proj.weight", tp.parameter},
// QWEN3-NOT: .bias
// QWEN3: %[[Q:.*]] = tp.rms_norm %{{.*}}, %[[NQ]] {{.*}} -> tensor<1x7x16x128xbf16>
// QWEN3-NEXT: %[[K:.*]] = tp.rms_norm %{{.*}}, %[[NK]] {{.*}} -> tensor<1x7x8x128xbf16>
// QWEN3-NEXT: tp.rope %[[Q]] {theta = 1.000000e+06 : f64}
// QWEN3-NEXT: tp.rope %[[K]] {theta = 1.000000e+06 : f64}
