// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What a collective takes: the one place that prices one.

#ifndef TP_COST_COLLECTIVECOST_H
#define TP_COST_COLLECTIVECOST_H

#include "tp/Cost/Machine.h"
#include "llvm/ADT/SmallVector.h"

namespace tp {

/// How the ranks of a group lie in the blocks of a machine.
struct RankGroup {
  /// For each level of links: how many ranks of the group share one of its
  /// blocks. Each entry divides the next; the last one that counts is the
  /// group. A 1 says that the group never stays inside a block of that level.
  llvm::SmallVector<int64_t, 4> inBlock;
  /// The level whose blocks hold the whole group.
  unsigned level = 0;

  int64_t size() const { return inBlock[level]; }
};

/// A call on the rank that moves most.
struct CollectiveCost {
  double seconds = 0;
  /// Bytes that a rank sends to others, and those that it receives.
  double sentBytes = 0, receivedBytes = 0;
  Algorithm algorithm = Algorithm::None;
};

/// Prices a collective over n ranks by the cheapest algorithm that the level of
/// the group has. `pieceBytes` p is one n-th of the tensor that an all-gather
/// gives, a reduce-scatter or all-reduce starts from and a rank of an
/// all-to-all holds, S = n p; of a permutation, what a rank sends. With the
/// bandwidth W, the latency a and the base b of the entry:
///   ring      b + (n-1) a + (n-1) p / W, twice the steps and bytes for an
///             all-reduce (R. Thakur et al., "Optimization of Collective
///             Communication Operations in MPICH", 2005). With `multi_rail` W
///             is g W, at most that of the smaller level, for g ranks a block;
///   tree      b + 2 ((g-1) a' + ceil(log2(n/g)) a) + 2 S / W for an
///   all-reduce:
///             chains of g ranks in the blocks of the smaller level, whose
///             latency is a', double binary trees between them (P. Sanders et
///             al., "Two-tree algorithms for full bandwidth broadcast,
///             reduction and scan", 2009; NCCL, src/graph/tuning.cc);
///   in_switch b + a + S / W for an all-reduce: each rank sends S and receives
///             S (B. Klenk et al., "An In-Network Architecture for Accelerating
///             Shared-Memory Multiprocessor Collectives", ISCA 2020);
///   hierarchical  the same collective in the blocks of the smaller level with
///             pieces of p n/g, then over n/g ranks of different blocks; an
///             all-reduce scatters first and gathers last (Thakur et al.;
///             NCCL's name is CollNet direct);
///   measured  between two points of a table linear in the size, before the
///             first as the first, after the last on the line through the last
///             two. A table of all-reduces says, too, that a reduce-scatter, an
///             all-gather and an all-to-all take half as long.
/// An all-reduce is never dearer than a reduce-scatter and an all-gather.
CollectiveCost priceCollective(const Machine &machine, CollectiveKind kind,
                               double pieceBytes, const RankGroup &group);

} // namespace tp

#endif // TP_COST_COLLECTIVECOST_H
