// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/Degrees.h"
#include "tp/Weights/WeightUses.h"
#include <set>

using namespace mlir;
using namespace tp;

static bool hasFactor(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

std::vector<HeadGrouping> tp::findHeadGroupings(const Graph &graph) {
  std::vector<HeadGrouping> all;
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    auto grouped = dyn_cast<GroupedHeadsOpInterface>(node.op);
    if (node.kind != GraphNode::Operation || !grouped)
      continue;
    const ShardingRule &rule = *node.rule;
    auto [groups, inGroup] = grouped.getGrouping();
    HeadGrouping &grouping = all.emplace_back();
    grouping = {static_cast<unsigned>(index),
                rule.factors[groups].size,
                rule.factors[inGroup].size,
                {}};
    // With one query head a group keys have as many heads as queries.
    for (auto [number, operand] : llvm::enumerate(rule.operands))
      if (grouping.inGroup != 1 && !hasFactor(operand, inGroup))
        grouping.groupOperands.push_back(number);
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

/// Why the heads do not allow `ranks`.
static std::string describeMisfit(const HeadGrouping &grouping, int64_t ranks) {
  int64_t heads = grouping.groups * grouping.inGroup;
  std::string number = std::to_string(ranks);
  if (heads % ranks != 0)
    return number + " does not divide " + std::to_string(heads);
  return "neither of " + std::to_string(grouping.groups) + " and " + number +
         " divides the other";
}

void tp::diagnoseDegree(const GraphNode &node, const HeadGrouping &grouping,
                        MeshAxisAttr axis) {
  int64_t heads = grouping.groups * grouping.inGroup, ranks = axis.getSize();
  InFlightDiagnostic diag = node.op->emitOpError()
                            << heads << " query heads and " << grouping.groups
                            << " KV heads do not fit axis \"" << axis.getName()
                            << "\" of " << ranks
                            << " ranks: " << describeMisfit(grouping, ranks);
  diag.attachNote() << "fix: use one of the legal degrees "
                    << listLegalDegrees(grouping);
  diag.attachNote() << "fix: deal whole heads unevenly with uneven=allow";
}

/// Puts a border into a chain of divisors, if it divides all that are larger
/// and is a multiple of the others.
static void insertBorder(std::set<int64_t> &borders, int64_t border) {
  if (llvm::all_of(borders, [&](int64_t other) {
        return other % border == 0 || border % other == 0;
      }))
    borders.insert(border);
}

SmallVector<int64_t> tp::cutDegree(const std::vector<HeadGrouping> &all,
                                   ArrayRef<int64_t> tiles, int64_t ranks) {
  std::set<int64_t> groups, borders = {ranks};
  for (const HeadGrouping &grouping : all)
    groups.insert(grouping.groups);
  auto insert = [&](int64_t number) {
    if (ranks > number && number > 1 && ranks % number == 0)
      insertBorder(borders, number);
  };
  llvm::for_each(groups, insert);
  llvm::for_each(tiles, insert);
  SmallVector<int64_t> sizes;
  int64_t pre = 1;
  for (int64_t border : borders) {
    sizes.push_back(border / pre);
    pre = border;
  }
  return sizes;
}

/// The projections of one grouping: the products with a weight that are first
/// met on the way back from its keys and values.
static void
addProjections(const Graph &graph, const HeadGrouping &grouping,
               std::map<std::pair<unsigned, unsigned>, int64_t> &projections) {
  SmallVector<unsigned> worklist;
  for (unsigned operand : grouping.groupOperands)
    worklist.push_back(graph.nodes[grouping.node].operands[operand]);
  std::set<unsigned> seen(worklist.begin(), worklist.end());
  while (!worklist.empty()) {
    unsigned producer = graph.values[worklist.pop_back_val()].producer;
    const GraphNode &node = graph.nodes[producer];
    if (node.kind == GraphNode::Home)
      continue;
    bool usesWeight = false;
    if (node.rule) {
      for (auto [index, value] : llvm::enumerate(node.operands)) {
        if (!graph.values[value].isParameter ||
            !isContractedDim(*node.rule, index))
          continue;
        projections[{producer, index}] = grouping.groups;
        usesWeight = true;
      }
    }
    if (usesWeight)
      continue;
    for (unsigned operand : node.operands)
      if (seen.insert(operand).second)
        worklist.push_back(operand);
  }
}

std::map<std::pair<unsigned, unsigned>, int64_t>
tp::findGroupProjections(const Graph &graph,
                         const std::vector<HeadGrouping> &all) {
  std::map<std::pair<unsigned, unsigned>, int64_t> projections;
  for (const HeadGrouping &grouping : all)
    addProjections(graph, grouping, projections);
  return projections;
}

//===- Every degree -------------------------------------------------------===//

SmallVector<int64_t> DegreeLimits::getTiles() const {
  std::set<int64_t> all;
  for (const WeightLimit &weight : weights)
    for (const TiledDim &dim : weight.dims)
      all.insert(dim.tiles.begin(), dim.tiles.end());
  return llvm::to_vector(all);
}

static std::vector<HeadGrouping>
withoutRepeats(const std::vector<HeadGrouping> &all) {
  std::vector<HeadGrouping> kept;
  for (const HeadGrouping &grouping : all)
    if (llvm::none_of(kept, [&](const HeadGrouping &one) {
          return one.groups == grouping.groups &&
                 one.inGroup == grouping.inGroup;
        }))
      kept.push_back(grouping);
  return kept;
}

DegreeLimits tp::findDegreeLimits(const Graph &graph) {
  DegreeLimits limits;
  std::vector<HeadGrouping> all = findHeadGroupings(graph);
  limits.groupings = withoutRepeats(all);
  auto projections = findGroupProjections(graph, all);
  std::vector<bool> isContracted = findContracted(graph);
  std::set<std::pair<std::vector<TiledDim>, bool>> seen;
  std::set<std::pair<unsigned, bool>> seenRoots;
  auto add = [&](unsigned root, bool isGroup) {
    if (!seenRoots.insert({root, isGroup}).second)
      return;
    const GraphValue &value = graph.values[root];
    std::vector<TiledDim> dims = findTiles(graph, isContracted, root);
    if (seen.insert({dims, isGroup}).second)
      limits.weights.push_back(
          {value.name, value.type.getShape().vec(), std::move(dims), isGroup});
  };
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != GraphNode::Operation)
      continue;
    for (auto [operand, number] : llvm::enumerate(node.operands)) {
      if (!graph.values[number].isParameter ||
          !isContractedDim(*node.rule, operand))
        continue;
      for (unsigned root : findRoots(graph, number))
        add(root, projections.count({index, operand}));
    }
  }
  return limits;
}

std::vector<Vocabulary> tp::findVocabularies(const Graph &graph) {
  std::vector<Vocabulary> found;
  for (const GraphNode &node : graph.nodes) {
    if (node.kind != GraphNode::Operation)
      continue;
    std::optional<unsigned> lookedUp =
        cast<WorkOpInterface>(node.op).getWork().lookedUp;
    if (!lookedUp)
      continue;
    const ShardingRule &rule = *node.rule;
    unsigned table = node.operands[*lookedUp];
    for (auto [dim, factors] : llvm::enumerate(rule.operands[*lookedUp])) {
      int64_t size = graph.values[table].type.getDimSize(dim);
      bool isRead = llvm::any_of(factors, [&](unsigned factor) {
        return rule.factors[factor].kind == FactorKind::Sum;
      });
      bool isNew = llvm::none_of(
          found, [&](const Vocabulary &known) { return known.size == size; });
      if (isRead && isNew && graph.values[table].isParameter)
        for (unsigned root : findRoots(graph, table))
          found.push_back({root, graph.values[root].name, size});
    }
  }
  return found;
}

static void excludeByHeads(const HeadGrouping &grouping, Degree &degree) {
  if (isLegalDegree(grouping, degree.ranks))
    return;
  int64_t heads = grouping.groups * grouping.inGroup;
  bool byHeads = heads % degree.ranks != 0;
  std::string reason = describeMisfit(grouping, degree.ranks);
  degree.exclusions.push_back({byHeads ? "heads" : "kv_heads",
                               byHeads ? heads : grouping.groups,
                               reason + (byHeads ? " query heads" : "")});
}

/// Parts of these sizes deal out whole groups while there are several, then the
/// heads of a group.
static HeadShare shareHeads(const HeadGrouping &grouping,
                            ArrayRef<int64_t> parts) {
  HeadShare groups = {grouping.groups, grouping.groups};
  HeadShare inGroup = {grouping.inGroup, grouping.inGroup};
  for (int64_t size : parts) {
    bool isOneEach = groups.fewest == 1 && groups.most == 1;
    HeadShare &share = isOneEach ? inGroup : groups;
    share = {share.fewest / size, llvm::divideCeilSigned(share.most, size)};
  }
  return {groups.fewest * inGroup.fewest, groups.most * inGroup.most};
}

/// The parts that split a weight: ranks that share a KV head share its
/// projection's rows.
static SmallVector<int64_t> partsOf(const WeightLimit &weight,
                                    const Degree &degree,
                                    ArrayRef<int64_t> parts) {
  int64_t wanted = degree.ranks;
  if (weight.isGroup && degree.kvReplicas > 1)
    wanted = degree.kvShare;
  SmallVector<int64_t> own;
  int64_t ranks = 1;
  for (int64_t size : parts)
    if ((ranks *= size) <= wanted)
      own.push_back(size);
  return own;
}

static void judgeWeight(const WeightLimit &weight, ArrayRef<int64_t> parts,
                        Uneven uneven, Degree &degree) {
  SmallVector<int64_t> own = partsOf(weight, degree, parts);
  int64_t wanted = 1;
  for (int64_t size : own)
    wanted *= size;
  for (auto [dim, size] : llvm::enumerate(weight.shape)) {
    bool known = llvm::any_of(degree.undivided, [&](const UndividedDim &one) {
      return one.size == size;
    });
    if (size % wanted != 0 && !known)
      degree.undivided.push_back(
          {weight.name, static_cast<int64_t>(dim), size});
  }
  if (uneven == Uneven::Allow || canSplit(weight.dims, own))
    return;
  if (divides(own, weight.shape)) {
    degree.whole.push_back(
        {weight.name, describeTileMisfit(weight.dims, wanted)});
    return;
  }
  std::string shape;
  llvm::raw_string_ostream os(shape);
  llvm::interleaveComma(weight.shape, os);
  degree.exclusions.push_back({"weight", *llvm::max_element(weight.shape),
                               std::to_string(wanted) +
                                   " divides no dimension of " + weight.name +
                                   " [" + shape + "]"});
}

Degree tp::judgeDegree(const DegreeLimits &limits, int64_t ranks,
                       Uneven uneven) {
  Degree degree;
  degree.ranks = ranks;
  for (const HeadGrouping &grouping : limits.groupings) {
    if (uneven == Uneven::Refuse)
      excludeByHeads(grouping, degree);
    if (grouping.groups > 0 && ranks % grouping.groups == 0)
      degree.kvReplicas = std::max(degree.kvReplicas, ranks / grouping.groups);
  }
  SmallVector<int64_t> parts = {ranks}, ofHeads = {ranks};
  if (degree.isLegal()) {
    ofHeads = cutDegree(limits.groupings, {}, ranks);
    parts = cutDegree(limits.groupings, limits.getTiles(), ranks);
  } else {
    degree.kvReplicas = 1;
  }
  degree.kvShare = ofHeads.front();
  for (const WeightLimit &weight : limits.weights)
    judgeWeight(weight, parts, uneven, degree);
  if (degree.isLegal())
    for (const HeadGrouping &grouping : limits.groupings)
      degree.shares.push_back(shareHeads(grouping, ofHeads));
  return degree;
}
