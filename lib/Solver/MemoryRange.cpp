// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MemoryRange.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <tuple>

using namespace tp;

void Incumbent::offer(llvm::ArrayRef<unsigned> plan) {
  if (problem.memoryOf(plan).getTotal() > limit)
    return;
  Price cost = problem.evaluate(plan);
  if (cost >= price)
    return;
  choices.assign(plan.begin(), plan.end());
  price = cost;
}

MemoryRange::MemoryRange(Incumbent &incumbent, const SolveOptions &options,
                         uint64_t least, uint64_t most, std::vector<Cut> cuts)
    : incumbent(incumbent), options(options), least(least), most(most),
      cuts(std::move(cuts)), tolerance(incumbent.limit >> 10) {
  banChoices();
}

bool MemoryRange::isAdmitted(unsigned variable, unsigned choice) const {
  const Problem &problem = incumbent.problem;
  Problem::Memory memory = problem.getMemory(variable, choice);
  return problem.getCost(variable, choice).isFinite() &&
         memory.working <= most && llvm::all_of(cuts, [&](const Cut &cut) {
           return cut.variable != variable || (memory.persistent >= cut.least &&
                                               memory.persistent <= cut.most);
         });
}

/// The least persistent and the least working memory of the choices of a
/// variable; ~0 if there are none.
Problem::Memory MemoryRange::getLeastOf(unsigned variable) const {
  const Problem &problem = incumbent.problem;
  Problem::Memory smallest{~uint64_t(0), ~uint64_t(0)};
  for (unsigned choice = 0; choice < problem.getNumChoices(variable);
       ++choice) {
    if (!isAdmitted(variable, choice))
      continue;
    Problem::Memory memory = problem.getMemory(variable, choice);
    smallest.persistent = std::min(smallest.persistent, memory.persistent);
    smallest.working = std::min(smallest.working, memory.working);
  }
  return smallest;
}

/// Leaves out choices that do not fit even if all others take least.
void MemoryRange::banChoices() {
  const Problem &problem = incumbent.problem;
  feasible = problem;
  feasible.costVectors.clear();
  std::vector<uint64_t> leastOf;
  uint64_t total = 0;
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    Problem::Memory own = getLeastOf(variable);
    isEmpty |= own.working == ~uint64_t(0);
    leastOf.push_back(own.persistent);
    total = llvm::SaturatingAdd(total, own.persistent);
    least = std::max(least, own.working);
  }
  isEmpty |= least > most || least > incumbent.limit;
  if (isEmpty)
    return;
  // A variable that is cut is like no other.
  std::map<std::tuple<unsigned, unsigned, unsigned>, unsigned> known;
  for (unsigned number = 0; number < problem.variables.size(); ++number) {
    Problem::Variable &variable = feasible.variables[number];
    bool isCut = llvm::any_of(
        cuts, [&](const Cut &cut) { return cut.variable == number; });
    auto [it, isNew] = known.try_emplace(
        {variable.costVector, variable.memoryVector, isCut ? number + 1 : 0},
        feasible.costVectors.size());
    if (isNew) {
      std::vector<Price> costs = problem.costVectors[variable.costVector];
      uint64_t others = total - leastOf[number];
      for (auto [choice, cost] : llvm::enumerate(costs)) {
        Problem::Memory memory = problem.getMemory(number, choice);
        uint64_t working = std::max(memory.working, least);
        if (!isAdmitted(number, choice) ||
            others + memory.persistent + working > incumbent.limit)
          cost = Price::infinite();
      }
      feasible.costVectors.push_back(std::move(costs));
    }
    variable.costVector = it->second;
  }
}

Problem MemoryRange::addTolls(uint64_t tolls) const {
  Problem tolled = feasible;
  std::vector<bool> done(tolled.costVectors.size());
  for (unsigned number = 0; number < tolled.variables.size(); ++number) {
    unsigned vector = tolled.variables[number].costVector;
    if (done[vector])
      continue;
    done[vector] = true;
    for (auto [choice, cost] : llvm::enumerate(tolled.costVectors[vector])) {
      uint64_t bytes = feasible.getMemory(number, choice).persistent;
      uint64_t ticks = MemoryConstraint::getToll(bytes, tolls);
      cost += Price::fromWord(ticksToWord(ticks));
    }
  }
  return tolled;
}

/// Tolls and the incumbent's price together must fit in the time of a price:
/// so do those of every plan that is not dearer.
uint64_t MemoryRange::getLargestMultiplier() const {
  const Problem &problem = incumbent.problem;
  uint64_t bytes = 1;
  for (unsigned number = 0; number < problem.variables.size(); ++number) {
    uint64_t own = 0;
    for (unsigned choice = 0; choice < problem.getNumChoices(number); ++choice)
      own = std::max(own, problem.getMemory(number, choice).persistent);
    bytes += own;
  }
  if (incumbent.price.isInfinite())
    return 0;
  constexpr uint64_t longest = (uint64_t(1) << Price::timeBits) - 1;
  Price::Word ticks = longest - incumbent.price.getTime();
  return static_cast<uint64_t>(
      std::min<Price::Word>((ticks << 32) / bytes, ~uint64_t(0)));
}

llvm::Expected<MemoryRange::Point> MemoryRange::tryMultiplier(uint64_t tolls) {
  if (auto known = tried.find(tolls); known != tried.end())
    return known->second;
  SolveOptions again = options;
  if (!certificate.messages.empty())
    again.start = &certificate;
  llvm::Expected<Solution> solution = solve(addTolls(tolls), again);
  if (!solution)
    return solution.takeError();
  const Problem &problem = incumbent.problem;
  Point point{problem.evaluate(solution->choices),
              problem.memoryOf(solution->choices), solution->choices};
  incumbent.offer(solution->choices);
  tried.try_emplace(tolls, point);
  // A bound below nothing says nothing.
  Price::Word minimum = solution->lowerBound.getWord();
  Price::Word refund =
      ticksToWord(MemoryConstraint::getToll(getBudget(), tolls));
  if (minimum < refund)
    return point;
  Price proved = Price::fromWord(minimum - refund);
  if (relaxed && proved < *relaxed)
    return point;
  if (!relaxed || proved > *relaxed) {
    attained = ~uint64_t(0);
    room.reset();
  }
  attained = std::min(attained, point.memory.working);
  if (point.memory.persistent <= getBudget() &&
      point.memory.getTotal() > incumbent.limit)
    room = incumbent.limit - point.memory.persistent;
  relaxed = bound = proved;
  tolledMinimum = solution->lowerBound;
  tolledCost = solution->cost;
  multiplier = tolls;
  certificate = std::move(solution->certificate);
  return point;
}

/// Looks for a plan on either side of the budget.
llvm::Error MemoryRange::bracket(uint64_t start, std::optional<Point> &heavy,
                                 std::optional<Point> &light) {
  uint64_t largest = getLargestMultiplier();
  uint64_t tolls = std::min(start, largest);
  while (true) {
    llvm::Expected<Point> point = tryMultiplier(tolls);
    if (!point)
      return point.takeError();
    bool isHeavy = point->memory.persistent > getBudget();
    (isHeavy ? heavy : light) = *point;
    bool isLast = isHeavy ? tolls == largest : tolls == 0;
    if ((heavy && light) || isLast)
      return llvm::Error::success();
    constexpr uint64_t first = uint64_t(1) << 20, factor = 16;
    tolls =
        isHeavy ? llvm::SaturatingMultiply(std::max(tolls, first), factor) : 0;
    tolls = std::min(tolls, largest);
  }
}

/// The line through a plan on either side of the budget has a slope, which is
/// tried next; the plan that it gives takes the place of one of them.
llvm::Error MemoryRange::intersect(Point heavy, Point light) {
  uint64_t largest = getLargestMultiplier();
  uint64_t last = ~uint64_t(0);
  // A few rounds do; the rounding of slopes must not make it many.
  for (unsigned round = 0; round < 64; ++round) {
    if (light.price <= heavy.price)
      break;
    uint64_t saved = heavy.memory.persistent - light.memory.persistent;
    Price::Word ticks = light.price.getTime() - heavy.price.getTime();
    uint64_t tolls = static_cast<uint64_t>(
        std::min<Price::Word>((ticks << 32) / saved, largest));
    if (tolls == last)
      break;
    last = tolls;
    llvm::Expected<Point> next = tryMultiplier(tolls);
    if (!next)
      return next.takeError();
    Point &end = next->memory.persistent > getBudget() ? heavy : light;
    if (end.price == next->price &&
        end.memory.persistent == next->memory.persistent)
      break;
    end = std::move(*next);
  }
  heavyEnd = std::move(heavy);
  lightEnd = std::move(light);
  return llvm::Error::success();
}

llvm::Error MemoryRange::relax(uint64_t start, std::optional<Point> light) {
  std::optional<Point> heavy;
  llvm::Error error = isEmpty ? llvm::make_error<InfeasibleError>("the limit")
                              : bracket(start, heavy, light);
  if (!error && heavy && light)
    error = intersect(*heavy, *light);
  if (!error && !relaxed)
    error = tryMultiplier(0).takeError();
  if (error && error.isA<InfeasibleError>()) {
    llvm::consumeError(std::move(error));
    bound = Price::infinite();
    return llvm::Error::success();
  }
  // A small part of the bound, to begin with, but not of a tick.
  slack = Price::fromWord(std::max(bound.getWord() >> 13, ticksToWord(1)));
  return error;
}

llvm::Error MemoryRange::relaxLike(const MemoryRange &whole) {
  multiplier = whole.multiplier;
  // What was left for elimination there may not be what is left here.
  certificate.messages = whole.certificate.messages;
  certificate.messageOf = whole.certificate.messageOf;
  if (llvm::Error error = relax(whole.multiplier, std::nullopt))
    return error;
  // What is known of all plans of the whole holds here.
  searchedTo = whole.searchedTo;
  if (searchedTo > bound)
    slack = std::max(slack, searchedTo.above(bound));
  return llvm::Error::success();
}

MemoryConstraint MemoryRange::getConstraint() const {
  MemoryConstraint constraint;
  constraint.limit = incumbent.limit;
  constraint.leastWorking = constraint.floorWorking = least;
  constraint.multiplier = multiplier;
  return constraint;
}

std::optional<uint64_t> MemoryRange::findDivision() const {
  // Neither part has the plan that does not fit.
  if (room && *room < most)
    return *room;
  if (attained > most || attained <= least)
    return std::nullopt;
  // Small differences are left to the search, as long as it is easy.
  bool isLarge =
      getConstraint().getPenalty(attained).getWord() > bound.getWord() >> 10;
  if (isLarge || lastSums > options.easySums)
    return attained - 1;
  return std::nullopt;
}

std::optional<MemoryRange::Cut> MemoryRange::findCut() const {
  // Working memory is divided first.
  if (lastSums / 5 <= options.easySums || !heavyEnd || !lightEnd)
    return std::nullopt;
  uint64_t largest = incumbent.limit >> 5;
  std::optional<Cut> found;
  for (unsigned number = 0; number < feasible.variables.size(); ++number) {
    auto bytesIn = [&](const Point &end) {
      return feasible.getMemory(number, end.choices[number]).persistent;
    };
    auto [low, high] = std::minmax(bytesIn(*lightEnd), bytesIn(*heavyEnd));
    if (high - low <= largest)
      continue;
    largest = high - low;
    found = Cut{number, 0, low};
  }
  return found;
}

llvm::Expected<MemoryRange::Find>
MemoryRange::runSearch(Price within, uint64_t ignored,
                       GapSearch::Rounding rounding, unsigned maxLabels) {
  llvm::Expected<ConstrainedResult> result =
      gap->run(within, ignored, rounding, {incumbent.sumsLeft, maxLabels});
  if (!result)
    return result.takeError();
  incumbent.sumsLeft -= std::min(incumbent.sumsLeft, result->sums);
  Find find;
  find.gaveUp = result->gaveUp;
  find.sums = result->sums;
  if (result->choices.empty())
    return find;
  incumbent.offer(result->choices);
  find.price = incumbent.problem.evaluate(result->choices);
  find.fits =
      incumbent.problem.memoryOf(result->choices).getTotal() <= incumbent.limit;
  return find;
}

llvm::Error MemoryRange::improveIncumbent() {
  constexpr unsigned maxLabels = 8, factor = 4;
  Price within = slack;
  while (bound < incumbent.price) {
    Price most = incumbent.price.above(bound);
    within = std::min(within, most);
    llvm::Expected<Find> found =
        runSearch(within, 0, GapSearch::Rounding::Down, maxLabels);
    if (!found)
      return found.takeError();
    if (found->price.isFinite() || found->gaveUp || within == most)
      break;
    bool isNear = within.getWord() > most.getWord() / factor;
    within = isNear ? most : Price::fromWord(factor * within.getWord());
  }
  return llvm::Error::success();
}

llvm::Expected<bool> MemoryRange::search() {
  if (!gap) {
    gap = std::make_unique<RangeSearch>(addTolls(multiplier), getConstraint(),
                                        tolledMinimum, options);
    if (llvm::Error error = improveIncumbent())
      return error;
  }
  if (incumbent.price.isFinite())
    slack = std::min(slack, incumbent.price.above(bound));
  llvm::Expected<Find> found =
      runSearch(slack, tolerance, GapSearch::Rounding::Down);
  if (!found)
    return found.takeError();
  lastSums = found->sums;
  if (found->gaveUp)
    return false;
  // What costs no more than this lies within the slack.
  Price end = bound + slack;
  if (found->fits || found->price >= end) {
    searchedTo = std::max(searchedTo, end);
    // Twice the slack may be ten times the work.
    unsigned part = lastSums > options.easySums ? 2 : 1;
    slack += Price::fromWord(slack.getWord() / part + 1);
    return true;
  }
  // Nothing that fits costs less than what was found.
  searchedTo = std::max(searchedTo, found->price);
  llvm::Expected<Find> fitting =
      runSearch(slack, tolerance, GapSearch::Rounding::Up);
  if (!fitting)
    return fitting.takeError();
  tolerance = 0;
  return true;
}
