// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanWarnings.h"
#include "tp/Plan/PlanSteps.h"
#include "tp/Weights/FusedUses.h"
#include "tp/Weights/WeightUses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <set>

using namespace mlir;
using namespace tp;

static bool hasAxis(ArrayRef<AxisPart> parts, unsigned axis) {
  return llvm::any_of(parts,
                      [&](const AxisPart &part) { return part.axis == axis; });
}

/// Whether some operation's result is split over the axis.
static bool carries(const Planner &planner, const Solution &solution,
                    unsigned axis) {
  const ProblemBuilder &builder = planner.getBuilder();
  for (const GraphNode &node : planner.getGraph().nodes) {
    if (node.kind != GraphNode::Operation)
      continue;
    for (unsigned value : node.results) {
      unsigned layout = builder.getProducedLayout(value, solution.choices);
      if (hasAxis(builder.getSpace(value)[layout].getSplitParts(), axis))
        return true;
    }
  }
  return false;
}

void tp::warnOfIdleAxes(ModuleOp module, const Planner &planner,
                        const Solution &solution) {
  bool hasWork = llvm::any_of(planner.getGraph().nodes, [](const auto &node) {
    return node.kind == GraphNode::Operation;
  });
  if (!hasWork)
    return;
  MeshAttr mesh = planner.getMesh();
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes())) {
    if (axis.getSize() == 1 || hasAxis(planner.getModelParts(), index) ||
        carries(planner, solution, index))
      continue;
    InFlightDiagnostic warning = emitWarning(module.getLoc());
    warning << "axis \"" << axis.getName()
            << "\" carries the batch, but there is none to split: its "
            << axis.getSize() << " ranks all compute the same";
    warning.attachNote() << "fix: plan for " << axis.getSize()
                         << " sequences or a multiple of it, or let the axis "
                            "split the model: name it in model-axes";
  }
}

void tp::remarkOnGap(ModuleOp module, const PlanSettings &settings,
                     const Solution &solution) {
  if (solution.cost.getTime() == solution.lowerBound.getTime())
    return;
  double seconds = solution.cost.seconds();
  double bound = solution.lowerBound.seconds();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("this plan takes %.3f us a step, and none takes less than "
                     "%.3f us: a plan that is up to %.3g %% faster may exist",
                     seconds * 1e6, bound * 1e6,
                     100 * (seconds - bound) / seconds);
  InFlightDiagnostic remark = emitRemark(module.getLoc()) << text;
  if (!settings.memoryLimit.empty() && settings.memorySearch == "quick")
    remark.attachNote() << "to look for one longer: memory-search=exhaustive";
}

namespace {

/// The collectives of a plan between parameters that tp-split-fused-weights
/// would split and the slices that take them apart.
class FusedCollectives {
public:
  FusedCollectives(const Planner &planner, const FusedUses &uses)
      : graph(planner.getGraph()), uses(uses) {}

  void add(const PlanStep &step);

  /// By number of the entry's argument.
  std::set<unsigned> arguments;
  llvm::SetVector<StringRef> names;

private:
  void addParameters(unsigned value);
  bool isOnTheWay(unsigned node, unsigned operand) const {
    const GraphNode &info = graph.nodes[node];
    return info.kind == GraphNode::Operation &&
           uses.onTheWay.contains(&info.op->getOpOperand(operand));
  }

  const Graph &graph;
  const FusedUses &uses;
};

} // namespace

/// The parameters that a value on the way is computed from.
void FusedCollectives::addParameters(unsigned value) {
  SmallVector<unsigned> todo = {value};
  llvm::DenseSet<unsigned> seen;
  while (!todo.empty()) {
    unsigned current = todo.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    unsigned producer = graph.values[current].producer;
    const GraphNode &node = graph.nodes[producer];
    if (node.kind == GraphNode::Home) {
      func::FuncOp entry = graph.instances.front().function;
      if (uses.find(entry.getArgument(node.number)))
        arguments.insert(node.number);
    }
    for (auto [operand, from] : llvm::enumerate(node.operands))
      if (node.kind == GraphNode::Passage || isOnTheWay(producer, operand))
        todo.push_back(from);
  }
}

void FusedCollectives::add(const PlanStep &step) {
  bool isLocal = step.step.kind == LayoutStep::AllSlice ||
                 step.step.kind == LayoutStep::ToUnreduced;
  bool isBetween = llvm::any_of(
      step.uses, [&](auto use) { return isOnTheWay(use.first, use.second); });
  if (isLocal || !isBetween)
    return;
  addParameters(step.value);
  names.insert(toString(step.step.kind));
}

/// What stays fused all the same is that pass's to tell.
static FailureOr<FusedUses> findQuietly(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  return FusedUses::find(module);
}

void tp::warnOfFusedWeights(ModuleOp module, const Planner &planner,
                            const Solution &solution) {
  if (planner.getModelParts().empty())
    return;
  FailureOr<FusedUses> uses = findQuietly(module);
  if (failed(uses))
    return;
  FusedCollectives found(planner, *uses);
  const Graph &graph = planner.getGraph();
  for (const PlanStep &step : listSteps(graph, planner.getBuilder(),
                                        planner.getModel(), solution.choices))
    found.add(step);
  if (found.arguments.empty())
    return;
  unsigned first = *found.arguments.begin();
  func::FuncOp entry = graph.instances.front().function;
  BlockArgument argument = entry.getArgument(first);
  InFlightDiagnostic warning = emitWarning(argument.getLoc());
  warning << "'" << graph.values[first].name << "'";
  if (found.arguments.size() > 1)
    warning << ", the first of " << found.arguments.size()
            << " such parameters,";
  warning << " holds " << uses->find(argument)->blocks.size()
          << " weights that the program takes apart; planned as one, what is "
             "computed of it meets "
          << llvm::join(found.names, " and ") << " before it is cut";
  warning.attachNote() << "fix: run tp-split-fused-weights before tp-plan";
}

//===- Weights that are not split -----------------------------------------===//

/// The layout of a parameter, if some axis of the model does not split it.
static const Layout *findUnsplit(const Planner &planner,
                                 const Solution &solution, unsigned value) {
  const ProblemBuilder &builder = planner.getBuilder();
  unsigned layout = builder.getProducedLayout(value, solution.choices);
  const Layout &found = builder.getSpace(value)[layout];
  bool isSplit = containsParts(normalizeSet(found.getSplitParts()),
                               normalizeSet(planner.getModelParts()));
  return isSplit ? nullptr : &found;
}

static InFlightDiagnostic warnOfUnsplit(const Planner &planner, unsigned value,
                                        const Layout &layout) {
  const Graph &graph = planner.getGraph();
  const GraphValue &info = graph.values[value];
  const GraphNode &home = graph.nodes[info.producer];
  func::FuncOp entry = graph.instances.front().function;
  InFlightDiagnostic warning =
      emitWarning(entry.getArgument(home.number).getLoc());
  warning << "'" << info.name << "' of shape [" << info.type.getShape()
          << "] lies ";
  int64_t shared = numRanks(layout.getSplitParts());
  if (shared == 1)
    warning << "whole on every rank";
  else
    warning << "in only " << shared << " different parts";
  warning << " of " << planner.getModelAxes();
  return warning;
}

/// The parameters that `value` is computed from, where no weight carries on.
static void addUncarried(const Graph &graph, unsigned value,
                         const std::vector<bool> &isContracted,
                         llvm::SetVector<unsigned> &parameters) {
  SmallVector<unsigned> todo = {value};
  llvm::DenseSet<unsigned> seen;
  while (!todo.empty()) {
    unsigned current = todo.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    const GraphNode &node = graph.nodes[graph.values[current].producer];
    if (node.kind == GraphNode::Home && !isContracted[current] &&
        graph.values[current].numStored > 1)
      parameters.insert(current);
    // Beside a weight that is carried on stands its scale.
    if (!node.carried.empty())
      for (unsigned index : node.carried)
        todo.push_back(node.operands[index]);
    else
      llvm::append_range(todo, node.operands);
  }
}

/// Parameters of which something is made that a product reads and that is no
/// longer the weight, by the operation that makes it.
static llvm::MapVector<unsigned, Operation *>
findUncarried(const Graph &graph, const std::vector<bool> &isContracted) {
  llvm::MapVector<unsigned, Operation *> found;
  for (const GraphNode &node : graph.nodes) {
    if (node.kind != GraphNode::Operation)
      continue;
    for (auto [operand, value] : llvm::enumerate(node.operands)) {
      const GraphValue &info = graph.values[value];
      if (!info.isStatic || info.isParameter)
        continue;
      llvm::SetVector<unsigned> parameters;
      if (isContractedDim(*node.rule, operand))
        addUncarried(graph, value, isContracted, parameters);
      for (unsigned parameter : parameters)
        found.insert({parameter, graph.nodes[info.producer].op});
    }
  }
  return found;
}

void tp::warnOfUnsplitWeights(const Planner &planner,
                              const Solution &solution) {
  const ProblemBuilder &builder = planner.getBuilder();
  if (builder.getWeights() != Weights::Stationary ||
      planner.getModelParts().empty())
    return;
  int64_t ranks = numRanks(planner.getModelParts());
  for (const auto &[value, dims] : builder.getUnsplit()) {
    const Layout *layout = findUnsplit(planner, solution, value);
    if (!layout)
      continue;
    InFlightDiagnostic warning = warnOfUnsplit(planner, value, *layout);
    warning << ": " << describeTileMisfit(dims, ranks);
    if (mayDealTiles(dims, ranks))
      warning.attachNote()
          << "fix: deal whole tiles unevenly with uneven=allow";
  }
  for (auto [value, op] :
       findUncarried(planner.getGraph(), builder.getContracted())) {
    const Layout *layout = findUnsplit(planner, solution, value);
    if (!layout)
      continue;
    InFlightDiagnostic warning = warnOfUnsplit(planner, value, *layout);
    warning << ": weights=stationary holds for what a product reads, which "
               "is computed of it";
    warning.attachNote(op->getLoc())
        << "'" << op->getName() << "' makes what the product reads";
  }
}

void tp::warnOfVocabularies(const Planner &planner) {
  const Graph &graph = planner.getGraph();
  int64_t ranks = numRanks(planner.getModelParts());
  if (planner.getBuilder().getUneven() == Uneven::Allow)
    return;
  for (const Vocabulary &vocabulary : findVocabularies(graph)) {
    if (vocabulary.size % ranks == 0)
      continue;
    const GraphNode &node =
        graph.nodes[graph.values[vocabulary.value].producer];
    Location loc = node.op->getLoc();
    if (auto entry = dyn_cast<func::FuncOp>(node.op))
      loc = entry.getArgument(node.number).getLoc();
    InFlightDiagnostic warning = emitWarning(loc);
    warning << "the vocabulary of '" << vocabulary.name << "', "
            << vocabulary.size << ", is no multiple of the " << ranks
            << " ranks of " << planner.getModelAxes()
            << ", so that they cannot split it evenly";
    warning.attachNote() << "fix: pad it at import with --pad-vocabulary="
                         << ranks;
    warning.attachNote() << "fix: split it unevenly with uneven=allow";
  }
}
