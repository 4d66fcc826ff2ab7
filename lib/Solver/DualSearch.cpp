// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DualSearch.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace tp;

namespace {

/// Layers that are kept at either end of a row of equal ones, and the shortest
/// row that is worth it. The layer that stands for those between them, and the
/// one after it, keep the messages of the ring; the others are worked on.
constexpr unsigned headLayers = 1, tailLayers = 1, minLayers = 5;
/// Rounds of two passes forth and two back.
constexpr unsigned maxRounds = 100;
/// What a round must gain: a layer counts many times, the ends once.
constexpr Ticks ringPrecision = 1 << 18, endPrecision = 1 << 15;

class Search {
public:
  Search(const DualModel &model, const DualResult *start)
      : model(model), start(start) {}

  DualResult run(Ticks cutoff);

private:
  void improve(MessagePassing &passing, Ticks precision);
  void solveLayers(const Repetition &layers);
  void solveAll();
  void take(MessagePassing &passing);
  Ticks boundOfAll();
  void begin(llvm::ArrayRef<unsigned> from, llvm::ArrayRef<unsigned> to,
             Messages &messages) const;

  const DualModel &model;
  const DualResult *start;
  DualResult result;
};

} // namespace

/// Passes messages until a round gains no more than one part in `precision` of
/// the bound.
void Search::improve(MessagePassing &passing, Ticks precision) {
  Ticks bound = passing.bound();
  bool hasGained = true;
  for (unsigned round = 0; hasGained && round < maxRounds; ++round) {
    for (bool forth : {true, false, true, false})
      passing.pass(forth);
    result.passes += 4;
    Ticks raised = passing.bound();
    hasGained = raised - bound > raised / precision;
    bound = raised;
  }
}

/// The bound of the whole graph; equal nodes and trees with equal messages are
/// looked at once.
Ticks Search::boundOfAll() {
  const DualGraph &graph = model.graph;
  std::map<std::vector<unsigned>, Ticks> known;
  std::vector<unsigned> key;
  auto addEnd = [&](unsigned end) {
    key.push_back(graph.ends[end].layouts);
    key.push_back(result.messageOf[end]);
  };
  Ticks sum = 0;
  for (const DualGraph::Node &node : graph.nodes) {
    key = {0, node.costs};
    llvm::for_each(node.ends, addEnd);
    auto [it, isNew] = known.try_emplace(key);
    if (isNew) {
      std::vector<Ticks> costs = model.costs[node.costs];
      for (unsigned end : node.ends)
        for (auto [cost, index] : llvm::zip_equal(
                 costs, model.ends[graph.ends[end].layouts].indexOf))
          cost -= result.messages[result.messageOf[end]][index];
      it->second = *llvm::min_element(costs);
    }
    sum += it->second;
  }
  TreeMinimiser minimiser;
  for (const DualGraph::Tree &tree : graph.trees) {
    key = {1, tree.table};
    llvm::for_each(tree.ends, addEnd);
    auto [it, isNew] = known.try_emplace(key);
    if (isNew) {
      llvm::SmallVector<TreeMinimiser::End, 4> ends;
      const DualModel::Table &table = model.tables[tree.table];
      for (unsigned end : tree.ends)
        ends.push_back(TreeMinimiser::getEnd(
            model, table, graph.ends[end].layouts, /*isRoot=*/ends.empty(),
            result.messages[result.messageOf[end]]));
      minimiser.load(table, ends);
      it->second = minimiser.minimum();
    }
    sum += it->second;
  }
  return sum;
}

void Search::take(MessagePassing &passing) {
  result.slacks = passing.slacks();
  result.messages = passing.getMessages();
}

/// The messages that the ends `to` of another graph begin with: those of
/// `from`.
void Search::begin(llvm::ArrayRef<unsigned> from, llvm::ArrayRef<unsigned> to,
                   Messages &messages) const {
  if (!start)
    return;
  for (auto [end, like] : llvm::zip_equal(from, to))
    messages[like] = start->messages[start->messageOf[end]];
}

void Search::solveLayers(const Repetition &layers) {
  const DualGraph &graph = model.graph;
  ReducedGraph ring = makeRing(graph, layers);
  Messages before = makeMessages(model, ring.graph);
  unsigned middleLayer = layers.begin + layers.count / 2 * layers.period;
  for (auto [tree, inRing] : llvm::enumerate(ring.treeOf)) {
    unsigned producer = graph.getProducer(tree);
    if (producer >= middleLayer && producer < middleLayer + layers.period)
      begin(graph.trees[tree].ends, ring.graph.trees[inRing].ends, before);
  }
  MessagePassing around(model, ring.graph, before);
  improve(around, ringPrecision);

  ReducedGraph some = shorten(graph, layers, headLayers, tailLayers);
  Messages after = makeMessages(model, some.graph);
  for (auto [tree, like] : llvm::enumerate(some.treeOf))
    if (like != ~0u)
      begin(graph.trees[tree].ends, some.graph.trees[like].ends, after);
  // A layer of the row changes as the ring did.
  std::vector<bool> isDone(some.graph.trees.size());
  for (auto [tree, inRing] : llvm::enumerate(ring.treeOf)) {
    unsigned like = some.treeOf[tree];
    if (inRing == ~0u || like == ~0u || isDone[like])
      continue;
    isDone[like] = true;
    for (auto [to, from] : llvm::zip_equal(some.graph.trees[like].ends,
                                           ring.graph.trees[inRing].ends))
      for (auto [message, now, then] :
           llvm::zip_equal(after[to], around.getMessages()[from], before[from]))
        message += now - then;
  }
  MessagePassing passing(model, some.graph, std::move(after));
  unsigned middle = layers.begin + headLayers * layers.period;
  passing.freeze(middle, middle + 2 * layers.period);
  improve(passing, endPrecision);

  take(passing);
  result.slackOf = std::move(some.nodeOf);
  result.messageOf.resize(graph.ends.size());
  for (auto [tree, like] : llvm::enumerate(some.treeOf))
    for (auto [end, from] :
         llvm::zip_equal(graph.trees[tree].ends, some.graph.trees[like].ends))
      result.messageOf[end] = from;
}

void Search::solveAll() {
  Messages messages = makeMessages(model, model.graph);
  for (const DualGraph::Tree &tree : model.graph.trees)
    begin(tree.ends, tree.ends, messages);
  MessagePassing passing(model, model.graph, std::move(messages));
  improve(passing, endPrecision);
  take(passing);
  result.slackOf.resize(model.graph.nodes.size());
  std::iota(result.slackOf.begin(), result.slackOf.end(), 0);
  result.messageOf.resize(model.graph.ends.size());
  std::iota(result.messageOf.begin(), result.messageOf.end(), 0);
}

DualResult Search::run(Ticks cutoff) {
  if (start) {
    result.messageOf = start->messageOf;
    result.messages = start->messages;
    result.bound = boundOfAll();
    if (result.bound > cutoff)
      return std::move(result);
    result.messageOf.clear();
  }
  if (auto layers = findRepetition(model.graph, minLayers))
    solveLayers(*layers);
  else
    solveAll();
  result.bound = boundOfAll();
  return std::move(result);
}

DualResult tp::searchDual(const DualModel &model, const DualResult *start,
                          Ticks cutoff) {
  return Search(model, start).run(cutoff);
}
