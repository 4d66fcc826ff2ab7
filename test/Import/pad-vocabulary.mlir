// A vocabulary padded to a multiple of 128 times the ranks: tables with rows of
// zeros, logits with masked columns, ids of the model only.

// RUN: tp-translate --import-hf-config %models/gpt2.json --layers=1 --sequence=7 \
// RUN:   --pad-vocabulary=8 2> %t.said | FileCheck %s --check-prefix=TIED
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.said
// RUN: tp-translate --import-hf-config %models/phi-3-mini-4k.json --layers=1 \
// RUN:   --sequence=7 --pad-vocabulary=3 2>/dev/null | FileCheck %s --check-prefix=HEAD
// RUN: tp-translate --import-hf-config %models/llama-2-7b.json --layers=1 \
// RUN:   --sequence=7 --pad-vocabulary=2 2>/dev/null | FileCheck %s --check-prefix=FITS
// RUN: not tp-translate --import-hf-config %models/gpt2.json --pad-vocabulary=0 \
// RUN:   2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tp-translate --import-hf-config %models/gpt2.json \
// RUN:   --pad-vocabulary=9223372036854775807 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not tp-translate --import-hf-config %models/gpt2.json --sequence=1024 \
// RUN:   --batch=1099511627776 --pad-vocabulary=512 2>&1 | FileCheck %s --check-prefix=SIZE

// SAID: pad-vocabulary: vocabulary 50257 -> 51200, a multiple of 128 * 8

// TIED-LABEL: func.func @main(
// TIED-SAME: tensor<1x7xi64> {tp.bound = 50257 : i64, tp.name = "input_ids"}
// TIED-SAME: %[[TABLE:[a-z0-9]+]]: tensor<51200x768xf32> {tp.name = "transformer.wte.weight", tp.parameter, tp.stored = #tp.stored<"transformer.wte.weight" [50257, 768], dim 0 from 0 size 50257>}
// TIED-SAME: -> (tensor<1x7x51200xf32> {tp.name = "logits", tp.stored = #tp.stored<"logits" [1, 7, 50257], dim 2 from 0 size 50257>})
// TIED: tp.embedding %[[TABLE]], %{{.*}} {vocabulary = 50257 : i64}
// TIED: %[[L:.*]] = tp.matmul %{{.*}}, %[[TABLE]] {transpose_b}
// TIED-NEXT: %[[M:.*]] = tp.mask_padding %[[L]] {valid = 50257 : i64}
// TIED-NEXT: return %[[M]]

// 32064 in steps of 384.
// HEAD: tensor<32256x3072xbf16> {tp.name = "model.embed_tokens.weight", tp.parameter, tp.stored = #tp.stored<"model.embed_tokens.weight" [32064, 3072], dim 0 from 0 size 32064>}
// HEAD-SAME: tensor<32256x3072xbf16> {tp.name = "lm_head.weight", tp.parameter, tp.stored = #tp.stored<"lm_head.weight" [32064, 3072], dim 0 from 0 size 32064>}

// 32000 is a multiple of 256 already.
// FITS: tensor<32000x4096xf16> {tp.name = "model.embed_tokens.weight", tp.parameter},
// FITS-NOT: mask_padding

// ZERO: error: cannot pad a vocabulary for 0 ranks: expected an integer of at least 1
// LARGE: error: a vocabulary of 50257 padded for 9223372036854775807 ranks exceeds 2^63 - 1 rows
// SIZE: error: a tensor of batch 1099511627776, sequence 1024 and width 65536 has more than 2^63 - 1 elements
