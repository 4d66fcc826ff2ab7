// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/Units.h"
#include <set>

using namespace mlir;
using namespace tp;

namespace {

/// Hands units from tensors to factors and back until nothing is new.
class UnitFinder {
public:
  explicit UnitFinder(const Graph &graph) : graph(graph) {
    for (const GraphValue &value : graph.values)
      ofValue.emplace_back(value.type.getRank(), std::set<int64_t>{1});
    for (const GraphNode &node : graph.nodes) {
      size_t numFactors = node.rule ? node.rule->factors.size() : 0;
      ofNode.emplace_back(numFactors, std::set<int64_t>{1});
    }
  }

  Units find() && {
    do {
      changed = false;
      for (unsigned node = 0; node < graph.nodes.size(); ++node)
        visit(node);
    } while (changed);
    Units units;
    auto copy = [](const std::set<int64_t> &from) {
      return SmallVector<int64_t, 2>(from.begin(), from.end());
    };
    for (const auto &dims : ofValue)
      llvm::append_range(units.ofValue.emplace_back(),
                         llvm::map_range(dims, copy));
    for (const auto &factors : ofNode)
      llvm::append_range(units.ofNode.emplace_back(),
                         llvm::map_range(factors, copy));
    return units;
  }

private:
  void add(std::set<int64_t> &to, int64_t unit) {
    changed |= to.insert(unit).second;
  }

  void visit(unsigned number) {
    const GraphNode &node = graph.nodes[number];
    if (node.kind == GraphNode::Passage)
      return join(ofValue[node.operands[0]], ofValue[node.results[0]]);
    if (node.kind != GraphNode::Operation)
      return;
    SmallVector<unsigned> tensors(ArrayRef<unsigned>(node.operands));
    llvm::append_range(tensors, node.results);
    for (auto [tensor, value] : llvm::enumerate(tensors))
      for (auto [dim, factors] : llvm::enumerate(node.rule->tensor(tensor)))
        visitDim(number, factors, ofValue[value][dim]);
  }

  /// Both sides of something that changes no dimension.
  void join(std::vector<std::set<int64_t>> &lhs,
            std::vector<std::set<int64_t>> &rhs) {
    for (auto [one, other] : llvm::zip_equal(lhs, rhs)) {
      for (int64_t unit : std::set<int64_t>(one))
        add(other, unit);
      for (int64_t unit : std::set<int64_t>(other))
        add(one, unit);
    }
  }

  void visitDim(unsigned node, ArrayRef<unsigned> factors,
                std::set<int64_t> &units) {
    const ShardingRule &rule = *graph.nodes[node].rule;
    auto sizeOf = [&](unsigned factor) { return rule.factors[factor].size; };
    if (llvm::any_of(factors, [&](unsigned f) { return sizeOf(f) == 0; }))
      return;
    for (int64_t unit : std::set<int64_t>(units)) {
      // The factors that the unit holds whole, and the one that it divides.
      ArrayRef<unsigned> major = factors;
      while (major.size() > 1 && unit % sizeOf(major.back()) == 0) {
        unit /= sizeOf(major.back());
        major = major.drop_back();
      }
      if (!major.empty() && unit < sizeOf(major.back()) &&
          sizeOf(major.back()) % unit == 0)
        add(ofNode[node][major.back()], unit);
    }
    int64_t minor = 1;
    for (unsigned factor : llvm::reverse(factors)) {
      if (rule.factors[factor].kind != FactorKind::Whole)
        for (int64_t unit : std::set<int64_t>(ofNode[node][factor]))
          add(units, unit * minor);
      minor *= sizeOf(factor);
    }
  }

  const Graph &graph;
  std::vector<std::vector<std::set<int64_t>>> ofValue, ofNode;
  bool changed = false;
};

} // namespace

Units tp::findUnits(const Graph &graph) { return UnitFinder(graph).find(); }
