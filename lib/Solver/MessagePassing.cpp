// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MessagePassing.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace tp;

Messages tp::makeMessages(const DualModel &model, const DualGraph &graph) {
  Messages messages;
  for (const DualGraph::End &end : graph.ends)
    messages.emplace_back(model.ends[end.layouts].layouts.size());
  return messages;
}

MessagePassing::MessagePassing(const DualModel &model, const DualGraph &graph,
                               Messages messages)
    : model(model), graph(graph), messages(std::move(messages)),
      isFrozen(graph.nodes.size()) {}

void MessagePassing::freeze(unsigned begin, unsigned end) {
  std::fill(isFrozen.begin() + begin, isFrozen.begin() + end, true);
}

void MessagePassing::load(unsigned tree) {
  const DualModel::Table &table = model.tables[graph.trees[tree].table];
  llvm::SmallVector<TreeMinimiser::End, 4> loaded;
  for (unsigned end : graph.trees[tree].ends)
    loaded.push_back(
        TreeMinimiser::getEnd(model, table, graph.ends[end].layouts,
                              /*isRoot=*/loaded.empty(), messages[end]));
  minimiser.load(table, loaded);
}

void MessagePassing::reducedCosts(unsigned node) {
  costs = model.costs[graph.nodes[node].costs];
  for (unsigned end : graph.nodes[node].ends)
    for (auto [cost, index] : llvm::zip_equal(costs, layoutsOf(end).indexOf))
      cost -= messages[end][index];
}

/// Takes the tree's marginals at `end` over into the node's costs.
void MessagePassing::collect(unsigned end) {
  const DualGraph::End &info = graph.ends[end];
  load(info.tree);
  minimiser.marginals(llvm::find(graph.trees[info.tree].ends, end) -
                          graph.trees[info.tree].ends.begin(),
                      marginal);
  for (auto [message, moved] : llvm::zip_equal(messages[end], marginal)) {
    // Possible only if the rest is impossible: nothing is gained by it.
    if (moved >= infiniteTicks)
      moved = 0;
    message -= moved;
  }
  for (auto [cost, index] : llvm::zip_equal(costs, layoutsOf(end).indexOf))
    cost += marginal[index];
}

/// Gives equal parts of what each choice costs above the best one to the trees
/// that go on.
void MessagePassing::distribute(unsigned node, bool forth) {
  unsigned numLater = 0, numEarlier = 0;
  for (unsigned end : graph.nodes[node].ends) {
    numLater += graph.ends[end].hasLater;
    numEarlier += graph.ends[end].hasEarlier;
  }
  unsigned parts = std::max(numLater, numEarlier);
  Ticks floor = *llvm::min_element(costs);
  for (unsigned end : graph.nodes[node].ends) {
    const DualGraph::End &info = graph.ends[end];
    if (!(forth ? info.hasLater : info.hasEarlier))
      continue;
    const EndLayouts &layouts = layoutsOf(end);
    marginal.assign(layouts.layouts.size(), infiniteTicks);
    for (auto [cost, index] : llvm::zip_equal(costs, layouts.indexOf))
      marginal[index] = std::min(marginal[index], cost);
    for (auto [message, least] : llvm::zip_equal(messages[end], marginal))
      message += std::floor((least - floor) / parts);
  }
}

void MessagePassing::pass(bool forth) {
  size_t count = graph.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    unsigned node = forth ? i : count - 1 - i;
    if (isFrozen[node])
      continue;
    reducedCosts(node);
    for (unsigned end : graph.nodes[node].ends)
      collect(end);
    distribute(node, forth);
  }
}

Ticks MessagePassing::bound() {
  Ticks sum = 0;
  for (unsigned node = 0; node < graph.nodes.size(); ++node) {
    reducedCosts(node);
    sum += *llvm::min_element(costs);
  }
  for (unsigned tree = 0; tree < graph.trees.size(); ++tree) {
    load(tree);
    sum += minimiser.minimum();
  }
  return sum;
}

std::vector<std::vector<Ticks>> MessagePassing::slacks() {
  std::vector<std::vector<Ticks>> result;
  for (unsigned node = 0; node < graph.nodes.size(); ++node) {
    reducedCosts(node);
    Ticks floor = *llvm::min_element(costs);
    for (Ticks &cost : costs)
      cost -= floor;
    result.push_back(costs);
  }
  // An end of a tree adds what its layout costs the tree above its minimum. A
  // node with two ends at one tree may count one of them only.
  for (const DualGraph::Tree &tree : graph.trees) {
    load(&tree - graph.trees.data());
    Ticks floor = minimiser.minimum();
    for (auto [place, end] : llvm::enumerate(tree.ends)) {
      unsigned node = graph.ends[end].node;
      bool isSecond = llvm::any_of(
          llvm::ArrayRef<unsigned>(tree.ends).take_front(place),
          [&](unsigned other) { return graph.ends[other].node == node; });
      if (isSecond)
        continue;
      minimiser.marginals(place, marginal);
      for (auto [slack, index] :
           llvm::zip_equal(result[node], layoutsOf(end).indexOf))
        slack += marginal[index] - floor;
    }
  }
  return result;
}
