// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Nodes without a choice: one report for each cause, however many nodes it
/// excludes.

#include "tp/Plan/Builder.h"
#include "llvm/ADT/MapVector.h"
#include <limits>

using namespace mlir;
using namespace tp;

//===- Numbers of a cause -------------------------------------------------===//

static std::string describeFactors(const ShardingRule &rule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator;
  for (const Factor &factor : rule.factors)
    if (factor.kind != FactorKind::Whole)
      os << separator << "'" << factor.name << "' = " << factor.size;
  return text;
}

void ProblemBuilder::noteWeights(Diagnostic &error) const {
  Diagnostic &note = error.attachNote();
  note << "fix: use a number of ranks that divides an output or input size of "
          "the weight, or weights=stored";
  if (uneven == Uneven::Refuse)
    note << ", or uneven=allow";
}

void ProblemBuilder::noteBatch(unsigned node, const ShardingRule &rule,
                               Diagnostic &error) const {
  AxisParts data;
  for (auto [index, part] : llvm::enumerate(axes.parts))
    if (axes.isData[index])
      data.push_back(part);
  std::optional<unsigned> batch = findBatchFactor(graph.nodes[node], rule);
  bool divides = !batch || rule.factors[*batch].size % numRanks(data) == 0;
  if (divides || uneven == Uneven::Allow) {
    error.attachNote() << "fix: keep the batch in dimension 0, or name other "
                          "model-axes";
    return;
  }
  const Factor &factor = rule.factors[*batch];
  error.attachNote() << "the batch, '" << factor.name << "' = " << factor.size
                     << ", is no multiple of the " << numRanks(data)
                     << " ranks of " << toString(data, model.getMesh());
  error.attachNote() << "fix: make the batch a multiple of " << numRanks(data)
                     << ", use uneven=allow, or name other model-axes";
}

void ProblemBuilder::noteSequence(unsigned node, Diagnostic &error) const {
  SmallVector<unsigned> tensors(ArrayRef<unsigned>(graph.nodes[node].operands));
  llvm::append_range(tensors, graph.nodes[node].results);
  auto stream = llvm::find_if(
      tensors, [&](unsigned value) { return graph.values[value].isStream; });
  if (stream != tensors.end()) {
    ArrayRef<int64_t> shape = graph.values[*stream].type.getShape();
    AxisParts parts = axes.modelParts();
    error.attachNote() << "sequence-parallel=on splits dimension "
                       << shape.size() - 2 << " of [" << shape << "] over the "
                       << numRanks(parts) << " ranks of "
                       << toString(parts, model.getMesh());
  }
  error.attachNote() << "fix: use sequence-parallel=off or auto, or a sequence "
                        "that the ranks divide";
}

/// Each constraint has strategies that break no other, or none has.
void ProblemBuilder::noteConstraints(const Exclusion &excluded,
                                     Diagnostic &error) const {
  Diagnostic &note = error.attachNote();
  note << "fix: use ";
  llvm::ListSeparator separator(excluded.isEither ? " or " : " and ");
  auto add = [&](Constraint constraint, StringRef instead) {
    if (excluded.broken & constraint)
      note << StringRef(separator) << instead;
  };
  add(StationaryWeights, "weights=stored");
  add(DataAxes, "other model-axes");
  add(Sequence, "sequence-parallel=auto");
  add(Pin, "other pins");
}

//===- One node -----------------------------------------------------------===//

InFlightDiagnostic
ProblemBuilder::describeOperation(const Exclusion &excluded) const {
  const GraphNode &info = graph.nodes[excluded.node];
  bool isEven = uneven == Uneven::Refuse;
  std::string constraints;
  for (Constraint constraint : {StationaryWeights, DataAxes, Sequence, Pin})
    if (excluded.broken & constraint)
      constraints +=
          (constraints.empty() ? "" : " and ") + toString(constraint).str();
  InFlightDiagnostic diag =
      info.op->emitOpError()
      << "cannot be split over " << toString(axes.parts, model.getMesh())
      << ": of " << excluded.numStrategies << " strategies"
      << (isEven ? " with even shards" : "") << " none meets " << constraints;
  Diagnostic &error = *diag.getUnderlyingDiagnostic();
  error.attachNote() << "the sizes that can be split are "
                     << describeFactors(*info.rule)
                     << (isEven ? "; the ranks must divide them" : "");
  if (!llvm::has_single_bit(excluded.broken))
    noteConstraints(excluded, error);
  else if (excluded.broken == StationaryWeights)
    noteWeights(error);
  else if (excluded.broken == DataAxes)
    noteBatch(excluded.node, *info.rule, error);
  else if (excluded.broken == Sequence)
    noteSequence(excluded.node, error);
  else
    error.attachNote() << "fix: remove the pin, or pin a layout that this "
                          "operation can make";
  return diag;
}

/// Of the home of an argument, or a passage.
InFlightDiagnostic
ProblemBuilder::describeLayouts(const Exclusion &excluded) const {
  const GraphNode &node = graph.nodes[excluded.node];
  const GraphValue &value = graph.values[node.results[0]];
  InFlightDiagnostic diag = node.op->emitOpError()
                            << "'" << value.name << "' of shape ["
                            << value.type.getShape() << "] has no layout over "
                            << toString(axes.parts, model.getMesh())
                            << " that the constraints allow";
  bool isPassage = node.kind == GraphNode::Passage;
  if (excluded.broken == Pin)
    diag << ": its pins must agree with each other"
         << (isPassage ? " and with sequence-parallel" : "");
  else if (uneven == Uneven::Refuse)
    diag << ": shards must be even";
  Diagnostic &error = *diag.getUnderlyingDiagnostic();
  if (excluded.broken == Sequence) {
    noteSequence(excluded.node, error);
    return diag;
  }
  if (excluded.broken == Pin) {
    error.attachNote() << "fix: leave one of the pins out";
    return diag;
  }
  error.attachNote() << "the axes have " << numRanks(axes.parts) << " ranks";
  Diagnostic &fix = error.attachNote();
  fix << "fix: use ranks that divide a dimension, or weights=free";
  if (uneven == Uneven::Refuse)
    fix << ", or uneven=allow";
  return diag;
}

//===- All nodes ----------------------------------------------------------===//

/// What the nearest strategies break, each or together.
void ProblemBuilder::exclude(unsigned node, ArrayRef<unsigned> masks) {
  int fewest = std::numeric_limits<int>::max();
  for (unsigned mask : masks)
    fewest = std::min(fewest, llvm::popcount(mask));
  unsigned broken = 0;
  for (unsigned mask : masks)
    if (llvm::popcount(mask) == fewest)
      broken |= mask;
  exclusions.push_back({node, broken, masks.size(), fewest == 1});
}

void ProblemBuilder::excludeLayouts(unsigned node) {
  unsigned value = graph.nodes[node].results[0];
  bool isPinned = !pinned[value].empty();
  bool isHome = graph.nodes[node].kind == GraphNode::Home;
  unsigned broken = isHome ? StationaryWeights : Sequence;
  exclusions.push_back({node, isPinned ? unsigned(Pin) : broken, 0, false});
}

/// The batch and the sequence are of all operations; a size that cannot be
/// split is of all weights of that shape, and of the products that use them.
std::pair<unsigned, const void *>
ProblemBuilder::causeOf(const Exclusion &excluded) const {
  const GraphNode &node = graph.nodes[excluded.node];
  if ((excluded.broken & ~(DataAxes | Sequence)) == 0)
    return {excluded.broken, nullptr};
  ArrayRef<unsigned> tensors = node.operands;
  if (node.kind == GraphNode::Home)
    tensors = node.results;
  if (excluded.broken == StationaryWeights)
    for (unsigned value : tensors)
      if (graph.values[value].isParameter && isContracted[value])
        return {excluded.broken, graph.values[value].type.getAsOpaquePointer()};
  return {excluded.broken, node.op};
}

LogicalResult ProblemBuilder::diagnoseExclusions() const {
  unsigned reported = 0;
  for (const Exclusion &excluded : exclusions)
    if (llvm::has_single_bit(excluded.broken))
      reported |= excluded.broken;
  llvm::MapVector<std::pair<unsigned, const void *>,
                  SmallVector<const Exclusion *>>
      causes;
  for (const Exclusion &excluded : exclusions) {
    bool isReported = (excluded.broken & ~reported) == 0 &&
                      !llvm::has_single_bit(excluded.broken);
    if (!isReported)
      causes[causeOf(excluded)].push_back(&excluded);
  }
  for (const auto &[cause, nodes] : causes) {
    const Exclusion &first = *nodes.front();
    bool isOperation = graph.nodes[first.node].kind == GraphNode::Operation;
    InFlightDiagnostic diag =
        isOperation ? describeOperation(first) : describeLayouts(first);
    if (nodes.size() == 1)
      continue;
    const GraphNode &next = graph.nodes[nodes[1]->node];
    StringRef name = next.op->getName().getStringRef();
    if (next.kind != GraphNode::Operation)
      name = graph.values[next.results[0]].name;
    diag.attachNote(next.op->getLoc())
        << "the same excludes " << nodes.size() - 1 << " more, the next '"
        << name << "'";
  }
  return success(exclusions.empty());
}

/// A stationary weight is not gathered for a result either.
LogicalResult ProblemBuilder::checkReturnedWeights() const {
  bool good = true;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != GraphNode::Demand || weights != Weights::Stationary)
      continue;
    unsigned value = node.operands[0];
    const GraphValue &info = graph.values[value];
    if (!info.isParameter || !isContracted[value])
      continue;
    unsigned place = graph.nodes[info.producer].operands.size() +
                     (llvm::find(graph.nodes[info.producer].results, value) -
                      graph.nodes[info.producer].results.begin());
    bool canBe = llvm::any_of(choices[info.producer].layouts, [&](auto &made) {
      return llvm::any_of(choices[number].layouts, [&](auto &wanted) {
        return made[place] == wanted[0];
      });
    });
    if (canBe)
      continue;
    good = false;
    InFlightDiagnostic diag =
        node.op->emitOpError()
        << "result " << node.number << " is weight '" << info.name
        << "', which weights=stationary leaves split over "
        << toString(axes.modelParts(), model.getMesh())
        << ", but results are whole";
    diag.attachNote() << "fix: mark the result tp.like as the weight's "
                         "argument, or use weights=stored";
  }
  return success(good);
}
