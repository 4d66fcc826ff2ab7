// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_RANGESEARCH_H
#define TP_SOLVER_RANGESEARCH_H

#include "GapSearch.h"
#include "Narrowing.h"
#include <memory>
#include <optional>

namespace tp {

/// Searches a problem with tolls on memory near its minimum. Messages say which
/// choices may be met there; with these alone the problem is made a factor
/// graph, and made anew as the search widens.
class RangeSearch {
public:
  /// `minimum` is a lower bound of `tolled`. Of `constraint` all is read but
  /// the loads, which belong to the problem.
  RangeSearch(Problem tolled, MemoryConstraint constraint, Price minimum,
              const SolveOptions &options);

  /// The plan is of the problem's choices; see GapSearch. Gives up, too, where
  /// the factor graph is too large.
  llvm::Expected<ConstrainedResult> run(Price slack, uint64_t tolerance,
                                        GapSearch::Rounding rounding,
                                        const LabelLimits &limits);

private:
  /// Makes a factor graph of what lies within `slack`. Fails if its tables
  /// would have more than `maxEntries` entries.
  llvm::Error widen(Price slack, uint64_t maxEntries);
  MemoryConstraint makeConstraint() const;

  Problem problem;
  MemoryConstraint constraint;
  Price minimum;
  const SolveOptions &options;

  Narrowing narrowing;

  /// What lies within `reach` of the minimum.
  Domains near;
  std::optional<Price> reach;
  std::unique_ptr<GapSearch> gap;
};

} // namespace tp

#endif // TP_SOLVER_RANGESEARCH_H
