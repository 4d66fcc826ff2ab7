// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elimination.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <map>

using namespace tp;

unsigned TablePool::intern(FactorTable table) {
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>(table.cells.data()),
      table.cells.size() * sizeof(Price));
  uint64_t hash = llvm::xxh3_64bits(bytes);
  auto [begin, end] = byHash.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const FactorTable &other = tables[it->second];
    if (other.sizes == table.sizes && other.cells == table.cells)
      return it->second;
  }
  unsigned index = tables.size();
  byHash.emplace(hash, index);
  tables.push_back(std::move(table));
  return index;
}

namespace {
/// Runs the steps, keeping track of which factors are still there.
class Eliminator {
public:
  Eliminator(FactorGraph &graph, const SolveOptions &options,
             SolveStatistics &statistics)
      : graph(graph), options(options), statistics(statistics),
        factorsOf(graph.sizes.size()) {
    for (const CostTerm &factor : graph.factors)
      addFactor(factor);
  }

  llvm::Error step(unsigned variable);

  Elimination take() { return std::move(elimination); }

private:
  /// All that the result of a step depends on.
  using Key = std::vector<std::vector<unsigned>>;

  void addFactor(const CostTerm &factor);
  llvm::SmallVector<CostTerm, 4> takeBucket(unsigned variable);
  Key getKey(unsigned variable, llvm::ArrayRef<CostTerm> bucket,
             llvm::ArrayRef<unsigned> scope) const;
  llvm::Error compute(unsigned variable, llvm::ArrayRef<CostTerm> bucket,
                      llvm::ArrayRef<unsigned> scope);

  FactorGraph &graph;
  const SolveOptions &options;
  SolveStatistics &statistics;
  Elimination elimination;
  /// All factors there have been; a factor used up has an empty scope.
  std::vector<CostTerm> live;
  /// By variable: indices into `live`.
  std::vector<llvm::SmallVector<unsigned, 4>> factorsOf;
  /// From the key of a step to the index of its result.
  std::map<Key, unsigned> known;
};
} // namespace

void Eliminator::addFactor(const CostTerm &factor) {
  for (unsigned variable : factor.scope)
    factorsOf[variable].push_back(live.size());
  live.push_back(factor);
}

llvm::SmallVector<CostTerm, 4> Eliminator::takeBucket(unsigned variable) {
  llvm::SmallVector<CostTerm, 4> bucket;
  for (unsigned index : factorsOf[variable])
    if (!live[index].scope.empty()) {
      bucket.push_back(std::move(live[index]));
      live[index].scope.clear();
    }
  factorsOf[variable].clear();
  return bucket;
}

llvm::SmallVector<unsigned, 4> tp::getScope(llvm::ArrayRef<CostTerm> bucket,
                                            unsigned variable) {
  llvm::SmallVector<unsigned, 4> scope;
  for (const CostTerm &factor : bucket)
    llvm::append_range(scope, factor.scope);
  llvm::sort(scope);
  scope.erase(llvm::unique(scope), scope.end());
  llvm::erase(scope, variable);
  return scope;
}

/// Tables say all about sizes and cells; of the variables only their order
/// counts. The order of the factors does not.
Eliminator::Key Eliminator::getKey(unsigned variable,
                                   llvm::ArrayRef<CostTerm> bucket,
                                   llvm::ArrayRef<unsigned> scope) const {
  Key key;
  for (const CostTerm &factor : bucket) {
    std::vector<unsigned> &entry = key.emplace_back();
    entry.push_back(factor.table);
    for (unsigned other : factor.scope)
      entry.push_back(other == variable
                          ? scope.size()
                          : llvm::lower_bound(scope, other) - scope.begin());
  }
  llvm::sort(key);
  return key;
}

llvm::Error Eliminator::compute(unsigned variable,
                                llvm::ArrayRef<CostTerm> bucket,
                                llvm::ArrayRef<unsigned> scope) {
  uint64_t entries = graph.sizes[variable];
  for (unsigned other : scope)
    entries = llvm::SaturatingMultiply<uint64_t>(entries, graph.sizes[other]);
  statistics.tableEntries =
      llvm::SaturatingAdd(statistics.tableEntries, entries);
  statistics.largestTable = std::max(statistics.largestTable, entries);
  if (statistics.tableEntries > options.maxTableEntries)
    return llvm::make_error<ProblemTooLargeError>(graph.nameOf(variable),
                                                  statistics.tableEntries,
                                                  options.maxTableEntries);

  FactorTable table = minimise(graph, bucket, variable, scope);
  Price floor = *llvm::min_element(table.cells);
  if (floor.isInfinite())
    return llvm::make_error<InfeasibleError>(graph.nameOf(variable));
  for (Price &cell : table.cells)
    cell = cell.above(floor);
  elimination.results.push_back({floor, graph.tables.intern(std::move(table))});
  return llvm::Error::success();
}

llvm::Error Eliminator::step(unsigned variable) {
  llvm::SmallVector<CostTerm, 4> bucket = takeBucket(variable);
  llvm::SmallVector<unsigned, 4> scope = getScope(bucket, variable);
  unsigned result = elimination.results.size();
  if (options.reuseSteps)
    result = known.try_emplace(getKey(variable, bucket, scope), result)
                 .first->second;
  ++statistics.steps;
  if (result < elimination.results.size())
    ++statistics.reusedSteps;
  else if (llvm::Error error = compute(variable, bucket, scope))
    return error;

  elimination.minimum += elimination.results[result].constant;
  if (!scope.empty())
    addFactor({scope, elimination.results[result].message});
  elimination.steps.push_back({variable, std::move(bucket), result});
  return llvm::Error::success();
}

llvm::Expected<Elimination> tp::eliminate(FactorGraph &graph,
                                          llvm::ArrayRef<unsigned> order,
                                          const SolveOptions &options,
                                          SolveStatistics &statistics) {
  Eliminator eliminator(graph, options, statistics);
  for (unsigned variable : order)
    if (llvm::Error error = eliminator.step(variable))
      return error;
  return eliminator.take();
}

/// The value of `factor` under the choices made so far.
static Price valueOf(const FactorTable &table, const CostTerm &factor,
                     llvm::ArrayRef<unsigned> choices) {
  size_t index = 0;
  for (auto [variable, size] : llvm::zip_equal(factor.scope, table.sizes))
    index = index * size + choices[variable];
  return table.cells[index];
}

static Price bucketPrice(const FactorGraph &graph, const EliminationStep &step,
                         llvm::ArrayRef<unsigned> choices) {
  Price price;
  for (const CostTerm &factor : step.bucket)
    price += valueOf(graph.tables[factor.table], factor, choices);
  return price;
}

/// The first cheapest choice of the variable that `step` eliminated, given
/// those of the variables eliminated later.
static unsigned chooseFirst(const FactorGraph &graph,
                            const EliminationStep &step,
                            std::vector<unsigned> &choices) {
  unsigned bestChoice = 0;
  Price bestPrice = Price::infinite();
  for (unsigned choice = 0; choice < graph.sizes[step.variable]; ++choice) {
    choices[step.variable] = choice;
    Price price = bucketPrice(graph, step, choices);
    if (price < bestPrice) {
      bestPrice = price;
      bestChoice = choice;
    }
  }
  return bestChoice;
}

std::vector<unsigned> tp::decode(const FactorGraph &graph,
                                 const Elimination &elimination) {
  std::vector<unsigned> choices(graph.sizes.size());
  for (const EliminationStep &step : llvm::reverse(elimination.steps))
    choices[step.variable] = chooseFirst(graph, step, choices);
  return choices;
}
