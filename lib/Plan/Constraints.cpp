// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which strategies the constraints of a plan exclude.

#include "tp/Plan/Builder.h"
#include "tp/Weights/WeightUses.h"

using namespace mlir;
using namespace tp;

//===- Constraints on one strategy ----------------------------------------===//

bool ProblemBuilder::isExcused(int64_t groups, unsigned index) const {
  return groups != 0 && axes.parts[index].pre >= groups;
}

/// A weight that is handed on, moved or scaled makes the keys or values that
/// what it still is makes.
void ProblemBuilder::markPassedWeights() {
  for (const GraphNode &node : llvm::reverse(graph.nodes))
    for (unsigned index : node.carried)
      if (int64_t groups = groupsOfWeight[node.results[0]])
        groupsOfWeight[node.operands[index]] = groups;
}

/// Whether the source splits the value, be it over fewer ranks than there are.
static bool isPinnedSplit(const GraphValue &value, Operation *near) {
  return llvm::any_of(value.pins, [&](const SourcePin &pin) {
    std::optional<Layout> layout =
        findLayout(withSharding(value.type, pin.sharding), near);
    return layout && !layout->getSplitParts().empty();
  });
}

/// Weights that need not be split over all ranks: those that a pin splits over
/// fewer, and those of sizes that the ranks divide, read in tiles that they do
/// not.
void ProblemBuilder::findUnsplit() {
  mayLieWhole.resize(graph.values.size());
  if (uneven == Uneven::Allow)
    return;
  for (const GraphNode &node : graph.nodes) {
    for (unsigned index : node.carried)
      if (mayLieWhole[node.operands[index]])
        mayLieWhole[node.results[0]] = true;
    if (node.kind != GraphNode::Home)
      continue;
    unsigned value = node.results[0];
    if (!graph.values[value].isParameter || !isContracted[value])
      continue;
    if (isPinnedSplit(graph.values[value], node.op)) {
      mayLieWhole[value] = true;
      continue;
    }
    SmallVector<int64_t> parts;
    for (auto [index, part] : llvm::enumerate(axes.parts))
      if (!axes.isData[index] && !isExcused(groupsOfWeight[value], index))
        parts.push_back(part.size);
    std::vector<TiledDim> dims = findTiles(graph, isContracted, value);
    if (canSplit(dims, parts) ||
        !divides(parts, graph.values[value].type.getShape()))
      continue;
    mayLieWhole[value] = true;
    unsplit[value] = std::move(dims);
  }
}

/// What a split maximum leaves, and what takes such values on.
void ProblemBuilder::markMaxima() {
  mayBeMaximum.resize(graph.values.size());
  for (const GraphNode &node : graph.nodes) {
    if (node.kind == GraphNode::Home || node.kind == GraphNode::Demand)
      continue;
    bool makes = false, takes = !node.rule;
    if (node.rule) {
      makes = llvm::any_of(node.rule->factors, [](const Factor &factor) {
        return factor.kind == FactorKind::Max;
      });
      takes = node.rule->movesData || node.rule->takesMaximum;
    }
    bool comes = llvm::any_of(
        node.operands, [&](unsigned value) { return mayBeMaximum[value]; });
    for (unsigned value : node.results)
      mayBeMaximum[value] = makes || (takes && comes);
  }
}

/// Every contracted weight is split over all model parts; K and V projections
/// may leave out the parts that replicate their heads.
bool ProblemBuilder::breaksWeights(unsigned node, const ShardingRule &rule,
                                   const Strategy &strategy) const {
  if (weights != Weights::Stationary)
    return false;
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand) {
    unsigned value = graph.nodes[node].operands[operand];
    if (!graph.values[value].isParameter || mayLieWhole[value] ||
        !isContractedDim(rule, operand))
      continue;
    AxisParts used = strategy.layouts[operand].getSplitParts();
    auto projection = groupProjections.find({node, operand});
    int64_t groups =
        projection == groupProjections.end() ? 0 : projection->second;
    for (auto [index, part] : llvm::enumerate(axes.parts)) {
      bool excused = axes.isData[index] || isExcused(groups, index);
      if (!excused && !containsParts(used, part))
        return true;
    }
  }
  return false;
}

std::optional<unsigned>
ProblemBuilder::findBatchFactor(const GraphNode &node,
                                const ShardingRule &rule) const {
  bool hasActivation = false;
  for (unsigned operand : node.operands)
    hasActivation |= !graph.values[operand].isParameter;
  if (!hasActivation || rule.results.empty() || rule.results[0].empty() ||
      rule.results[0][0].empty())
    return std::nullopt;
  unsigned factor = rule.results[0][0][0];
  for (auto [index, operand] : llvm::enumerate(node.operands)) {
    bool hasIt = llvm::any_of(rule.operands[index], [&](const auto &dim) {
      return llvm::is_contained(dim, factor);
    });
    if (graph.values[operand].isParameter && hasIt)
      return std::nullopt;
  }
  return factor;
}

bool ProblemBuilder::breaksData(unsigned node, const ShardingRule &rule,
                                const Strategy &strategy) const {
  if (!llvm::is_contained(axes.isData, true))
    return false;
  bool mustCarry = findBatchFactor(graph.nodes[node], rule).has_value();
  for (auto [index, part] : llvm::enumerate(axes.parts)) {
    if (!axes.isData[index])
      continue;
    bool carries = false, elsewhere = false;
    for (auto [tensor, layout] : llvm::enumerate(strategy.layouts)) {
      for (auto [dim, split] : llvm::enumerate(layout.dims)) {
        if (!llvm::is_contained(split.parts, part))
          continue;
        bool isResult0 = tensor == rule.operands.size() && dim == 0;
        carries |= isResult0;
        elsewhere |= dim != 0;
      }
      elsewhere |= llvm::is_contained(layout.unreduced, part);
    }
    if (elsewhere || carries != mustCarry)
      return true;
  }
  return false;
}

bool ProblemBuilder::breaksSequence(unsigned value,
                                    const Layout &layout) const {
  const GraphValue &info = graph.values[value];
  if (!info.isStream || sequence == SequenceParallel::Auto ||
      layout.dims.size() < 2)
    return false;
  unsigned sequenceDim = layout.dims.size() - 2;
  AxisParts model = axes.modelParts();
  auto isModel = [&](const AxisPart &part) {
    return llvm::is_contained(model, part);
  };
  if (sequence == SequenceParallel::Off)
    return llvm::any_of(layout.getUsedParts(), isModel);
  return !llvm::all_of(model, [&](const AxisPart &part) {
    return llvm::is_contained(layout.dims[sequenceDim].parts, part);
  });
}

unsigned ProblemBuilder::violatedBy(unsigned node, const ShardingRule &rule,
                                    const Strategy &strategy,
                                    ArrayRef<unsigned> numbers) const {
  unsigned mask = 0;
  if (breaksWeights(node, rule, strategy))
    mask |= StationaryWeights;
  if (breaksData(node, rule, strategy))
    mask |= DataAxes;
  const GraphNode &info = graph.nodes[node];
  // A stream value may be made as a partial sum; what counts is how it is used.
  for (auto [index, value] : llvm::enumerate(info.operands))
    if (breaksSequence(value, strategy.layouts[index]))
      mask |= Sequence;
  for (auto [index, value] : llvm::enumerate(info.results)) {
    unsigned tensor = info.operands.size() + index;
    if (breaksPins(value, numbers[tensor]))
      mask |= Pin;
  }
  return mask;
}
