// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which part of a tensor a rank holds, and a tensor from its parts: worked out
/// from the attributes alone, without the code that made the parts.

#ifndef TP_REFERENCE_SHARDS_H
#define TP_REFERENCE_SHARDS_H

#include "tp/IR/Sharding.h"
#include "tp/Reference/Tensor.h"

namespace tp {

/// The coordinate of `rank` along a mesh axis or a part of one; nothing if the
/// mesh has no such axis or the part does not divide it.
std::optional<int64_t> findCoordinate(int64_t rank, AxisRefAttr axis,
                                      MeshAttr mesh);

/// What `rank` holds of a dimension of `size` elements: groups of `unit`
/// elements, dealt to one axis after the other, the first ranks getting one
/// more where they do not divide. Nothing if an axis does not resolve or `unit`
/// does not divide `size`.
std::optional<Span> findSpan(int64_t size, DimShardingAttr dim, MeshAttr mesh,
                             int64_t rank);

/// The same for all dimensions of a tensor; without a sharding it is whole.
std::optional<llvm::SmallVector<Span>> findShard(llvm::ArrayRef<int64_t> shape,
                                                 ShardingAttr sharding,
                                                 MeshAttr mesh, int64_t rank);

/// Every place at which a shard of a dimension of `size` elements begins,
/// whichever axes of `mesh` split it, in whichever order, in ascending order;
/// and `size`.
llvm::SmallVector<int64_t> findBorders(int64_t size, MeshAttr mesh);
/// The same where it is split as `dim` says.
llvm::SmallVector<int64_t> findBorders(int64_t size, DimShardingAttr dim,
                                       MeshAttr mesh);

/// A tensor as the program says that it is spread over ranks.
struct Spread {
  /// For messages.
  llvm::StringRef name;
  llvm::ArrayRef<int64_t> shape;
  /// Null: every rank holds all of it.
  ShardingAttr sharding;
  MeshAttr mesh;
};

/// What is wrong with local shapes, one a rank: a row that no rank holds, or a
/// rank that holds other sizes than it should. Empty if nothing is.
std::string findShapeFault(const Spread &spread,
                           llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes);

/// A tensor put together, or what keeps it from being one.
template <class S> struct Assembled {
  TensorOf<S> whole;
  /// Empty if every element is held by a rank, and is the same on all ranks
  /// that hold it.
  std::string fault;
};

/// Puts together the parts that the ranks hold, one a rank.
template <class S>
Assembled<S> assemble(const Spread &spread,
                      llvm::ArrayRef<const TensorOf<S> *> parts);

/// The index at row-major position `at`, as `[2, 5]`.
std::string describeIndex(llvm::ArrayRef<int64_t> shape, int64_t at);

/// The first rank that holds the element at row-major position `at`; -1 if none
/// of `numRanks` does.
int64_t findHolder(const Spread &spread, int64_t numRanks, int64_t at);

} // namespace tp

#endif // TP_REFERENCE_SHARDS_H
