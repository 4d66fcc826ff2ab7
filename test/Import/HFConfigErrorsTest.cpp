// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configs that are refused: each message in full, and damaged texts.
#include "SmallConfig.h"
#include <random>

using namespace llvm;
using namespace tp;

TEST(HFConfigErrorsTest, MessagesNameTheLineOfTheField) {
  Outcome outcome = parseText("{\n"
                              " \"model_type\": \"llama\",\n"
                              " \"x\": [{\"hidden_size\": 1}, \"}\"],\n"
                              " \"rope_scaling\": {\"factor\": 2,\n"
                              "   \"type\": \"yarn\"},\n"
                              " \"hidden_size\": 0,\n"
                              " \"vocab_size\": 0, \"zeta\": 1,\n"
                              " \"intermediate_size\": 40,\n"
                              " \"num_hidden_layers\": 2,\n"
                              " \"num_attention_heads\": 6\n"
                              "}");
  SmallVector<StringRef> lines;
  StringRef(outcome.error).split(lines, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("c.json:6: \"hidden_size\" is 0: "));
  EXPECT_TRUE(lines[1].starts_with("c.json:7: \"vocab_size\" is 0: "));
  EXPECT_TRUE(lines[2].starts_with("c.json:5: \"rope_scaling.type\" is "));
  ASSERT_FALSE(outcome.warnings.empty());
  EXPECT_EQ(outcome.warnings.back(),
            "c.json:3: ignored \"x\", \"zeta\": not fields of model type "
            "\"llama\"");
}

TEST(HFConfigErrorsTest, UnsupportedModelTypesListTheSupportedOnes) {
  expectRefused({
      {"gemma2", "{}",
       R"("model_type" is "gemma2": not a supported model type: expected one )"
       R"(of "llama", "mistral", "qwen2", "qwen3", "gemma", "phi3", "gpt2")"},
      {"", R"({"model_type": "-"})",
       R"(no "model_type": expected one of "llama", "mistral", "qwen2", )"
       R"("qwen3", "gemma", "phi3", "gpt2")"},
      {"", R"({"model_type": 3})",
       R"("model_type" is 3: expected one of "llama", "mistral", "qwen2", )"
       R"("qwen3", "gemma", "phi3", "gpt2")"},
  });
}

TEST(HFConfigErrorsTest, NumbersOutOfRange) {
  const char *size = "expected an integer from 1 to 1099511627776";
  for (const char *key : {"hidden_size", "intermediate_size", "vocab_size",
                          "max_position_embeddings", "head_dim"})
    for (const char *value :
         {"0", "-3", "48.5", "48.0", "1e3", "\"48\"", "true", "[48]",
          "1099511627777", "9223372036854775808", "18446744073709551616",
          "1e400"}) {
      SCOPED_TRACE(std::string(key) + ": " + value);
      std::string text =
          smallConfig("llama", "{\"" + std::string(key) + "\": \"PLACE\"}");
      text.replace(text.find("\"PLACE\""), 7, value);
      Outcome outcome = parseText(text);
      EXPECT_FALSE(outcome.config.has_value());
      EXPECT_TRUE(
          StringRef(outcome.error)
              .starts_with("c.json:1: \"" + std::string(key) + "\" is "))
          << outcome.error;
      EXPECT_TRUE(StringRef(outcome.error).ends_with(size)) << outcome.error;
    }
  expectRefused({
      {"llama", R"({"num_hidden_layers": 65537})",
       "\"num_hidden_layers\" is 65537: expected an integer from 1 to 65536"},
      {"llama", R"({"num_attention_heads": 65537})",
       "\"num_attention_heads\" is 65537: expected an integer from 1 to "
       "65536"},
      {"llama", R"({"num_key_value_heads": 0})",
       "\"num_key_value_heads\" is 0: expected an integer from 1 to 65536"},
      {"qwen3", R"({"head_dim": null})",
       "\"head_dim\" is null: expected an integer from 1 to 1099511627776"},
      {"llama", R"({"hidden_size": null})",
       "\"hidden_size\" is null: expected an integer from 1 to "
       "1099511627776"},
      {"llama", R"({"rms_norm_eps": 0})",
       "\"rms_norm_eps\" is 0: expected a finite number above 0"},
      {"llama", R"({"rms_norm_eps": -1e-6})",
       "\"rms_norm_eps\" is -9.9999999999999995e-07: expected a finite number "
       "above 0"},
      {"llama", R"({"rope_theta": "10000"})",
       "\"rope_theta\" is \"10000\": expected a finite number above 0"},
      {"llama", R"({"tie_word_embeddings": 1})",
       "\"tie_word_embeddings\" is 1: expected true or false"},
      {"mistral", R"({"sliding_window": 0})",
       "\"sliding_window\" is 0: expected an integer from 1 to "
       "1099511627776"},
      {"qwen2", R"({"use_sliding_window": true, "max_window_layers": -1})",
       "\"max_window_layers\" is -1: expected an integer from 0 to "
       "1099511627776"},
  });
}

TEST(HFConfigErrorsTest, InfiniteNumbers) {
  std::string text = smallConfig("llama", R"({"rope_theta": "PLACE"})");
  text.replace(text.find("\"PLACE\""), 7, "1e999");
  EXPECT_TRUE(StringRef(parseText(text).error)
                  .ends_with("expected a finite number above 0"));
}

TEST(HFConfigErrorsTest, NumberOfParametersOverflows) {
  expectRefused({
      {"llama", R"({"hidden_size": 1099511627776, "num_hidden_layers": 65536,
       "head_dim": 64})",
       "the number of parameters exceeds 2^63 - 1: hidden size 1099511627776, "
       "65536 layers, 6 heads and 2 key-value heads of 64, feed-forward size "
       "40, "
       "vocabulary 61"},
      {"llama",
       R"({"intermediate_size": 1099511627776, "num_hidden_layers": 65536})",
       "the number of parameters exceeds 2^63 - 1: hidden size 48, 65536 "
       "layers, 6 heads and 2 key-value heads of 8, feed-forward size "
       "1099511627776, vocabulary 61"},
  });
}

TEST(HFConfigErrorsTest, HeadsContradictSizes) {
  expectRefused({
      {"llama", R"({"num_key_value_heads": 4})",
       "\"num_attention_heads\" 6 is not a multiple of "
       "\"num_key_value_heads\" 4: expected one of 1, 2, 3, 6"},
      {"llama", R"({"num_key_value_heads": 12})",
       "\"num_attention_heads\" 6 is not a multiple of "
       "\"num_key_value_heads\" 12: expected one of 1, 2, 3, 6"},
      {"llama", R"({"hidden_size": 50})",
       "\"hidden_size\" 50 is not a multiple of \"num_attention_heads\" 6: "
       "give \"head_dim\""},
      {"llama", R"({"head_dim": 9})",
       "\"head_dim\" is 9: expected an even number, rotary embeddings turn "
       "pairs"},
      {"llama", R"({"hidden_size": 18})",
       "\"hidden_size\" / \"num_attention_heads\" is 3: expected an even "
       "number, rotary embeddings turn pairs"},
  });
}

TEST(HFConfigErrorsTest, UnsupportedFeaturesAreNamed) {
  expectRefused({
      {"llama", R"({"hidden_act": "quick_gelu"})",
       "\"hidden_act\" is \"quick_gelu\": not a supported activation: expected "
       "\"silu\", \"gelu\", \"gelu_new\", \"gelu_pytorch_tanh\", \"relu\" or "
       "\"tanh\""},
      {"llama", R"({"partial_rotary_factor": 0.5})",
       "\"partial_rotary_factor\" is 0.5: the models of \"llama\" rotate whole "
       "heads: expected 1"},
      {"llama", R"({"pretraining_tp": 2})",
       "\"pretraining_tp\" is 2: projections computed in slices are not "
       "supported: write 1, which is the same model up to rounding"},
      {"llama", R"({"quantization_config": {"bits": 4}})",
       "\"quantization_config\" is {\"bits\":4}: quantized weights are not "
       "supported: import the checkpoint before quantization"},
      {"llama", R"({"compression_config": {"bits": 4}})",
       "\"compression_config\" is {\"bits\":4}: compressed weights are not "
       "supported: import the checkpoint before compression"},
      {"qwen3", R"({"num_experts": 128})",
       "\"num_experts\" is 128: mixture-of-experts layers are not supported"},
      {"mistral", R"({"num_local_experts": 8})",
       "\"num_local_experts\" is 8: mixture-of-experts layers are not "
       "supported"},
      {"qwen3", R"({"num_experts_per_tok": 8})",
       "\"num_experts_per_tok\" is 8: mixture-of-experts layers are not "
       "supported"},
      {"qwen2", R"({"n_routed_experts": 64})",
       "\"n_routed_experts\" is 64: mixture-of-experts layers are not "
       "supported"},
      {"qwen3", R"({"moe_intermediate_size": 768})",
       "\"moe_intermediate_size\" is 768: mixture-of-experts layers are not "
       "supported"},
      {"llama", R"({"per_layer_config": {"0": {"head_dim": 4}}})",
       "\"per_layer_config\" is {\"0\":{\"head_dim\":4}}: layers that differ "
       "are not supported"},
      {"llama", R"({"pruned_heads": {"0": [1]}})",
       "\"pruned_heads\" is {\"0\":[1]}: pruned heads are not supported"},
      {"llama", R"({"is_encoder_decoder": true})",
       "\"is_encoder_decoder\" is true: only decoders are supported"},
      {"llama", R"({"add_cross_attention": true})",
       "\"add_cross_attention\" is true: cross-attention is not supported"},
      {"llama", R"({"architectures": ["LlamaForSequenceClassification"]})",
       "\"architectures\" is [\"LlamaForSequenceClassification\"]: expected "
       "[\"LlamaForCausalLM\"], the language model of \"llama\""},
      {"qwen2", R"({"architectures": "Qwen2ForRewardModel"})",
       "\"architectures\" is \"Qwen2ForRewardModel\": expected "
       "[\"Qwen2ForCausalLM\"], the language model of \"qwen2\""},
      {"llama", R"({"is_causal": false})",
       "\"is_causal\" is false: only causal attention is supported"},
      {"llama", R"({"use_bidirectional_attention": true})",
       "\"use_bidirectional_attention\" is true: only causal attention is "
       "supported"},
      {"llama", R"({"attn_logit_softcapping": 50.0})",
       "\"attn_logit_softcapping\" is 50: capped scores are not supported"},
      {"gemma", R"({"final_logit_softcapping": 30.0})",
       "\"final_logit_softcapping\" is 30: capped logits are not supported"},
      {"gemma", R"({"query_pre_attn_scalar": 224})",
       "\"query_pre_attn_scalar\" is 224: scores scaled by another number than "
       "the size of a head are not supported"},
      {"gemma", R"({"rope_local_base_freq": 10000.0})",
       "\"rope_local_base_freq\" is 10000: rotary parameters that depend on "
       "the layer are not supported"},
      {"llama", R"({"sliding_window": 24})",
       "\"sliding_window\" is 24: \"llama\" attends to all positions: expected "
       "null, or no such field"},
      {"gemma", R"({"hidden_activation": "relu"})",
       "\"hidden_activation\" is \"relu\": another function than "
       "\"hidden_act\" has: keep one of them"},
      {"gemma", R"({"layer_types": ["full_attention", "sliding_attention"]})",
       "\"layer_types\" has \"sliding_attention\" at 1: \"gemma\" supports "
       "\"full_attention\""},
      {"phi3", R"({"partial_rotary_factor": 1.5})",
       "\"partial_rotary_factor\" is 1.5: expected a number of at most 1"},
      {"phi3", R"({"rope_scaling": {"type": "longrope"}})",
       "\"rope_scaling.type\" is \"longrope\": not a supported rope type: "
       "\"phi3\" takes \"default\""},
      {"phi3", R"({"rope_scaling": {"type": "su"}})",
       "\"rope_scaling.type\" is \"su\": not a supported rope type: \"phi3\" "
       "takes \"default\""},
      {"phi3", R"({"head_dim": 12, "partial_rotary_factor": 0.25})",
       "\"head_dim\" is 12, of which 3 are rotated: expected an even number, "
       "rotary embeddings turn pairs"},
      {"phi3", R"({"attention_bias": true})",
       "\"attention_bias\" is true: the biases of \"phi3\" are not switched by "
       "this field: expected false"},
      {"llama", R"({"rope_theta": 0.5})",
       "\"rope_theta\" is 0.5: expected a number of at least 1"},
      {"llama", R"({"rope_scaling": {"type": "linear"}})",
       "no \"rope_scaling.factor\": rope type \"linear\" needs it"},
      {"qwen2", R"({"use_mrope": true})",
       "\"use_mrope\" is true: multimodal rotary embeddings are not "
       "supported"},
      {"llama", R"({"torch_dtype": "float64"})",
       "\"torch_dtype\" is \"float64\": expected \"bfloat16\", \"float16\" or "
       "\"float32\""},
  });
}

/// The config of a small GPT-2 with one more field.
static std::string gpt2With(StringRef key, json::Value value) {
  json::Object changes = *cantFail(json::parse(gpt2Fields)).getAsObject();
  changes[key] = std::move(value);
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(changes));
  return text;
}

TEST(HFConfigErrorsTest, UnsupportedFeaturesOfGPT2AreNamed) {
  auto refused = [](StringRef key, json::Value value, const char *message) {
    std::string changes = gpt2With(key, std::move(value));
    expectRefused({{"gpt2", changes.c_str(), message}});
  };
  refused("scale_attn_by_inverse_layer_idx", true,
          "\"scale_attn_by_inverse_layer_idx\" is true: layers that differ are "
          "not supported: expected false");
  refused("architectures", json::Array({"GPT2DoubleHeadsModel"}),
          "\"architectures\" is [\"GPT2DoubleHeadsModel\"]: expected "
          "[\"GPT2LMHeadModel\"], the language model of \"gpt2\"");
  refused("add_cross_attention", true,
          "\"add_cross_attention\" is true: cross-attention is not supported");
  refused("hidden_size", 48,
          "\"hidden_size\" is 48: \"gpt2\" calls it \"n_embd\"");
  refused("num_hidden_layers", 2,
          "\"num_hidden_layers\" is 2: \"gpt2\" calls it \"n_layer\"");
  refused("num_attention_heads", 6,
          "\"num_attention_heads\" is 6: \"gpt2\" calls it \"n_head\"");
  refused("max_position_embeddings", 64,
          "\"max_position_embeddings\" is 64: \"gpt2\" calls it "
          "\"n_positions\"");
  refused("n_head", 7,
          "\"n_embd\" 48 is not a multiple of \"n_head\" 7: heads are equal "
          "parts of it");
  refused("n_inner", 0,
          "\"n_inner\" is 0: expected an integer from 1 to 1099511627776");
  refused("mlp_bias", true,
          "\"mlp_bias\" is true: \"gpt2\" always has biases there: expected "
          "false");
  refused("activation_function", "gelu_10",
          "\"activation_function\" is \"gelu_10\": not a supported activation: "
          "expected \"silu\", \"gelu\", \"gelu_new\", \"gelu_pytorch_tanh\", "
          "\"relu\" or \"tanh\"");
  // Without effect on what is computed in f32.
  EXPECT_TRUE(parseSmall("gpt2", gpt2With("reorder_and_upcast_attn", true))
                  .config.has_value());
  EXPECT_FALSE(
      accepted("gpt2", gpt2With("scale_attn_weights", false)).scaledScores);
  EXPECT_EQ(accepted("gpt2", gpt2With("n_inner", 40)).ffnSize, 40);
}

TEST(HFConfigErrorsTest, BiasesThatTheFamilyDoesNotHave) {
  expectRefused({
      {"mistral", R"({"attention_bias": true})",
       "\"attention_bias\" is true: the biases of \"mistral\" are not "
       "switched by this field: expected false"},
      {"qwen2", R"({"attention_bias": true})",
       "\"attention_bias\" is true: the biases of \"qwen2\" are not switched "
       "by this field: expected false"},
      {"qwen3", R"({"mlp_bias": true})",
       "\"mlp_bias\" is true: \"qwen3\" has no biases there: expected false"},
  });
}

TEST(HFConfigErrorsTest, SpellingsContradictEachOther) {
  expectRefused({
      {"llama", R"({"rope_theta": 10000,
       "rope_parameters": {"rope_theta": 500000}})",
       "\"rope_parameters.rope_theta\" is 500000 and \"rope_theta\" is "
       "10000: keep one of them"},
      {"llama", R"({"rope_scaling": {"type": "llama3", "factor": 8,
       "low_freq_factor": 1, "high_freq_factor": 4,
       "original_max_position_embeddings": 16},
       "rope_parameters": {"rope_type": "default"}})",
       "\"rope_parameters\" has type \"default\" and \"rope_scaling\" has "
       "type \"llama3\": keep one of them"},
      {"llama", R"({"rope_scaling": {"type": "default",
       "rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
       "high_freq_factor": 4, "original_max_position_embeddings": 16}})",
       "\"rope_scaling.rope_type\" is \"llama3\" and \"rope_scaling.type\" is "
       "\"default\": keep one of them"},
      {"llama", R"({"rope_parameters": {"rope_theta": 500},
       "rope_scaling": {"type": "default"}})",
       "\"rope_parameters.rope_theta\" is 500 and \"rope_scaling\" leaves it "
       "at 10000: keep one of them"},
      {"llama", R"({"torch_dtype": "float16", "dtype": "bfloat16"})",
       "\"dtype\" is \"bfloat16\" and \"torch_dtype\" is \"float16\": keep "
       "one of them"},
  });
  Outcome factors = parseSmall("llama", R"({
      "rope_parameters": {"rope_type": "llama3", "factor": 8,
       "low_freq_factor": 1, "high_freq_factor": 4,
       "original_max_position_embeddings": 16},
      "rope_scaling": {"rope_type": "llama3", "factor": 32,
       "low_freq_factor": 1, "high_freq_factor": 4,
       "original_max_position_embeddings": 16}})");
  EXPECT_FALSE(factors.config.has_value());
  EXPECT_TRUE(StringRef(factors.error).ends_with(": keep one of them"));
}

TEST(HFConfigErrorsTest, LayerTypes) {
  expectRefused({
      {"llama", R"({"layer_types": ["full_attention"]})",
       "\"layer_types\" has 1 entries and \"num_hidden_layers\" is 2: one "
       "entry a layer is needed"},
      {"llama", R"({"layer_types": ["full_attention", "sliding_attention"]})",
       "\"layer_types\" has \"sliding_attention\" at 1: \"llama\" supports "
       "\"full_attention\""},
      {"qwen3", R"({"layer_types": ["linear_attention", "full_attention"]})",
       "\"layer_types\" has \"linear_attention\" at 0: \"qwen3\" supports "
       "\"full_attention\" and \"sliding_attention\""},
      {"qwen3", R"({"layer_types": ["full_attention", 1]})",
       "\"layer_types\" has 1 at 1: \"qwen3\" supports \"full_attention\" and "
       "\"sliding_attention\""},
      {"qwen3", R"({"layer_types": ["full_attention", "sliding_attention"]})",
       "\"layer_types\" has \"sliding_attention\", but no window is set: give "
       "\"sliding_window\" and \"use_sliding_window\" true"},
      {"qwen3", R"({"layer_types": "full_attention"})",
       "\"layer_types\" is \"full_attention\": expected an array of strings "
       "or null"},
  });
}

TEST(HFConfigErrorsTest, EverythingWrongIsListed) {
  Outcome outcome = parseSmall("llama", R"({"hidden_size": 0,
      "hidden_act": "relu6", "num_experts": 4})");
  EXPECT_EQ(withoutLine(outcome.error),
            "c.json: \"hidden_size\" is 0: expected an integer from 1 to "
            "1099511627776\n"
            "c.json: \"hidden_act\" is \"relu6\": not a supported activation: "
            "expected \"silu\", \"gelu\", \"gelu_new\", "
            "\"gelu_pytorch_tanh\", \"relu\" or \"tanh\"\n"
            "c.json: \"num_experts\" is 4: mixture-of-experts layers are not "
            "supported");
}

TEST(HFConfigErrorsTest, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_EQ(parseText("{\n  \"model_type\" \"llama\"\n}").error,
            "c.json:2:17: not valid JSON: expected : after object key");
  EXPECT_EQ(parseText("").error, "c.json:1:1: not valid JSON: unexpected EOF");
  EXPECT_EQ(parseText("[1]").error,
            "c.json: expected a JSON object, found [1]");
  EXPECT_FALSE(parseText("{\"model_type\": \"ll\xff\"}").config.has_value());
}

TEST(HFConfigErrorsTest, DuplicatedKeys) {
  EXPECT_EQ(parseText("{\"model_type\": \"llama\",\n \"hidden_size\": 48,\n"
                      " \"hidden_size\": 64}")
                .error,
            "c.json:3:2: key \"hidden_size\" is given twice, first on line "
            "2: keep one of them");
  // Equal after unescaping; also inside of another object.
  EXPECT_EQ(parseText(R"({"x": {"a": 1, "\u0061": 2}})").error,
            "c.json:1:16: key \"a\" is given twice, first on line 1: keep one "
            "of them");
  // The same key in different objects, and as a value, is none.
  std::string text = smallConfig("llama", R"({"x": [{"a": 1}, {"a": "a"}],
      "y": {"a": "b", "b": "a", "c": ["a", "a"]}})");
  EXPECT_EQ(parseText(text).error, "");
}

TEST(HFConfigErrorsTest, DeepNestingIsRefusedBeforeItIsParsed) {
  std::string text = "{\"x\": " + std::string(1'000'000, '[');
  EXPECT_EQ(parseText(text).error,
            "c.json:1:70: nested deeper than 64 objects and arrays");
  // Brackets in a string are no nesting, not even behind an escaped quote.
  std::string brackets = R"({"x": "\")" + std::string(100, '[') + "\"}";
  EXPECT_EQ(parseText(smallConfig("llama", brackets)).error, "");
}

TEST(HFConfigErrorsTest, MissingFile) {
  SmallVector<std::string> warnings;
  Expected<DecoderConfig> config =
      readHFConfig(TP_SOURCE_DIR "/examples/configs/none.json", warnings);
  ASSERT_FALSE(bool(config));
  EXPECT_EQ(toString(config.takeError()), TP_SOURCE_DIR
            "/examples/configs/none.json: No such file or directory");
}

TEST(HFConfigErrorsTest, EveryTruncationIsRefused) {
  std::string text = smallConfig("llama", R"({"rope_scaling":
      {"type": "llama3", "factor": 8, "low_freq_factor": 1,
      "high_freq_factor": 4, "original_max_position_embeddings": 16}})");
  ASSERT_TRUE(parseText(text).config.has_value());
  for (size_t length = 0; length < text.size(); ++length) {
    Outcome outcome = parseText(StringRef(text).take_front(length));
    EXPECT_FALSE(outcome.config.has_value()) << length;
    EXPECT_NE(outcome.error, "") << length;
  }
}

TEST(HFConfigErrorsTest, DamagedTextsAreReadOrRefused) {
  std::string text = smallConfig("qwen2", R"({"rope_parameters":
      {"rope_type": "llama3", "rope_theta": 5e2, "factor": 8,
      "low_freq_factor": 1, "high_freq_factor": 4,
      "original_max_position_embeddings": 16}, "use_sliding_window": true,
      "layer_types": ["full_attention", "sliding_attention"]})");
  ASSERT_TRUE(parseText(text).config.has_value());
  std::mt19937 random(20240607);
  int read = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (unsigned change = 0; change <= random() % 3; ++change)
      damaged[random() % damaged.size()] = char(random());
    Outcome outcome = parseText(damaged);
    EXPECT_EQ(outcome.config.has_value(), outcome.error.empty());
    ++(outcome.config ? read : refused);
    if (!outcome.config)
      continue;
    const DecoderConfig &config = *outcome.config;
    EXPECT_EQ(config.heads % config.kvHeads, 0);
    EXPECT_EQ(config.headDim % 2, 0);
    EXPECT_TRUE(bool(parameterCount(config)));
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 1000);
}
