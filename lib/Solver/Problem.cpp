// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/Problem.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace tp;
using llvm::createStringError;
using llvm::Error;

llvm::SmallVector<Problem::Use, 2> Problem::Value::differentUses() const {
  llvm::SmallVector<Use, 2> uses(consumers);
  llvm::sort(uses);
  uses.erase(llvm::unique(uses), uses.end());
  return uses;
}

namespace {
/// Largest possible totals of the fields that must not overflow; saturating.
struct FieldTotals {
  uint64_t collectives = 0;
  uint64_t memory = 0;
  uint64_t steps = 0;

  void raiseTo(Price price) {
    if (price.isInfinite())
      return;
    collectives = std::max(collectives, price.getCollectives());
    memory = std::max(memory, price.getMemory());
    steps = std::max(steps, price.getSteps());
  }

  void add(const FieldTotals &other, uint64_t times) {
    collectives =
        llvm::SaturatingMultiplyAdd(other.collectives, times, collectives);
    memory = llvm::SaturatingMultiplyAdd(other.memory, times, memory);
    steps = llvm::SaturatingMultiplyAdd(other.steps, times, steps);
  }
};

/// The checks of `Problem::check`, each of which relies on those before it.
class Checker {
public:
  explicit Checker(const Problem &problem) : problem(problem) {}

  Error checkTables();
  Error run() {
    if (Error error = readTables())
      return error;
    if (Error error = checkVariables())
      return error;
    for (const Problem::Value &value : problem.values)
      if (Error error = checkValue(value))
        return error;
    if (Error error = checkTotals())
      return error;
    return checkMemory();
  }

private:
  Error readTables();
  Error checkVariables();
  Error checkValue(const Problem::Value &value);
  Error checkUse(const Problem::Value &value, Problem::Use use);
  Error checkTargets(const Problem::Value &value);
  Error checkTotals() const;
  Error checkMemory() const;

  const Problem &problem;
  /// By table and by cost vector.
  std::vector<FieldTotals> tableFields, costFields;
  /// One more than the largest layout of each map.
  std::vector<uint64_t> layoutBounds;
};
} // namespace

static Error checkIndex(const llvm::Twine &owner, const char *what,
                        unsigned index, size_t size) {
  if (index < size)
    return Error::success();
  return createStringError(owner + " refers to " + what + " " +
                           llvm::Twine(index) + ", but there are " +
                           llvm::Twine(size));
}

static Error inTable(size_t index, Error error) {
  if (!error)
    return error;
  return createStringError("distance table " + llvm::Twine(index) + ": " +
                           llvm::toString(std::move(error)));
}

Error Checker::checkTables() {
  for (auto [index, table] : llvm::enumerate(problem.tables))
    if (Error error = inTable(index, table.check()))
      return error;
  return Error::success();
}

Error Checker::readTables() {
  for (auto [index, table] : llvm::enumerate(problem.tables)) {
    if (Error error = inTable(index, table.checkSize()))
      return error;
    FieldTotals fields;
    for (Price price : table.entries)
      fields.raiseTo(price);
    tableFields.push_back(fields);
  }
  for (const std::vector<unsigned> &map : problem.layoutMaps)
    layoutBounds.push_back(map.empty() ? 0
                                       : uint64_t(*llvm::max_element(map)) + 1);
  return Error::success();
}

Error Checker::checkVariables() {
  for (const std::vector<Price> &costs : problem.costVectors) {
    FieldTotals fields;
    for (Price price : costs)
      fields.raiseTo(price);
    costFields.push_back(fields);
  }
  for (const Problem::Variable &variable : problem.variables) {
    std::string owner = "variable '" + variable.name + "'";
    if (Error error = checkIndex(owner, "cost vector", variable.costVector,
                                 problem.costVectors.size()))
      return error;
    if (problem.costVectors[variable.costVector].empty())
      return createStringError(owner + " has no choices");
    if (variable.memoryVector == Problem::noMemory)
      continue;
    if (Error error = checkIndex(owner, "memory vector", variable.memoryVector,
                                 problem.memoryVectors.size()))
      return error;
    size_t entries = problem.memoryVectors[variable.memoryVector].size();
    size_t choices = problem.costVectors[variable.costVector].size();
    if (entries != choices)
      return createStringError(owner + " has " + llvm::Twine(choices) +
                               " choices, but its memory vector has " +
                               llvm::Twine(entries));
  }
  return Error::success();
}

Error Checker::checkUse(const Problem::Value &value, Problem::Use use) {
  std::string owner = "value '" + value.name + "'";
  if (Error error =
          checkIndex(owner, "variable", use.variable, problem.variables.size()))
    return error;
  if (Error error = checkIndex(owner, "layout map", use.layoutMap,
                               problem.layoutMaps.size()))
    return error;
  size_t mapped = problem.layoutMaps[use.layoutMap].size();
  size_t choices = problem.getNumChoices(use.variable);
  const std::string &variable = problem.variables[use.variable].name;
  if (mapped != choices)
    return createStringError(owner + " maps " + llvm::Twine(mapped) +
                             " choices of variable '" + variable +
                             "', which has " + llvm::Twine(choices));
  uint64_t bound = layoutBounds[use.layoutMap];
  unsigned numLayouts = problem.tables[value.table].numLayouts;
  if (bound > numLayouts)
    return createStringError(owner + " gets layout " + llvm::Twine(bound - 1) +
                             " from variable '" + variable +
                             "', but its distance table has " +
                             llvm::Twine(numLayouts) + " layouts");
  return Error::success();
}

/// Refuses a value that could want too many layouts for an exact tree.
Error Checker::checkTargets(const Problem::Value &value) {
  if (value.consumers.size() <= maxTreeTargets)
    return Error::success();
  llvm::BitVector layouts(problem.tables[value.table].numLayouts);
  llvm::SmallVector<Problem::Use, 2> uses = value.differentUses();
  for (Problem::Use use : uses)
    for (unsigned layout : problem.layoutMaps[use.layoutMap])
      layouts.set(layout);
  size_t targets = std::min<size_t>(uses.size(), layouts.count());
  if (targets <= maxTreeTargets)
    return Error::success();
  return createStringError(
      "value '" + value.name + "' may be wanted in " + llvm::Twine(targets) +
      " layouts at once by its " + llvm::Twine(value.consumers.size()) +
      " consumers; at most " + llvm::Twine(maxTreeTargets) +
      " are priced exactly; copy the value, so that each copy has fewer "
      "consumers");
}

Error Checker::checkValue(const Problem::Value &value) {
  if (Error error = checkIndex("value '" + value.name + "'", "distance table",
                               value.table, problem.tables.size()))
    return error;
  if (Error error = checkUse(value, value.producer))
    return error;
  for (Problem::Use use : value.consumers)
    if (Error error = checkUse(value, use))
      return error;
  return checkTargets(value);
}

static Error checkTotal(const char *what, uint64_t total, unsigned bits) {
  if (total >> bits == 0)
    return Error::success();
  // A sum that does not fit in 64 bits is the largest number.
  bool isSaturated = total == std::numeric_limits<uint64_t>::max();
  return createStringError(
      "the largest possible total of %s is %s, which does not fit in %u "
      "bits; count them in a larger unit or plan fewer layers at a time",
      what, isSaturated ? "2^64 - 1 or more" : std::to_string(total).c_str(),
      bits);
}

Error Checker::checkTotals() const {
  FieldTotals totals;
  for (const Problem::Variable &variable : problem.variables)
    totals.add(costFields[variable.costVector], 1);
  // A tree with k targets has at most k - 1 branching nodes besides.
  for (const Problem::Value &value : problem.values)
    totals.add(tableFields[value.table], 2 * value.consumers.size());
  if (Error error =
          checkTotal("collectives", totals.collectives, Price::collectiveBits))
    return error;
  if (Error error =
          checkTotal("memory in KiB", totals.memory, Price::memoryBits))
    return error;
  return checkTotal("reshard steps", totals.steps, Price::stepBits);
}

/// Sums of memory must fit in the time of a price, where the least memory of
/// any plan is looked for, with one bit to spare.
Error Checker::checkMemory() const {
  std::vector<Problem::Memory> largest;
  for (const std::vector<Problem::Memory> &memories : problem.memoryVectors) {
    Problem::Memory &most = largest.emplace_back();
    for (const Problem::Memory &memory : memories) {
      most.persistent = std::max(most.persistent, memory.persistent);
      most.working = std::max(most.working, memory.working);
    }
  }
  uint64_t persistent = 0;
  uint64_t working = 0;
  for (const Problem::Variable &variable : problem.variables) {
    if (variable.memoryVector == Problem::noMemory)
      continue;
    const Problem::Memory &most = largest[variable.memoryVector];
    persistent = llvm::SaturatingAdd(persistent, most.persistent);
    working = std::max(working, most.working);
  }
  return checkTotal("bytes of memory", llvm::SaturatingAdd(persistent, working),
                    Price::timeBits - 1);
}

Error Problem::checkShape() const { return Checker(*this).run(); }

Error Problem::check() const {
  Checker checker(*this);
  if (Error error = checker.checkTables())
    return error;
  return checker.run();
}

Price Problem::evaluate(llvm::ArrayRef<unsigned> choices) const {
  if (choices.size() != variables.size())
    return Price::infinite();
  Price total;
  for (unsigned variable = 0; variable < variables.size(); ++variable) {
    if (choices[variable] >= getNumChoices(variable))
      return Price::infinite();
    total += getCost(variable, choices[variable]);
  }
  llvm::SmallVector<unsigned, 4> targets;
  for (const Value &value : values) {
    targets.clear();
    for (Use use : value.consumers)
      targets.push_back(getLayout(use, choices[use.variable]));
    unsigned root = getLayout(value.producer, choices[value.producer.variable]);
    total += treeCost(tables[value.table], root, targets);
  }
  return total;
}

Problem::Memory Problem::memoryOf(llvm::ArrayRef<unsigned> choices) const {
  Memory total;
  for (unsigned variable = 0; variable < variables.size(); ++variable) {
    Memory memory = getMemory(variable, choices[variable]);
    total.persistent += memory.persistent;
    total.working = std::max(total.working, memory.working);
  }
  return total;
}
