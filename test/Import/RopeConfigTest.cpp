// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotary parameters: each spelling and type, and what is refused.
#include "SmallConfig.h"

using namespace llvm;
using namespace tp;

TEST(RopeConfigTest, RopeIsReadInBothSpellings) {
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

/// Up to the positions of the model the frequencies are the plain ones.
TEST(RopeConfigTest, DynamicRopeIsThePlainOneWithinThePositions) {
  EXPECT_EQ(accepted("llama", R"({"rope_scaling": {"type": "dynamic",
      "factor": 2.0}})"),
            accepted("llama"));
}

TEST(RopeConfigTest, LinearRopeDividesAllFrequencies) {
  DecoderConfig config = accepted("llama", R"({"rope_parameters":
      {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.5}})");
  EXPECT_EQ(config.ropeScaling, (Llama3RopeScaling{2.5, 1, 2, 1}));
}

TEST(RopeConfigTest, PartsOfHeadsAreRotatedInPhi3) {
  EXPECT_EQ(accepted("phi3").rotaryDim, 8);
  EXPECT_EQ(accepted("phi3", R"({"partial_rotary_factor": 0.5})").rotaryDim, 4);
  EXPECT_EQ(accepted("phi3", R"({"partial_rotary_factor": 0.5,
      "rope_parameters": {"partial_rotary_factor": 0.5}})")
                .rotaryDim,
            4);
  // Truncated to whole elements.
  EXPECT_EQ(accepted("phi3", R"({"head_dim": 10,
      "partial_rotary_factor": 0.45})")
                .rotaryDim,
            4);
  EXPECT_EQ(accepted("llama", R"({"partial_rotary_factor": 1.0})").rotaryDim,
            8);
}

TEST(RopeConfigTest, RopeTypes) {
  for (StringRef type : {"yarn", "longrope", "proportional", "mrope", ""})
    for (StringRef key : {"rope_type", "type"})
      for (StringRef object : {"rope_parameters", "rope_scaling"}) {
        std::string changes =
            ("{\"" + object + "\": {\"" + key + "\": \"" + type + "\"}}").str();
        std::string message =
            ("\"" + object + "." + key + "\" is \"" + type +
             "\": not a supported rope type: \"llama\" takes \"default\", "
             "\"llama3\", \"linear\", \"dynamic\"")
                .str();
        expectRefused({{"llama", changes.c_str(), message.c_str()}});
      }
  expectRefused({
      {"llama", R"({"rope_scaling": {"type": null}})",
       "\"rope_scaling.type\" is null: not a supported rope type: \"llama\" "
       "takes \"default\", \"llama3\", \"linear\", \"dynamic\""},
      {"llama", R"({"rope_scaling": 2.0})",
       "\"rope_scaling\" is 2: expected an object or null"},
      {"llama", R"({"rope_parameters": {"full_attention": {"rope_theta": 1}}})",
       "\"rope_parameters.full_attention\" is {\"rope_theta\":1}: rotary "
       "parameters that depend on the layer are not supported"},
      {"llama", R"({"rope_parameters": {"partial_rotary_factor": 0.25}})",
       "\"rope_parameters.partial_rotary_factor\" is 0.25: the models of "
       "\"llama\" rotate whole heads: expected 1"},
  });
}

TEST(RopeConfigTest, Llama3RopeFields) {
  expectRefused({
      {"llama", R"({"rope_scaling": {"type": "llama3", "factor": 8,
       "low_freq_factor": 1, "high_freq_factor": 4}})",
       "no \"rope_scaling.original_max_position_embeddings\": rope type "
       "\"llama3\" needs it"},
      {"llama", R"({"rope_scaling": {"type": "llama3", "factor": 8,
       "high_freq_factor": 4, "original_max_position_embeddings": 16}})",
       "no \"rope_scaling.low_freq_factor\": rope type \"llama3\" needs it"},
      {"llama", R"({"rope_scaling": {"type": "llama3", "factor": 0.5,
       "low_freq_factor": 1, "high_freq_factor": 4,
       "original_max_position_embeddings": 16}})",
       "\"rope_scaling.factor\" is 0.5: expected a number of at least 1"},
      {"llama", R"({"rope_scaling": {"type": "llama3", "factor": 8,
       "low_freq_factor": 4, "high_freq_factor": 4,
       "original_max_position_embeddings": 16}})",
       "\"rope_scaling.low_freq_factor\" is 4 and "
       "\"rope_scaling.high_freq_factor\" is 4: expected the first below the "
       "second"},
      {"llama", R"({"original_max_position_embeddings": 32,
       "rope_scaling": {"type": "llama3", "factor": 8,
       "low_freq_factor": 1, "high_freq_factor": 4,
       "original_max_position_embeddings": 16}})",
       "\"rope_scaling.original_max_position_embeddings\" is 16 and "
       "\"original_max_position_embeddings\" is 32: keep one of them"},
  });
}
