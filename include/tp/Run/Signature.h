// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What a per-rank program takes and gives.

#ifndef TP_RUN_SIGNATURE_H
#define TP_RUN_SIGNATURE_H

#include "tp/IR/RankFunctions.h"
#include "tp/Reference/Shards.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tp {

/// Element types as they are fed and read.
enum class ElementKind { F32, F64, I32, I64, I1 };

/// Bytes of one element.
int64_t sizeInBytes(ElementKind kind);

/// The kind of an IR type; f32 for f16 and bf16, which run as that. Nothing for
/// those that do not run.
std::optional<ElementKind> elementKind(mlir::Type type);

/// A contiguous row-major tensor of a rank, or a whole one.
struct Array {
  ElementKind kind = ElementKind::F32;
  llvm::SmallVector<int64_t> shape;
  /// At the alignment of any element type.
  std::vector<char> bytes;

  Array() = default;
  /// Zeros.
  Array(ElementKind kind, llvm::ArrayRef<int64_t> shape);
  int64_t size() const { return bytes.size() / sizeInBytes(kind); }
  template <class T> llvm::MutableArrayRef<T> as() {
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(bytes.data()),
            bytes.size() / sizeof(T)};
  }
};

/// An argument or a result of the entry function.
struct Port {
  /// `tp.name`, or its position: "argument 2", "result 0".
  std::string name;
  ElementKind kind = ElementKind::F32;
  llvm::SmallVector<int64_t> globalShape;
  /// Null: every rank holds all of it.
  ShardingAttr sharding;
  bool isParameter = false;
  /// Integers lie in [0, bound).
  std::optional<int64_t> bound;
  /// Integers that must be among those that are made: see `findEdges`.
  std::vector<int64_t> edges;
  /// Null if the file's tensor called `name` is the whole value.
  StoredAttr stored;
  /// Number of the tensors of the same name before this one, whose numbers
  /// differ unless a file gives them. Blocks of one tensor are one.
  int64_t occurrence = 0;

  /// Name and shape of the tensor of a file that the value is a part of.
  llvm::StringRef sourceName() const {
    return stored ? stored.getName() : llvm::StringRef(name);
  }
  llvm::ArrayRef<int64_t> sourceShape() const {
    return stored ? stored.getShape() : llvm::ArrayRef<int64_t>(globalShape);
  }
};

/// The entry of a module in the local phase.
struct Signature {
  /// The program's name.
  std::string entry;
  /// The functions of the ranks, and by rank which one; without a table all run
  /// the only one.
  std::vector<std::string> functions;
  llvm::SmallVector<unsigned> functionOfRank;
  /// Null for a program that names no mesh: its tensors are whole everywhere.
  MeshAttr mesh;
  int64_t numRanks = 1;
  std::vector<Port> arguments, results;

  /// What `rank` holds of a port.
  llvm::SmallVector<Span> ranges(const Port &port, int64_t rank) const;
  /// Shape of what `rank` holds of a port.
  llvm::SmallVector<int64_t> localShape(const Port &port, int64_t rank) const;
  /// How a port lies on the mesh.
  Spread spread(const Port &port) const {
    return {port.name, port.globalShape, mesh ? port.sharding : nullptr, mesh};
  }
};

/// The local shapes of a program are not those of its layouts: it cannot run,
/// and it is wrong.
class ShapeFaultError : public llvm::ErrorInfo<ShapeFaultError> {
public:
  static char ID;
  explicit ShapeFaultError(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// Reads the attributes that tp-partition writes. Errors: an element type that
/// does not run, a sharding that does not resolve, and `ShapeFaultError`.
llvm::Expected<Signature> readSignature(const RankFunctions &entry);

/// The same for a function before partitioning, as one rank that holds
/// everything, with the bounds that its operations give.
llvm::Expected<Signature> readWholeSignature(mlir::func::FuncOp entry);

} // namespace tp

#endif // TP_RUN_SIGNATURE_H
