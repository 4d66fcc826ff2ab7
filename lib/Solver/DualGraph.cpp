// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DualGraph.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace tp;

void DualGraph::addTree(
    unsigned table,
    llvm::ArrayRef<std::pair<unsigned, unsigned>> nodesAndLayouts) {
  Tree &tree = trees.emplace_back();
  tree.table = table;
  auto [first, last] =
      std::minmax_element(nodesAndLayouts.begin(), nodesAndLayouts.end());
  for (auto [node, layouts] : nodesAndLayouts) {
    tree.ends.push_back(ends.size());
    nodes[node].ends.push_back(ends.size());
    ends.push_back({node, unsigned(trees.size() - 1), layouts,
                    last->first > node, first->first < node});
  }
}

//===- Construction -------------------------------------------------------===//

namespace {
class ModelBuilder {
public:
  ModelBuilder(const Problem &problem, const Domains &domains)
      : problem(problem), domains(domains) {}

  /// False if the problem is not one for message passing.
  bool run() {
    if (!addTables() || !addCosts() || !addNodes() || !addTrees())
      return false;
    addEndTables();
    return true;
  }

  DualModel model;

private:
  bool addTables();
  bool addCosts();
  bool addNodes();
  bool addTrees();
  void addEndTables();
  unsigned endLayouts(Problem::Use use);

  const Problem &problem;
  const Domains &domains;
  /// By variable.
  std::vector<unsigned> nodeOf;
  /// From class and layout map.
  std::map<std::pair<unsigned, unsigned>, unsigned> endIndices;
};
} // namespace

static bool convert(Price price, Ticks &result) {
  result = price.isInfinite() ? infiniteTicks : Ticks(price.getTime());
  return price.isInfinite() || price.getTime() <= largestTicks;
}

bool ModelBuilder::addTables() {
  for (const DistanceTable &table : problem.tables) {
    size_t n = table.numLayouts;
    DualModel::Table &made = model.tables.emplace_back();
    made.numLayouts = n;
    made.from.resize(n * n);
    made.to.resize(n * n);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        if (!convert(table.entries[i * n + j], made.from[i * n + j]))
          return false;
        made.to[j * n + i] = made.from[i * n + j];
      }
  }
  return true;
}

bool ModelBuilder::addCosts() {
  std::vector<unsigned> variableOf(domains.numClasses());
  for (unsigned v = 0; v < problem.variables.size(); ++v)
    variableOf[domains.classOf(v)] = v;
  for (unsigned number = 0; number < variableOf.size(); ++number) {
    if (domains.getKeptOfClass(number).empty())
      return false;
    std::vector<Ticks> &costs = model.costs.emplace_back();
    for (unsigned choice : domains.getKeptOfClass(number))
      if (!convert(problem.getCost(variableOf[number], choice),
                   costs.emplace_back()))
        return false;
  }
  return true;
}

/// A variable that uses nothing, as the home of a parameter does, goes to its
/// first use; one that makes nothing, as a result of the program, goes to what
/// it uses. Layers are then alike, and their nodes close to each other.
bool ModelBuilder::addNodes() {
  constexpr unsigned none = ~0u;
  size_t count = problem.variables.size();
  std::vector<unsigned> firstUse(count, none), lastMaker(count, none);
  for (const Problem::Value &value : problem.values)
    for (Problem::Use use : value.consumers) {
      unsigned maker = value.producer.variable;
      firstUse[maker] = std::min(firstUse[maker], use.variable);
      unsigned &last = lastMaker[use.variable];
      last = last == none ? maker : std::max(last, maker);
    }
  enum Place { Before, Own, After };
  std::vector<std::tuple<unsigned, Place, unsigned>> order;
  for (unsigned v = 0; v < count; ++v) {
    bool isSource = lastMaker[v] == none, isSink = firstUse[v] == none;
    if (isSource && !isSink && firstUse[v] > v)
      order.push_back({firstUse[v], Before, v});
    else if (isSink && !isSource && lastMaker[lastMaker[v]] != none)
      order.push_back({lastMaker[v], After, v});
    else
      order.push_back({v, Own, v});
  }
  llvm::sort(order);
  nodeOf.resize(count);
  for (auto [key, place, variable] : order) {
    nodeOf[variable] = model.graph.nodes.size();
    model.graph.nodes.push_back({domains.classOf(variable), variable, {}});
  }
  return true;
}

unsigned ModelBuilder::endLayouts(Problem::Use use) {
  auto [it, isNew] = endIndices.try_emplace(
      {domains.classOf(use.variable), use.layoutMap}, model.ends.size());
  if (!isNew)
    return it->second;
  EndLayouts &made = model.ends.emplace_back();
  for (unsigned choice : domains.getKept(use.variable))
    made.layouts.push_back(problem.getLayout(use, choice));
  made.indexOf = made.layouts;
  llvm::sort(made.layouts);
  made.layouts.erase(llvm::unique(made.layouts), made.layouts.end());
  for (unsigned &layout : made.indexOf)
    layout = llvm::lower_bound(made.layouts, layout) - made.layouts.begin();
  return it->second;
}

bool ModelBuilder::addTrees() {
  for (const Problem::Value &value : problem.values) {
    llvm::SmallVector<Problem::Use, 2> uses = value.differentUses();
    if (uses.size() > DualModel::maxTargets)
      return false;
    llvm::SmallVector<std::pair<unsigned, unsigned>, 4> at;
    at.emplace_back(nodeOf[value.producer.variable],
                    endLayouts(value.producer));
    for (Problem::Use use : uses)
      at.emplace_back(nodeOf[use.variable], endLayouts(use));
    if (!uses.empty())
      model.graph.addTree(value.table, at);
  }
  return true;
}

/// Brings the rows of a table's end together.
static std::vector<Ticks> selectColumns(llvm::ArrayRef<Ticks> rows,
                                        size_t numLayouts,
                                        llvm::ArrayRef<unsigned> columns) {
  std::vector<Ticks> selected;
  selected.reserve(numLayouts * columns.size());
  for (size_t row = 0; row < numLayouts; ++row)
    for (unsigned column : columns)
      selected.push_back(rows[row * numLayouts + column]);
  return selected;
}

void ModelBuilder::addEndTables() {
  for (DualModel::Table &table : model.tables) {
    table.fromEnd.resize(model.ends.size());
    table.toEnd.resize(model.ends.size());
  }
  for (const DualGraph::Tree &tree : model.graph.trees) {
    DualModel::Table &table = model.tables[tree.table];
    for (auto [place, end] : llvm::enumerate(tree.ends)) {
      unsigned layouts = model.graph.ends[end].layouts;
      std::vector<Ticks> &made =
          (place == 0 ? table.fromEnd : table.toEnd)[layouts];
      if (made.empty())
        made = selectColumns(place == 0 ? table.to : table.from,
                             table.numLayouts, model.ends[layouts].layouts);
    }
  }
}

std::optional<DualModel> DualModel::get(const Problem &problem,
                                        const Domains &domains) {
  ModelBuilder builder(problem, domains);
  if (!builder.run())
    return std::nullopt;
  return std::move(builder.model);
}

//===- Repeated layers ----------------------------------------------------===//

/// All that a node is, and where its neighbours are from it; equal numbers mean
/// equal nodes.
static std::vector<unsigned> numberNodes(const DualGraph &graph) {
  std::map<std::vector<unsigned>, unsigned> known;
  std::vector<unsigned> numbers;
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    std::vector<unsigned> key = {node.costs};
    for (unsigned end : node.ends) {
      const DualGraph::Tree &tree = graph.trees[graph.ends[end].tree];
      key.push_back(tree.table);
      key.push_back(tree.ends.size());
      for (unsigned other : tree.ends) {
        key.push_back(other == end);
        key.push_back(graph.ends[other].layouts);
        key.push_back(graph.ends[other].node - unsigned(index));
      }
    }
    numbers.push_back(
        known.try_emplace(std::move(key), known.size()).first->second);
  }
  return numbers;
}

std::optional<Repetition> tp::findRepetition(const DualGraph &graph,
                                             unsigned minCount) {
  std::vector<unsigned> numbers = numberNodes(graph);
  unsigned size = numbers.size(), middle = size / 2;
  for (unsigned period = 1; period * minCount <= size; ++period) {
    auto repeats = [&](unsigned node) {
      return numbers[node] == numbers[node + period];
    };
    if (!repeats(middle))
      continue;
    unsigned begin = middle, end = middle;
    while (begin > 0 && repeats(begin - 1))
      --begin;
    while (end + 1 + period < size && repeats(end + 1))
      ++end;
    unsigned count = (end + 1 + period - begin) / period;
    if (count >= minCount)
      return Repetition{begin, period, count};
  }
  return std::nullopt;
}

/// By node: the trees that it makes.
static std::vector<llvm::SmallVector<unsigned, 1>>
treesByProducer(const DualGraph &graph) {
  std::vector<llvm::SmallVector<unsigned, 1>> made(graph.nodes.size());
  for (unsigned tree = 0; tree < graph.trees.size(); ++tree)
    made[graph.getProducer(tree)].push_back(tree);
  return made;
}

/// The graph of the nodes `kept`. `place` says where a node is from the point
/// of view of the producer of its tree, `likeness` which kept node any node is
/// like; ~0u if none.
static ReducedGraph
reduce(const DualGraph &graph, llvm::ArrayRef<unsigned> kept,
       llvm::function_ref<unsigned(unsigned, unsigned)> place,
       llvm::function_ref<unsigned(unsigned)> likeness) {
  ReducedGraph reduced;
  std::vector<llvm::SmallVector<unsigned, 1>> made = treesByProducer(graph);
  for (unsigned node : kept)
    reduced.graph.nodes.push_back(
        {graph.nodes[node].costs, graph.nodes[node].variable, {}});
  std::vector<unsigned> firstTree;
  for (unsigned node : kept) {
    firstTree.push_back(reduced.graph.trees.size());
    for (unsigned tree : made[node]) {
      llvm::SmallVector<std::pair<unsigned, unsigned>, 4> at;
      for (unsigned end : graph.trees[tree].ends)
        at.emplace_back(place(graph.ends[end].node, node),
                        graph.ends[end].layouts);
      reduced.graph.addTree(graph.trees[tree].table, at);
    }
  }
  reduced.treeOf.assign(graph.trees.size(), ~0u);
  for (unsigned node = 0; node < graph.nodes.size(); ++node) {
    unsigned like = likeness(node);
    reduced.nodeOf.push_back(like);
    for (auto [index, tree] : llvm::enumerate(made[node]))
      if (like != ~0u)
        reduced.treeOf[tree] = firstTree[like] + index;
  }
  return reduced;
}

ReducedGraph tp::makeRing(const DualGraph &graph, const Repetition &layers) {
  unsigned begin = layers.begin + layers.count / 2 * layers.period;
  std::vector<unsigned> kept(layers.period);
  std::iota(kept.begin(), kept.end(), begin);
  auto phase = [&](unsigned node) {
    return (node - layers.begin) % layers.period;
  };
  return reduce(
      graph, kept, [&](unsigned node, unsigned) { return phase(node); },
      [&](unsigned node) {
        bool isInside = node >= layers.begin &&
                        node < layers.begin + layers.count * layers.period;
        return isInside ? phase(node) : ~0u;
      });
}

ReducedGraph tp::shorten(const DualGraph &graph, const Repetition &layers,
                         unsigned head, unsigned tail) {
  unsigned cut = layers.begin + (head + 1) * layers.period;
  unsigned removed = (layers.count - head - 1 - tail) * layers.period;
  std::vector<unsigned> kept;
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    if (node < cut || node >= cut + removed)
      kept.push_back(node);
  // A node beyond the cut is where the layers after it would begin if there
  // were no more; one far beyond is not a neighbour but itself.
  auto place = [&](unsigned node, unsigned producer) {
    return node < cut + removed ? node : node - removed;
  };
  auto likeness = [&](unsigned node) {
    if (node < cut)
      return node;
    if (node >= cut + removed)
      return node - removed;
    return cut - layers.period + (node - cut) % layers.period;
  };
  return reduce(graph, kept, place, likeness);
}
