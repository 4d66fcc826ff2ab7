// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// In which tiles a weight is read before its product, and over how many ranks
/// that lets it be split.

#ifndef TP_WEIGHTS_TILES_H
#define TP_WEIGHTS_TILES_H

#include "tp/Weights/Graph.h"

namespace tp {

/// A dimension of a weight.
struct TiledDim {
  int64_t size = 0;
  /// Numbers of tiles that the dimension is read in, ascending: ranks get whole
  /// tiles, or equal parts of one.
  std::vector<int64_t> tiles;
  /// Shards are of whole tiles of this number; 0: of any size.
  int64_t most = 0;

  auto operator<=>(const TiledDim &) const = default;
};

/// The dimensions of `value`, a weight before anything is done to it, as what
/// is done up to the products that read it leaves them; nothing is known of
/// dimensions without elements.
std::vector<TiledDim> findTiles(const Graph &graph,
                                const std::vector<bool> &isContracted,
                                unsigned value);

/// Whether the tiles let parts of these sizes, each put on one dimension, split
/// the weight evenly.
bool canSplit(llvm::ArrayRef<TiledDim> dims, llvm::ArrayRef<int64_t> parts);

/// The same for a weight of these sizes without tiles.
bool divides(llvm::ArrayRef<int64_t> parts, llvm::ArrayRef<int64_t> shape);

/// "dimension 0 of 5 is no multiple of 4; dimension 1 of 768 is read in 6
/// tiles, and neither of 6 and 4 divides the other".
std::string describeTileMisfit(llvm::ArrayRef<TiledDim> dims, int64_t ranks);

/// Whether a dimension may be split if its tiles are dealt unevenly.
bool mayDealTiles(llvm::ArrayRef<TiledDim> dims, int64_t ranks);

} // namespace tp

#endif // TP_WEIGHTS_TILES_H
