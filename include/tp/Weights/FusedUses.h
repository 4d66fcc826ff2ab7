// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which parameters a program cuts into blocks, and how.

#ifndef TP_WEIGHTS_FUSEDUSES_H
#define TP_WEIGHTS_FUSEDUSES_H

#include "tp/IR/TP.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tp {

/// Rows of a dimension: `count` runs of `size` rows, the first from row `from`,
/// each `stride` rows after the one before.
struct RowBlock {
  int64_t from = 0, size = 0, stride = 0, count = 1;

  int64_t rows() const { return size * count; }
  auto operator<=>(const RowBlock &) const = default;
};

/// The blocks of a parameter, in order and apart from one another.
struct FusedSplit {
  unsigned dim = 0;
  llvm::SmallVector<RowBlock> blocks;

  bool operator==(const FusedSplit &) const = default;
};

/// Rows of an operand.
struct RowUse {
  unsigned operand = 0, dim = 0;
  RowBlock block;
};

/// The rows of the operands that rows `block` of dimension `dim` of the result
/// of `op` are computed from; other operands are needed whole. Nothing if the
/// operation does not compute these rows from such rows alone.
std::optional<llvm::SmallVector<RowUse>>
rowsOfOperands(mlir::Operation *op, unsigned dim, const RowBlock &block);

/// The slices of a module that can be taken of parameters in place of what is
/// computed from them.
class FusedUses {
public:
  /// Diagnoses pins that lie across blocks. What is pinned so that ranks hold
  /// whole groups of blocks stays fused. Warns of other parameters that stay so
  /// although slices of their products are taken.
  static mlir::FailureOr<FusedUses> find(mlir::ModuleOp module);

  /// Null for an argument that is not split.
  const FusedSplit *find(mlir::BlockArgument argument) const {
    auto found = splits.find(argument);
    return found == splits.end() ? nullptr : &found->second;
  }

  struct Rows {
    unsigned dim = 0;
    RowBlock block;
  };
  llvm::MapVector<SliceOp, Rows> slices;
  /// Slices and the operations between them and the parameters.
  llvm::DenseSet<mlir::Operation *> visited;
  /// Their uses of what is computed from the parameters.
  llvm::DenseSet<mlir::OpOperand *> onTheWay;

private:
  llvm::MapVector<mlir::BlockArgument, FusedSplit> splits;
};

} // namespace tp

#endif // TP_WEIGHTS_FUSEDUSES_H
