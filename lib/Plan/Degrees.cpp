// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Degrees.h"
#include "Builder.h"

using namespace mlir;
using namespace tp;

static bool hasFactor(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

/// The grouping that dimension `dim` shows, if some operands have its major
/// factor alone and lack the minor one.
static std::optional<HeadGrouping>
findGrouping(const ShardingRule &rule, const DimFactors &dim, unsigned node) {
  if (dim.size() != 2)
    return std::nullopt;
  HeadGrouping grouping{
      node, rule.factors[dim[0]].size, rule.factors[dim[1]].size, {}};
  for (auto [index, operand] : llvm::enumerate(rule.operands)) {
    bool hasGroupsAlone = llvm::is_contained(operand, DimFactors{dim[0]}) &&
                          !hasFactor(operand, dim[1]);
    if (hasGroupsAlone)
      grouping.groupOperands.push_back(index);
  }
  if (grouping.groupOperands.empty())
    return std::nullopt;
  return grouping;
}

std::vector<HeadGrouping> tp::findHeadGroupings(const Graph &graph) {
  std::vector<HeadGrouping> all;
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != GraphNode::Operation)
      continue;
    ShardingRule rule =
        cast<ShardingRuleOpInterface>(node.op).getShardingRule();
    if (rule.operands.empty())
      continue;
    for (const DimFactors &dim : rule.operands[0])
      if (auto grouping = findGrouping(rule, dim, index))
        all.push_back(*grouping);
  }
  return all;
}

bool tp::isLegalDegree(const HeadGrouping &grouping, int64_t ranks) {
  int64_t heads = grouping.groups * grouping.inGroup;
  return heads % ranks == 0 &&
         (grouping.groups % ranks == 0 || ranks % grouping.groups == 0);
}

static std::string listLegalDegrees(const HeadGrouping &grouping) {
  std::string text;
  int64_t heads = grouping.groups * grouping.inGroup;
  for (int64_t ranks = 1; ranks <= std::min<int64_t>(heads, 4096); ++ranks)
    if (isLegalDegree(grouping, ranks))
      text += (text.empty() ? "" : ", ") + std::to_string(ranks);
  return text;
}

static void diagnoseDegree(const GraphNode &node, const HeadGrouping &grouping,
                           MeshAxisAttr axis) {
  int64_t heads = grouping.groups * grouping.inGroup, ranks = axis.getSize();
  InFlightDiagnostic diag = node.op->emitOpError()
                            << heads << " query heads and " << grouping.groups
                            << " KV heads do not fit axis \"" << axis.getName()
                            << "\" of " << ranks << " ranks: ";
  if (heads % ranks != 0)
    diag << ranks << " does not divide " << heads;
  else
    diag << "neither of " << grouping.groups << " and " << ranks
         << " divides the other";
  diag.attachNote() << "fix: use one of the legal degrees "
                    << listLegalDegrees(grouping);
}

FailureOr<PlanAxes> tp::choosePlanAxes(const Graph &graph,
                                       const std::vector<HeadGrouping> &all,
                                       MeshAttr mesh, ArrayRef<bool> isData) {
  PlanAxes axes;
  bool legal = true;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes())) {
    int64_t ranks = axis.getSize();
    std::set<int64_t> borders;
    std::set<std::pair<int64_t, int64_t>> reported;
    for (const HeadGrouping &grouping : all) {
      if (isData[index])
        continue;
      if (!isLegalDegree(grouping, ranks)) {
        bool isNew =
            reported.insert({grouping.groups, grouping.inGroup}).second;
        if (isNew)
          diagnoseDegree(graph.nodes[grouping.node], grouping, axis);
        legal = false;
        continue;
      }
      if (ranks > grouping.groups && grouping.groups > 1)
        borders.insert(grouping.groups);
    }
    if (ranks == 1)
      continue;
    int64_t pre = 1;
    borders.insert(ranks);
    for (int64_t border : borders) {
      if (border % pre != 0)
        continue;
      axes.parts.push_back({static_cast<unsigned>(index), pre, border / pre});
      axes.isData.push_back(isData[index]);
      axes.isReplica.push_back(pre != 1);
      pre = border;
    }
  }
  if (!legal)
    return failure();
  return axes;
}

std::set<std::pair<unsigned, unsigned>>
tp::findGroupProjections(const Graph &graph,
                         const std::vector<HeadGrouping> &all) {
  std::set<std::pair<unsigned, unsigned>> projections;
  SmallVector<unsigned> worklist;
  for (const HeadGrouping &grouping : all)
    for (unsigned operand : grouping.groupOperands)
      worklist.push_back(graph.nodes[grouping.node].operands[operand]);
  std::set<unsigned> seen(worklist.begin(), worklist.end());
  while (!worklist.empty()) {
    unsigned producer = graph.values[worklist.pop_back_val()].producer;
    const GraphNode &node = graph.nodes[producer];
    if (node.kind == GraphNode::Home)
      continue;
    bool usesWeight = false;
    if (auto ruled = dyn_cast<ShardingRuleOpInterface>(node.op)) {
      ShardingRule rule = ruled.getShardingRule();
      for (auto [index, value] : llvm::enumerate(node.operands)) {
        if (!graph.values[value].isParameter || !isContractedDim(rule, index))
          continue;
        projections.insert({producer, index});
        usesWeight = true;
      }
    }
    if (usesWeight)
      continue;
    for (unsigned operand : node.operands)
      if (seen.insert(operand).second)
        worklist.push_back(operand);
  }
  return projections;
}
