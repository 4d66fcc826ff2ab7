// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// How operations write what one rank computes.

#ifndef TP_IR_LOCALWRITER_H
#define TP_IR_LOCALWRITER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "tp/IR/Sharding.h"
#include <map>

namespace tp {

/// A number that follows from the program's sizes and attributes. A LocalWriter
/// makes it and writes it down, so that it knows how each integer of the local
/// program came about.
class Extent {
public:
  Extent operator+(Extent other) const { return Extent(value + other.value); }
  Extent operator-(Extent other) const { return Extent(value - other.value); }

private:
  friend class LocalWriter;
  explicit Extent(int64_t value) : value(value) {}
  int64_t value;
};

/// Writes the local form of one operation. Operations say what they need by
/// tensor and dimension; whatever depends on a layout, a mesh or a size (where
/// a shard begins, who is in a group, how large pieces are) is worked out and
/// written here, never as a bare integer.
///
/// `tensor` is always an operand or a result of the global operation.
class LocalWriter {
public:
  /// Writes `op` at the builder's insertion point, with the local `operands`
  /// and `resultTypes`. tp-check has accepted the operation, and the mesh has
  /// at most `maxTableRanks` ranks.
  LocalWriter(mlir::OpBuilder &builder, mlir::Operation *op, MeshAttr mesh,
              mlir::ValueRange operands, mlir::TypeRange resultTypes);

  mlir::Value getOperand(unsigned number = 0) const { return operands[number]; }
  mlir::Type getResultType(unsigned number = 0) const {
    return resultTypes[number];
  }

  /// Writes an operation at the place of the global one.
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, op->getLoc(), std::forward<Args>(args)...);
  }

  /// Writes the operation as it is on the local operands. Where it asks for the
  /// place of its shard, `origin` is its last operand.
  mlir::Operation *copy(mlir::Value origin = {});

  /// Writes slices of what `whole` makes, down to what the rank holds of result
  /// 0: the last of them, or `whole` if nothing is split.
  mlir::Operation *slice(mlir::Operation *whole);

  //===- Sizes ------------------------------------------------------------===//

  /// A number that stands in the operation itself.
  Extent getNumber(int64_t value) const { return Extent(value); }
  /// Elements in dimension `dim` of the whole tensor.
  Extent getSize(mlir::Value tensor, unsigned dim) const;
  mlir::IntegerAttr toAttr(Extent number);
  /// All sizes of the whole tensor.
  mlir::DenseI64ArrayAttr getShape(mlir::Value tensor);

  //===- Places, as values of type index ----------------------------------===//

  /// The index, in the whole of dimension `dim`, at which the rank's part
  /// begins; null if the dimension is not split.
  mlir::Value getOrigin(mlir::Value tensor, unsigned dim);
  /// The row-major index, in the whole tensor, of the rank's first element;
  /// null if no dimension is split or the tensor has no elements.
  mlir::Value getLinearOrigin(mlir::Value tensor);
  /// The index, in dimension `dim` of operand 0 as the rank holds it, at which
  /// the part begins that the rank keeps for result 0 when `parts` split the
  /// dimension further.
  mlir::Value getPartOrigin(unsigned dim, llvm::ArrayRef<AxisPart> parts);
  /// The rank's number among those that differ only along `parts`.
  mlir::Value getPlace(llvm::ArrayRef<AxisPart> parts);
  /// index + distance; null stays null.
  mlir::Value shift(mlir::Value index, Extent distance);

  //===- Tables of ranks --------------------------------------------------===//

  /// The ranks that differ only along `parts`, a row a group.
  mlir::DenseIntElementsAttr getGroups(llvm::ArrayRef<AxisPart> parts);
  /// What the members of those groups hold of dimension `dim`; null if those of
  /// each group hold equally much.
  mlir::DenseIntElementsAttr getPieces(llvm::ArrayRef<AxisPart> parts,
                                       mlir::Value tensor, unsigned dim);

  /// Who sends its shard to whom, a row (source, target) a rank, and how many
  /// elements that are: null if all send equally many.
  struct Sends {
    mlir::DenseIntElementsAttr pairs;
    mlir::DenseI64ArrayAttr counts;
  };
  /// From operand 0 to result 0, of which dimension `dim` is split over the
  /// same axes in another order.
  Sends getSends(unsigned dim);

private:
  using RankRows = llvm::SmallVector<llvm::SmallVector<int64_t>>;

  const RankRows &findGroups(llvm::ArrayRef<AxisPart> parts);
  mlir::DenseIntElementsAttr makeTable(const RankRows &rows);
  mlir::Value createOrigin(DimShardingAttr split, int64_t size);
  DimShardingAttr makeSplit(llvm::ArrayRef<AxisPart> parts, int64_t unit);
  Layout getLayout(mlir::Value tensor) const;

  mlir::OpBuilder &builder;
  mlir::Operation *op;
  MeshAttr mesh;
  mlir::FlatSymbolRefAttr meshName;
  mlir::ValueRange operands;
  mlir::TypeRange resultTypes;
  /// Groups found so far.
  std::map<llvm::SmallVector<AxisPart>, RankRows> groups;
};

/// Copies `op` with other operands and result types, attributes unchanged.
mlir::Operation *copyWithTypes(mlir::OpBuilder &builder, mlir::Operation *op,
                               mlir::ValueRange operands,
                               mlir::TypeRange resultTypes);

} // namespace tp

#endif // TP_IR_LOCALWRITER_H
