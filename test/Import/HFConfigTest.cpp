// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configs that are read: the shipped ones, each spelling, each default, and
// what follows from them (weights, their number, a smaller model).
#include "SmallConfig.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tp;

namespace {
struct Published {
  const char *name;
  int64_t parameters;
};
} // namespace

/// Recounted from the published shapes; each rounds to the published size.
static const Published published[] = {
    {"llama-2-7b", 6'738'415'616},      {"llama-2-13b", 13'015'864'320},
    {"llama-2-70b", 68'976'648'192},    {"llama-3-8b", 8'030'261'248},
    {"llama-3-70b", 70'553'706'496},    {"llama-3.1-405b", 405'853'388'800},
    {"llama-3.2-1b", 1'235'814'400},    {"llama-3.2-3b", 3'212'749'824},
    {"mistral-7b-v0.1", 7'241'732'096}, {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-7b", 7'615'616'512},      {"qwen2.5-72b", 72'706'203'648},
    {"qwen3-0.6b", 596'049'920},        {"qwen3-1.7b", 1'720'574'976},
};

static DecoderConfig shipped(StringRef name) {
  SmallVector<std::string> warnings;
  std::string path =
      (Twine(TP_SOURCE_DIR "/examples/configs/") + name + ".json").str();
  Expected<DecoderConfig> config = readHFConfig(path, warnings);
  EXPECT_TRUE(warnings.empty()) << (warnings.empty() ? "" : warnings[0]);
  if (config)
    return *config;
  ADD_FAILURE() << toString(config.takeError());
  return DecoderConfig();
}

static int64_t countOf(const DecoderConfig &config) {
  Expected<int64_t> count = parameterCount(config);
  if (count)
    return *count;
  ADD_FAILURE() << toString(count.takeError());
  return -1;
}

static int64_t sumOfWeights(const DecoderConfig &config) {
  int64_t sum = 0;
  for (const WeightSpec &weight : weights(config)) {
    int64_t elements = 1;
    for (int64_t size : weight.shape)
      elements *= size;
    sum += elements;
  }
  return sum;
}

TEST(HFConfigTest, ShippedConfigsHaveThePublishedNumberOfParameters) {
  for (const Published &model : published) {
    SCOPED_TRACE(model.name);
    DecoderConfig config = shipped(model.name);
    EXPECT_EQ(countOf(config), model.parameters);
    EXPECT_EQ(sumOfWeights(config), model.parameters);
  }
}

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

TEST(HFConfigTest, RopeIsReadInBothSpellings) {
  DecoderConfig plain = accepted("llama", R"({"rope_theta": 500.5})");
  EXPECT_EQ(plain.ropeTheta, 500.5);
  EXPECT_EQ(plain, accepted("llama", R"({"rope_parameters":
      {"rope_type": "default", "rope_theta": 500.5}})"));
  EXPECT_EQ(plain, accepted("llama", R"({"rope_theta": 500.5,
      "rope_scaling": {"type": "default"}})"));
  EXPECT_EQ(plain, accepted("llama", R"({"rope_theta": 500.5,
      "rope_scaling": null, "rope_parameters": {}})"));

  DecoderConfig scaled = accepted("llama", R"({"rope_theta": 500,
      "rope_scaling": {"rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1.5, "high_freq_factor": 4.5,
      "original_max_position_embeddings": 16}})");
  EXPECT_EQ(scaled.ropeScaling, (Llama3RopeScaling{8, 1.5, 4.5, 16}));
  EXPECT_EQ(scaled.ropeTheta, 500);
  EXPECT_EQ(scaled, accepted("llama", R"({"rope_parameters":
      {"rope_type": "llama3", "rope_theta": 500, "factor": 8.0,
      "low_freq_factor": 1.5, "high_freq_factor": 4.5,
      "original_max_position_embeddings": 16}})"));
  EXPECT_EQ(scaled, accepted("llama", R"({"rope_theta": 500.0,
      "original_max_position_embeddings": 16,
      "rope_scaling": {"type": "llama3", "factor": 8,
      "low_freq_factor": 1.5, "high_freq_factor": 4.5}})"));
  // The same thing said twice is no contradiction.
  EXPECT_EQ(scaled, accepted("llama", R"({"rope_theta": 500.0,
      "rope_parameters": {"rope_type": "llama3", "rope_theta": 500,
      "factor": 8, "low_freq_factor": 1.5, "high_freq_factor": 4.5,
      "original_max_position_embeddings": 16},
      "rope_scaling": {"type": "llama3", "rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1.5, "high_freq_factor": 4.5,
      "original_max_position_embeddings": 16}})"));
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
      "bos_token_id": 1, "attention_dropout": 0.5, "architectures": ["X"],
      "rope_scaling": {"type": "default", "factor": 2.0}})");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.warnings.size(), 3u);
  EXPECT_EQ(outcome.warnings[0],
            "c.json: ignored \"rope_scaling.factor\": not a field of rope "
            "type \"default\"");
  EXPECT_EQ(outcome.warnings[1],
            "c.json: ignored \"alpha\": not a field of model type \"llama\"");
  EXPECT_EQ(outcome.warnings[2],
            "c.json: ignored \"zeta\": not a field of model type \"llama\"");
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
  accepted("llama", R"({"quantization_config": null, "pruned_heads": {},
      "is_encoder_decoder": false, "pretraining_tp": 1, "is_causal": true,
      "use_mrope": false, "num_experts": null, "hidden_act": "swish",
      "partial_rotary_factor": 1.0,
      "layer_types": ["full_attention", "full_attention"]})");
}

/// Names and shapes as in the state dictionary of Qwen3ForCausalLM.
TEST(HFConfigTest, WeightsComeInTheOrderOfTheGraph) {
  DecoderConfig config = accepted("qwen3", R"({"num_hidden_layers": 1,
      "hidden_size": 40, "num_attention_heads": 4, "head_dim": 16,
      "intermediate_size": 44, "vocab_size": 59})");
  std::vector<WeightSpec> expected = {
      {"model.embed_tokens.weight", {59, 40}},
      {"model.layers.0.input_layernorm.weight", {40}},
      {"model.layers.0.self_attn.q_proj.weight", {64, 40}},
      {"model.layers.0.self_attn.k_proj.weight", {32, 40}},
      {"model.layers.0.self_attn.v_proj.weight", {32, 40}},
      {"model.layers.0.self_attn.q_norm.weight", {16}},
      {"model.layers.0.self_attn.k_norm.weight", {16}},
      {"model.layers.0.self_attn.o_proj.weight", {40, 64}},
      {"model.layers.0.post_attention_layernorm.weight", {40}},
      {"model.layers.0.mlp.gate_proj.weight", {44, 40}},
      {"model.layers.0.mlp.up_proj.weight", {44, 40}},
      {"model.layers.0.mlp.down_proj.weight", {40, 44}},
      {"model.norm.weight", {40}},
      {"lm_head.weight", {59, 40}},
  };
  EXPECT_EQ(weights(config), expected);
}

/// Names and shapes as in the state dictionary of LlamaForCausalLM.
TEST(HFConfigTest, BiasesFollowTheirWeights) {
  DecoderConfig config = accepted("llama", R"({"num_hidden_layers": 1,
      "attention_bias": true, "mlp_bias": true,
      "tie_word_embeddings": true})");
  std::vector<WeightSpec> expected = {
      {"model.embed_tokens.weight", {61, 48}},
      {"model.layers.0.input_layernorm.weight", {48}},
      {"model.layers.0.self_attn.q_proj.weight", {48, 48}},
      {"model.layers.0.self_attn.q_proj.bias", {48}},
      {"model.layers.0.self_attn.k_proj.weight", {16, 48}},
      {"model.layers.0.self_attn.k_proj.bias", {16}},
      {"model.layers.0.self_attn.v_proj.weight", {16, 48}},
      {"model.layers.0.self_attn.v_proj.bias", {16}},
      {"model.layers.0.self_attn.o_proj.weight", {48, 48}},
      {"model.layers.0.self_attn.o_proj.bias", {48}},
      {"model.layers.0.post_attention_layernorm.weight", {48}},
      {"model.layers.0.mlp.gate_proj.weight", {40, 48}},
      {"model.layers.0.mlp.gate_proj.bias", {40}},
      {"model.layers.0.mlp.up_proj.weight", {40, 48}},
      {"model.layers.0.mlp.up_proj.bias", {40}},
      {"model.layers.0.mlp.down_proj.weight", {48, 40}},
      {"model.layers.0.mlp.down_proj.bias", {48}},
      {"model.norm.weight", {48}},
  };
  EXPECT_EQ(weights(config), expected);
}

/// The numbers are those of models built by transformers.
TEST(HFConfigTest, CountOfSmallModelsIsThatOfTransformers) {
  EXPECT_EQ(countOf(accepted("llama")), 29904);
  EXPECT_EQ(countOf(accepted("llama", R"({"num_key_value_heads": 3,
      "tie_word_embeddings": true})")),
            28512);
  EXPECT_EQ(countOf(accepted("mistral", R"({"vocab_size": 53,
      "hidden_size": 40, "intermediate_size": 56, "head_dim": 12,
      "num_attention_heads": 4})")),
            29400);
  EXPECT_EQ(countOf(accepted("qwen2", R"({"vocab_size": 59,
      "hidden_size": 56, "intermediate_size": 36, "num_attention_heads": 14,
      "tie_word_embeddings": true})")),
            30160);
  EXPECT_EQ(countOf(accepted("qwen3", R"({"vocab_size": 59,
      "hidden_size": 40, "intermediate_size": 44, "num_attention_heads": 4,
      "head_dim": 16})")),
            30904);
}

TEST(HFConfigTest, CountEqualsTheWeightsForEveryCombinationOfFlags) {
  DecoderConfig config = accepted("llama", R"({"num_hidden_layers": 3})");
  for (unsigned flags = 0; flags < 32; ++flags) {
    config.tiedEmbeddings = flags & 1;
    config.qkvBias = flags & 2;
    config.outputBias = flags & 4;
    config.mlpBias = flags & 8;
    config.qkNorm = flags & 16;
    EXPECT_EQ(countOf(config), sumOfWeights(config)) << flags;
  }
}

TEST(HFConfigTest, ShrinkKeepsHeadsAndRatio) {
  std::vector<std::string> said;
  DecoderConfig small = cantFail(shrink(shipped("llama-3-8b"), 16, said));
  EXPECT_EQ(small.hiddenSize, 256);
  EXPECT_EQ(small.headDim, 8);
  EXPECT_EQ(small.ffnSize, 896);
  EXPECT_EQ(small.vocabulary, 8016);
  EXPECT_EQ(small.heads, 32);
  EXPECT_EQ(small.kvHeads, 8);
  EXPECT_EQ(small.layers, 32);
  EXPECT_EQ(small.heads * small.headDim, small.hiddenSize);
  std::vector<std::string> expected = {
      "hidden_size 4096 -> 256", "head_dim 128 -> 8",
      "intermediate_size 14336 -> 896", "vocab_size 128256 -> 8016"};
  EXPECT_EQ(said, expected);
}

TEST(HFConfigTest, ShrinkTakesTheLargestDivisorsThatStayLegal) {
  // Half of head_dim 12 and hidden size 40 have 1 and 2 in common; 57 = 3 * 19
  // and 53 is prime.
  DecoderConfig config = accepted("mistral", R"({"hidden_size": 40,
      "head_dim": 12, "intermediate_size": 57, "vocab_size": 53})");
  std::vector<std::string> said;
  DecoderConfig small = cantFail(shrink(config, 20, said));
  EXPECT_EQ(small.hiddenSize, 20);
  EXPECT_EQ(small.headDim, 6);
  EXPECT_EQ(small.ffnSize, 3);
  EXPECT_EQ(small.vocabulary, 53);
  std::vector<std::string> expected = {
      "hidden_size 40 -> 20 (divided by 2, not by 20)",
      "head_dim 12 -> 6 (divided by 2, not by 20)",
      "intermediate_size 57 -> 3 (divided by 19, not by 20)",
      "vocab_size stays 53 (cannot be divided by 2 to 20)"};
  EXPECT_EQ(said, expected);
}

TEST(HFConfigTest, ShrunkConfigsStayLegalForEveryFactor) {
  for (const Published &model : published)
    for (int64_t factor : {1, 2, 3, 7, 64, 100, 1 << 20}) {
      SCOPED_TRACE(std::string(model.name) + " / " + std::to_string(factor));
      DecoderConfig config = shipped(model.name);
      std::vector<std::string> said;
      DecoderConfig small = cantFail(shrink(config, factor, said));
      EXPECT_EQ(small.headDim % 2, 0);
      EXPECT_GE(small.headDim, 2);
      EXPECT_EQ(small.hiddenSize * config.headDim,
                config.hiddenSize * small.headDim);
      EXPECT_EQ(config.ffnSize % small.ffnSize, 0);
      EXPECT_LE(config.ffnSize / small.ffnSize, factor);
      EXPECT_EQ(config.vocabulary % small.vocabulary, 0);
      EXPECT_LE(config.vocabulary / small.vocabulary, factor);
      EXPECT_EQ(small == config, factor == 1);
      EXPECT_EQ(said.size(), 4u);
    }
}

TEST(HFConfigTest, ShrinkRefusesFactorsBelowOne) {
  std::vector<std::string> said;
  Expected<DecoderConfig> small = shrink(accepted("llama"), 0, said);
  ASSERT_FALSE(bool(small));
  EXPECT_EQ(toString(small.takeError()),
            "cannot shrink by 0: expected an integer of at least 1");
}
