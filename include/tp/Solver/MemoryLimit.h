// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_MEMORYLIMIT_H
#define TP_SOLVER_MEMORYLIMIT_H

#include "tp/Solver/Solver.h"

namespace tp {

/// Every plan of a problem takes more memory than its limit.
class MemoryLimitError : public llvm::ErrorInfo<MemoryLimitError> {
public:
  static char ID;
  /// `choices` is a plan that takes `least`, and no plan takes less.
  MemoryLimitError(std::vector<unsigned> choices, Problem::Memory least,
                   uint64_t limit)
      : choices(std::move(choices)), least(least), limit(limit) {}

  llvm::ArrayRef<unsigned> getChoices() const { return choices; }
  Problem::Memory getLeast() const { return least; }
  uint64_t getLimit() const { return limit; }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::vector<unsigned> choices;
  Problem::Memory least;
  uint64_t limit;
};

/// A plan and what it takes.
struct LeastMemory {
  std::vector<unsigned> choices;
  Problem::Memory memory;
};

/// A plan that takes the least memory, persistent and working together,
/// whatever its price. Exact: for each bound on the working memory that may
/// pay, the least persistent memory is found by `solve`. Fails as `solve` does.
llvm::Expected<LeastMemory> findLeastMemory(const Problem &problem,
                                            const SolveOptions &options = {});

/// Finds a cheapest plan among those that take at most `problem.memoryLimit`
/// bytes. Without a limit, and where the cheapest plan meets it, `solve`.
///
/// A limit that binds is first priced: a toll on persistent memory (a Lagrange
/// multiplier) gives the bound
///
///     min over all plans of (price + toll) - toll for the whole budget
///
/// and the multiplier that makes it greatest is found by intersecting lines
/// (M. L. Fisher, "The Lagrangian relaxation method for solving integer
/// programming problems", Management Science 27, 1981). What lies between the
/// bound and the cheapest plan is searched by `eliminateWithin`, in growing
/// steps, so that most of it is never looked at. A multiplier alone is no
/// solution: it would move all layers that are alike at once.
///
/// The result's `cost` and `lowerBound` are equal unless the search was given
/// up, after `options.maxSums` sums of labels or as tables were too large. A
/// search with few labels comes first, so that the plan is good all the same.
/// `memoryCertificate` proves the Lagrangian bound, which may be lower.
/// Fails as `solve` does, or with `MemoryLimitError`.
llvm::Expected<Solution> solveWithinMemory(const Problem &problem,
                                           const SolveOptions &options = {});

} // namespace tp

#endif // TP_SOLVER_MEMORYLIMIT_H
