// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/PlanSteps.h"

using namespace mlir;
using namespace tp;

namespace {

class StepLister {
public:
  StepLister(const Graph &graph, const ProblemBuilder &builder,
             const CostModel &model, ArrayRef<unsigned> choices)
      : graph(graph), builder(builder), model(model), choices(choices) {}

  std::vector<PlanStep> run() && {
    for (unsigned value = 0; value < graph.values.size(); ++value)
      visit(value);
    return std::move(steps);
  }

private:
  void visit(unsigned value);
  void addEdge(unsigned value, const TreeEdge &edge,
               ArrayRef<std::pair<unsigned, unsigned>> uses);

  const Graph &graph;
  const ProblemBuilder &builder;
  const CostModel &model;
  ArrayRef<unsigned> choices;
  std::vector<PlanStep> steps;
};

} // namespace

void StepLister::addEdge(unsigned value, const TreeEdge &edge,
                         ArrayRef<std::pair<unsigned, unsigned>> uses) {
  const LayoutSpace &space = builder.getSpace(value);
  RankedTensorType type = graph.values[value].type;
  Layout layout = space[edge.from];
  for (const LayoutStep &step : space.getPath(edge.from, edge.to)) {
    Layout after = *apply(step, layout, type.getShape());
    steps.push_back(
        {value, step, layout, after, model.priceStep(step, type, layout),
         llvm::SmallVector<std::pair<unsigned, unsigned>, 2>(uses)});
    layout = std::move(after);
  }
}

void StepLister::visit(unsigned value) {
  const Problem::Value &info = builder.problem.values[value];
  auto layoutOf = [&](const Problem::Use &use) {
    return builder.problem.getLayout(use, choices[use.variable]);
  };
  SmallVector<unsigned> targets = llvm::map_to_vector(info.consumers, layoutOf);
  Tree tree = cheapestTree(builder.getSpace(value).getDistances(),
                           layoutOf(info.producer), targets);
  // Uses are handed up from the layouts that they want to the root.
  std::map<unsigned, SmallVector<std::pair<unsigned, unsigned>, 2>> usesOf;
  for (auto [use, target] :
       llvm::zip_equal(graph.values[value].consumers, targets))
    usesOf[target].push_back(use);
  for (const TreeEdge &edge : llvm::reverse(tree.edges))
    llvm::append_range(usesOf[edge.from], usesOf[edge.to]);
  for (const TreeEdge &edge : tree.edges)
    addEdge(value, edge, usesOf[edge.to]);
}

std::vector<PlanStep> tp::listSteps(const Graph &graph,
                                    const ProblemBuilder &builder,
                                    const CostModel &model,
                                    ArrayRef<unsigned> choices) {
  return StepLister(graph, builder, model, choices).run();
}
