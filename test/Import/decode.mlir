// One token after a cache: inputs for its keys and values, positions that begin
// behind it, and what is new as results laid out like the cache.

// RUN: tp-translate --import-hf-config %models/llama-3-8b.json --layers=2 \
// RUN:   --batch=3 --sequence=11 --phase=decode | FileCheck %s --check-prefix=LLAMA
// RUN: tp-translate --import-hf-config %models/gpt2.json --layers=1 \
// RUN:   --sequence=11 --phase=decode | FileCheck %s --check-prefix=GPT2
// RUN: tp-translate --import-hf-config %models/gpt2.json --layers=1 \
// RUN:   --phase=decode | FileCheck %s --check-prefix=LONGEST
// RUN: tp-translate --import-hf-config %models/mistral-7b-v0.1.json --layers=1 \
// RUN:   --sequence=4095 --phase=decode -o /dev/null
// RUN: not tp-translate --import-hf-config %models/mistral-7b-v0.1.json \
// RUN:   --sequence=4096 --phase=decode 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: not tp-translate --import-hf-config %models/gpt2.json --sequence=1024 \
// RUN:   --phase=decode 2>&1 | FileCheck %s --check-prefix=POSITIONS

// LLAMA-LABEL: func.func private @decoder_layer(
// LLAMA-SAME: %{{[a-z0-9]+}}: tensor<3x1x4096xbf16> {tp.name = "hidden_states", tp.stream},
// LLAMA-SAME: %[[PK:[a-z0-9]+]]: tensor<3x11x8x128xbf16> {tp.name = "past_key"},
// LLAMA-SAME: %[[PV:[a-z0-9]+]]: tensor<3x11x8x128xbf16> {tp.name = "past_value"},
// LLAMA-SAME: -> (tensor<3x1x4096xbf16> {tp.stream}, tensor<3x1x8x128xbf16>, tensor<3x1x8x128xbf16>) {
// LLAMA: tp.reshape %{{.*}} : (tensor<3x1x1024xbf16>) -> tensor<3x1x8x128xbf16>
// LLAMA: %[[V:.*]] = tp.reshape %{{.*}} : (tensor<3x1x1024xbf16>) -> tensor<3x1x8x128xbf16>
// LLAMA-NEXT: %[[Q:.*]] = tp.rope %{{.*}} {offset = 11 : i64, theta = 5.000000e+05 : f64}
// LLAMA-NEXT: %[[K:.*]] = tp.rope %{{.*}} {offset = 11 : i64, theta = 5.000000e+05 : f64}
// LLAMA-NEXT: %[[AK:.*]] = tp.concat %[[PK]], %[[K]] along 1 : {{.*}} -> tensor<3x12x8x128xbf16>
// LLAMA-NEXT: %[[AV:.*]] = tp.concat %[[PV]], %[[V]] along 1
// LLAMA-NEXT: tp.attention %[[Q]], %[[AK]], %[[AV]] {causal
// LLAMA: return %{{.*}}, %[[K]], %[[V]]

// LLAMA-LABEL: func.func @main(
// LLAMA-SAME: %[[IDS:[a-z0-9]+]]: tensor<3x1xi64>
// LLAMA-SAME: %[[K0:[a-z0-9]+]]: tensor<3x11x8x128xbf16> {tp.name = "past_key_values.0.key"}, %[[V0:[a-z0-9]+]]: tensor<3x11x8x128xbf16> {tp.name = "past_key_values.0.value"},
// LLAMA-SAME: %[[K1:[a-z0-9]+]]: tensor<3x11x8x128xbf16> {tp.name = "past_key_values.1.key"}, %[[V1:[a-z0-9]+]]: tensor<3x11x8x128xbf16> {tp.name = "past_key_values.1.value"},
// LLAMA-SAME: -> (tensor<3x1x128256xbf16> {tp.name = "logits"}, tensor<3x1x8x128xbf16> {tp.like = 1 : i64, tp.name = "new_key_values.0.key"}, tensor<3x1x8x128xbf16> {tp.like = 2 : i64, tp.name = "new_key_values.0.value"}, tensor<3x1x8x128xbf16> {tp.like = 3 : i64, tp.name = "new_key_values.1.key"}, tensor<3x1x8x128xbf16> {tp.like = 4 : i64, tp.name = "new_key_values.1.value"})
// LLAMA: %[[FIRST:.*]]:3 = call @decoder_layer(%{{.*}}, %[[K0]], %[[V0]],
// LLAMA-NEXT: %[[SECOND:.*]]:3 = call @decoder_layer(%[[FIRST]]#0, %[[K1]], %[[V1]],
// LLAMA: return %{{.*}}, %[[FIRST]]#1, %[[FIRST]]#2, %[[SECOND]]#1, %[[SECOND]]#2

// GPT2: tp.slice %{{.*}} at [11, 0] : (tensor<1024x768xf32>) -> tensor<1x768xf32>

// LONGEST: tensor<1x1023x12x64xf32> {tp.name = "past_key_values.0.key"}

// WINDOW: error: sequence is 4096 and one token follows, but the model attends to the last "sliding_window" 4096 positions only, which is not supported: give a sequence of at most 4095
// POSITIONS: error: sequence is 1024 and one token follows, but the model has 1024 positions: give a sequence of at most 1023
