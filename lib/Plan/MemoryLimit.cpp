// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Plan/MemoryLimit.h"
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

/// Raises the bounds of ranges of working memory, always the least, until none
/// lies below the best plan. Returns the least bound.
static llvm::Expected<Price> searchRanges(
    std::vector<std::unique_ptr<MemoryRange>> &ranges,
    const Incumbent &incumbent,
    llvm::function_ref<std::unique_ptr<MemoryRange>(uint64_t, uint64_t)>
        makeRange) {
  while (true) {
    auto lowest = llvm::min_element(ranges, [](const auto &a, const auto &b) {
      return a->getBound() < b->getBound();
    });
    MemoryRange &range = **lowest;
    if (range.getBound() >= incumbent.price)
      return incumbent.price;
    std::optional<uint64_t> division = range.findDivision();
    if (!division) {
      llvm::Expected<bool> isSearched = range.search();
      if (!isSearched)
        return isSearched.takeError();
      if (!*isSearched)
        return range.getBound();
      continue;
    }
    std::unique_ptr<MemoryRange> lower = makeRange(range.getLeast(), *division);
    std::unique_ptr<MemoryRange> upper =
        makeRange(*division + 1, range.getMost());
    for (MemoryRange *part : {lower.get(), upper.get()})
      if (llvm::Error error = part->relaxLike(range))
        return error;
    *lowest = std::move(lower);
    ranges.push_back(std::move(upper));
  }
}

static MemoryCertificate
makeCertificate(std::vector<std::unique_ptr<MemoryRange>> &ranges) {
  llvm::sort(ranges, [](const auto &a, const auto &b) {
    return a->getMost() < b->getMost();
  });
  MemoryCertificate certificate;
  for (const std::unique_ptr<MemoryRange> &range : ranges)
    certificate.ranges.push_back(range->takeCertificate());
  return certificate;
}

llvm::Expected<Solution> tp::solveWithinMemory(const Problem &problem,
                                               const SolveOptions &options) {
  llvm::Expected<Solution> free = solve(problem, options);
  if (!free || !problem.memoryLimit)
    return free;
  uint64_t limit = *problem.memoryLimit;
  if (problem.memoryOf(free->choices).getTotal() <= limit)
    return free;
  llvm::Expected<LeastMemory> least = findLeastMemory(problem, options);
  if (!least)
    return least.takeError();
  if (least->memory.getTotal() > limit)
    return llvm::make_error<MemoryLimitError>(std::move(least->choices),
                                              least->memory, limit);

  Incumbent incumbent(problem, limit);
  incumbent.offer(least->choices);
  auto makeRange = [&](uint64_t from, uint64_t to) {
    return std::make_unique<MemoryRange>(incumbent, options, from, to);
  };
  std::vector<std::unique_ptr<MemoryRange>> ranges;
  ranges.push_back(makeRange(0, limit));
  MemoryRange::Point light{problem.evaluate(least->choices), least->memory};
  if (llvm::Error error = ranges.front()->relax(0, light))
    return error;
  llvm::Expected<Price> bound = searchRanges(ranges, incumbent, makeRange);
  if (!bound)
    return bound.takeError();
  if (incumbent.choices.empty())
    return llvm::make_error<InfeasibleError>("the end");
  Solution best;
  best.memoryCertificate = makeCertificate(ranges);
  best.choices = std::move(incumbent.choices);
  best.cost = incumbent.price;
  best.lowerBound = *bound;
  best.statistics = free->statistics;
  return best;
}
