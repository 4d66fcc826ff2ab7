// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Shardings as attributes (how they are written) and as layouts (what they
/// mean on a mesh).

#ifndef TP_IR_SHARDING_H
#define TP_IR_SHARDING_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

#include "tp/IR/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tp/IR/Attributes.h.inc"

namespace tp {

/// Part of a mesh axis: the coordinate (c / (n / (pre * size))) mod size, where
/// c is the coordinate along mesh axis number `axis` of n ranks. The whole axis
/// is pre = 1, size = n.
struct AxisPart {
  unsigned axis = 0;
  int64_t pre = 1;
  int64_t size = 1;

  bool operator==(const AxisPart &) const = default;
  auto operator<=>(const AxisPart &) const = default;
  /// Whether the two parts share a digit of a coordinate.
  bool overlaps(const AxisPart &other) const {
    return axis == other.axis && pre < other.pre * other.size &&
           other.pre < pre * size;
  }
};

using AxisParts = llvm::SmallVector<AxisPart, 1>;

/// Whether `part` shares a digit with one of `others`.
bool overlapsAny(const AxisPart &part, llvm::ArrayRef<AxisPart> others);

/// Joins neighbours that together are a larger part of one axis. `dimSize` is
/// the size, in units, of what the parts split: they are joined only where
/// nested array_split gives the pieces of the flat one, as it does where it
/// divides. 14 over 2x2 is 4,3,4,3, over 4 it is 4,4,3,3.
AxisParts joinParts(llvm::ArrayRef<AxisPart> parts, int64_t dimSize);

/// Sizes of the pieces that `parts` make of a dimension of `dimSize` units; the
/// largest is at most one more than the least.
struct PieceSizes {
  int64_t least, largest;
};
PieceSizes getPieceSizes(llvm::ArrayRef<AxisPart> parts, int64_t dimSize);

/// The same where the parts split pieces of these sizes.
AxisParts joinParts(llvm::ArrayRef<AxisPart> parts, PieceSizes pieces);

/// Whether dealing pieces of these sizes to `major` ranks, and what each got to
/// `minor`, is dealing them to major * minor ranks.
bool nestsFlat(PieceSizes pieces, int64_t major, int64_t minor);

/// Sorts a set of parts and joins neighbours.
AxisParts normalizeSet(llvm::ArrayRef<AxisPart> parts);

/// `lhs` without `rhs`; parts are cut where that is needed.
AxisParts subtractParts(llvm::ArrayRef<AxisPart> lhs,
                        llvm::ArrayRef<AxisPart> rhs);

/// Whether `set` holds all of `parts`. Parts of one axis whose borders do not
/// divide one another hold nothing of each other.
bool containsParts(llvm::ArrayRef<AxisPart> set,
                   llvm::ArrayRef<AxisPart> parts);

/// Product of the sizes.
int64_t numRanks(llvm::ArrayRef<AxisPart> parts);

/// How one dimension is split.
struct DimLayout {
  AxisParts parts;
  /// The dimension is dealt in groups of this many elements.
  int64_t unit = 1;

  bool operator==(const DimLayout &) const = default;
  /// Parts joined, and the unit dropped where shards are even without it. Equal
  /// for layouts that put the same elements of a dimension of `size` elements
  /// on the same ranks.
  DimLayout canonical(int64_t size) const;
};

/// A sharding, resolved on a mesh.
struct Layout {
  std::vector<DimLayout> dims;
  ReductionKind kind = ReductionKind::Sum;
  AxisParts unreduced;

  bool operator==(const Layout &) const = default;
  static Layout whole(unsigned rank) {
    Layout layout;
    layout.dims.resize(rank);
    return layout;
  }
  bool isWhole() const;
  /// The parts that split a dimension.
  AxisParts getSplitParts() const;
  /// The parts that it is unreduced over, and those that split a dimension.
  AxisParts getUsedParts() const;
  /// Whether the layouts put the same elements of a tensor of `shape` on the
  /// same ranks.
  bool means(const Layout &other, llvm::ArrayRef<int64_t> shape) const;
  /// Parts joined, unreduced axes sorted, units that change nothing dropped.
  Layout canonical(llvm::ArrayRef<int64_t> shape) const;
};

/// Resolves `sharding` on `mesh`. Errors (unknown axis, a part that does not
/// divide its axis, axes that overlap) go to `emitError`.
mlir::FailureOr<Layout>
resolve(ShardingAttr sharding, MeshAttr mesh,
        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The attribute that writes `layout`.
ShardingAttr toAttr(const Layout &layout, MeshAttr mesh,
                    mlir::FlatSymbolRefAttr meshName);

/// `part` as an attribute: by name alone when it is the whole axis.
AxisRefAttr toAttr(const AxisPart &part, MeshAttr mesh);

/// Resolves the axes of a collective; failure if one does not exist.
mlir::FailureOr<AxisParts> resolveAxes(mlir::ArrayAttr axes, MeshAttr mesh);

/// The parts as written in the IR: `"dp", "tp":(1)4`.
std::string toString(llvm::ArrayRef<AxisPart> parts, MeshAttr mesh);

/// The sharding of a value's type; null for an undecided value.
ShardingAttr getSharding(mlir::Type type);
ShardingAttr getSharding(mlir::Value value);

/// The tensor type without, or with another, encoding.
mlir::RankedTensorType withSharding(mlir::Type type, ShardingAttr sharding);

/// The mesh called `name` in the module around `op`; null if there is none.
MeshAttr lookupMesh(mlir::Operation *op, mlir::FlatSymbolRefAttr name);

/// The layout of a value whose sharding tp-check has accepted. Aborts on a
/// program that was not checked.
Layout getCheckedLayout(mlir::Value value);
Layout getCheckedLayout(mlir::Type type, mlir::Operation *near);

/// The layout of a type, or nothing if it is undecided or does not resolve.
std::optional<Layout> findLayout(mlir::Type type, mlir::Operation *near);

/// Number of elements, or nothing when it does not fit 63 bits.
std::optional<int64_t> numElements(llvm::ArrayRef<int64_t> shape);

/// What a collective does to a layout. `dim` is the dimension that it gathers,
/// splits or reorders, `target` the one an all-to-all splits.
struct LayoutStep {
  enum Kind {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    AllSlice,
    ToUnreduced,
    Permute
  };
  Kind kind;
  unsigned dim = 0;
  unsigned target = 0;
  AxisParts parts;
  /// The unit in which the parts that a dimension gets are dealt; 0 is the
  /// dimension's own.
  int64_t unit = 0;

  /// The dimension that gets parts, if any.
  std::optional<unsigned> getSplitDim() const;
};

/// Applies `step` to the layout of a tensor of `shape`; nothing if the layout
/// is not one that the step accepts. The pieces of the group's members are then
/// neighbours: what they gather is a shard of the new layout, and what they
/// split is shards of it.
std::optional<Layout> apply(const LayoutStep &step, const Layout &layout,
                            llvm::ArrayRef<int64_t> shape);

/// Applies `step` to `before`, layouts of a tensor of `shape`; the unit of what
/// it splits is that of `after`. Nothing if the step does not fit, or makes a
/// maximum of what is finished.
std::optional<Layout> applyTowards(const LayoutStep &step, const Layout &before,
                                   const Layout &after,
                                   llvm::ArrayRef<int64_t> shape);

/// The one step from `before` to `after`, layouts of a tensor of `shape`;
/// nothing if they are alike or one step is not enough.
std::optional<LayoutStep> findStep(const Layout &before, const Layout &after,
                                   llvm::ArrayRef<int64_t> shape);

/// Name of the step's operation, as "all_reduce".
llvm::StringRef toString(LayoutStep::Kind kind);

} // namespace tp

#endif // TP_IR_SHARDING_H
