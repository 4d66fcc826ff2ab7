// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_WEIGHTFILES_H
#define TP_IMPORT_WEIGHTFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tp {

inline constexpr llvm::StringLiteral singleName = "model.safetensors";
inline constexpr llvm::StringLiteral indexName = "model.safetensors.index.json";

/// What a folder holds under names that weights have, each list sorted.
struct WeightFiles {
  /// `singleName` and `indexName` are there, whatever they are.
  bool hasSingle = false, hasIndex = false;
  /// Other files in the safetensors format that look like shards or like
  /// variants of the model: "model-00001-of-00002.safetensors".
  std::vector<std::string> shards;
  /// The rest of the safetensors files, such as activations to compare with,
  /// or "consolidated*", a second copy of some weights in other names.
  std::vector<std::string> others;
  /// What belongs to an adapter such as LoRA.
  std::vector<std::string> adapters;
  /// Weights in formats that are not read.
  std::vector<std::string> foreign;
  /// Weights in folders below this one, if it has none itself.
  std::vector<std::string> below;

  bool empty() const;

  /// Error unless exactly one of the single file and the index is there, and
  /// nothing that contradicts it. Shards are not looked at.
  llvm::Error check(llvm::StringRef folder) const;
};

/// Looks at names only, of the folder and of those in it.
llvm::Expected<WeightFiles> listWeightFiles(llvm::StringRef folder);

/// The first of many names, quoted, and how many more there are.
std::string listed(llvm::ArrayRef<std::string> names);

} // namespace tp

#endif // TP_IMPORT_WEIGHTFILES_H
