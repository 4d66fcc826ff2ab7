// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_TEST_IMPORT_SMALLCONFIG_H
#define TP_TEST_IMPORT_SMALLCONFIG_H

#include "tp/Import/HFConfig.h"
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

/// A complete config.json of a small model of the family, with the fields of
/// the JSON object `changes` put in; a field with the value "-" is taken out.
inline std::string smallConfig(llvm::StringRef family,
                               llvm::StringRef changes = "{}") {
  llvm::json::Object config{
      {"model_type", family},     {"hidden_size", 48},
      {"intermediate_size", 40},  {"num_hidden_layers", 2},
      {"num_attention_heads", 6}, {"num_key_value_heads", 2},
      {"vocab_size", 61},         {"max_position_embeddings", 64},
      {"torch_dtype", "float32"},
  };
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

#endif // TP_TEST_IMPORT_SMALLCONFIG_H
