// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_DECODER_H
#define TP_IMPORT_DECODER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tp/Import/HFConfig.h"

namespace tp {

/// Which program of a decoder to write.
struct DecoderOptions {
  /// Sequences processed at once, at least 1.
  int64_t batch = 1;
  /// Tokens of each sequence: from 1 to the largest number of positions and, if
  /// the model has one, to its sliding window.
  int64_t sequence = 1;
  /// Element type of weights and activations: "bf16", "f16", "f32" or "f64".
  std::string dtype;
  /// The first so many layers only: from 1 to the number that the config has.
  std::optional<int64_t> layers;
};

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
/// Loads the dialects that it uses into `context`. The error lists, one line
/// each, every option that does not fit the config.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildDecoder(mlir::MLIRContext &context, const DecoderConfig &config,
             const DecoderOptions &options);

} // namespace tp

#endif // TP_IMPORT_DECODER_H
