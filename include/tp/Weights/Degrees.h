// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which numbers of ranks a model's heads allow, and where KV heads cut an
/// axis.

#ifndef TP_WEIGHTS_DEGREES_H
#define TP_WEIGHTS_DEGREES_H

#include "tp/Weights/Tiles.h"
#include <map>

namespace tp {

/// Whether shards of a dimension may differ in size (option uneven=).
enum class Uneven { Refuse, Allow };

/// The heads of one attention: KV heads and query heads of each.
struct HeadGrouping {
  unsigned node;
  int64_t groups;
  int64_t inGroup;
  /// Operands that have the groups alone: key and value. With one group
  /// (multi-query attention) they are the same for all heads.
  llvm::SmallVector<unsigned, 2> groupOperands;
};

std::vector<HeadGrouping> findHeadGroupings(const Graph &graph);

/// Whether heads = groups * inGroup may be split over `ranks`: ranks divide the
/// heads, and divide the groups or are a multiple of them.
bool isLegalDegree(const HeadGrouping &grouping, int64_t ranks);

/// Diagnoses heads that are no legal degree of the ranks of `axis`, at the
/// operation that has them, with the degrees that are.
void diagnoseDegree(const GraphNode &node, const HeadGrouping &grouping,
                    MeshAxisAttr axis);

/// Sizes of the parts of an axis of `ranks` ranks, cut where there are fewer KV
/// groups than ranks, and where that leaves it, fewer of one of the numbers of
/// tiles.
llvm::SmallVector<int64_t> cutDegree(const std::vector<HeadGrouping> &all,
                                     llvm::ArrayRef<int64_t> tiles,
                                     int64_t ranks);

/// The products (node, operand) whose weight makes keys or values, with the
/// number of groups. They may be computed redundantly over the parts of an axis
/// beyond the groups: those replicate keys and values.
std::map<std::pair<unsigned, unsigned>, int64_t>
findGroupProjections(const Graph &graph, const std::vector<HeadGrouping> &all);

/// A weight that a product contracts or a lookup reads: it is split over all
/// ranks, along dimensions that they divide.
struct WeightLimit {
  std::string name;
  std::vector<int64_t> shape;
  /// The same with the tiles that it is read in.
  std::vector<TiledDim> dims;
  /// Makes keys or values, so that ranks which share a KV head share it.
  bool isGroup;
};

/// A table whose rows are looked up.
struct Vocabulary {
  /// Number of its value in the graph.
  unsigned value;
  std::string name;
  int64_t size;
};

/// The vocabularies of parameters, those of one size once.
std::vector<Vocabulary> findVocabularies(const Graph &graph);

/// What limits the number of ranks of a model, each limit once.
struct DegreeLimits {
  std::vector<HeadGrouping> groupings;
  std::vector<WeightLimit> weights;

  /// The numbers of tiles of all weights, ascending.
  llvm::SmallVector<int64_t> getTiles() const;
};

DegreeLimits findDegreeLimits(const Graph &graph);

/// One reason against a number of ranks. `kind` is heads, kv_heads or weight,
/// `size` the number that does not fit.
struct Exclusion {
  std::string kind;
  int64_t size;
  std::string reason;
};

/// A dimension that the ranks do not divide: the weight is split along another.
struct UndividedDim {
  std::string weight;
  int64_t dim;
  int64_t size;
};

/// A weight that its tiles do not let ranks split, though its size would: it
/// may lie whole.
struct WholeWeight {
  std::string weight, reason;
};

/// How many query heads of one attention the ranks have.
struct HeadShare {
  int64_t fewest, most;
};

/// What is to be said of a number of ranks.
struct Degree {
  int64_t ranks = 1;
  /// By grouping, if legal.
  std::vector<HeadShare> shares;
  /// Ranks that hold the same KV head.
  int64_t kvReplicas = 1;
  /// Ranks that have different KV heads, if some have the same.
  int64_t kvShare = 1;
  std::vector<Exclusion> exclusions;
  std::vector<UndividedDim> undivided;
  std::vector<WholeWeight> whole;
  bool isLegal() const { return exclusions.empty(); }
};

/// Judges `ranks` on one axis, weights stationary. Where shards may be uneven
/// nothing excludes it: whole heads and columns are dealt out as array_split
/// does, and ranks may get none.
Degree judgeDegree(const DegreeLimits &limits, int64_t ranks, Uneven uneven);

} // namespace tp

#endif // TP_WEIGHTS_DEGREES_H
