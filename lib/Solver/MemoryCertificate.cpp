// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/MemoryCertificate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace tp;
using llvm::createStringError;
using llvm::Twine;

static constexpr uint64_t nothing = ~uint64_t(0);

namespace {
/// The plans of a range, as a problem with tolls.
class TolledRange {
public:
  TolledRange(const Problem &problem, uint64_t leastWorking,
              const MemoryCertificate::Range &range)
      : problem(problem), range(range), limit(*problem.memoryLimit),
        working(leastWorking) {}

  /// No plan of the range costs less.
  llvm::Expected<Price> check();

private:
  bool sumUp();
  Problem makeProblem() const;
  bool isPossible(unsigned variable, unsigned choice) const;
  Price::Word tollFor(uint64_t bytes) const;

  const Problem &problem;
  const MemoryCertificate::Range &range;
  uint64_t limit;
  /// No plan of the range needs less working memory.
  uint64_t working;
  /// The least persistent memory of each variable, and of all together.
  std::vector<uint64_t> persistentOf;
  uint64_t persistent = 0;
};
} // namespace

/// In words of a price.
Price::Word TolledRange::tollFor(uint64_t bytes) const {
  Price::Word ticks = (Price::Word(bytes) * range.multiplier) >> 32;
  // More than a price holds is worth as much as any of it.
  ticks = std::min(ticks, (Price::Word(1) << Price::timeBits) - 1);
  return ticks << (128 - Price::timeBits);
}

/// False if there is no plan in the range.
bool TolledRange::sumUp() {
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    uint64_t leastPersistent = nothing, leastWorking = nothing;
    for (unsigned choice = 0; choice < problem.getNumChoices(variable);
         ++choice) {
      Problem::Memory memory = problem.getMemory(variable, choice);
      if (problem.getCost(variable, choice).isInfinite() ||
          memory.working > range.mostWorking)
        continue;
      leastPersistent = std::min(leastPersistent, memory.persistent);
      leastWorking = std::min(leastWorking, memory.working);
    }
    if (leastWorking == nothing)
      return false;
    persistentOf.push_back(leastPersistent);
    persistent += leastPersistent;
    working = std::max(working, leastWorking);
  }
  return working <= range.mostWorking && working <= limit;
}

/// Whether the choice fits if all others take least.
bool TolledRange::isPossible(unsigned variable, unsigned choice) const {
  Problem::Memory memory = problem.getMemory(variable, choice);
  uint64_t all = persistent - persistentOf[variable] + memory.persistent;
  return memory.working <= range.mostWorking &&
         all + std::max(memory.working, working) <= limit;
}

/// Variables with the same prices and memory go on having the same prices.
Problem TolledRange::makeProblem() const {
  Problem tolled = problem;
  tolled.costVectors.clear();
  std::map<std::pair<unsigned, unsigned>, unsigned> vectors;
  for (unsigned number = 0; number < problem.variables.size(); ++number) {
    Problem::Variable &variable = tolled.variables[number];
    auto [it, isNew] =
        vectors.try_emplace({variable.costVector, variable.memoryVector},
                            tolled.costVectors.size());
    variable.costVector = it->second;
    if (!isNew)
      continue;
    std::vector<Price> &costs = tolled.costVectors.emplace_back();
    for (unsigned choice = 0; choice < problem.getNumChoices(number);
         ++choice) {
      uint64_t bytes = problem.getMemory(number, choice).persistent;
      costs.push_back(isPossible(number, choice)
                          ? problem.getCost(number, choice) +
                                Price::fromWord(tollFor(bytes))
                          : Price::infinite());
    }
  }
  return tolled;
}

llvm::Expected<Price> TolledRange::check() {
  if (!sumUp())
    return Price::infinite();
  llvm::Expected<Price> minimum =
      checkCertificate(makeProblem(), range.tolledCost, range.certificate);
  if (!minimum || minimum->isInfinite())
    return minimum;
  Price::Word paid = minimum->getWord();
  Price::Word back = tollFor(limit - working);
  return Price::fromWord(paid - std::min(paid, back));
}

llvm::Expected<Price>
tp::checkMemoryCertificate(const Problem &problem, Price cost,
                           const MemoryCertificate &certificate) {
  if (llvm::Error error = problem.checkShape())
    return error;
  if (!problem.memoryLimit)
    return createStringError("the certificate is for a memory limit, which the "
                             "problem does not have");
  Price bound = cost;
  uint64_t least = 0;
  for (auto [index, range] : llvm::enumerate(certificate.ranges)) {
    if (range.mostWorking < least)
      return createStringError(
          "range " + Twine(index) + " ends at " + Twine(range.mostWorking) +
          " bytes of working memory, before it begins at " + Twine(least));
    llvm::Expected<Price> proved = TolledRange(problem, least, range).check();
    if (!proved)
      return createStringError("range " + Twine(index) + ": " +
                               llvm::toString(proved.takeError()));
    bound = std::min(bound, *proved);
    least = llvm::SaturatingAdd(range.mostWorking, uint64_t(1));
  }
  if (least <= *problem.memoryLimit)
    return createStringError("plans with " + Twine(least) +
                             " bytes of working memory and more are in no "
                             "range");
  return bound;
}
