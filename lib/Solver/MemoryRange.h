// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_MEMORYRANGE_H
#define TP_SOLVER_MEMORYRANGE_H

#include "RangeSearch.h"
#include "tp/Solver/MemoryLimit.h"
#include <map>
#include <memory>

namespace tp {

/// The best plan within a memory limit that has been found, and what may still
/// be spent on a better one.
struct Incumbent {
  Incumbent(const Problem &problem, uint64_t limit, uint64_t maxSums)
      : problem(problem), limit(limit), sumsLeft(maxSums) {}

  const Problem &problem;
  uint64_t limit;
  /// Sums of labels.
  uint64_t sumsLeft;
  std::vector<unsigned> choices;
  Price price = Price::infinite();

  /// Takes `plan` if it fits and costs less.
  void offer(llvm::ArrayRef<unsigned> plan);
};

/// The plans within a memory limit whose working memory lies in a range. They
/// have a lower bound, by a toll on persistent memory, which is raised until it
/// meets the incumbent.
class MemoryRange {
public:
  /// Plans in which the persistent memory of a variable is within bounds.
  struct Cut {
    unsigned variable = 0;
    uint64_t least = 0;
    uint64_t most = ~uint64_t(0);
  };

  /// Working memory from `least` to `most` bytes, within all of `cuts`.
  MemoryRange(Incumbent &incumbent, const SolveOptions &options, uint64_t least,
              uint64_t most, std::vector<Cut> cuts = {});

  /// A plan, its price and what that buys.
  struct Point {
    Price price;
    Problem::Memory memory;
    std::vector<unsigned> choices;
  };

  /// Finds the multiplier that gives the greatest bound, from `start` on.
  /// `light` is a plan with no more persistent memory than there is room for,
  /// if one is known.
  llvm::Error relax(uint64_t start, std::optional<Point> light);
  /// The same for a part of `whole`, which lends its proof in case that there
  /// is no plan at all in it.
  llvm::Error relaxLike(const MemoryRange &whole);

  /// No plan in the range costs less; infinite if there is none.
  Price getBound() const { return std::max(bound, searchedTo); }
  /// Proves the bound that `relax` found.
  MemoryCertificate::Range getCertificate() const {
    return {most, multiplier, tolledCost, certificate};
  }

  /// A greatest working memory that divides the range so that the upper part
  /// has a better bound; nothing if that is not worth while.
  std::optional<uint64_t> findDivision() const;
  /// Where the search is hard, a cut that divides plans by one large variable,
  /// as an embedding that is split or not: the lower part.
  std::optional<Cut> findCut() const;
  llvm::ArrayRef<Cut> getCuts() const { return cuts; }
  uint64_t getLeast() const { return least; }
  uint64_t getMost() const { return most; }

  /// Raises the bound by a step, and offers the plan that is cheapest in it.
  /// False if there were too many labels.
  llvm::Expected<bool> search();

private:
  bool isAdmitted(unsigned variable, unsigned choice) const;
  Problem::Memory getLeastOf(unsigned variable) const;
  void banChoices();
  Problem addTolls(uint64_t tolls) const;
  uint64_t getLargestMultiplier() const;
  uint64_t getBudget() const { return incumbent.limit - least; }
  llvm::Expected<Point> tryMultiplier(uint64_t tolls);
  llvm::Error bracket(uint64_t start, std::optional<Point> &heavy,
                      std::optional<Point> &light);
  llvm::Error intersect(Point heavy, Point light);
  /// What a search within the slack found: no price if nothing.
  struct Find {
    Price price = Price::infinite();
    bool fits = true;
    bool gaveUp = false;
    uint64_t sums = 0;
  };
  /// Without a limit on labels the search is exact.
  llvm::Expected<Find> runSearch(Price within, uint64_t ignored,
                                 GapSearch::Rounding rounding,
                                 unsigned maxLabels = ~0u);
  /// Looks for a good plan with few labels: the better it is, the less is left
  /// to search.
  llvm::Error improveIncumbent();
  /// Without loads.
  MemoryConstraint getConstraint() const;

  Incumbent &incumbent;
  const SolveOptions &options;
  uint64_t least;
  uint64_t most;
  std::vector<Cut> cuts;
  /// Without the choices that no plan in the range has.
  Problem feasible;
  bool isEmpty = false;

  std::map<uint64_t, Point> tried;
  /// Plans on either side of the budget between which the bound lies.
  std::optional<Point> heavyEnd, lightEnd;
  std::optional<Price> relaxed;
  Price bound;
  /// The least price with tolls, from which the bound comes.
  Price tolledMinimum;
  Price tolledCost = Price::infinite();
  uint64_t multiplier = 0;
  Certificate certificate;
  /// The least working memory of the plans that attain the minimum with tolls.
  uint64_t attained = ~uint64_t(0);
  /// What one of them leaves for working memory where it takes more.
  std::optional<uint64_t> room;

  std::unique_ptr<RangeSearch> gap;
  Price slack;
  /// Differences in memory that are left out, in bytes, while that does no
  /// harm.
  uint64_t tolerance;
  Price searchedTo;
  /// Sums of labels that the last step took.
  uint64_t lastSums = 0;
};

} // namespace tp

#endif // TP_SOLVER_MEMORYRANGE_H
