// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrictJSON.h"
#include "tp/Import/Safetensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tp;

static std::string inFolder(StringRef folder, StringRef file) {
  SmallString<128> path(folder);
  sys::path::append(path, file);
  return path.str().str();
}

/// A name that stays in its folder on every system.
static bool isPlainName(StringRef file) {
  return !file.empty() && file != "." && file != ".." &&
         file.find_first_of(StringRef("/\\:\0", 4)) == StringRef::npos;
}

Error Checkpoint::place(StringRef tensor, StringRef shard, StringRef folder) {
  if (!isPlainName(shard))
    return createStringError(source + ": tensor " + quoted(tensor) + " is in " +
                             quoted(shard) +
                             ": expected the plain name of a file in the "
                             "same folder");
  if (!files.contains(shard)) {
    Expected<SafetensorsFile> file =
        SafetensorsFile::open(inFolder(folder, shard));
    if (!file)
      return file.takeError();
    files.try_emplace(shard, std::move(*file));
  }
  Expected<const StoredTensor &> found =
      files.find(shard)->second.lookup(tensor);
  if (!found)
    return createStringError(source + ": " + toString(found.takeError()));
  placed[tensor] = &*found;
  return Error::success();
}

Error Checkpoint::openShards(StringRef folder, StringRef indexPath) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(indexPath, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(indexPath + ": " + buffer.getError().message());
  Expected<json::Value> index =
      parseStrictJSON((*buffer)->getBuffer(), indexPath);
  if (!index)
    return index.takeError();
  const json::Object *top = index->getAsObject();
  const json::Object *map = top ? top->getObject("weight_map") : nullptr;
  if (!map)
    return createStringError(indexPath +
                             ": no object \"weight_map\": expected one from "
                             "tensor names to file names");

  // The object is a hash table; errors must not depend on its order.
  std::vector<std::pair<StringRef, const json::Value *>> entries;
  for (const auto &entry : *map)
    entries.push_back({entry.first, &entry.second});
  sort(entries, less_first());
  for (auto [tensor, value] : entries) {
    std::optional<StringRef> shard = value->getAsString();
    if (!shard)
      return createStringError(indexPath + ": tensor " + quoted(tensor) +
                               " is in " + printed(*value) +
                               ": expected the name of a file");
    if (Error error = place(tensor, *shard, folder))
      return error;
  }
  return Error::success();
}

Expected<Checkpoint> Checkpoint::open(StringRef folder) {
  Checkpoint checkpoint;
  std::string single = inFolder(folder, "model.safetensors");
  std::string index = inFolder(folder, "model.safetensors.index.json");
  if (sys::fs::exists(single)) {
    checkpoint.source = single;
    Expected<SafetensorsFile> file = SafetensorsFile::open(single);
    if (!file)
      return file.takeError();
    auto entry = checkpoint.files.try_emplace(single, std::move(*file)).first;
    for (const StoredTensor &tensor : entry->second.tensors())
      checkpoint.placed[tensor.name] = &tensor;
    return checkpoint;
  }
  if (!sys::fs::exists(index))
    return createStringError(folder + ": neither model.safetensors nor "
                                      "model.safetensors.index.json is there");
  checkpoint.source = index;
  if (Error error = checkpoint.openShards(folder, index))
    return error;
  return checkpoint;
}

Expected<const StoredTensor &> Checkpoint::lookup(StringRef name) const {
  if (auto found = placed.find(name); found != placed.end())
    return *found->second;
  return createStringError(source + ": no tensor " + quoted(name) +
                           " among its " + Twine(placed.size()));
}

std::vector<StringRef> Checkpoint::names() const {
  std::vector<StringRef> sorted(placed.keys().begin(), placed.keys().end());
  sort(sorted);
  return sorted;
}
