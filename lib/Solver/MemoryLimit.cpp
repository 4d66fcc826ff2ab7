// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/MemoryLimit.h"
#include "MemoryRange.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tp;

char MemoryLimitError::ID = 0;

void MemoryLimitError::log(llvm::raw_ostream &os) const {
  os << "every plan takes at least " << least.getTotal() << " bytes a rank, "
     << least.persistent << " of them for the whole step and " << least.working
     << " while an operation runs, but the limit is " << limit << " bytes";
}

std::error_code MemoryLimitError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

namespace {
/// Raises the bounds of parts of the plans, always the least, until none lies
/// below the best plan.
class RangeSearcher {
public:
  RangeSearcher(Incumbent &incumbent, const SolveOptions &options)
      : incumbent(incumbent), options(options) {}

  /// Returns the least bound. `light` takes the least memory of all plans.
  llvm::Expected<Price> run(MemoryRange::Point light);

  MemoryCertificate takeCertificate();

private:
  /// Replaces a range by two parts of it.
  llvm::Error divide(std::unique_ptr<MemoryRange> &range,
                     std::unique_ptr<MemoryRange> lower,
                     std::unique_ptr<MemoryRange> upper);
  llvm::Error divideAt(std::unique_ptr<MemoryRange> &range, uint64_t working);
  llvm::Error divideBy(std::unique_ptr<MemoryRange> &range,
                       const MemoryRange::Cut &cut);

  Incumbent &incumbent;
  const SolveOptions &options;
  std::vector<std::unique_ptr<MemoryRange>> ranges;
  MemoryCertificate certificate;
};
} // namespace

llvm::Error RangeSearcher::divide(std::unique_ptr<MemoryRange> &range,
                                  std::unique_ptr<MemoryRange> lower,
                                  std::unique_ptr<MemoryRange> upper) {
  for (MemoryRange *part : {lower.get(), upper.get()})
    if (llvm::Error error = part->relaxLike(*range))
      return error;
  range = std::move(lower);
  ranges.push_back(std::move(upper));
  return llvm::Error::success();
}

llvm::Error RangeSearcher::divideAt(std::unique_ptr<MemoryRange> &range,
                                    uint64_t working) {
  std::vector<MemoryRange::Cut> cuts = range->getCuts().vec();
  auto lower = std::make_unique<MemoryRange>(incumbent, options,
                                             range->getLeast(), working, cuts);
  auto upper = std::make_unique<MemoryRange>(incumbent, options, working + 1,
                                             range->getMost(), std::move(cuts));
  return divide(range, std::move(lower), std::move(upper));
}

llvm::Error RangeSearcher::divideBy(std::unique_ptr<MemoryRange> &range,
                                    const MemoryRange::Cut &cut) {
  std::vector<MemoryRange::Cut> cuts = range->getCuts().vec();
  // Certificates know no cuts: theirs is the range as a whole.
  std::optional<MemoryCertificate::Range> proof;
  if (cuts.empty())
    proof = range->getCertificate();
  cuts.push_back(cut);
  auto lower = std::make_unique<MemoryRange>(
      incumbent, options, range->getLeast(), range->getMost(), cuts);
  cuts.back().least = cut.most + 1;
  cuts.back().most = ~uint64_t(0);
  auto upper = std::make_unique<MemoryRange>(
      incumbent, options, range->getLeast(), range->getMost(), std::move(cuts));
  llvm::Error error = divide(range, std::move(lower), std::move(upper));
  if (!error && proof)
    certificate.ranges.push_back(std::move(*proof));
  return error;
}

llvm::Expected<Price> RangeSearcher::run(MemoryRange::Point light) {
  ranges.push_back(
      std::make_unique<MemoryRange>(incumbent, options, 0, incumbent.limit));
  if (llvm::Error error = ranges.front()->relax(0, std::move(light)))
    return error;
  while (true) {
    auto lowest = llvm::min_element(ranges, [](const auto &a, const auto &b) {
      return a->getBound() < b->getBound();
    });
    MemoryRange &range = **lowest;
    if (range.getBound() >= incumbent.price)
      return incumbent.price;
    llvm::Error error = llvm::Error::success();
    if (std::optional<uint64_t> working = range.findDivision()) {
      error = divideAt(*lowest, *working);
    } else if (std::optional<MemoryRange::Cut> cut = range.findCut()) {
      error = divideBy(*lowest, *cut);
    } else {
      llvm::Expected<bool> isSearched = range.search();
      if (isSearched && !*isSearched)
        return range.getBound();
      error = isSearched.takeError();
    }
    if (error)
      return error;
  }
}

MemoryCertificate RangeSearcher::takeCertificate() {
  for (const std::unique_ptr<MemoryRange> &range : ranges)
    if (range->getCuts().empty())
      certificate.ranges.push_back(range->getCertificate());
  llvm::sort(certificate.ranges, [](const auto &a, const auto &b) {
    return a.mostWorking < b.mostWorking;
  });
  return std::move(certificate);
}

llvm::Expected<Solution> tp::solveWithinMemory(const Problem &problem,
                                               const SolveOptions &options) {
  llvm::Expected<Solution> free = solve(problem, options);
  if (!free || !problem.memoryLimit)
    return free;
  uint64_t limit = *problem.memoryLimit;
  if (problem.memoryOf(free->choices).getTotal() <= limit)
    return free;
  // Prices with tolls on memory are others, near to these.
  SolveOptions tolled = options;
  tolled.cutoff = Price::infinite();
  tolled.start = &free->certificate;
  llvm::Expected<LeastMemory> least = findLeastMemory(problem, tolled);
  if (!least)
    return least.takeError();
  if (least->memory.getTotal() > limit)
    return llvm::make_error<MemoryLimitError>(std::move(least->choices),
                                              least->memory, limit);

  Incumbent incumbent(problem, limit, tolled.maxSums);
  incumbent.offer(least->choices);
  RangeSearcher searcher(incumbent, tolled);
  llvm::Expected<Price> bound =
      searcher.run({problem.evaluate(least->choices), least->memory,
                    std::move(least->choices)});
  if (!bound)
    return bound.takeError();
  if (incumbent.choices.empty())
    return llvm::make_error<InfeasibleError>("the end");
  Solution best;
  best.memoryCertificate = searcher.takeCertificate();
  best.choices = std::move(incumbent.choices);
  best.cost = incumbent.price;
  best.lowerBound = *bound;
  best.statistics = free->statistics;
  return best;
}
