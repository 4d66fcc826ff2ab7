// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Runtime/Symbols.h"
#include "tp/Runtime/Abi.h"

#define TP_SYMBOL(NAME) {#NAME, reinterpret_cast<void *>(&NAME)}

std::span<const tp::runtime::Symbol> tp::runtime::abiSymbols() {
  static const Symbol symbols[] = {
      TP_SYMBOL(tp_matmul_f32),
      TP_SYMBOL(tp_matmul_f64),
      TP_SYMBOL(tp_attention_f32),
      TP_SYMBOL(tp_attention_f64),
      TP_SYMBOL(tp_rms_norm_f32),
      TP_SYMBOL(tp_rms_norm_f64),
      TP_SYMBOL(tp_layer_norm_f32),
      TP_SYMBOL(tp_layer_norm_f64),
      TP_SYMBOL(tp_rope_f32),
      TP_SYMBOL(tp_rope_f64),
      TP_SYMBOL(tp_reduce_sum_f32),
      TP_SYMBOL(tp_reduce_sum_f64),
      TP_SYMBOL(tp_reduce_max_f32),
      TP_SYMBOL(tp_reduce_max_f64),
      TP_SYMBOL(tp_softmax_f32),
      TP_SYMBOL(tp_softmax_f64),
      TP_SYMBOL(tp_embedding_f32_i32),
      TP_SYMBOL(tp_embedding_f32_i64),
      TP_SYMBOL(tp_embedding_f64_i32),
      TP_SYMBOL(tp_embedding_f64_i64),
      TP_SYMBOL(tp_take_target_f32_i32),
      TP_SYMBOL(tp_take_target_f32_i64),
      TP_SYMBOL(tp_take_target_f64_i32),
      TP_SYMBOL(tp_take_target_f64_i64),
      TP_SYMBOL(tp_dropout_f32),
      TP_SYMBOL(tp_dropout_f64),
      TP_SYMBOL(tp_all_reduce),
      TP_SYMBOL(tp_all_gather),
      TP_SYMBOL(tp_all_gather_v),
      TP_SYMBOL(tp_reduce_scatter),
      TP_SYMBOL(tp_reduce_scatter_v),
      TP_SYMBOL(tp_all_to_all),
      TP_SYMBOL(tp_all_to_all_v),
      TP_SYMBOL(tp_collective_permute),
      TP_SYMBOL(tp_collective_permute_v),
      TP_SYMBOL(tp_rank),
      TP_SYMBOL(tp_alloc),
      TP_SYMBOL(tp_free),
      TP_SYMBOL(_mlir_memref_to_llvm_alloc),
      TP_SYMBOL(_mlir_memref_to_llvm_aligned_alloc),
      TP_SYMBOL(_mlir_memref_to_llvm_free),
  };
  return symbols;
}
