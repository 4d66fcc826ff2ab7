// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanWarnings.h"
#include "tp/Plan/Builder.h"
#include "tp/Weights/FusedUses.h"
#include "llvm/Support/Format.h"

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

/// The parameters of the entry that tp-split-fused-weights would split, and the
/// blocks of the first one.
static SmallVector<BlockArgument> findFused(ModuleOp module, func::FuncOp entry,
                                            size_t &numBlocks) {
  SmallVector<BlockArgument> fused;
  // What stays fused all the same is that pass's to tell.
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<FusedUses> uses = FusedUses::find(module);
  if (failed(uses))
    return fused;
  for (BlockArgument argument : entry.getArguments())
    if (uses->find(argument))
      fused.push_back(argument);
  if (!fused.empty())
    numBlocks = uses->find(fused.front())->blocks.size();
  return fused;
}

void tp::warnOfFusedWeights(ModuleOp module, const Planner &planner) {
  if (planner.getModelParts().empty())
    return;
  const Graph &graph = planner.getGraph();
  size_t numBlocks = 0;
  SmallVector<BlockArgument> fused =
      findFused(module, graph.instances.front().function, numBlocks);
  if (fused.empty())
    return;
  InFlightDiagnostic warning = emitWarning(fused.front().getLoc());
  warning << "'" << graph.values[fused.front().getArgNumber()].name << "'";
  if (fused.size() > 1)
    warning << ", the first of " << fused.size() << " such parameters,";
  warning << " holds " << numBlocks
          << " weights that the program takes apart; planned as one, what is "
             "computed of them is gathered before it is cut";
  warning.attachNote() << "fix: run tp-split-fused-weights before tp-plan";
}
