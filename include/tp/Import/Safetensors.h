// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_SAFETENSORS_H
#define TP_IMPORT_SAFETENSORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tp {

/// Element types of a safetensors file.
enum class StoredType {
  F64,
  F32,
  F16,
  BF16,
  F8E5M2,
  F8E4M3,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool
};

/// Whether the elements are floating-point numbers.
bool isFloat(StoredType type);

/// Size of an element in bytes.
int64_t sizeInBytes(StoredType type);

/// The name in the file: "F32", "BF16", "BOOL", ...
llvm::StringRef name(StoredType type);

/// A tensor in a file. Views memory of the file it comes from and lives no
/// longer than it.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  /// Row-major, little-endian, of exactly the size that type and shape ask
  /// for; not necessarily aligned.
  llvm::StringRef bytes;
  /// The file, for messages.
  llvm::StringRef file;
};

/// Reads the rectangle of `sizes` elements at `offsets`, row-major, into
/// `out`, which must have room for exactly that many. Tensors of floating-point
/// types are read as float or double, those of integers and BOOL as int64_t;
/// the other combinations, a slice outside of the tensor, and a U64 above
/// 2^63 - 1 are errors. F64 read as float is rounded to nearest.
llvm::Error readSlice(const StoredTensor &tensor,
                      llvm::ArrayRef<int64_t> offsets,
                      llvm::ArrayRef<int64_t> sizes,
                      llvm::MutableArrayRef<float> out);
llvm::Error readSlice(const StoredTensor &tensor,
                      llvm::ArrayRef<int64_t> offsets,
                      llvm::ArrayRef<int64_t> sizes,
                      llvm::MutableArrayRef<double> out);
llvm::Error readSlice(const StoredTensor &tensor,
                      llvm::ArrayRef<int64_t> offsets,
                      llvm::ArrayRef<int64_t> sizes,
                      llvm::MutableArrayRef<int64_t> out);

/// Error, with both shapes, unless the tensor has this shape.
llvm::Error checkShape(const StoredTensor &tensor,
                       llvm::ArrayRef<int64_t> shape);

/// A safetensors file, mapped into memory (the file must not be changed while
/// it is open). Everything the header says is checked when it is opened: its
/// tensors have known types and lie one behind the other without gaps up to
/// the end of the file.
class SafetensorsFile {
public:
  static llvm::Expected<SafetensorsFile> open(llvm::StringRef path);

  /// A file that is already in memory; messages name the buffer's identifier.
  static llvm::Expected<SafetensorsFile>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer);

  /// Error if there is no such tensor.
  llvm::Expected<const StoredTensor &> lookup(llvm::StringRef name) const;

  /// All tensors in the order of their data.
  llvm::ArrayRef<StoredTensor> tensors() const { return stored; }

  /// The free-form strings under "__metadata__".
  const llvm::StringMap<std::string> &metadata() const { return notes; }

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::vector<StoredTensor> stored;
  llvm::StringMap<size_t> indices;
  llvm::StringMap<std::string> notes;
};

/// The weights in a folder as Hugging Face writes them: model.safetensors, or
/// shards under model.safetensors.index.json.
class Checkpoint {
public:
  /// Whether the folder holds anything under a name that weights have, in
  /// whichever format, or cannot be looked into. `open` reads it or says why
  /// not.
  static bool isIn(llvm::StringRef folder);

  /// Opens and checks every file. Shards must be plain names of files in the
  /// folder, hold the tensors that the index places in them and no others, and
  /// no file of the folder that looks like a shard is without its name in the
  /// index.
  static llvm::Expected<Checkpoint> open(llvm::StringRef folder);

  /// Error if there is no such tensor.
  llvm::Expected<const StoredTensor &> lookup(llvm::StringRef name) const;

  /// Names of all tensors, sorted.
  std::vector<llvm::StringRef> names() const;

  /// Files of the folder that may hold weights, too, but are not read.
  llvm::ArrayRef<std::string> filesBeside() const { return beside; }

  /// The file or index, for messages.
  llvm::StringRef path() const { return source; }

private:
  llvm::Error openShards(llvm::StringRef folder, llvm::StringRef indexPath);
  llvm::Error place(llvm::StringRef tensor, llvm::StringRef shard,
                    llvm::StringRef folder);

  llvm::Error checkIndexed(llvm::ArrayRef<std::string> shards,
                           llvm::StringRef folder) const;

  std::string source;
  std::vector<std::string> beside;
  llvm::StringMap<SafetensorsFile> files;
  llvm::StringMap<const StoredTensor *> placed;
};

} // namespace tp

#endif // TP_IMPORT_SAFETENSORS_H
