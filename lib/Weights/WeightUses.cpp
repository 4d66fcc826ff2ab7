// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/WeightUses.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tp;

//===- Names --------------------------------------------------------------===//

std::string tp::withoutNumbers(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  std::string text;
  llvm::ListSeparator dot(".");
  for (StringRef part : parts) {
    bool isNumber = !part.empty() && llvm::all_of(part, llvm::isDigit);
    text += StringRef(dot).str() + (isNumber ? "*" : part.str());
  }
  return text;
}

unsigned tp::findMaker(const Graph &graph, unsigned value) {
  unsigned node = graph.values[value].producer;
  while (graph.nodes[node].kind == GraphNode::Passage)
    node = graph.values[graph.nodes[node].operands[0]].producer;
  return node;
}

SmallVector<std::pair<unsigned, unsigned>>
tp::findUsers(const Graph &graph,
              ArrayRef<std::pair<unsigned, unsigned>> uses) {
  SmallVector<std::pair<unsigned, unsigned>> users;
  SmallVector<std::pair<unsigned, unsigned>> todo(llvm::reverse(uses));
  while (!todo.empty()) {
    auto [node, operand] = todo.pop_back_val();
    const GraphNode &info = graph.nodes[node];
    if (info.kind != GraphNode::Passage) {
      users.push_back({node, operand});
      continue;
    }
    for (auto use : llvm::reverse(graph.values[info.results[0]].consumers))
      todo.push_back(use);
  }
  return users;
}

/// The argument that a value is, or is a moved, widened or scaled copy of.
static unsigned findHome(const Graph &graph, unsigned value) {
  unsigned node = graph.values[value].producer;
  while (true) {
    const GraphNode &info = graph.nodes[node];
    if (info.carried.empty() && info.operands.size() != 1)
      return node;
    unsigned operand = info.carried.empty() ? 0 : info.carried.front();
    node = graph.values[info.operands[operand]].producer;
  }
}

std::string tp::nameNode(const Graph &graph, unsigned node) {
  const GraphNode &info = graph.nodes[node];
  if (info.kind == GraphNode::Home)
    return "argument '" + withoutNumbers(graph.values[info.results[0]].name) +
           "'";
  if (info.kind == GraphNode::Demand)
    return "result " + std::to_string(info.number);
  std::string text = info.op->getName().getStringRef().str();
  for (unsigned operand : info.operands)
    if (graph.values[operand].isParameter) {
      unsigned home = findHome(graph, operand);
      const GraphNode &source = graph.nodes[home];
      if (source.kind != GraphNode::Home)
        continue;
      return text + " with " +
             withoutNumbers(graph.values[source.results[0]].name);
    }
  return text;
}

std::string tp::nameUser(const Graph &graph,
                         std::pair<unsigned, unsigned> use) {
  SmallVector<std::pair<unsigned, unsigned>> users = findUsers(graph, {use});
  return nameNode(graph, users.empty() ? use.first : users.front().first);
}

//===- Products -----------------------------------------------------------===//

bool tp::isContractedDim(const ShardingRule &rule, unsigned operand) {
  return llvm::any_of(rule.operands[operand], [&](const DimFactors &dim) {
    return llvm::any_of(dim, [&](unsigned factor) {
      return rule.factors[factor].kind == FactorKind::Sum;
    });
  });
}

std::vector<bool> tp::findContracted(const Graph &graph) {
  std::vector<bool> isContracted(graph.values.size());
  for (const GraphNode &node : llvm::reverse(graph.nodes)) {
    for (unsigned index : node.carried)
      if (isContracted[node.results[0]])
        isContracted[node.operands[index]] = true;
    if (!node.rule)
      continue;
    for (auto [operand, value] : llvm::enumerate(node.operands))
      if (isContractedDim(*node.rule, operand))
        isContracted[value] = true;
  }
  return isContracted;
}

SmallVector<unsigned, 1> tp::findRoots(const Graph &graph, unsigned value) {
  SmallVector<unsigned, 1> roots;
  SmallVector<unsigned> todo = {value};
  llvm::DenseSet<unsigned> seen;
  while (!todo.empty()) {
    unsigned current = todo.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    const GraphNode &node = graph.nodes[graph.values[current].producer];
    if (node.carried.empty())
      roots.push_back(current);
    for (unsigned index : llvm::reverse(node.carried))
      todo.push_back(node.operands[index]);
  }
  return roots;
}

static bool looksUp(Operation *op) {
  return cast<WorkOpInterface>(op).getWork().lookedUp.has_value();
}

std::vector<WeightUse> tp::findWeightUses(const Graph &graph,
                                          unsigned argument) {
  std::vector<WeightUse> uses;
  unsigned value = graph.nodes[argument].results[0];
  ArrayRef<int64_t> shape = graph.values[value].type.getShape();
  SmallVector<unsigned> todo = {value};
  llvm::DenseSet<unsigned> seen;
  while (!todo.empty()) {
    unsigned current = todo.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (auto [node, operand] :
         findUsers(graph, graph.values[current].consumers)) {
      const GraphNode &info = graph.nodes[node];
      if (info.kind != GraphNode::Operation)
        continue;
      const ShardingRule &rule = *info.rule;
      bool isCopy = llvm::is_contained(info.carried, operand) &&
                    graph.values[info.results[0]].type.getShape() == shape &&
                    rule.operands[operand] == rule.results[0];
      if (isCopy)
        todo.push_back(info.results[0]);
      else
        uses.push_back({node, operand, &rule, looksUp(info.op)});
    }
  }
  return uses;
}

bool tp::isSummedDim(const WeightUse &use, unsigned dim) {
  return llvm::any_of(
      use.rule->operands[use.operand][dim], [&](unsigned factor) {
        return use.rule->factors[factor].kind == FactorKind::Sum;
      });
}

const WeightUse *tp::findProduct(ArrayRef<WeightUse> uses) {
  const WeightUse *found = nullptr;
  for (const WeightUse &use : uses) {
    bool contracts = false;
    for (unsigned dim = 0; dim < use.rule->operands[use.operand].size(); ++dim)
      contracts |= isSummedDim(use, dim);
    if (contracts && (!found || (found->isLookup && !use.isLookup)))
      found = &use;
  }
  return found;
}

std::string tp::nameLayout(const WeightUse *product, const Layout &layout) {
  if (!product)
    return "";
  bool row = false, column = false;
  for (auto [dim, split] : llvm::enumerate(layout.dims)) {
    if (numRanks(split.parts) == 1)
      continue;
    bool isSummed = isSummedDim(*product, dim);
    row |= isSummed;
    column |= !isSummed;
  }
  if (row && column)
    return "column and row";
  if (row)
    return "row";
  return column ? "column" : "whole";
}
