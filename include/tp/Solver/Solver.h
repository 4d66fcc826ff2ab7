// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_SOLVER_H
#define TP_SOLVER_SOLVER_H

#include "tp/Solver/MemoryCertificate.h"
#include "tp/Solver/Problem.h"

namespace tp {

struct SolveOptions {
  /// The most table entries that may be visited where messages leave a gap,
  /// repeated steps counted once. A visit takes a few nanoseconds. The tables
  /// kept are smaller as a rule; they take 16 bytes an entry.
  uint64_t maxTableEntries = uint64_t(1) << 28;
  /// Up to so many, elimination begins without messages.
  uint64_t maxEntriesAtOnce = uint64_t(1) << 21;
  /// Where the rest is too large to be eliminated, return the best plan met, or
  /// else the one that messages suggest, with the gap that is left; not an
  /// error.
  bool acceptGap = true;
  /// Within a memory limit: a part of the plans whose search takes more sums of
  /// labels is divided.
  uint64_t easySums = 200000;
  /// Within a memory limit: sums of labels after which the search ends with the
  /// gap that is left. About a tenth of a microsecond each.
  uint64_t maxSums = uint64_t(1) << 22;
  /// Messages to begin with: those of a problem with the same values and
  /// layouts, as one with other costs. They change the time taken, and which of
  /// equally good plans is found.
  const Certificate *start = nullptr;
  /// Only cheaper plans are wanted: where messages prove that there are none,
  /// the problem counts as infeasible.
  Price cutoff = Price::infinite();
  /// Solve steps that repeat, as in identical layers, once. Changes the time
  /// taken and nothing else.
  bool reuseSteps = true;
};

struct SolveStatistics {
  /// Choices of all variables, impossible ones left out, and those that were
  /// left when the last elimination began.
  uint64_t choices = 0;
  uint64_t keptChoices = 0;
  /// Passes of messages over some graph.
  uint64_t passes = 0;
  /// Variables that stand for branching nodes and sets of layouts.
  uint64_t auxiliaryVariables = 0;
  /// Entries of the tables visited, and of the largest of them.
  uint64_t tableEntries = 0;
  uint64_t largestTable = 0;
  /// Variables eliminated, and how many of them repeated an earlier one.
  uint64_t steps = 0;
  uint64_t reusedSteps = 0;
};

struct Solution {
  /// One choice for each variable.
  std::vector<unsigned> choices;
  /// What `Problem::evaluate` says of them.
  Price cost;
  /// What the certificate proves. Below `cost` only if closing the gap would
  /// visit more table entries than allowed.
  Price lowerBound;
  Certificate certificate;
  /// Where a memory limit binds, takes the place of `certificate` (see
  /// `solveWithinMemory`).
  std::optional<MemoryCertificate> memoryCertificate;
  SolveStatistics statistics;
};

/// No plan exists: each is banned somewhere, or takes more time than a price
/// holds.
class InfeasibleError : public llvm::ErrorInfo<InfeasibleError> {
public:
  static char ID;
  /// `where` names the variable or value at which the last way was lost.
  explicit InfeasibleError(std::string where) : where(std::move(where)) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string where;
};

/// Exact elimination would visit more table entries than allowed.
class ProblemTooLargeError : public llvm::ErrorInfo<ProblemTooLargeError> {
public:
  static char ID;
  /// `where` names the variable or value whose table exceeds the limit.
  ProblemTooLargeError(std::string where, uint64_t entries, uint64_t limit)
      : where(std::move(where)), entries(entries), limit(limit) {}

  /// The entries wanted; saturates.
  uint64_t getEntries() const { return entries; }
  uint64_t getLimit() const { return limit; }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string where;
  uint64_t entries;
  uint64_t limit;
};

/// Finds a cheapest plan of a problem that passes `Problem::check()`.
///
/// Variables are eliminated one after the other (bucket elimination, R.
/// Dechter, "Bucket elimination: a unifying framework for reasoning",
/// Artificial Intelligence 113, 1999), which is exact. If the tables are large,
/// messages between variables and values first give a lower bound, and choices
/// whose use lifts it above the price of a plan are left out. Where what
/// remains is too large, the plan comes with its gap, or, if there is none,
/// `ProblemTooLargeError`. `InfeasibleError` if there is no plan.
///
/// Deterministic. Among equally cheap plans first choices are preferred.
llvm::Expected<Solution> solve(const Problem &problem,
                               const SolveOptions &options = {});

} // namespace tp

#endif // TP_SOLVER_SOLVER_H
