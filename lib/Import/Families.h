// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_FAMILIES_H
#define TP_IMPORT_FAMILIES_H

#include "tp/Import/HFConfig.h"
#include "llvm/ADT/ArrayRef.h"

namespace tp {

/// When the layers of a family attend to a sliding window.
enum class WindowRule {
  /// The family has no sliding window.
  Never,
  /// All layers, if "sliding_window" is not null.
  EveryLayer,
  /// Some layers, if "use_sliding_window" is true.
  SomeLayers,
};

/// What the fields for sizes are called.
struct SizeKeys {
  llvm::StringRef hidden, layers, heads, ffn, positions, epsilon, activation;
};

/// Where the biases of a family come from.
struct BiasRule {
  /// "attention_bias" switches those of q, k, v and o.
  bool attentionField = false;
  /// "mlp_bias" switches those of the feed-forward part.
  bool mlpField = false;
  /// Always there.
  bool qkv = false, output = false, mlp = false;
};

/// What the configuration class and the model of a family in transformers fix.
/// docs/models.md lists the defaults and their sources.
struct Family {
  llvm::StringRef name;
  /// The class with a language model's head, which "architectures" names.
  llvm::StringRef architecture;
  SizeKeys keys;
  /// The feed-forward size is four times the hidden size if none is given;
  /// otherwise it has no default.
  bool ffnByHidden = false;
  /// Absent where positions are rows of a table, whose size has no default.
  std::optional<int64_t> positions;
  double epsilon;
  /// As many as heads if absent here.
  std::optional<int64_t> kvHeads;
  /// Hidden size / heads if absent here.
  std::optional<int64_t> headDim;
  Activation activation = Activation::SiLU;
  bool tied = false;
  BiasRule biases;
  WindowRule window = WindowRule::Never;
  /// Without a "sliding_window".
  std::optional<int64_t> windowByDefault;
  /// The number of KV heads and the size of a head are fields.
  bool hasHeadFields = true;
  /// "partial_rotary_factor" is obeyed.
  bool partialRotary = false;
  /// Values of "rope_type" that the family knows and that are supported.
  llvm::ArrayRef<llvm::StringLiteral> ropeTypes;
};

llvm::ArrayRef<Family> families();

/// A field that changes what the model computes in a way that is not
/// supported, unless it is absent, null, false, empty or `neutral`.
struct UnsupportedField {
  llvm::StringRef key, reason;
  std::optional<double> neutral = {};
};

llvm::ArrayRef<UnsupportedField> unsupportedFields();

/// Fields that say nothing about the forward pass. Dropout has no effect in it.
llvm::ArrayRef<llvm::StringRef> harmlessFields();

} // namespace tp

#endif // TP_IMPORT_FAMILIES_H
