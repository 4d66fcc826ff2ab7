// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrictJSON.h"
#include "WeightFiles.h"
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

bool Checkpoint::isIn(StringRef folder) {
  Expected<WeightFiles> files = listWeightFiles(folder);
  if (files)
    return !files->empty();
  // `open` says why.
  consumeError(files.takeError());
  return true;
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

/// Every tensor of a shard, and every file that looks like one, must be in the
/// index: what is left out of it would be dropped.
Error Checkpoint::checkIndexed(ArrayRef<std::string> shards,
                               StringRef folder) const {
  std::vector<std::string> unnamed, unplaced;
  for (const std::string &name : shards)
    if (!files.contains(name))
      unnamed.push_back(name);
  if (!unnamed.empty())
    return createStringError(folder + ": " + listed(unnamed) +
                             ": not among the files that " + indexName +
                             " names");
  for (const auto &file : files)
    for (const StoredTensor &tensor : file.second.tensors())
      if (placed.lookup(tensor.name) != &tensor)
        unplaced.push_back(tensor.name);
  sort(unplaced);
  if (unplaced.empty())
    return Error::success();
  return createStringError(source + ": the index does not place " +
                           Twine(unplaced.size()) +
                           " tensors of its files: " + listed(unplaced));
}

Expected<Checkpoint> Checkpoint::open(StringRef folder) {
  Expected<WeightFiles> found = listWeightFiles(folder);
  if (!found)
    return found.takeError();
  if (Error error = found->check(folder))
    return error;
  Checkpoint checkpoint;
  for (const auto *names : {&found->others, &found->foreign})
    for (const std::string &name : *names)
      checkpoint.beside.push_back(name);
  checkpoint.source =
      inFolder(folder, found->hasSingle ? singleName : indexName);
  if (!found->hasSingle) {
    if (Error error = checkpoint.openShards(folder, checkpoint.source))
      return error;
    erase_if(checkpoint.beside, [&](const std::string &name) {
      return checkpoint.files.contains(name);
    });
    if (Error error = checkpoint.checkIndexed(found->shards, folder))
      return error;
    return checkpoint;
  }
  Expected<SafetensorsFile> file = SafetensorsFile::open(checkpoint.source);
  if (!file)
    return file.takeError();
  auto entry = checkpoint.files.try_emplace(singleName, std::move(*file)).first;
  for (const StoredTensor &tensor : entry->second.tensors())
    checkpoint.placed[tensor.name] = &tensor;
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
