// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayerGraph.h"
#include "Places.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tp;

static func::FuncOp findShown(const Step &step) {
  const StepCall *shown = step.getShownCall();
  if (!shown)
    return step.getEntry();
  func::CallOp call = shown->op;
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
}

/// Sets how the value lies.
static void describeLayout(Value value, LayerNode &node) {
  ShardingAttr sharding = getSharding(value.getType());
  if (!sharding)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << sharding;
  node.layout = llvm::json::fixUTF8(text);
  Layout layout = getCheckedLayout(value);
  node.isUnreduced = !layout.unreduced.empty();
  for (auto [number, dim] : llvm::enumerate(layout.dims))
    if (!dim.parts.empty() && !node.splitDim)
      node.splitDim = number;
}

namespace {

class Drawer {
public:
  Drawer(func::FuncOp function, const llvm::DenseMap<Operation *, Cost> &costs)
      : function(function), costs(costs) {}

  LayerGraph run();

private:
  void addArguments();
  void addOperation(Operation &op);

  func::FuncOp function;
  const llvm::DenseMap<Operation *, Cost> &costs;
  /// The nodes of values, and the names of parameters.
  llvm::DenseMap<Value, unsigned> nodes;
  llvm::DenseMap<Value, std::string> weights;
  LayerGraph graph;
};

} // namespace

void Drawer::addArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, nameAttrName);
    std::string text = name ? llvm::json::fixUTF8(name.getValue())
                            : "argument " + std::to_string(number);
    if (function.getArgAttr(number, parameterAttrName)) {
      weights[argument] = text;
      continue;
    }
    LayerNode node;
    node.place = {llvm::json::fixUTF8(function.getName()), "input", text};
    describeLayout(argument, node);
    nodes[argument] = graph.nodes.size();
    graph.nodes.push_back(std::move(node));
  }
}

void Drawer::addOperation(Operation &op) {
  if (graph.nodes.size() >= LayerGraph::maxNodes) {
    ++graph.omitted;
    return;
  }
  LayerNode node;
  node.place = getPlace(&op);
  Cost cost = costs.lookup(&op);
  node.seconds = cost.seconds;
  node.communicates = cost.communicates;
  for (Value operand : op.getOperands()) {
    if (auto found = weights.find(operand); found != weights.end())
      node.weights.push_back(found->second);
    if (auto found = nodes.find(operand); found != nodes.end())
      node.operands.push_back(found->second);
  }
  if (op.getNumResults() > 0)
    describeLayout(op.getResult(0), node);
  for (Value result : op.getResults())
    nodes[result] = graph.nodes.size();
  graph.nodes.push_back(std::move(node));
}

LayerGraph Drawer::run() {
  graph.function = llvm::json::fixUTF8(function.getName());
  addArguments();
  for (Operation &op : function.getBody().front())
    if (!op.hasTrait<OpTrait::IsTerminator>())
      addOperation(op);
  return std::move(graph);
}

LayerGraph tp::drawLayer(const Step &step,
                         const llvm::DenseMap<Operation *, Cost> &costs) {
  return Drawer(findShown(step), costs).run();
}
