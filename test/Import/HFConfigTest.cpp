// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configs that are read: the shipped ones, each spelling, each default.
#include "SmallConfig.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tp;

TEST(HFConfigTest, Llama32ConfigIsReadFieldByField) {
  DecoderConfig config = shipped("llama-3.2-1b");
  EXPECT_EQ(config.modelType, "llama");
  EXPECT_EQ(config.hiddenSize, 2048);
  EXPECT_EQ(config.layers, 16);
  EXPECT_EQ(config.heads, 32);
  EXPECT_EQ(config.kvHeads, 8);
  EXPECT_EQ(config.headDim, 64);
  EXPECT_EQ(config.ffnSize, 8192);
  EXPECT_EQ(config.vocabulary, 128256);
  EXPECT_EQ(config.maxPositions, 131072);
  EXPECT_EQ(config.normEpsilon, 1e-5);
  EXPECT_EQ(config.ropeTheta, 500000.0);
  EXPECT_EQ(config.ropeScaling, (Llama3RopeScaling{32, 1, 4, 8192}));
  EXPECT_TRUE(config.tiedEmbeddings);
  EXPECT_FALSE(config.qkvBias || config.outputBias || config.mlpBias);
  EXPECT_FALSE(config.qkNorm);
  EXPECT_EQ(config.activation, Activation::SiLU);
  EXPECT_EQ(config.slidingWindow, std::nullopt);
  EXPECT_EQ(config.dtype, "bf16");
}

TEST(HFConfigTest, ShippedFamiliesDifferWhereTheyShould) {
  EXPECT_EQ(shipped("llama-3.1-405b").ropeScaling,
            (Llama3RopeScaling{8, 1, 4, 8192}));
  EXPECT_EQ(shipped("llama-3-8b").ropeScaling, std::nullopt);
  EXPECT_EQ(shipped("llama-2-7b").dtype, "f16");
  EXPECT_EQ(shipped("llama-2-7b").ropeTheta, 10000.0);
  EXPECT_EQ(shipped("mistral-7b-v0.1").slidingWindow, 4096);
  DecoderConfig qwen2 = shipped("qwen2.5-7b");
  EXPECT_TRUE(qwen2.qkvBias);
  EXPECT_FALSE(qwen2.outputBias);
  EXPECT_EQ(qwen2.slidingWindow, std::nullopt);
  EXPECT_EQ(qwen2.ropeTheta, 1000000.0);
  DecoderConfig qwen3 = shipped("qwen3-0.6b");
  EXPECT_TRUE(qwen3.qkNorm);
  EXPECT_FALSE(qwen3.qkvBias);
  EXPECT_EQ(qwen3.headDim, 128);
  EXPECT_NE(qwen3.heads * qwen3.headDim, qwen3.hiddenSize);
}

TEST(HFConfigTest, GemmaConfigIsReadFieldByField) {
  DecoderConfig config = shipped("gemma-2b");
  EXPECT_EQ(config.headDim, 256);
  EXPECT_EQ(config.rotaryDim, 256);
  EXPECT_EQ(config.kvHeads, 1);
  EXPECT_TRUE(config.tiedEmbeddings);
  EXPECT_TRUE(config.scaledEmbedding);
  EXPECT_EQ(config.gainOffset, 1);
  EXPECT_EQ(config.norm, NormKind::RMS);
  // The file says "gelu".
  EXPECT_EQ(config.activation, Activation::GELUTanh);
  EXPECT_FALSE(config.fusedQKV || config.fusedGateUp || config.storedInOut);
}

TEST(HFConfigTest, GPT2ConfigIsReadFieldByField) {
  DecoderConfig config = shipped("gpt2-xl");
  EXPECT_EQ(config.hiddenSize, 1600);
  EXPECT_EQ(config.layers, 48);
  EXPECT_EQ(config.heads, 25);
  EXPECT_EQ(config.kvHeads, 25);
  EXPECT_EQ(config.headDim, 64);
  EXPECT_EQ(config.ffnSize, 6400);
  EXPECT_EQ(config.maxPositions, 1024);
  EXPECT_EQ(config.norm, NormKind::Layer);
  EXPECT_EQ(config.normEpsilon, 1e-5);
  EXPECT_EQ(config.gainOffset, 0);
  EXPECT_TRUE(config.learnedPositions);
  EXPECT_EQ(config.rotaryDim, 0);
  EXPECT_TRUE(config.scaledScores);
  EXPECT_TRUE(config.tiedEmbeddings);
  EXPECT_TRUE(config.qkvBias && config.outputBias && config.mlpBias);
  EXPECT_TRUE(config.fusedQKV && config.storedInOut);
  EXPECT_EQ(config.feedForward, FeedForward::Plain);
  EXPECT_EQ(config.activation, Activation::GELUTanh);
}

TEST(HFConfigTest, Phi3ConfigIsReadFieldByField) {
  DecoderConfig config = shipped("phi-3-mini-4k");
  EXPECT_EQ(config.headDim, 96);
  EXPECT_EQ(config.rotaryDim, 96);
  EXPECT_EQ(config.slidingWindow, 2047);
  EXPECT_TRUE(config.fusedQKV && config.fusedGateUp);
  EXPECT_FALSE(config.storedInOut || config.tiedEmbeddings || config.qkvBias);
  EXPECT_EQ(config.activation, Activation::SiLU);
}

TEST(HFConfigTest, ActivationsByTheNamesOfTransformers) {
  auto activation = [](StringRef family, StringRef name) {
    std::string key = family == "gpt2" ? "activation_function" : "hidden_act";
    json::Object changes;
    if (family == "gpt2")
      changes = *cantFail(json::parse(gpt2Fields)).getAsObject();
    changes[key] = name;
    std::string text;
    raw_string_ostream(text) << json::Value(std::move(changes));
    return accepted(family, text).activation;
  };
  EXPECT_EQ(activation("llama", "swish"), Activation::SiLU);
  EXPECT_EQ(activation("llama", "gelu"), Activation::GELU);
  EXPECT_EQ(activation("qwen2", "gelu_pytorch_tanh"), Activation::GELUTanh);
  EXPECT_EQ(activation("phi3", "relu"), Activation::ReLU);
  EXPECT_EQ(activation("gemma", "gelu"), Activation::GELUTanh);
  EXPECT_EQ(activation("gpt2", "gelu"), Activation::GELU);
  EXPECT_EQ(activation("gpt2", "gelu_new"), Activation::GELUTanh);
  EXPECT_EQ(activation("gpt2", "tanh"), Activation::Tanh);
}

/// The defaults of LlamaConfig, MistralConfig, Qwen2Config and Qwen3Config.
TEST(HFConfigTest, AbsentFieldsTakeTheDefaultsOfTheFamily) {
  struct Defaults {
    const char *family;
    int64_t ffnSize, vocabulary, maxPositions, kvHeads, headDim;
    std::optional<int64_t> window;
  };
  for (Defaults want : {Defaults{"llama", 11008, 32000, 2048, 32, 128, {}},
                        Defaults{"mistral", 14336, 32000, 131072, 8, 128, 4096},
                        Defaults{"qwen2", 22016, 151936, 32768, 32, 128, {}},
                        Defaults{"qwen3", 22016, 151936, 32768, 32, 128, {}}}) {
    SCOPED_TRACE(want.family);
    Outcome outcome =
        parseText("{\"model_type\": \"" + std::string(want.family) + "\"}");
    ASSERT_TRUE(outcome.config) << outcome.error;
    EXPECT_EQ(outcome.config->hiddenSize, 4096);
    EXPECT_EQ(outcome.config->layers, 32);
    EXPECT_EQ(outcome.config->heads, 32);
    EXPECT_EQ(outcome.config->ffnSize, want.ffnSize);
    EXPECT_EQ(outcome.config->vocabulary, want.vocabulary);
    EXPECT_EQ(outcome.config->maxPositions, want.maxPositions);
    EXPECT_EQ(outcome.config->kvHeads, want.kvHeads);
    EXPECT_EQ(outcome.config->headDim, want.headDim);
    EXPECT_EQ(outcome.config->normEpsilon, 1e-6);
    EXPECT_EQ(outcome.config->ropeTheta, 10000.0);
    EXPECT_EQ(outcome.config->ropeScaling, std::nullopt);
    EXPECT_EQ(outcome.config->slidingWindow, want.window);
    EXPECT_FALSE(outcome.config->tiedEmbeddings);
    EXPECT_EQ(outcome.config->dtype, "f32");
    // Five sizes and the type of the weights.
    EXPECT_EQ(outcome.warnings.size(), 6u);
  }
}

TEST(HFConfigTest, HeadDimIsDerivedUnlessTheFamilyFixesIt) {
  EXPECT_EQ(accepted("llama").headDim, 8);
  EXPECT_EQ(accepted("llama", R"({"head_dim": null})").headDim, 8);
  EXPECT_EQ(accepted("llama", R"({"head_dim": 10})").headDim, 10);
  EXPECT_EQ(accepted("qwen2", R"({"head_dim": 12})").headDim, 12);
  EXPECT_EQ(accepted("qwen3").headDim, 128);
  // Then the hidden size need not be a multiple of the heads.
  EXPECT_EQ(
      accepted("mistral", R"({"hidden_size": 50, "head_dim": 14})").headDim,
      14);
}

TEST(HFConfigTest, AbsentAndNullKeyValueHeadsDiffer) {
  EXPECT_EQ(accepted("llama", R"({"num_key_value_heads": "-"})").kvHeads, 6);
  EXPECT_EQ(accepted("mistral", R"({"num_attention_heads": 24,
                                    "num_key_value_heads": "-"})")
                .kvHeads,
            8);
  EXPECT_EQ(accepted("mistral", R"({"num_attention_heads": 24,
                                    "num_key_value_heads": null})")
                .kvHeads,
            24);
  EXPECT_EQ(accepted("qwen2", R"({"num_key_value_heads": null})").kvHeads, 6);
}

TEST(HFConfigTest, BiasesFollowTheFamily) {
  DecoderConfig llama =
      accepted("llama", R"({"attention_bias": true, "mlp_bias": true})");
  EXPECT_TRUE(llama.qkvBias && llama.outputBias && llama.mlpBias);
  DecoderConfig qwen3 = accepted("qwen3", R"({"attention_bias": true})");
  EXPECT_TRUE(qwen3.qkvBias && qwen3.outputBias && !qwen3.mlpBias);
  DecoderConfig qwen2 = accepted("qwen2", R"({"attention_bias": false})");
  EXPECT_TRUE(qwen2.qkvBias && !qwen2.outputBias && !qwen2.mlpBias);
  DecoderConfig mistral = accepted("mistral", R"({"mlp_bias": false})");
  EXPECT_FALSE(mistral.qkvBias || mistral.outputBias || mistral.mlpBias);
}

TEST(HFConfigTest, WeightTypeIsReadUnderBothKeys) {
  EXPECT_EQ(accepted("llama").dtype, "f32");
  EXPECT_EQ(accepted("llama", R"({"torch_dtype": "float16"})").dtype, "f16");
  EXPECT_EQ(
      accepted("llama", R"({"torch_dtype": "-", "dtype": "bfloat16"})").dtype,
      "bf16");
  EXPECT_EQ(
      accepted("llama", R"({"torch_dtype": null, "dtype": "bfloat16"})").dtype,
      "bf16");
  EXPECT_EQ(accepted("llama", R"({"dtype": "float32"})").dtype, "f32");
}

TEST(HFConfigTest, SlidingWindowIsSetWhereItIsInEffect) {
  auto window = [](StringRef family, StringRef changes) {
    return accepted(family, changes).slidingWindow;
  };
  EXPECT_EQ(window("mistral", R"({"sliding_window": 24})"), 24);
  EXPECT_EQ(window("mistral", R"({"sliding_window": null})"), std::nullopt);
  for (StringRef family : {"qwen2", "qwen3"}) {
    SCOPED_TRACE(family.str());
    EXPECT_EQ(window(family, R"({"sliding_window": 24})"), std::nullopt);
    EXPECT_EQ(window(family, R"({"sliding_window": 24,
        "use_sliding_window": true, "max_window_layers": 1})"),
              24);
    EXPECT_EQ(window(family, R"({"sliding_window": 24,
        "use_sliding_window": true, "max_window_layers": 0})"),
              24);
    // Layers from the given one on have a window, and there are two.
    EXPECT_EQ(window(family, R"({"sliding_window": 24,
        "use_sliding_window": true, "max_window_layers": 2})"),
              std::nullopt);
    EXPECT_EQ(window(family, R"({"sliding_window": null,
        "use_sliding_window": true, "max_window_layers": 0})"),
              std::nullopt);
    EXPECT_EQ(window(family, R"({"use_sliding_window": true,
        "layer_types": ["full_attention", "sliding_attention"]})"),
              4096);
    EXPECT_EQ(window(family, R"({"sliding_window": 24,
        "use_sliding_window": true, "max_window_layers": 0,
        "layer_types": ["full_attention", "full_attention"]})"),
              std::nullopt);
  }
}

TEST(HFConfigTest, UnknownFieldsAreNamedOnceAndHarmlessOnesAreNot) {
  Outcome outcome = parseSmall("llama", R"({"zeta": 1, "alpha": [1],
      "bos_token_id": 1, "attention_dropout": 0.5, "architectures": ["XForCausalLM"],
      "rope_scaling": {"type": "default", "factor": 2.0}})");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.warnings.size(), 3u);
  EXPECT_EQ(outcome.warnings[0],
            "c.json:1: ignored \"rope_scaling.factor\": not a field of rope "
            "type \"default\"");
  EXPECT_EQ(outcome.warnings[1],
            "c.json:1: ignored \"alpha\": not a field of model type \"llama\"");
  EXPECT_EQ(outcome.warnings[2],
            "c.json:1: ignored \"zeta\": not a field of model type \"llama\"");
}

TEST(HFConfigTest, AssumedSizesAndTypesAreNamed) {
  Outcome outcome = parseSmall("llama", R"({"intermediate_size": "-",
      "torch_dtype": "-", "intermediate_sise": 40})");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.warnings.size(), 3u);
  EXPECT_EQ(outcome.warnings[0],
            "c.json: no \"intermediate_size\": 11008 is assumed");
  EXPECT_EQ(outcome.warnings[1], "c.json: no \"dtype\": f32 is assumed");
}

TEST(HFConfigTest, UnsupportedFeaturesThatAreSwitchedOffAreFine) {
  accepted("llama", R"({"architectures": ["LlamaModel"]})");
  accepted("llama", R"({"quantization_config": null, "pruned_heads": {},
      "is_encoder_decoder": false, "pretraining_tp": 1, "is_causal": true,
      "use_mrope": false, "num_experts": null, "architectures": null, "hidden_act": "swish",
      "partial_rotary_factor": 1.0,
      "layer_types": ["full_attention", "full_attention"]})");
}
