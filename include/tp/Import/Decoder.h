// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_DECODER_H
#define TP_IMPORT_DECODER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tp/Import/HFConfig.h"

namespace tp {

/// What a program computes: the logits of all tokens of a sequence, or of one
/// token that follows a cache of earlier ones.
enum class Phase { Prefill, Decode };

/// Which program of a decoder to write.
struct DecoderOptions {
  Phase phase = Phase::Prefill;
  /// Sequences processed at once, at least 1.
  int64_t batch = 1;
  /// Tokens of each sequence, in the decode phase those in the cache: from 1 to
  /// the largest number of positions and, if the model has one, to its sliding
  /// window, where the new token counts, too.
  int64_t sequence = 1;
  /// Element type of weights and activations: "bf16", "f16", "f32" or "f64".
  std::string dtype;
  /// The first so many layers only: from 1 to the number that the config has.
  std::optional<int64_t> layers;
  /// Pads the vocabulary for this many ranks, see `paddedVocabulary`.
  std::optional<int64_t> padVocabulary;
};

/// The least multiple of 128 * `ranks` that is not below `vocabulary`: each of
/// the ranks gets as many rows, and a multiple of 128 of them. Error if `ranks`
/// is below 1 or the number does not fit in 63 bits.
llvm::Expected<int64_t> paddedVocabulary(int64_t vocabulary, int64_t ranks);

/// What `paddedVocabulary` makes of a vocabulary, in words.
std::string describePadding(int64_t vocabulary, int64_t ranks);

/// Writes the forward pass of a decoder as an open program (no shardings).
///
/// `@main` takes the token ids [batch, sequence] and then every weight, in the
/// order of `weights()` and under its name in the checkpoint (`tp.name`,
/// `tp.parameter`), and returns the logits [batch, sequence, vocabulary]. It
/// calls one private function, `@decoder_layer`, once for each layer; there the
/// weights bear the names without the prefix "model.layers.N.". The token
/// embedding, the function's argument and result, and both residual sums are
/// `tp.stream`.
///
/// In the decode phase the token ids are [batch, 1] and followed by the cache,
/// for each layer `past_key_values.N.key` and `.value` [batch, sequence,
/// kv_heads, head_dim], keys after their rotation; behind the logits those of
/// the new token are returned as `new_key_values.N.key` and `.value` [batch, 1,
/// kv_heads, head_dim], laid out as the cache is.
///
/// With a padded vocabulary the tables have rows of zeros behind those of the
/// checkpoint, and the logits columns with the lowest number behind the
/// model's; ids name rows of the checkpoint only.
///
/// Loads the dialects that it uses into `context`. The error lists, one line
/// each, every option that does not fit the config.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildDecoder(mlir::MLIRContext &context, const DecoderConfig &config,
             const DecoderOptions &options);

} // namespace tp

#endif // TP_IMPORT_DECODER_H
