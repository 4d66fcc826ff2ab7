// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/ReadPlan.h"
#include "mlir/IR/SymbolTable.h"
#include "tp/Plan/Builder.h"
#include "tp/Plan/Record.h"

using namespace mlir;
using namespace tp;

namespace {

class PlanReader {
public:
  PlanReader(ModuleOp planned, const Planner &planner)
      : planned(planned), graph(planner.getGraph()),
        builder(planner.getBuilder()), mesh(planner.getMesh()) {}

  FailureOr<std::vector<unsigned>> read(ModuleOp opened);

private:
  /// Types of a node's operands, then results, and where they are written.
  struct Written {
    SmallVector<Type, 4> types;
    Location loc;
  };

  void pairOperations(func::FuncOp planned, func::FuncOp opened);
  Written writtenAt(unsigned node) const;
  FailureOr<unsigned> readChoice(unsigned node) const;

  ModuleOp planned;
  const Graph &graph;
  const ProblemBuilder &builder;
  MeshAttr mesh;
  /// From operations of the opened module.
  llvm::DenseMap<Operation *, Operation *> plannedOf;
  /// From values of the graph that are passed on to the operand they pass.
  llvm::DenseMap<unsigned, OpOperand *> operandOf;
};

} // namespace

/// Operations come in the same order; the moves that the plan placed are gone
/// from the opened function.
void PlanReader::pairOperations(func::FuncOp planned, func::FuncOp opened) {
  SmallVector<Operation *> left;
  for (Operation &op : planned.getBody().front())
    if (!isPlannedMove(&op))
      left.push_back(&op);
  for (auto [from, to] : llvm::zip_equal(opened.getBody().front(), left))
    plannedOf[&from] = to;
}

PlanReader::Written PlanReader::writtenAt(unsigned number) const {
  const GraphNode &node = graph.nodes[number];
  if (node.kind == GraphNode::Home) {
    func::FuncOp opened = graph.instances[node.instance].function;
    auto entry = ModuleOp(planned).lookupSymbol<func::FuncOp>(opened.getName());
    return {{entry.getArgumentTypes()[node.number]},
            entry.getArgument(node.number).getLoc()};
  }
  Operation *op = plannedOf.lookup(node.op);
  if (node.kind == GraphNode::Demand)
    return {{op->getOperand(node.number).getType()}, op->getLoc()};
  if (node.kind == GraphNode::Operation) {
    Written written{{}, op->getLoc()};
    llvm::append_range(written.types, op->getOperandTypes());
    llvm::append_range(written.types, op->getResultTypes());
    return written;
  }
  // A passage comes in and leaves with one layout.
  auto operand = operandOf.find(node.results.front());
  Type type =
      operand == operandOf.end()
          ? op->getResult(0).getType()
          : op->getOperand(operand->second->getOperandNumber()).getType();
  return {{type, type}, op->getLoc()};
}

FailureOr<unsigned> PlanReader::readChoice(unsigned number) const {
  const GraphNode &node = graph.nodes[number];
  Written written = writtenAt(number);
  SmallVector<unsigned> values(ArrayRef<unsigned>(node.operands));
  llvm::append_range(values, node.results);
  auto error = [&] { return mlir::emitError(written.loc); };
  SmallVector<unsigned, 4> layouts;
  for (auto [type, value] : llvm::zip_equal(written.types, values)) {
    ShardingAttr sharding = getSharding(type);
    if (!sharding)
      return error() << "'" << graph.values[value].name
                     << "' has no layout: the module is not a whole plan";
    FailureOr<Layout> layout = resolve(sharding, mesh, error);
    if (failed(layout))
      return failure();
    std::optional<unsigned> index = builder.getSpace(value).find(*layout);
    if (!index)
      return error() << "the layout " << sharding << " of '"
                     << graph.values[value].name
                     << "' is not one of those that the recorded settings "
                        "leave to the planner";
    layouts.push_back(*index);
  }
  const NodeChoices &choices = builder.choices[number];
  auto found = llvm::find(choices.layouts, layouts);
  if (found == choices.layouts.end())
    return error() << "'" << builder.problem.variables[number].name
                   << "' is laid out in a way that the recorded settings do "
                      "not allow: none of the "
                   << choices.layouts.size()
                   << " ways that they do has these layouts together";
  return found - choices.layouts.begin();
}

FailureOr<std::vector<unsigned>> PlanReader::read(ModuleOp opened) {
  for (auto function : planned.getOps<func::FuncOp>())
    pairOperations(function,
                   opened.lookupSymbol<func::FuncOp>(function.getName()));
  for (auto [place, value] : graph.passageOf)
    operandOf[value] = place.second;
  std::vector<unsigned> choices;
  bool good = true;
  for (unsigned node = 0; node < graph.nodes.size(); ++node) {
    FailureOr<unsigned> choice = readChoice(node);
    good &= succeeded(choice);
    choices.push_back(choice.value_or(0));
  }
  if (!good)
    return failure();
  return choices;
}

FailureOr<std::vector<unsigned>>
tp::readChoices(ModuleOp planned, ModuleOp opened, const Planner &planner) {
  return PlanReader(planned, planner).read(opened);
}

FailureOr<Solution> tp::readSolution(ModuleOp planned, ModuleOp opened,
                                     const Planner &planner) {
  FailureOr<std::vector<unsigned>> choices =
      readChoices(planned, opened, planner);
  if (failed(choices))
    return failure();
  Solution solution;
  solution.choices = std::move(*choices);
  solution.cost = planner.getProblem().evaluate(solution.choices);
  if (solution.cost.isInfinite())
    return mlir::emitError(planned.getLoc())
           << "holds a plan with layouts between which there is no way: with "
              "weights=stationary a weight is used where it lies";
  return solution;
}
