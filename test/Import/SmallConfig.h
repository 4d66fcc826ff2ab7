// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_TEST_IMPORT_SMALLCONFIG_H
#define TP_TEST_IMPORT_SMALLCONFIG_H

#include "tp/Import/HFConfig.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

/// What parsing a config gave.
struct Outcome {
  std::optional<tp::DecoderConfig> config;
  std::string error;
  llvm::SmallVector<std::string> warnings;
};

inline Outcome parseText(llvm::StringRef text) {
  Outcome outcome;
  llvm::Expected<tp::DecoderConfig> config =
      tp::parseHFConfig(text, "c.json", outcome.warnings);
  if (config)
    outcome.config = std::move(*config);
  else
    outcome.error = llvm::toString(config.takeError());
  return outcome;
}

/// The language model's class of a family, "" if it is not supported.
inline llvm::StringRef architectureOf(llvm::StringRef family) {
  return llvm::StringSwitch<llvm::StringRef>(family)
      .Case("llama", "LlamaForCausalLM")
      .Case("mistral", "MistralForCausalLM")
      .Case("qwen2", "Qwen2ForCausalLM")
      .Case("qwen3", "Qwen3ForCausalLM")
      .Case("gemma", "GemmaForCausalLM")
      .Case("phi3", "Phi3ForCausalLM")
      .Case("gpt2", "GPT2LMHeadModel")
      .Default("");
}

/// A complete config.json of a small model of the family, with the fields of
/// the JSON object `changes` put in; a field with the value "-" is taken out.
inline std::string smallConfig(llvm::StringRef family,
                               llvm::StringRef changes = "{}") {
  llvm::json::Object config{
      {"model_type", family},
      {"hidden_size", 48},
      {"intermediate_size", 40},
      {"num_hidden_layers", 2},
      {"num_attention_heads", 6},
      {"num_key_value_heads", 2},
      {"vocab_size", 61},
      {"max_position_embeddings", 64},
      {"torch_dtype", "float32"},
      {"architectures", llvm::json::Array({architectureOf(family)})},
  };
  // Elsewhere it is the hidden size divided by the heads.
  if (family == "qwen3" || family == "gemma")
    config["head_dim"] = family == "qwen3" ? 128 : 256;
  llvm::json::Value parsed = llvm::cantFail(llvm::json::parse(changes));
  for (const auto &[key, value] : *parsed.getAsObject()) {
    if (value.getAsString() == llvm::StringRef("-"))
      config.erase(key);
    else
      config[key] = value;
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(config));
  return text;
}

/// Takes out of a small config what GPT-2 calls otherwise, and puts that in.
inline constexpr const char *gpt2Fields = R"({"hidden_size": "-",
    "intermediate_size": "-", "num_hidden_layers": "-",
    "num_attention_heads": "-", "num_key_value_heads": "-",
    "max_position_embeddings": "-", "n_embd": 48, "n_layer": 2, "n_head": 6,
    "n_positions": 64})";

inline Outcome parseSmall(llvm::StringRef family,
                          llvm::StringRef changes = "{}") {
  return parseText(smallConfig(family, changes));
}

/// The config of a text that must be accepted without a warning.
inline tp::DecoderConfig accepted(llvm::StringRef family,
                                  llvm::StringRef changes = "{}") {
  Outcome outcome = parseSmall(family, changes);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.warnings.empty())
      << (outcome.warnings.empty() ? "" : outcome.warnings[0]);
  return outcome.config.value_or(tp::DecoderConfig());
}

/// A config of examples/configs, which must be accepted without a warning.
inline tp::DecoderConfig shipped(llvm::StringRef name) {
  llvm::SmallVector<std::string> warnings;
  std::string path =
      (llvm::Twine(TP_SOURCE_DIR "/examples/configs/") + name + ".json").str();
  llvm::Expected<tp::DecoderConfig> config = tp::readHFConfig(path, warnings);
  EXPECT_TRUE(warnings.empty()) << (warnings.empty() ? "" : warnings[0]);
  if (config)
    return *config;
  ADD_FAILURE() << llvm::toString(config.takeError());
  return tp::DecoderConfig();
}

/// A config that is refused, by its family and changes.
struct Refused {
  const char *family;
  const char *changes;
  /// The message without the name of the file.
  const char *message;
};

/// The texts of these tests have one line, to which every message that is about
/// a field in it points.
inline std::string withoutLine(llvm::StringRef error) {
  std::string text = error.str(), line = "c.json:1: ";
  for (size_t at; (at = text.find(line)) != std::string::npos;)
    text.replace(at, line.size(), "c.json: ");
  return text;
}

inline void expectRefused(llvm::ArrayRef<Refused> cases) {
  for (const Refused &item : cases) {
    SCOPED_TRACE(item.changes);
    Outcome outcome = parseSmall(item.family, item.changes);
    EXPECT_FALSE(outcome.config.has_value());
    EXPECT_EQ(withoutLine(outcome.error),
              "c.json: " + std::string(item.message));
  }
}

#endif // TP_TEST_IMPORT_SMALLCONFIG_H
