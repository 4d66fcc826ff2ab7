// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/Stored.h"
#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

FailureOr<SmallVector<StoredRun>> tp::getStoredRuns(StoredAttr stored,
                                                    Range rows, int64_t limit) {
  SmallVector<StoredRun> runs;
  int64_t size = stored.getSize();
  int64_t end = std::min(rows.offset + rows.size, size * stored.getCount());
  // Runs that touch are one.
  bool touch = stored.getCount() == 1 || stored.getStride() == size;
  for (int64_t row = rows.offset; row < end;) {
    int64_t run = row / size, within = row % size;
    int64_t length = touch ? end - row : std::min(size - within, end - row);
    if (static_cast<int64_t>(runs.size()) == limit)
      return failure();
    runs.push_back({stored.getFrom() + run * stored.getStride() + within,
                    row - rows.offset, length});
    row += length;
  }
  return runs;
}

std::optional<std::string> tp::getStoredMismatch(StoredAttr stored,
                                                 ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ArrayRef<int64_t> file = stored.getShape();
  if (shape.size() != file.size()) {
    os << "rank " << shape.size() << " for a part of a tensor of rank "
       << file.size();
    return text;
  }
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isCut = static_cast<int64_t>(dim) == stored.getDim();
    int64_t wanted = isCut ? stored.getSize() * stored.getCount() : file[dim];
    if (size == wanted || (isCut && size > wanted))
      continue;
    os << "dimension " << dim << " has " << size << " elements, the part of \""
       << stored.getName() << "\" has " << wanted;
    return text;
  }
  return std::nullopt;
}
