// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Expansion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>

using namespace tp;
using llvm::ArrayRef;

namespace {
using Kind = Certificate::Expansion::Kind;

/// What a table is made of, as the first element of its key.
enum TableKind : unsigned { CostTable, ReachTable, CoverTable, MemberTable };

/// A variable and what its choices stand for: layouts, or for the variable of a
/// cover the numbers of its sets.
struct Axis {
  unsigned variable;
  /// Index into `Expander::maps`.
  unsigned map;
};

/// An end of a value: the variable is free, the map is over choices kept.
struct Ends {
  Axis producer;
  llvm::SmallVector<Axis, 4> consumers;
};

class Expander {
public:
  Expander(const Problem &problem, const Domains &domains, FactorGraph &graph,
           Certificate &certificate, uint64_t maxEntries)
      : problem(problem), domains(domains), graph(graph),
        certificate(certificate), maxEntries(maxEntries) {}

  void addCosts();
  void addValue(const Problem::Value &value);
  /// Until then factors refer to `recipes`.
  void makeTables();

  /// The entries of the largest table that is too large to be made, or zero.
  uint64_t getExcess() const { return excess; }

private:
  using Map = std::vector<unsigned>;
  /// A function of the layouts (or set numbers) along some axes.
  using CostFunction = std::function<Price(ArrayRef<unsigned>)>;

  /// A table still to be made: `cost` over `scope`, where `places` says where
  /// in it the variable of each axis is.
  struct Recipe {
    llvm::SmallVector<Axis, 4> axes;
    llvm::SmallVector<unsigned, 4> places, scope;
    CostFunction cost;
  };

  unsigned internMap(Map map);
  Axis getAxis(Problem::Use use);
  Map distinctLayouts(unsigned map) const;
  Ends getEnds(const Problem::Value &value);

  unsigned getExpansion(unsigned table, const Ends &ends);
  Certificate::Expansion chooseExpansion(unsigned table, const Ends &ends);

  unsigned addVariable(unsigned size, unsigned position);
  FactorTable makeTable(const Recipe &recipe) const;
  /// Adds a factor over `axes`; equal keys and maps mean equal functions.
  void addFactor(ArrayRef<unsigned> key, ArrayRef<Axis> axes,
                 CostFunction cost);
  /// The distance from the nearest of `sources` to `target`.
  void addReach(unsigned table, llvm::SmallVector<Axis, 4> sources,
                Axis target);
  void addSlots(unsigned table, const Ends &ends,
                const Certificate::Expansion &expansion);
  void addCover(unsigned table, const Ends &ends, unsigned expansion);

  const Problem &problem;
  const Domains &domains;
  FactorGraph &graph;
  Certificate &certificate;
  uint64_t maxEntries;
  uint64_t excess = 0;

  std::vector<Map> maps;
  std::map<Map, unsigned> mapIndices;
  /// From class of variable and layout map.
  std::map<std::pair<unsigned, unsigned>, unsigned> useMaps;
  /// From table and maps of producer and consumers to the expansion.
  std::map<std::vector<unsigned>, unsigned> expansionOf;
  std::vector<Recipe> recipes;
  /// From all that a factor's table depends on to the recipe.
  std::map<std::vector<unsigned>, unsigned> recipeOf;
};
} // namespace

unsigned Expander::internMap(Map map) {
  auto [it, isNew] = mapIndices.try_emplace(std::move(map), maps.size());
  if (isNew)
    maps.push_back(it->first);
  return it->second;
}

Axis Expander::getAxis(Problem::Use use) {
  auto [it, isNew] =
      useMaps.try_emplace({domains.classOf(use.variable), use.layoutMap}, 0);
  if (isNew) {
    Map map;
    for (unsigned choice : domains.getKept(use.variable))
      map.push_back(problem.getLayout(use, choice));
    it->second = internMap(std::move(map));
  }
  return {use.variable, it->second};
}

Expander::Map Expander::distinctLayouts(unsigned map) const {
  Map layouts = maps[map];
  llvm::sort(layouts);
  layouts.erase(llvm::unique(layouts), layouts.end());
  return layouts;
}

Ends Expander::getEnds(const Problem::Value &value) {
  Ends ends{getAxis(value.producer), {}};
  for (Problem::Use use : value.differentUses())
    ends.consumers.push_back(getAxis(use));
  return ends;
}

Certificate::Expansion Expander::chooseExpansion(unsigned table,
                                                 const Ends &ends) {
  Certificate::Expansion expansion;
  if (ends.consumers.size() == 1)
    return expansion;
  const DistanceTable &distances = problem.tables[table];
  std::vector<Map> layouts;
  std::set<unsigned> allTargets;
  for (Axis consumer : ends.consumers) {
    layouts.push_back(distinctLayouts(consumer.map));
    allTargets.insert(layouts.back().begin(), layouts.back().end());
  }
  llvm::SmallVector<ArrayRef<unsigned>, 4> targets(layouts.begin(),
                                                   layouts.end());
  expansion.kind = Kind::Slots;
  expansion.slotLayouts =
      findSlotLayouts(distances, distinctLayouts(ends.producer.map),
                      Map(allTargets.begin(), allTargets.end()));

  uint64_t combinations = 1;
  for (size_t slot = 1; slot < targets.size(); ++slot)
    combinations = llvm::SaturatingMultiply<uint64_t>(
        combinations, expansion.slotLayouts.size());
  // Pricing a set of k layouts takes about 3^k n + 2^k n^2 additions.
  constexpr uint64_t maxWork = uint64_t(1) << 26;
  uint64_t n = distances.numLayouts;
  uint64_t largest = std::min<uint64_t>(targets.size(), maxTreeTargets);
  uint64_t workPerSet = llvm::SaturatingMultiply<uint64_t>(
      n, (n << largest) + static_cast<uint64_t>(std::pow(3, largest)));
  uint64_t limit = std::min(combinations - 1, maxWork / workPerSet);
  if (auto sets = findLayoutSets(targets, limit)) {
    expansion.kind = Kind::Cover;
    expansion.slotLayouts.clear();
    expansion.layoutSets = std::move(*sets);
  }
  return expansion;
}

unsigned Expander::getExpansion(unsigned table, const Ends &ends) {
  std::vector<unsigned> key = {table, ends.producer.map};
  for (Axis consumer : ends.consumers)
    key.push_back(consumer.map);
  auto [it, isNew] = expansionOf.try_emplace(std::move(key), 0);
  if (isNew) {
    it->second = certificate.expansions.size();
    certificate.expansions.push_back(chooseExpansion(table, ends));
  }
  return it->second;
}

unsigned Expander::addVariable(unsigned size, unsigned position) {
  graph.sizes.push_back(size);
  graph.positions.push_back(position);
  return graph.sizes.size() - 1;
}

FactorTable Expander::makeTable(const Recipe &recipe) const {
  FactorTable table;
  uint64_t numCells = 1;
  for (unsigned variable : recipe.scope) {
    table.sizes.push_back(graph.sizes[variable]);
    numCells *= graph.sizes[variable];
  }
  table.cells.reserve(numCells);
  llvm::SmallVector<unsigned, 4> choices(recipe.scope.size());
  llvm::SmallVector<unsigned, 4> layouts(recipe.axes.size());
  for (uint64_t cell = 0; cell < numCells; ++cell) {
    uint64_t rest = cell;
    for (size_t dim = choices.size(); dim-- > 0; rest /= table.sizes[dim])
      choices[dim] = rest % table.sizes[dim];
    for (size_t i = 0; i < layouts.size(); ++i)
      layouts[i] = maps[recipe.axes[i].map][choices[recipe.places[i]]];
    table.cells.push_back(recipe.cost(layouts));
  }
  return table;
}

void Expander::makeTables() {
  std::vector<unsigned> tableOf;
  for (const Recipe &recipe : recipes)
    tableOf.push_back(graph.tables.intern(makeTable(recipe)));
  for (CostTerm &factor : graph.factors)
    factor.table = tableOf[factor.table];
}

void Expander::addFactor(ArrayRef<unsigned> key, ArrayRef<Axis> axes,
                         CostFunction cost) {
  CostTerm factor;
  for (Axis axis : axes)
    factor.scope.push_back(axis.variable);
  llvm::sort(factor.scope);
  factor.scope.erase(llvm::unique(factor.scope), factor.scope.end());
  Recipe recipe;
  std::vector<unsigned> fullKey(key.begin(), key.end());
  for (Axis axis : axes) {
    recipe.places.push_back(llvm::find(factor.scope, axis.variable) -
                            factor.scope.begin());
    fullKey.push_back(axis.map);
    fullKey.push_back(recipe.places.back());
  }
  auto [it, isNew] = recipeOf.try_emplace(std::move(fullKey), recipes.size());
  factor.table = it->second;
  if (isNew) {
    uint64_t numCells = 1;
    for (unsigned variable : factor.scope)
      numCells =
          llvm::SaturatingMultiply<uint64_t>(numCells, graph.sizes[variable]);
    if (numCells > maxEntries)
      excess = std::max(excess, numCells);
    recipe.axes.assign(axes.begin(), axes.end());
    recipe.scope = factor.scope;
    recipe.cost = std::move(cost);
    recipes.push_back(std::move(recipe));
  }
  graph.factors.push_back(std::move(factor));
}

void Expander::addCosts() {
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    ArrayRef<unsigned> kept = domains.getKept(variable);
    addVariable(kept.size(), variable);
    Axis axis{variable, internMap(Map(kept.begin(), kept.end()))};
    addFactor({CostTable, problem.variables[variable].costVector}, axis,
              [this, variable](ArrayRef<unsigned> choice) {
                return problem.getCost(variable, choice.front());
              });
  }
}

void Expander::addReach(unsigned table, llvm::SmallVector<Axis, 4> sources,
                        Axis target) {
  sources.push_back(target);
  const DistanceTable &distances = problem.tables[table];
  addFactor({ReachTable, table}, sources,
            [&distances](ArrayRef<unsigned> layouts) {
              Price price = Price::infinite();
              for (unsigned source : layouts.drop_back())
                price = std::min(price, distances.at(source, layouts.back()));
              return price;
            });
}

void Expander::addSlots(unsigned table, const Ends &ends,
                        const Certificate::Expansion &expansion) {
  // The last tables are the largest; it is no use to make those before them.
  uint64_t largest = 1;
  for (Axis consumer : ends.consumers)
    largest = std::max<uint64_t>(largest, graph.sizes[consumer.variable]);
  for (size_t slot = 1; slot < ends.consumers.size(); ++slot)
    largest = llvm::SaturatingMultiply<uint64_t>(largest,
                                                 expansion.slotLayouts.size());
  if (largest > maxEntries) {
    excess = std::max(excess, largest);
    return;
  }

  llvm::SmallVector<Axis, 4> slots;
  unsigned map = internMap(expansion.slotLayouts);
  for (size_t index = 1; index < ends.consumers.size(); ++index) {
    Axis slot{addVariable(expansion.slotLayouts.size(),
                          graph.positions[ends.producer.variable]),
              map};
    if (slots.empty())
      addReach(table, {ends.producer}, slot);
    else
      addReach(table, slots, slot);
    slots.push_back(slot);
  }
  for (Axis consumer : ends.consumers)
    addReach(table, slots, consumer);
}

void Expander::addCover(unsigned table, const Ends &ends, unsigned expansion) {
  // A copy: there may be more expansions when the tables are made.
  auto sets = std::make_shared<const std::vector<std::vector<unsigned>>>(
      certificate.expansions[expansion].layoutSets);
  Map numbers(sets->size());
  std::iota(numbers.begin(), numbers.end(), 0);
  Axis set{addVariable(sets->size(), graph.positions[ends.producer.variable]),
           internMap(std::move(numbers))};
  auto prices = std::make_shared<TreePrices>(problem.tables[table]);
  addFactor({CoverTable, expansion}, {ends.producer, set},
            [sets, prices](ArrayRef<unsigned> layouts) {
              return prices->get(layouts[0], (*sets)[layouts[1]]);
            });
  for (Axis consumer : ends.consumers)
    addFactor({MemberTable, expansion}, {consumer, set},
              [sets](ArrayRef<unsigned> layouts) {
                bool isMember =
                    llvm::binary_search((*sets)[layouts[1]], layouts[0]);
                return isMember ? Price() : Price::infinite();
              });
}

void Expander::addValue(const Problem::Value &value) {
  if (value.consumers.empty()) {
    certificate.expansionOf.push_back(0);
    return;
  }
  Ends ends = getEnds(value);
  unsigned index = getExpansion(value.table, ends);
  certificate.expansionOf.push_back(index);
  const Certificate::Expansion &expansion = certificate.expansions[index];
  switch (expansion.kind) {
  case Kind::Direct:
    return addReach(value.table, {ends.producer}, ends.consumers.front());
  case Kind::Slots:
    return addSlots(value.table, ends, expansion);
  case Kind::Cover:
    return addCover(value.table, ends, index);
  }
}

/// Says which of the problem's variables or values a variable stands for.
static std::string nameVariable(const Problem &problem,
                                ArrayRef<unsigned> firstAuxiliary,
                                unsigned variable) {
  if (variable < problem.variables.size())
    return "variable '" + problem.variables[variable].name + "'";
  size_t value =
      llvm::upper_bound(firstAuxiliary, variable) - firstAuxiliary.begin() - 1;
  return "value '" + problem.values[value].name + "'";
}

llvm::Expected<FactorGraph> tp::expandProblem(const Problem &problem,
                                              const Domains &domains,
                                              uint64_t maxEntries,
                                              Certificate &certificate) {
  FactorGraph graph;
  Expander expander(problem, domains, graph, certificate, maxEntries);
  expander.addCosts();
  std::vector<unsigned> firstAuxiliary;
  for (const Problem::Value &value : problem.values) {
    firstAuxiliary.push_back(graph.sizes.size());
    expander.addValue(value);
    if (uint64_t entries = expander.getExcess())
      return llvm::make_error<ProblemTooLargeError>(
          "value '" + value.name + "'", entries, maxEntries);
  }
  graph.nameOf = [&problem, firstAuxiliary](unsigned variable) {
    return nameVariable(problem, firstAuxiliary, variable);
  };
  llvm::Expected<std::vector<unsigned>> order = findOrder(graph, maxEntries);
  if (!order)
    return order.takeError();
  certificate.order = std::move(*order);
  expander.makeTables();
  return graph;
}
