// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Rounding.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;
using llvm::ArrayRef;

namespace {
class Rounding {
public:
  Rounding(const DualModel &model, const DualResult &dual)
      : model(model), dual(dual), chosen(model.graph.nodes.size(), unknown) {}

  std::vector<unsigned> run();

private:
  static constexpr unsigned unknown = ~0u;

  const EndLayouts &layoutsOf(unsigned end) const {
    return model.ends[model.graph.ends[end].layouts];
  }
  ArrayRef<Ticks> messagesOf(unsigned end) const {
    return dual.messages[dual.messageOf[end]];
  }
  TreeMinimiser::End getEnd(const DualModel::Table &table, unsigned end,
                            bool isRoot) const;
  void addTree(unsigned end, std::vector<Ticks> &costs);

  const DualModel &model;
  const DualResult &dual;
  std::vector<unsigned> chosen;
  TreeMinimiser minimiser;
  std::vector<Ticks> marginal;
};
} // namespace

/// With the layout that was chosen alone, if one was.
TreeMinimiser::End Rounding::getEnd(const DualModel::Table &table, unsigned end,
                                    bool isRoot) const {
  const DualGraph::End &info = model.graph.ends[end];
  unsigned choice = chosen[info.node];
  if (choice == unknown)
    return TreeMinimiser::getEnd(model, table, info.layouts, isRoot,
                                 messagesOf(end));
  const EndLayouts &layouts = layoutsOf(end);
  unsigned index = layouts.indexOf[choice];
  size_t n = table.numLayouts;
  ArrayRef<Ticks> ways = isRoot ? table.from : table.to;
  return {ArrayRef(layouts.layouts).slice(index, 1),
          messagesOf(end).slice(index, 1),
          ways.slice(layouts.layouts[index] * n, n)};
}

/// Adds what each choice costs in the tree at one of its ends.
void Rounding::addTree(unsigned end, std::vector<Ticks> &costs) {
  const DualGraph::Tree &tree = model.graph.trees[model.graph.ends[end].tree];
  const DualModel::Table &table = model.tables[tree.table];
  llvm::SmallVector<TreeMinimiser::End, 4> ends;
  for (unsigned other : tree.ends)
    ends.push_back(getEnd(table, other, /*isRoot=*/ends.empty()));
  minimiser.load(table, ends);
  minimiser.marginals(llvm::find(tree.ends, end) - tree.ends.begin(), marginal);
  for (auto [cost, index] : llvm::zip_equal(costs, layoutsOf(end).indexOf))
    cost += marginal[index] - messagesOf(end)[index];
}

std::vector<unsigned> Rounding::run() {
  for (auto [number, node] : llvm::enumerate(model.graph.nodes)) {
    std::vector<Ticks> costs = model.costs[node.costs];
    for (unsigned end : node.ends)
      addTree(end, costs);
    chosen[number] = llvm::min_element(costs) - costs.begin();
  }
  return std::move(chosen);
}

std::vector<unsigned> tp::roundMessages(const DualModel &model,
                                        const DualResult &dual) {
  return Rounding(model, dual).run();
}
