// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_CONSTRAINEDELIMINATION_H
#define TP_SOLVER_CONSTRAINEDELIMINATION_H

#include "BucketTree.h"
#include "tp/Solver/Problem.h"

namespace tp {

/// What one choice takes of the memory, and what is charged for it.
struct MemoryLoad {
  Problem::Memory memory;
  /// The part of the choice's price that pays for its persistent memory, in
  /// ticks.
  uint64_t toll = 0;
};

/// A limit on the memory of all variables of a factor graph together.
///
/// The prices of the graph contain the tolls: a Lagrangian relaxation of the
/// limit. They only serve to prune; plans are compared by what is left without
/// the tolls.
struct MemoryConstraint {
  uint64_t limit = 0;
  /// The working memory that the tolls leave room for: no plan needs less.
  uint64_t leastWorking = 0;
  /// No plan that is looked for needs less working memory; at least
  /// `leastWorking`.
  uint64_t floorWorking = 0;
  /// Persistent memory of whatever is chosen, on top of the loads.
  uint64_t fixedPersistent = 0;
  /// What is charged for 2^32 bytes, in ticks.
  uint64_t multiplier = 0;
  /// By variable of the graph: index into `loads`, or Problem::noMemory. May
  /// be shorter than the graph, whose last variables then take none.
  std::vector<unsigned> loadsOf;
  /// By choice.
  std::vector<std::vector<MemoryLoad>> loads;

  MemoryLoad getLoad(unsigned variable, unsigned choice) const {
    if (variable >= loadsOf.size() || loadsOf[variable] == Problem::noMemory)
      return {};
    return loads[loadsOf[variable]][choice];
  }

  /// Ticks for `bytes`, rounded down, so that the sum over some choices is
  /// never more than the toll for the sum of their bytes.
  static uint64_t getToll(uint64_t bytes, uint64_t multiplier) {
    return static_cast<uint64_t>(static_cast<Price::Word>(bytes) * multiplier >>
                                 32);
  }
  /// By how much a plan with so much working memory lies above the bound, as it
  /// leaves less for what is persistent. Requires at most the limit.
  Price getPenalty(uint64_t working) const;
};

/// The word of so many ticks.
inline Price::Word ticksToWord(uint64_t ticks) {
  return Price::Word(ticks) << (128 - Price::timeBits);
}

/// How much is looked at.
struct LabelLimits {
  /// Of this many sums of labels the search gives up.
  uint64_t sums = 0;
  /// The most labels that a cell keeps: one for each part of the memory that
  /// they take. What comes of it need not be the cheapest if labels had to go.
  unsigned labels = ~0u;
};

/// What came of a search.
struct ConstrainedResult {
  /// A cheapest plan within the limit, tolls not counted, among those with
  /// the least slack; empty if there is none.
  std::vector<unsigned> choices;
  /// Whether there were too many labels.
  bool gaveUp = false;
  /// Sums of labels that were looked at.
  uint64_t sums = 0;
};

/// Finds a cheapest assignment within `constraint` among those whose price with
/// tolls is at most `slack` above the minimum of the graph.
///
/// Bucket elimination as in `eliminate`, but a cell of a message holds, in
/// place of one price, all (price, persistent memory, working memory) of its
/// subtree of which none is beaten in all three. A label goes as soon as its
/// price with tolls and the least that the rest of the graph adds (see
/// BucketCompletion) exceed `slack`, or its memory the limit. Exact.
///
/// Deterministic; among equals the first choice wins, in the order of the
/// buckets. Gives up when more than `limits.sums` sums have been looked at.
ConstrainedResult eliminateWithin(const FactorGraph &graph,
                                  const BucketTree &tree,
                                  const BucketTree::Completions &completions,
                                  const MemoryConstraint &constraint,
                                  Price slack, const LabelLimits &limits);

} // namespace tp

#endif // TP_SOLVER_CONSTRAINEDELIMINATION_H
