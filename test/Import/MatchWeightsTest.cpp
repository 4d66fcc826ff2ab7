// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checkpoints against configs: every tensor has a place, or is named.
#include "tp/Import/MatchWeights.h"
#include "SafetensorsText.h"
#include "SmallConfig.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tp;

namespace {

class MatchWeightsTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("match", folder));
    path = folder;
    sys::path::append(path, "model.safetensors");
  }

  void TearDown() override { sys::fs::remove_directories(folder); }

  /// The tensors of a config, each filled with zeros, as F16.
  void fill(const DecoderConfig &config) {
    tensors.clear();
    for (const WeightSpec &spec : weights(config))
      put(spec.name, spec.shape);
  }

  void put(StringRef name, ArrayRef<int64_t> shape, StringRef type = "F16",
           char byte = 0) {
    int64_t bytes = type == "F32" ? 4 : (type == "I8" ? 1 : 2);
    for (int64_t size : shape)
      bytes *= size;
    take(name);
    tensors.push_back({name.str(), type.str(), shape.vec(),
                       std::string(size_t(bytes), byte)});
  }

  void take(StringRef name) {
    erase_if(tensors, [&](const Written &t) { return t.name == name; });
  }

  /// "" or what is wrong, without the file's path.
  std::string match(const DecoderConfig &config,
                    std::optional<int64_t> layers = {}) {
    {
      std::error_code code;
      raw_fd_ostream(path, code) << fileOf(tensors);
    }
    said.clear();
    Checkpoint checkpoint = cantFail(Checkpoint::open(folder));
    Error error =
        matchWeights(checkpoint, config, layers.value_or(config.layers), said);
    std::string text = toString(std::move(error)), file = path.str().str();
    for (size_t at; (at = text.find(file)) != std::string::npos;)
      text.replace(at, file.size(), "FILE");
    return text;
  }

  SmallString<128> folder, path;
  std::vector<Written> tensors;
  std::vector<std::string> said;
};

} // namespace

static DecoderConfig small(StringRef family) {
  return accepted(family, family == "gpt2" ? gpt2Fields : "{}");
}

static constexpr StringLiteral allFamilies[] = {
    "llama", "mistral", "qwen2", "qwen3", "gemma", "phi3", "gpt2"};

TEST_F(MatchWeightsTest, OwnTensorsMatch) {
  for (StringRef family : allFamilies) {
    SCOPED_TRACE(family.str());
    DecoderConfig config = small(family);
    fill(config);
    EXPECT_EQ(match(config), "");
    EXPECT_TRUE(said.empty());
    // Without the prefix of the whole model, except for the head.
    for (Written &tensor : tensors)
      if (tensor.name != "lm_head.weight")
        tensor.name = StringRef(tensor.name).split('.').second.str();
    EXPECT_EQ(match(config), "");
  }
}

TEST_F(MatchWeightsTest, TensorsWithoutAPlaceAreNamed) {
  for (StringRef family : allFamilies)
    for (StringRef name : {"x",
                           "weight",
                           "score.weight",
                           "classifier.bias",
                           "model.layers.0.self_attn.q_proj.lora_A.weight",
                           "model.layers.0.mlp.gate_proj.weight_scale",
                           "model.layers.0.self_attn.rotary_emb.inv_freqs",
                           "model.layers.2.input_layernorm.weight",
                           "model.layers.0.self_attn.sinks",
                           "model.layers.x.rotary_emb.inv_freq",
                           "model.embed_tokens.bias",
                           "model.layers.1.post_feedforward_layernorm.weight",
                           "transformer.h.0.attn.biases",
                           "transformer.h.0.crossattention.bias",
                           "v_head.summary.weight",
                           "model.vision_tower.weight",
                           "transformer.h.2.ln_1.weight",
                           "mtp.layers.0.weight",
                           "model.norm.bias",
                           "position_ids"}) {
      SCOPED_TRACE((family + " " + name).str());
      DecoderConfig config = small(family);
      fill(config);
      put(name, {3});
      EXPECT_EQ(match(config), ("FILE: 1 tensor has no place in this " +
                                family + " model: \"" + name + "\"")
                                   .str());
    }
  DecoderConfig config = small("llama");
  fill(config);
  for (int number = 10; number < 30; ++number)
    put("x" + std::to_string(number), {3});
  EXPECT_EQ(match(config),
            "FILE: 20 tensors have no place in this llama model: \"x10\", "
            "\"x11\", \"x12\", \"x13\", \"x14\", \"x15\", \"x16\", \"x17\" and "
            "12 more");
}

TEST_F(MatchWeightsTest, ConfigsOfTheUnusedTensorsAreNamed) {
  auto fixOf = [&](const DecoderConfig &stored, const DecoderConfig &config) {
    fill(stored);
    std::string text = match(config);
    size_t at = text.find("fix: ");
    return at == std::string::npos ? text : text.substr(at);
  };
  std::string behind = " the config is that of these tensors";
  EXPECT_EQ(fixOf(small("qwen2"), small("mistral")),
            "fix: with \"model_type\" \"qwen2\"" + behind);
  EXPECT_EQ(
      fixOf(accepted("llama", R"({"attention_bias": true})"), small("llama")),
      "fix: with \"attention_bias\" true" + behind);
  EXPECT_EQ(fixOf(accepted("llama", R"({"mlp_bias": true})"), small("llama")),
            "fix: with \"mlp_bias\" true" + behind);
  EXPECT_EQ(fixOf(accepted("llama", R"({"tie_word_embeddings": true})"),
                  small("llama")),
            "fix: with \"tie_word_embeddings\" true" + behind);
}

// transformers leaves them out, too.
TEST_F(MatchWeightsTest, BuffersAreLeftOut) {
  for (StringRef family :
       {"llama", "mistral", "qwen2", "qwen3", "gemma", "phi3"}) {
    SCOPED_TRACE(family.str());
    DecoderConfig config = small(family);
    fill(config);
    put("model.layers.0.self_attn.rotary_emb.inv_freq", {4}, "F32");
    put("model.layers.1.self_attn.rotary_emb.inv_freq", {4}, "F32");
    put("model.rotary_emb.inv_freq", {4}, "F32");
    EXPECT_EQ(match(config), "");
    EXPECT_EQ(said, (std::vector<std::string>{
                        "3 buffers of the checkpoint are made anew"}));
    put("transformer.h.0.attn.bias", {1, 1, 64, 64});
    EXPECT_NE(match(config), "");
  }
  DecoderConfig config = small("gpt2");
  fill(config);
  put("transformer.h.0.attn.bias", {1, 1, 64, 64});
  put("transformer.h.1.attn.masked_bias", {});
  put("h.1.attn.bias", {1, 1, 64, 64});
  EXPECT_EQ(match(config), "");
  put("model.rotary_emb.inv_freq", {4});
  EXPECT_NE(match(config), "");
}

TEST_F(MatchWeightsTest, TiedTables) {
  DecoderConfig config = accepted("llama", R"({"tie_word_embeddings": true})");
  fill(config);
  put("lm_head.weight", {61, 48});
  EXPECT_EQ(match(config), "");
  EXPECT_EQ(said, (std::vector<std::string>{"\"lm_head.weight\" equals the "
                                            "embedding, to which it is tied"}));
  std::string differs =
      "FILE: \"tie_word_embeddings\" is true, but the checkpoint has an "
      "\"lm_head.weight\" that differs from the embedding: set the field to "
      "false, or take out the tensor";
  put("lm_head.weight", {61, 48}, "F16", 1);
  EXPECT_TRUE(StringRef(match(config)).starts_with(differs));
  put("lm_head.weight", {61, 48}, "F32");
  EXPECT_TRUE(StringRef(match(config)).starts_with(differs));
  take("model.embed_tokens.weight");
  EXPECT_TRUE(StringRef(match(config))
                  .starts_with("FILE: no tensor \"model.embed_tokens.weight\" "
                               "among its 20; the table "
                               "is tied, and \"lm_head.weight\" is there: "
                               "store it as the embedding"));
  fill(config);
  EXPECT_TRUE(
      StringRef(match(small("llama")))
          .starts_with("FILE: no tensor \"lm_head.weight\" among its 20; with "
                       "\"tie_word_embeddings\" true it is the embedding"));
}

TEST_F(MatchWeightsTest, MissingTensorsListNearNames) {
  DecoderConfig config = small("qwen2");
  fill(config);
  take("model.layers.1.self_attn.k_proj.bias");
  EXPECT_EQ(match(config), "FILE: no tensor "
                           "\"model.layers.1.self_attn.k_proj.bias\" among its "
                           "26");
  put("model.layers.1.self_attn.k_proj.biases", {16});
  EXPECT_EQ(
      match(config),
      "FILE: no tensor \"model.layers.1.self_attn.k_proj.bias\" among its "
      "27; near names: \"model.layers.1.self_attn.k_proj.biases\"\n"
      "FILE: 1 tensor has no place in this qwen2 model: "
      "\"model.layers.1.self_attn.k_proj.biases\"");
  tensors.clear();
  put("model.embed_tokens.weight", {61, 48});
  EXPECT_TRUE(
      StringRef(match(config)).ends_with("FILE: 18 more tensors are missing"));
}

TEST_F(MatchWeightsTest, OtherShapesNameTheField) {
  auto wrong = [&](StringRef family, StringRef name, ArrayRef<int64_t> shape) {
    DecoderConfig config = small(family);
    fill(config);
    put(name, shape);
    return match(config);
  };
  EXPECT_EQ(wrong("llama", "model.layers.1.self_attn.k_proj.weight", {24, 48}),
            "FILE: tensor \"model.layers.1.self_attn.k_proj.weight\" is [24, "
            "48], the config makes it [16, 48]: \"num_key_value_heads\" of 3 "
            "would make it so");
  EXPECT_EQ(wrong("llama", "model.layers.0.mlp.down_proj.weight", {48, 56}),
            "FILE: tensor \"model.layers.0.mlp.down_proj.weight\" is [48, 56], "
            "the config makes it [48, 40]: \"intermediate_size\" of 56 would "
            "make it so");
  EXPECT_EQ(wrong("gpt2", "transformer.wpe.weight", {63, 48}),
            "FILE: tensor \"transformer.wpe.weight\" is [63, 48], the config "
            "makes it [64, 48]: \"n_positions\" of 63 would make it so");
  EXPECT_EQ(wrong("phi3", "model.layers.0.mlp.gate_up_proj.weight", {82, 48}),
            "FILE: tensor \"model.layers.0.mlp.gate_up_proj.weight\" is [82, "
            "48], the config makes it [80, 48]: \"intermediate_size\" of 41 "
            "would make it so");
  EXPECT_EQ(
      wrong("llama", "model.norm.weight", {48, 1}),
      "FILE: tensor \"model.norm.weight\" is [48, 1], the config makes it "
      "[48]");
  DecoderConfig config = small("llama");
  fill(config);
  put("model.norm.weight", {48}, "I8");
  EXPECT_EQ(match(config), "FILE: tensor \"model.norm.weight\" is I8: expected "
                           "a floating-point type");
}

TEST_F(MatchWeightsTest, FurtherLayersAreLeftOut) {
  DecoderConfig config = accepted("llama", R"({"num_hidden_layers": 3})");
  fill(config);
  EXPECT_EQ(match(config, 1), "");
  EXPECT_EQ(said, (std::vector<std::string>{
                      "18 tensors of layers from 1 on are left out"}));
  put("model.layers.2.self_attn.q_proj.bias", {48});
  EXPECT_NE(match(config, 1), "");
  fill(config);
  EXPECT_TRUE(
      StringRef(match(small("llama")))
          .starts_with("FILE: 9 tensors have no place in this llama model: "));
}
