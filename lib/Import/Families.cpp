// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Families.h"

using namespace llvm;
using namespace tp;

static constexpr SizeKeys llamaKeys = {
    "hidden_size",       "num_hidden_layers",       "num_attention_heads",
    "intermediate_size", "max_position_embeddings", "rms_norm_eps",
    "hidden_act"};

static constexpr SizeKeys gpt2Keys = {"n_embd",
                                      "n_layer",
                                      "n_head",
                                      "n_inner",
                                      "n_positions",
                                      "layer_norm_epsilon",
                                      "activation_function"};

static constexpr StringLiteral allRopeTypes[] = {"default", "llama3", "linear",
                                                 "dynamic"};
/// Phi-3 has "longrope" besides, which is not supported.
static constexpr StringLiteral phi3RopeTypes[] = {"default"};

static Family llama() {
  return {.name = "llama",
          .architecture = "LlamaForCausalLM",
          .keys = llamaKeys,
          .positions = 2048,
          .epsilon = 1e-6,
          .kvHeads = {},
          .headDim = {},
          .biases = {.attentionField = true, .mlpField = true},
          .windowByDefault = {},
          .ropeTypes = allRopeTypes};
}

static Family mistral() {
  Family family = llama();
  family.name = "mistral";
  family.architecture = "MistralForCausalLM";
  family.positions = 131072;
  family.kvHeads = 8;
  family.biases = {};
  family.window = WindowRule::EveryLayer;
  family.windowByDefault = 4096;
  return family;
}

static Family qwen2() {
  Family family = llama();
  family.name = "qwen2";
  family.architecture = "Qwen2ForCausalLM";
  family.positions = 32768;
  family.kvHeads = 32;
  family.biases = {.qkv = true};
  family.window = WindowRule::SomeLayers;
  family.windowByDefault = 4096;
  return family;
}

static Family qwen3() {
  Family family = qwen2();
  family.name = "qwen3";
  family.architecture = "Qwen3ForCausalLM";
  family.headDim = 128;
  family.biases = {.attentionField = true};
  return family;
}

static Family gemma() {
  Family family = llama();
  family.name = "gemma";
  family.architecture = "GemmaForCausalLM";
  family.positions = 8192;
  family.kvHeads = 16;
  family.headDim = 256;
  family.activation = Activation::GELUTanh;
  family.tied = true;
  family.biases = {.attentionField = true};
  return family;
}

static Family phi3() {
  Family family = llama();
  family.name = "phi3";
  family.architecture = "Phi3ForCausalLM";
  family.positions = 4096;
  family.epsilon = 1e-5;
  family.biases = {};
  family.window = WindowRule::EveryLayer;
  family.partialRotary = true;
  family.ropeTypes = phi3RopeTypes;
  return family;
}

static Family gpt2() {
  return {.name = "gpt2",
          .architecture = "GPT2LMHeadModel",
          .keys = gpt2Keys,
          .ffnByHidden = true,
          .positions = {},
          .epsilon = 1e-5,
          .kvHeads = {},
          .headDim = {},
          .activation = Activation::GELUTanh,
          .tied = true,
          .biases = {.qkv = true, .output = true, .mlp = true},
          .windowByDefault = {},
          .hasHeadFields = false,
          .ropeTypes = {}};
}

ArrayRef<Family> tp::families() {
  static const Family all[] = {llama(), mistral(), qwen2(), qwen3(),
                               gemma(), phi3(),    gpt2()};
  return all;
}

ArrayRef<UnsupportedField> tp::unsupportedFields() {
  static constexpr StringLiteral
      layersDiffer = "layers that differ are not supported",
      scaledScores = "scores scaled by another number than the size of a head "
                     "are not supported",
      scaledStream = "a scaled stream between the layers is not supported",
      scaledLogits = "scaled logits are not supported",
      normsOfHeads = "norms of queries and keys are those of \"qwen3\" only",
      parallelParts = "attention and feed-forward part side by side are not "
                      "supported",
      otherPositions = "positions are those of the family only",
      latentAttention = "compressed projections are not supported",
      otherInputs = "models of several parts are not supported",
      draft = "draft models are not supported";
  static const UnsupportedField fields[] = {
      {"quantization_config", "quantized weights are not supported: import the "
                              "checkpoint before quantization"},
      {"compression_config", "compressed weights are not supported: import the "
                             "checkpoint before compression"},
      {"num_experts", "mixture-of-experts layers are not supported"},
      {"num_local_experts", "mixture-of-experts layers are not supported"},
      {"num_experts_per_tok", "mixture-of-experts layers are not supported"},
      {"n_routed_experts", "mixture-of-experts layers are not supported"},
      {"moe_intermediate_size", "mixture-of-experts layers are not supported"},
      {"per_layer_config", "layers that differ are not supported"},
      {"pruned_heads", "pruned heads are not supported"},
      {"is_encoder_decoder", "only decoders are supported"},
      {"add_cross_attention", "cross-attention is not supported"},
      {"use_bidirectional_attention", "only causal attention is supported"},
      {"use_mrope", "multimodal rotary embeddings are not supported"},
      {"attn_logit_softcapping", "capped scores are not supported"},
      {"final_logit_softcapping", "capped logits are not supported"},
      {"query_pre_attn_scalar",
       "scores scaled by another number than the size of a head are not "
       "supported"},
      {"rope_local_base_freq",
       "rotary parameters that depend on the layer are not supported"},
      {"no_rope_layers", layersDiffer},
      {"no_rope_layer_interval", layersDiffer},
      {"sliding_window_pattern", layersDiffer},
      {"attention_chunk_size", "attention in chunks is not supported"},
      {"attn_temperature_tuning", scaledScores},
      {"attention_multiplier", scaledScores, 1},
      {"embedding_multiplier", scaledStream, 1},
      {"residual_multiplier", scaledStream, 1},
      {"scale_emb", scaledStream, 1},
      {"scale_depth", scaledStream},
      {"dim_model_base", scaledStream},
      {"logit_scale", scaledLogits, 1},
      {"logits_scaling", scaledLogits, 1},
      {"logits_soft_cap", "capped logits are not supported"},
      {"attn_logit_softcap", "capped scores are not supported"},
      {"clip_qkv", "clipped projections are not supported"},
      {"qk_norm", normsOfHeads},
      {"use_qk_norm", normsOfHeads},
      {"qk_layernorm", normsOfHeads},
      {"use_parallel_residual", parallelParts},
      {"parallel_residual", parallelParts},
      {"parallel_attn", parallelParts},
      {"alibi", otherPositions},
      {"use_alibi", otherPositions},
      {"rotary_pct", "give \"partial_rotary_factor\"", 1},
      {"rotary_percent", "give \"partial_rotary_factor\"", 1},
      {"kv_lora_rank", latentAttention},
      {"q_lora_rank", latentAttention},
      {"num_kv_shared_layers", layersDiffer},
      {"vision_config", otherInputs},
      {"audio_config", otherInputs},
      {"text_config", otherInputs},
      {"dflash_config", draft},
      {"eagle_config", draft},
      {"speculators_config", draft},
  };
  return fields;
}

ArrayRef<StringRef> tp::harmlessFields() {
  static const StringRef fields[] = {
      "_attn_implementation",
      "_commit_hash",
      "_name_or_path",
      "attention_dropout",
      "attn_pdrop",
      "attn_implementation",
      "bos_token_id",
      "chunk_size_feed_forward",
      "embd_pdrop",
      "eos_token_id",
      "n_ctx",
      "finetuning_task",
      "id2label",
      "initializer_range",
      "is_decoder",
      "label2id",
      "name_or_path",
      "output_attentions",
      "output_hidden_states",
      "pad_token_id",
      "problem_type",
      "resid_pdrop",
      "return_dict",
      "summary_activation",
      "summary_first_dropout",
      "summary_proj_to_labels",
      "summary_type",
      "summary_use_proj",
      "task_specific_params",
      "tokenizer_class",
      "torchscript",
      "transformers_version",
      "use_cache",
  };
  return fields;
}
