// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which part of a tensor a rank holds.

#ifndef TP_IR_LOCALSHAPE_H
#define TP_IR_LOCALSHAPE_H

#include "tp/IR/Sharding.h"

namespace tp {

/// Indices [offset, offset + size) of one dimension.
struct Range {
  int64_t offset = 0;
  int64_t size = 0;
  bool operator==(const Range &) const = default;
};

/// Coordinate of `rank` along `part`.
int64_t getCoordinate(int64_t rank, const AxisPart &part, MeshAttr mesh);

/// The part of a dimension of `size` elements that `rank` holds: units dealt as
/// numpy's array_split does, one axis inside the other, major first.
Range getRange(int64_t size, const DimLayout &dim, MeshAttr mesh, int64_t rank);

/// Ranges of all dimensions.
llvm::SmallVector<Range> getRanges(llvm::ArrayRef<int64_t> shape,
                                   const Layout &layout, MeshAttr mesh,
                                   int64_t rank);

/// Shape of what `rank` holds.
llvm::SmallVector<int64_t> getLocalShape(llvm::ArrayRef<int64_t> shape,
                                         const Layout &layout, MeshAttr mesh,
                                         int64_t rank);

/// Whether every rank holds as much of the dimension as any other.
bool isEven(int64_t size, const DimLayout &dim);
bool isEven(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// Size of the largest shard of a dimension.
int64_t getLargestShard(int64_t size, const DimLayout &dim);

/// Elements of the largest shard of a tensor; saturates.
uint64_t countLargestShard(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// Ranks that differ only along `parts`, in their order (major to minor), one
/// row a group; rows and the order in them are those of the rank numbers.
/// Failure if the mesh has more than `maxTableRanks` ranks.
inline constexpr int64_t maxTableRanks = 1 << 16;
mlir::FailureOr<llvm::SmallVector<llvm::SmallVector<int64_t>>>
getGroups(llvm::ArrayRef<AxisPart> parts, MeshAttr mesh);

} // namespace tp

#endif // TP_IR_LOCALSHAPE_H
