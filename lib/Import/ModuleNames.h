// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_MODULENAMES_H
#define TP_IMPORT_MODULENAMES_H

#include "tp/Import/HFConfig.h"

namespace tp {

/// What the modules of a family are called in its checkpoints. Parameters are
/// these names with ".weight" or ".bias" behind them.
struct ModuleNames {
  llvm::StringRef embedding;
  /// Empty without a table of positions.
  llvm::StringRef positions;
  /// Before the number of a layer.
  llvm::StringRef layers;
  llvm::StringRef lastNorm;

  // Within a layer.
  llvm::StringRef attentionNorm;
  /// Of the fused projection, or "" where q, k and v are apart.
  llvm::StringRef qkv;
  llvm::StringRef query, key, value;
  llvm::StringRef queryNorm, keyNorm;
  llvm::StringRef output;
  llvm::StringRef feedForwardNorm;
  /// Of the fused projection, or "" where gate and up are apart.
  llvm::StringRef gateUp;
  llvm::StringRef gate, up, down;
};

/// The output projection has the same name everywhere.
inline constexpr llvm::StringLiteral headModule = "lm_head";

const ModuleNames &moduleNames(const DecoderConfig &config);

} // namespace tp

#endif // TP_IMPORT_MODULENAMES_H
