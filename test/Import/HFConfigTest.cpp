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
    int64_t maxPositions, kvHeads, headDim;
    std::optional<int64_t> window;
    size_t warnings;
  };
  // The class, the type of the weights and the positions are said for all.
  for (Defaults want : {Defaults{"llama", 2048, 64, 64, {}, 3},
                        Defaults{"mistral", 131072, 8, 64, 4096, 4},
                        Defaults{"qwen2", 32768, 32, 64, {}, 4},
                        Defaults{"qwen3", 32768, 32, 128, {}, 5}}) {
    SCOPED_TRACE(want.family);
    Outcome outcome =
        parseText("{\"model_type\": \"" + std::string(want.family) +
                  "\", \"hidden_size\": 4096, \"num_hidden_layers\": 3, "
                  "\"num_attention_heads\": 64, \"intermediate_size\": 7, "
                  "\"vocab_size\": 11}");
    ASSERT_TRUE(outcome.config) << outcome.error;
    EXPECT_EQ(outcome.config->maxPositions, want.maxPositions);
    EXPECT_EQ(outcome.config->kvHeads, want.kvHeads);
    EXPECT_EQ(outcome.config->headDim, want.headDim);
    EXPECT_EQ(outcome.config->normEpsilon, 1e-6);
    EXPECT_EQ(outcome.config->ropeTheta, 10000.0);
    EXPECT_EQ(outcome.config->ropeScaling, std::nullopt);
    EXPECT_EQ(outcome.config->slidingWindow, want.window);
    EXPECT_FALSE(outcome.config->tiedEmbeddings);
    EXPECT_EQ(outcome.config->dtype, "f32");
    EXPECT_EQ(outcome.warnings.size(), want.warnings);
  }
}

TEST(HFConfigTest, SizesHaveNoDefault) {
  for (StringRef family :
       {"llama", "mistral", "qwen2", "qwen3", "gemma", "phi3"})
    for (std::string key :
         {"hidden_size", "num_hidden_layers", "num_attention_heads",
          "intermediate_size", "vocab_size"}) {
      SCOPED_TRACE(family.str() + " " + key);
      EXPECT_EQ(parseSmall(family, "{\"" + key + "\": \"-\"}").error,
                "c.json: no \"" + key + "\", a size that has no default");
    }
  std::string fields = gpt2Fields;
  for (std::string key : {"n_embd", "n_layer", "n_head", "n_positions"}) {
    SCOPED_TRACE(key);
    std::string changes = fields;
    size_t at = changes.find("\"" + key + "\"");
    changes.insert(at + 1, "-");
    EXPECT_EQ(parseSmall("gpt2", changes).error,
              "c.json: no \"" + key +
                  "\", a size that has no default: did you "
                  "mean \"-" +
                  key + "\"?");
  }
}

TEST(HFConfigTest, NearNamesOfSizesAreNamed) {
  std::pair<const char *, const char *> rows[] = {
      {"hidden_size", "hidden_sise"},
      {"hidden_size", "d_model"},
      {"hidden_size", "n_embd"},
      {"num_hidden_layers", "num_layers"},
      {"num_hidden_layers", "n_layers"},
      {"num_attention_heads", "num_heads"},
      {"num_attention_heads", "n_head"},
      {"intermediate_size", "ffn_dim"},
      {"intermediate_size", "intermediate_sizes"},
      {"vocab_size", "padded_vocab_size"},
      {"vocab_size", "vocabulary_size"}};
  for (auto [key, near] : rows) {
    SCOPED_TRACE(near);
    std::string text =
        parseSmall("llama", "{\"" + std::string(key) + "\": \"-\", \"" + near +
                                "\": 48}")
            .error;
    EXPECT_EQ(text, "c.json: no \"" + std::string(key) +
                        "\", a size that has no default: did you mean \"" +
                        near + "\"?");
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
  Outcome absent = parseSmall("mistral", R"({"num_attention_heads": 24,
                                             "num_key_value_heads": "-"})");
  ASSERT_TRUE(absent.config) << absent.error;
  EXPECT_EQ(absent.config->kvHeads, 8);
  ASSERT_EQ(absent.warnings.size(), 1u);
  EXPECT_EQ(absent.warnings[0],
            "c.json: no \"num_key_value_heads\": 8 is assumed");
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

TEST(HFConfigTest, UnknownFieldsAreNamedInOneLineAndHarmlessOnesAreNot) {
  Outcome outcome = parseSmall("llama", R"({"zeta": 1, "alpha": [1],
      "bos_token_id": 1, "attention_dropout": 0.5,
      "rope_scaling": {"type": "default", "factor": 2.0}})");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.warnings.size(), 2u);
  EXPECT_EQ(outcome.warnings[0],
            "c.json:1: ignored \"rope_scaling.factor\": not a field of rope "
            "type \"default\"");
  EXPECT_EQ(outcome.warnings[1], "c.json:1: ignored \"alpha\", \"zeta\": not "
                                 "fields of model type \"llama\"");
  json::Object many;
  for (int number = 10; number < 24; ++number)
    many["x" + std::to_string(number)] = number;
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(many));
  outcome = parseSmall("llama", text);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(StringRef(outcome.warnings[0])
                  .contains("\"x21\" and 2 more: not fields"));
}

TEST(HFConfigTest, AssumedTypesAndClassesAreNamed) {
  for (StringRef none : {"\"-\"", "null", "[]"}) {
    Outcome outcome = parseSmall(
        "llama",
        ("{\"torch_dtype\": \"-\", \"architectures\": " + none + "}").str());
    EXPECT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.warnings.size(), 2u);
    EXPECT_EQ(outcome.warnings[0], "c.json: no \"dtype\": f32 is assumed");
    EXPECT_EQ(outcome.warnings[1],
              "c.json: no \"architectures\": \"LlamaForCausalLM\" is assumed");
  }
}

TEST(HFConfigTest, OnlyTheLanguageModelOfTheFamilyIsTaken) {
  for (StringRef name :
       {"LlamaModel", "LlamaForSequenceClassification",
        "LlamaForTokenClassification", "LlamaForQuestionAnswering",
        "MistralForCausalLM", "LlavaForConditionalGeneration",
        "EncoderDecoderModel", "LlamaForCausalLMEagle", "EagleLlamaForCausalLM",
        "DFlashDraftModel", "GPT2LMHeadModel", "llamaforcausallm", ""})
    for (StringRef list : {"[\"%\"]", "\"%\"", "[\"LlamaForCausalLM\", \"%\"]",
                           "[\"%\", \"LlamaForCausalLM\"]"}) {
      auto [before, behind] = list.split('%');
      std::string value = (before + name + behind).str();
      SCOPED_TRACE(value);
      std::string error =
          parseSmall("llama", "{\"architectures\": " + value + "}").error;
      EXPECT_TRUE(
          StringRef(error).starts_with("c.json:1: \"architectures\" is "));
      EXPECT_TRUE(StringRef(error).ends_with(
          ": expected [\"LlamaForCausalLM\"], the language model of "
          "\"llama\""));
    }
  for (const char *value : {"3", "{}", "[3]", "[null]", "true"})
    EXPECT_FALSE(
        parseSmall("llama", "{\"architectures\": " + std::string(value) + "}")
            .config)
        << value;
  accepted("llama",
           R"({"architectures": ["LlamaForCausalLM", "LlamaForCausalLM"]})");
}

// Fields of other families, which would change what is computed.
TEST(HFConfigTest, FieldsThatChangeTheNumbersAreRefused) {
  for (const char *field : {R"("attention_multiplier": 0.5)",
                            R"("embedding_multiplier": 12)",
                            R"("residual_multiplier": 0.22)",
                            R"("logits_scaling": 8)",
                            R"("logit_scale": 0.0625)",
                            R"("clip_qkv": 8.0)",
                            R"("qk_norm": true)",
                            R"("use_qk_norm": true)",
                            R"("qk_layernorm": true)",
                            R"("use_parallel_residual": true)",
                            R"("parallel_attn": true)",
                            R"("alibi": true)",
                            R"("rotary_pct": 0.25)",
                            R"("kv_lora_rank": 512)",
                            R"("no_rope_layers": [1, 0])",
                            R"("attention_chunk_size": 8192)",
                            R"("scale_emb": 12)",
                            R"("scale_depth": 1.4)",
                            R"("vision_config": {"depth": 3})",
                            R"("num_kv_shared_layers": 2)",
                            R"("eagle_config": {"x": 1})"}) {
    SCOPED_TRACE(field);
    StringRef key = StringRef(field).split(':').first;
    Outcome outcome = parseSmall("llama", "{" + std::string(field) + "}");
    EXPECT_FALSE(outcome.config);
    EXPECT_TRUE(StringRef(outcome.error)
                    .starts_with(("c.json:1: " + key + " is ").str()))
        << outcome.error;
  }
}

TEST(HFConfigTest, UnsupportedFeaturesThatAreSwitchedOffAreFine) {
  accepted("llama", R"({"quantization_config": null, "pruned_heads": {},
      "is_encoder_decoder": false, "pretraining_tp": 1, "is_causal": true,
      "use_mrope": false, "num_experts": null, "hidden_act": "swish",
      "logits_scaling": 1.0, "embedding_multiplier": 1, "qk_norm": false,
      "no_rope_layers": [], "clip_qkv": null, "partial_rotary_factor": 1.0,
      "layer_types": ["full_attention", "full_attention"]})");
}

/// A small config with a field whose value is not JSON.
static Outcome parseRaw(StringRef key, StringRef value) {
  std::string text =
      smallConfig("llama", ("{\"" + key + "\": \"PLACE\"}").str());
  text.replace(text.find("\"PLACE\""), 7, value);
  return parseText(text);
}

// As Python's json module reads them.
TEST(HFConfigTest, NumbersThatAreNotFinite) {
  for (StringRef value : {"Infinity", "-Infinity", "NaN"}) {
    SCOPED_TRACE(value.str());
    Outcome unused =
        parseRaw("time_step_limit", ("[0.0, " + value + "]").str());
    EXPECT_TRUE(unused.config) << unused.error;
    EXPECT_EQ(parseRaw("rms_norm_eps", value).error,
              ("c.json:1: \"rms_norm_eps\" is " + value +
               ": expected a finite number above 0")
                  .str());
    EXPECT_EQ(parseRaw("hidden_size", value).error,
              ("c.json:1: \"hidden_size\" is " + value +
               ": expected an integer from 1 to 1099511627776")
                  .str());
    EXPECT_FALSE(parseRaw("tie_word_embeddings", value).config);
    EXPECT_FALSE(parseRaw("hidden_act", value).config);
    // In a string it is a string, and no part of a word.
    EXPECT_TRUE(parseRaw("note", ("\"" + value + " \\\" " + value + "\"").str())
                    .config);
  }
  for (StringRef value : {"-NaN", "NaNs", "+Infinity", "infinity", "nan", "Inf",
                          "Infinity1", "1Infinity", "_NaN", "--Infinity"}) {
    SCOPED_TRACE(value.str());
    EXPECT_TRUE(
        StringRef(parseRaw("x", value).error).contains("not valid JSON"));
  }
  // Places are those of the text as it is.
  EXPECT_EQ(parseText("{\"a\": [NaN, NaN],\n \"b\": [NaN, ?]}").error,
            parseText("{\"a\": [111, 111],\n \"b\": [111, ?]}").error);
  EXPECT_EQ(parseText("\xef\xbb\xbf{}").error,
            "c.json:1:1: not valid JSON: starts with a byte order mark");
}
