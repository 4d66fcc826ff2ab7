// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from a config: the weights, their number, a smaller model.
#include "SmallConfig.h"

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
    {"llama-2-7b", 6'738'415'616},
    {"llama-2-13b", 13'015'864'320},
    {"llama-2-70b", 68'976'648'192},
    {"llama-3-8b", 8'030'261'248},
    {"llama-3-70b", 70'553'706'496},
    {"llama-3.1-405b", 405'853'388'800},
    {"llama-3.2-1b", 1'235'814'400},
    {"llama-3.2-3b", 3'212'749'824},
    {"mistral-7b-v0.1", 7'241'732'096},
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-7b", 7'615'616'512},
    {"qwen2.5-72b", 72'706'203'648},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-1.7b", 1'720'574'976},
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    {"phi-3-mini-4k", 3'821'079'552},
    {"gemma-2b", 2'506'172'416},
    {"gemma-7b", 8'537'680'896},
};

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

TEST(WeightsTest, ShippedConfigsHaveThePublishedNumberOfParameters) {
  for (const Published &model : published) {
    SCOPED_TRACE(model.name);
    DecoderConfig config = shipped(model.name);
    EXPECT_EQ(countOf(config), model.parameters);
    EXPECT_EQ(sumOfWeights(config), model.parameters);
  }
}

/// Names and shapes as in the state dictionary of Qwen3ForCausalLM.
TEST(WeightsTest, WeightsComeInTheOrderOfTheGraph) {
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

/// Names and shapes as in the state dictionaries of Phi3ForCausalLM and
/// GPT2LMHeadModel.
TEST(WeightsTest, FusedWeightsAreThoseOfTheCheckpoint) {
  DecoderConfig phi3 = accepted("phi3", R"({"num_hidden_layers": 1})");
  std::vector<WeightSpec> expected = {
      {"model.embed_tokens.weight", {61, 48}},
      {"model.layers.0.input_layernorm.weight", {48}},
      {"model.layers.0.self_attn.qkv_proj.weight", {80, 48}},
      {"model.layers.0.self_attn.o_proj.weight", {48, 48}},
      {"model.layers.0.post_attention_layernorm.weight", {48}},
      {"model.layers.0.mlp.gate_up_proj.weight", {80, 48}},
      {"model.layers.0.mlp.down_proj.weight", {48, 40}},
      {"model.norm.weight", {48}},
      {"lm_head.weight", {61, 48}},
  };
  EXPECT_EQ(weights(phi3), expected);
  DecoderConfig gpt2 = accepted("gpt2", gpt2Fields);
  gpt2.layers = 1;
  expected = {
      {"transformer.wte.weight", {61, 48}},
      {"transformer.wpe.weight", {64, 48}},
      {"transformer.h.0.ln_1.weight", {48}},
      {"transformer.h.0.ln_1.bias", {48}},
      {"transformer.h.0.attn.c_attn.weight", {48, 144}},
      {"transformer.h.0.attn.c_attn.bias", {144}},
      {"transformer.h.0.attn.c_proj.weight", {48, 48}},
      {"transformer.h.0.attn.c_proj.bias", {48}},
      {"transformer.h.0.ln_2.weight", {48}},
      {"transformer.h.0.ln_2.bias", {48}},
      {"transformer.h.0.mlp.c_fc.weight", {48, 192}},
      {"transformer.h.0.mlp.c_fc.bias", {192}},
      {"transformer.h.0.mlp.c_proj.weight", {192, 48}},
      {"transformer.h.0.mlp.c_proj.bias", {48}},
      {"transformer.ln_f.weight", {48}},
      {"transformer.ln_f.bias", {48}},
  };
  EXPECT_EQ(weights(gpt2), expected);
}

/// Names and shapes as in the state dictionary of LlamaForCausalLM.
TEST(WeightsTest, BiasesFollowTheirWeights) {
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
TEST(WeightsTest, CountOfSmallModelsIsThatOfTransformers) {
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
  EXPECT_EQ(countOf(accepted("gemma", R"({"head_dim": 10})")), 30048);
  EXPECT_EQ(countOf(accepted("gemma", R"({"head_dim": 10,
      "attention_bias": true})")),
            30344);
  EXPECT_EQ(countOf(accepted("phi3")), 29904);
  EXPECT_EQ(countOf(accepted("phi3", R"({"tie_word_embeddings": true})")),
            26976);
  DecoderConfig gpt2 = accepted("gpt2", gpt2Fields);
  EXPECT_EQ(countOf(gpt2), 62640);
  gpt2.ffnSize = 40;
  gpt2.tiedEmbeddings = false;
  EXPECT_EQ(countOf(gpt2), 36080);
  EXPECT_EQ(sumOfWeights(gpt2), 36080);
}

TEST(WeightsTest, CountEqualsTheWeightsForEveryCombinationOfFlags) {
  DecoderConfig config = accepted("llama", R"({"num_hidden_layers": 3})");
  for (unsigned flags = 0; flags < 512; ++flags) {
    config.tiedEmbeddings = flags & 1;
    config.qkvBias = flags & 2;
    config.outputBias = flags & 4;
    config.mlpBias = flags & 8;
    config.qkNorm = flags & 16;
    config.norm = flags & 32 ? NormKind::Layer : NormKind::RMS;
    config.learnedPositions = flags & 64;
    config.feedForward = flags & 128 ? FeedForward::Plain : FeedForward::Gated;
    config.storedInOut = flags & 256;
    EXPECT_EQ(countOf(config), sumOfWeights(config)) << flags;
  }
}

TEST(WeightsTest, ShrinkKeepsHeadsAndRatio) {
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

TEST(WeightsTest, ShrinkTakesTheLargestDivisorsThatStayLegal) {
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

TEST(WeightsTest, ShrunkConfigsStayLegalForEveryFactor) {
  for (const Published &model : published)
    for (int64_t factor : {1, 2, 3, 7, 64, 100, 1 << 20}) {
      SCOPED_TRACE(std::string(model.name) + " / " + std::to_string(factor));
      DecoderConfig config = shipped(model.name);
      std::vector<std::string> said;
      DecoderConfig small = cantFail(shrink(config, factor, said));
      EXPECT_EQ(small.rotaryDim % 2, 0);
      EXPECT_GE(small.headDim, config.learnedPositions ? 1 : 2);
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

TEST(WeightsTest, ShrinkRefusesFactorsBelowOne) {
  std::vector<std::string> said;
  Expected<DecoderConfig> small = shrink(accepted("llama"), 0, said);
  ASSERT_FALSE(bool(small));
  EXPECT_EQ(toString(small.takeError()),
            "cannot shrink by 0: expected an integer of at least 1");
}
