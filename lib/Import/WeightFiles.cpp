// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WeightFiles.h"
#include "StrictJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tp;

/// Most names in a message.
static constexpr size_t maxNames = 8;

std::string tp::listed(ArrayRef<std::string> names) {
  ArrayRef<std::string> shown = names.take_front(maxNames);
  std::string text = join(
      map_range(shown, [](const std::string &name) { return quoted(name); }),
      ", ");
  if (size_t hidden = names.size() - shown.size())
    text += " and " + std::to_string(hidden) + " more";
  return text;
}

/// Of formats other than safetensors: PyTorch, TensorFlow, Flax, GGML, ONNX and
/// those of training frameworks.
static bool hasForeignEnding(StringRef lower) {
  static constexpr StringLiteral endings[] = {
      ".bin",  ".pt",      ".pth",      ".ckpt",   ".gguf",       ".ggml",
      ".h5",   ".msgpack", ".npz",      ".npy",    ".onnx",       ".pkl",
      ".nemo", ".pickle",  ".pdparams", ".distcp", ".index.json", ".tflite"};
  return any_of(endings,
                [&](StringRef ending) { return lower.ends_with(ending); });
}

/// What a trainer writes beside the weights: its own state.
static bool isTrainerState(StringRef lower) {
  static constexpr StringLiteral stems[] = {
      "training_args.", "optimizer.", "scheduler.", "scaler.", "rng_state"};
  return any_of(stems, [&](StringRef stem) { return lower.starts_with(stem); });
}

static bool isShardLike(StringRef lower) {
  return lower.starts_with("model") || lower.starts_with("pytorch_model") ||
         lower.contains("-of-");
}

static void sortIn(StringRef name, WeightFiles &files) {
  std::string lower = name.lower();
  StringRef low = lower;
  if (name == singleName)
    files.hasSingle = true;
  else if (name == indexName)
    files.hasIndex = true;
  else if (isTrainerState(low))
    return;
  else if (low.starts_with("adapter_model.") ||
           low.starts_with("adapter_config."))
    files.adapters.push_back(name.str());
  else if (hasForeignEnding(low))
    files.foreign.push_back(name.str());
  // Also "model.safetensors.part", as an interrupted download leaves it.
  else if (low.contains(".safetensors"))
    (isShardLike(low) ? files.shards : files.others).push_back(name.str());
}

/// Calls `visit` with the name of each entry and whether it is a folder.
static Error forEachEntry(StringRef folder,
                          function_ref<void(StringRef, bool)> visit) {
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code))
    visit(sys::path::filename(entry->path()),
          sys::fs::is_directory(entry->path()));
  if (code)
    return createStringError(folder + ": " + code.message());
  return Error::success();
}

static Error listBelow(StringRef folder, StringRef name, WeightFiles &files) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  WeightFiles inner;
  if (Error error = forEachEntry(path, [&](StringRef file, bool isFolder) {
        if (!isFolder)
          sortIn(file, inner);
      }))
    return error;
  if (inner.hasSingle)
    inner.shards.push_back(singleName.str());
  if (inner.hasIndex)
    inner.shards.push_back(indexName.str());
  for (ArrayRef<std::string> group :
       {inner.shards, inner.others, inner.foreign})
    for (const std::string &file : group)
      files.below.push_back((name + "/" + file).str());
  return Error::success();
}

Expected<WeightFiles> tp::listWeightFiles(StringRef folder) {
  WeightFiles files;
  std::vector<std::string> folders;
  if (Error error = forEachEntry(folder, [&](StringRef name, bool isFolder) {
        // A folder called as weights are is none, but no model without any.
        if (isFolder && !name.contains(".safetensors"))
          folders.push_back(name.str());
        else
          sortIn(name, files);
      }))
    return error;
  // Other formats have folders of their own beside the weights.
  if (!files.empty())
    folders.clear();
  for (StringRef name : folders)
    if (Error error = listBelow(folder, name, files))
      return error;
  for (auto *names : {&files.shards, &files.others, &files.adapters,
                      &files.foreign, &files.below})
    sort(*names);
  return files;
}

bool WeightFiles::empty() const {
  return !hasSingle && !hasIndex && shards.empty() && others.empty() &&
         adapters.empty() && foreign.empty() && below.empty();
}

Error WeightFiles::check(StringRef folder) const {
  auto refuse = [&](const Twine &message) {
    return createStringError(folder + ": " + message);
  };
  if (!adapters.empty())
    return refuse(listed(adapters) +
                  ": an adapter (LoRA), not a model: expected the weights of "
                  "the model with the adapter merged into them");
  if (hasSingle && hasIndex)
    return refuse("both " + singleName + " and " + indexName +
                  " are there: keep one of them");
  if (hasSingle && !shards.empty())
    return refuse(listed(shards) + " beside " + singleName +
                  ": which of them holds the model is not said: keep one");
  if (hasSingle || hasIndex)
    return Error::success();
  std::string expected = ": expected " + singleName.str() + ", or " +
                         indexName.str() + " that names the shards";
  std::vector<std::string> named = shards;
  append_range(named, others);
  if (!named.empty())
    return refuse(listed(named) + ": weights without an index" + expected);
  if (!foreign.empty())
    return refuse(listed(foreign) + ": weights in a format that is not read" +
                  expected);
  if (!below.empty())
    return refuse(listed(below) + ": weights in a folder below" + expected);
  return refuse("neither " + singleName + " nor " + indexName + " is there");
}
