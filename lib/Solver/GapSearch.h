// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_GAPSEARCH_H
#define TP_SOLVER_GAPSEARCH_H

#include "ConstrainedElimination.h"

namespace tp {

/// A factor graph with its tree, searched for plans near the minimum.
class GapSearch {
public:
  GapSearch(FactorGraph graph, MemoryConstraint constraint,
            const SolveOptions &options)
      : graph(std::move(graph)), constraint(std::move(constraint)),
        options(options) {}

  /// Eliminates the graph in `order`. Fails if the tables have more than
  /// `maxEntries` entries.
  llvm::Error prepare(llvm::ArrayRef<unsigned> order, uint64_t maxEntries);

  /// What small differences in memory are taken for.
  enum class Rounding { Down, Up };

  /// A cheapest plan, tolls not counted, among those that lie at most `slack`
  /// above the minimum with tolls, the penalty for their working memory
  /// included.
  ///
  /// Where the differences between the choices of some variables come to at
  /// most `tolerance` bytes in all, as those of norms, they are left out: many
  /// small differences make many labels. Rounded down, the plan may exceed the
  /// limit by so much, and costs no more than any that does not; rounded up, it
  /// is within the limit, but others may cost less.
  llvm::Expected<ConstrainedResult> run(Price slack, uint64_t tolerance,
                                        Rounding rounding,
                                        const LabelLimits &limits);

private:
  /// By variable: choices, ascending.
  using Kept = std::vector<llvm::SmallVector<unsigned, 16>>;

  /// Finds the choices that plans within `slack` may have, and the least
  /// working memory of these plans; false if there are none.
  bool findSurvivors(Price slack, Kept &kept, uint64_t &floorWorking) const;
  bool keep(Price slack, uint64_t floorWorking, Kept &kept) const;
  uint64_t getFloor(const Kept &kept) const;
  static MemoryConstraint restrictLoads(const MemoryConstraint &whole,
                                        const Kept &kept);

  FactorGraph graph;
  MemoryConstraint constraint;
  const SolveOptions &options;
  Price minimum;
  /// By variable and choice.
  std::vector<std::vector<Price>> slacks;
};

} // namespace tp

#endif // TP_SOLVER_GAPSEARCH_H
