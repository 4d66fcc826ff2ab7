// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_HFCONFIG_H
#define TP_IMPORT_HFCONFIG_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tp {

/// Non-linearity of the feed-forward part.
enum class Activation { SiLU, GELU, GELUTanh, ReLU, Tanh };

/// Which norm stands before each part of a layer and after the last one.
enum class NormKind { RMS, Layer };

/// How the feed-forward part is built: down(act(gate(x)) * up(x)), or
/// down(act(up(x))).
enum class FeedForward { Gated, Plain };

/// Stretching of the rotary frequencies as in Llama 3.1: wavelengths above
/// originalContext / lowFrequency are multiplied by `factor`, those below
/// originalContext / highFrequency stay, those between are interpolated. With
/// an original context of 1 that is linear scaling.
struct Llama3RopeScaling {
  /// At least 1.
  double factor = 1;
  /// Positive; `lowFrequency` < `highFrequency`.
  double lowFrequency = 1;
  double highFrequency = 4;
  /// Positions of the pretraining, at least 1.
  int64_t originalContext = 8192;

  bool operator==(const Llama3RopeScaling &) const = default;
};

/// A decoder read from a Hugging Face config.json and checked: every size is
/// positive, `heads` is a multiple of `kvHeads`, `rotaryDim` is even and at
/// most `headDim`, and the number of parameters fits in 63 bits.
struct DecoderConfig {
  /// "llama", "mistral", "qwen2", "qwen3", "gemma", "phi3" or "gpt2".
  std::string modelType;
  int64_t hiddenSize = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  /// Not always hiddenSize / heads: Qwen3-0.6B has 16 heads of 128 on 1024.
  int64_t headDim = 0;
  int64_t ffnSize = 0;
  int64_t vocabulary = 0;
  int64_t maxPositions = 0;
  NormKind norm = NormKind::RMS;
  /// Added to the mean square, or to the variance, in every norm.
  double normEpsilon = 0;
  /// Added to the stored gain of every norm: 1 in Gemma.
  double gainOffset = 0;
  /// Positions are rows of a table added to the embedding (GPT-2); then nothing
  /// is rotated.
  bool learnedPositions = false;
  double ropeTheta = 0;
  std::optional<Llama3RopeScaling> ropeScaling;
  /// The first so many elements of each head are rotated; 0 with learned
  /// positions.
  int64_t rotaryDim = 0;
  /// The embedding is multiplied by sqrt(hiddenSize), in the weights' type
  /// (Gemma).
  bool scaledEmbedding = false;
  /// Scores are divided by sqrt(headDim).
  bool scaledScores = true;
  /// The output projection is the embedding table.
  bool tiedEmbeddings = false;
  /// Biases of the q, k and v projections.
  bool qkvBias = false;
  /// Bias of the o projection.
  bool outputBias = false;
  /// Biases of the projections of the feed-forward part.
  bool mlpBias = false;
  /// RMS norm over each head of q and k, before the rotation (Qwen3).
  bool qkNorm = false;
  /// One parameter holds the q, k and v projections, in this order.
  bool fusedQKV = false;
  /// One parameter holds the gate and the up projection, in this order.
  bool fusedGateUp = false;
  /// Projections are stored [inputs, outputs], not [outputs, inputs].
  bool storedInOut = false;
  FeedForward feedForward = FeedForward::Gated;
  Activation activation = Activation::SiLU;
  /// Set if any layer attends to this many last positions only; then the
  /// model is a full causal one up to sequences of this length.
  std::optional<int64_t> slidingWindow;
  /// Type of the stored weights: "bf16", "f16" or "f32".
  std::string dtype;

  bool operator==(const DecoderConfig &) const = default;
};

/// Reads the text of a config.json. Absent fields take the default of the
/// family's configuration class in transformers; absent sizes and unknown
/// fields are named in `warnings`, one line each. Rotary parameters may be
/// spelled as in transformers 5 (`rope_parameters`) or as before
/// (`rope_theta`, `rope_scaling`). The error lists everything that is wrong,
/// one line each, with file, key, value and what would be right.
llvm::Expected<DecoderConfig>
parseHFConfig(llvm::StringRef text, llvm::StringRef fileName,
              llvm::SmallVectorImpl<std::string> &warnings);

/// The same for the file at `path`.
llvm::Expected<DecoderConfig>
readHFConfig(llvm::StringRef path,
             llvm::SmallVectorImpl<std::string> &warnings);

/// A parameter under its name and with its shape in the checkpoint.
/// Projections are stored [outputs, inputs] or, with `storedInOut`, [inputs,
/// outputs].
struct WeightSpec {
  std::string name;
  llvm::SmallVector<int64_t, 2> shape;

  bool operator==(const WeightSpec &) const = default;
};

/// Every parameter of a checked config, in the order in which the model uses
/// them: embedding and positions; for each layer the norm before attention, q,
/// k, v, the norms of q and k, o, the norm before the feed-forward part, gate,
/// up, down; the last norm; lm_head unless it is tied. A bias follows its
/// weight.
std::vector<WeightSpec> weights(const DecoderConfig &config);

/// Number of parameters, in closed form. A tied lm_head counts once. Error if
/// the number does not fit in 63 bits.
llvm::Expected<int64_t> parameterCount(const DecoderConfig &config);

/// A smaller model of the same structure, for runs where memory is short.
/// Divides hidden_size and head_dim by a common number, and the feed-forward
/// size and the vocabulary by one each: the largest divisors not above
/// `factor` (at least 1) that leave the rotated part of head_dim even. Layers
/// and heads stay.
/// Appends to `said` one line for each of the four sizes.
llvm::Expected<DecoderConfig> shrink(DecoderConfig config, int64_t factor,
                                     std::vector<std::string> &said);

} // namespace tp

#endif // TP_IMPORT_HFCONFIG_H
