// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/Graph.h"
#include "mlir/IR/SymbolTable.h"
#include <limits>

using namespace mlir;
using namespace tp;

/// A graph has a node for each operation of each call: calls of calls would
/// fill the memory, and deep ones the stack.
static constexpr size_t maxNodes = size_t(1) << 20;
static constexpr unsigned maxDepth = 1000;

namespace {

class GraphBuilder {
public:
  FailureOr<Graph> build(func::FuncOp entry);

private:
  unsigned addInstance(func::FuncOp function, func::CallOp call,
                       unsigned parent);
  unsigned addNode(GraphNode::Kind kind, unsigned instance, Operation *op);
  /// Takes the name by value: it may be another value's, in the vector that
  /// grows here.
  unsigned addValue(Value source, unsigned producer, std::string name);
  void use(unsigned node, unsigned value);
  void pin(unsigned value, Type type, Location loc, const void *carrier);
  unsigned pass(unsigned value, Value source, unsigned instance, Operation *op,
                OpOperand *operand);
  LogicalResult visitFunction(unsigned instance,
                              SmallVectorImpl<unsigned> &results);
  LogicalResult visitOp(unsigned instance, Operation *op);
  LogicalResult checkSize(func::CallOp call) const;
  LogicalResult visitCall(unsigned instance, func::CallOp call);
  void visitReturn(unsigned instance, func::ReturnOp op,
                   SmallVectorImpl<unsigned> &results);
  void bindArguments(unsigned instance, ArrayRef<unsigned> values);
  void findCarried(GraphNode &node);
  void markParameters();
  bool isActive(func::FuncOp function, unsigned instance) const;

  std::shared_ptr<const ShardingRule> getRule(ShardingRuleOpInterface op);

  Graph graph;
  /// Of the operations met so far.
  llvm::DenseMap<Operation *, std::shared_ptr<const ShardingRule>> rules;
  /// Of the calls that are being followed.
  unsigned depth = 0;
};

} // namespace

unsigned GraphBuilder::addInstance(func::FuncOp function, func::CallOp call,
                                   unsigned parent) {
  graph.instances.push_back({function, call, parent});
  graph.valueOf.emplace_back();
  graph.nodeOf.emplace_back();
  return graph.instances.size() - 1;
}

unsigned GraphBuilder::addNode(GraphNode::Kind kind, unsigned instance,
                               Operation *op) {
  GraphNode &node = graph.nodes.emplace_back();
  node.kind = kind;
  node.instance = instance;
  node.op = op;
  return graph.nodes.size() - 1;
}

unsigned GraphBuilder::addValue(Value source, unsigned producer,
                                std::string name) {
  unsigned number = graph.values.size();
  GraphValue &value = graph.values.emplace_back();
  value.type = withSharding(source.getType(), nullptr);
  value.producer = producer;
  value.name = std::move(name);
  graph.nodes[producer].results.push_back(number);
  return number;
}

void GraphBuilder::use(unsigned node, unsigned value) {
  GraphNode &consumer = graph.nodes[node];
  graph.values[value].consumers.push_back({node, consumer.operands.size()});
  consumer.operands.push_back(value);
}

void GraphBuilder::pin(unsigned value, Type type, Location loc,
                       const void *carrier) {
  if (ShardingAttr sharding = getSharding(type))
    graph.values[value].pins.push_back({sharding, loc, carrier});
}

/// A value that `op` hands over although it has other users gets a layout of
/// its own there: a reshard before the call, or before the return.
unsigned GraphBuilder::pass(unsigned value, Value source, unsigned instance,
                            Operation *op, OpOperand *operand) {
  unsigned node = addNode(GraphNode::Passage, instance, op);
  use(node, value);
  unsigned passed = addValue(source, node, graph.values[value].name);
  graph.values[passed].isParameter = graph.values[value].isParameter;
  graph.values[passed].isStream = graph.values[value].isStream;
  graph.passageOf[{instance, operand}] = passed;
  return passed;
}

bool GraphBuilder::isActive(func::FuncOp function, unsigned instance) const {
  for (; instance != ~0u; instance = graph.instances[instance].parent)
    if (graph.instances[instance].function == function)
      return true;
  return false;
}

LogicalResult GraphBuilder::checkSize(func::CallOp call) const {
  if (depth == maxDepth)
    return call.emitOpError() << "is inside " << depth
                              << " others; calls cannot be planned deeper";
  if (graph.nodes.size() <= maxNodes && graph.instances.size() <= maxNodes)
    return success();
  InFlightDiagnostic diag = call.emitOpError()
                            << "makes a program of more than " << maxNodes
                            << " operations and calls, counted once a call; so "
                               "many cannot be planned";
  diag.attachNote() << "fix: plan fewer layers at a time";
  return diag;
}

LogicalResult GraphBuilder::visitCall(unsigned instance, func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return call.emitOpError()
           << "calls '" << call.getCallee() << "', which has no body to plan";
  if (isActive(callee, instance))
    return call.emitOpError() << "'" << call.getCallee()
                              << "' calls itself; recursion cannot be planned";
  if (failed(checkSize(call)))
    return failure();
  SmallVector<unsigned> arguments;
  for (OpOperand &operand : call->getOpOperands()) {
    unsigned value = graph.valueOf[instance].lookup(operand.get());
    // The stream enters a block in a layout that its constraint allows, however
    // it was made.
    bool isStream =
        !!callee.getArgAttr(operand.getOperandNumber(), streamAttrName);
    bool isSame = operand.get().hasOneUse() && !isStream;
    arguments.push_back(
        isSame ? value : pass(value, operand.get(), instance, call, &operand));
  }
  unsigned inner = addInstance(callee, call, instance);
  bindArguments(inner, arguments);
  SmallVector<unsigned> results;
  ++depth;
  if (failed(visitFunction(inner, results)))
    return failure();
  --depth;
  for (auto [result, value] : llvm::zip_equal(call.getResults(), results)) {
    graph.valueOf[instance][result] = value;
    pin(value, result.getType(), call.getLoc(), result.getAsOpaquePointer());
  }
  return success();
}

void GraphBuilder::bindArguments(unsigned instance, ArrayRef<unsigned> values) {
  func::FuncOp function = graph.instances[instance].function;
  for (auto [index, argument, number] :
       llvm::enumerate(function.getArguments(), values)) {
    graph.valueOf[instance][argument] = number;
    GraphValue &value = graph.values[number];
    value.isParameter |= !!function.getArgAttr(index, parameterAttrName);
    value.isStream |= !!function.getArgAttr(index, streamAttrName);
    pin(number, argument.getType(), argument.getLoc(),
        argument.getAsOpaquePointer());
  }
}

/// The values that leave: by themselves if the return is their only user and
/// the function made them.
void GraphBuilder::visitReturn(unsigned instance, func::ReturnOp op,
                               SmallVectorImpl<unsigned> &results) {
  func::FuncOp function = graph.instances[instance].function;
  bool isEntry = graph.instances[instance].parent == ~0u;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned value = graph.valueOf[instance].lookup(operand.get());
    bool isStream =
        !!function.getResultAttr(operand.getOperandNumber(), streamAttrName);
    if (isEntry) {
      unsigned demand = addNode(GraphNode::Demand, instance, op);
      graph.nodes[demand].number = operand.getOperandNumber();
      use(demand, value);
      continue;
    }
    bool leavesAlone =
        operand.get().hasOneUse() && !isa<BlockArgument>(operand.get());
    unsigned leaving = leavesAlone
                           ? value
                           : pass(value, operand.get(), instance, op, &operand);
    graph.values[leaving].isStream |= isStream;
    pin(leaving, function.getResultTypes()[operand.getOperandNumber()],
        op.getLoc(), &operand);
    results.push_back(leaving);
  }
}

std::shared_ptr<const ShardingRule>
GraphBuilder::getRule(ShardingRuleOpInterface op) {
  std::shared_ptr<const ShardingRule> &rule = rules[op];
  if (!rule)
    rule = std::make_shared<const ShardingRule>(op.getShardingRule());
  return rule;
}

LogicalResult GraphBuilder::visitOp(unsigned instance, Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(instance, call);
  if (isa<CollectiveOpInterface>(op))
    return op->emitOpError()
           << "is a collective; in open IR collectives are the planner's to "
              "place: remove it, or pin the layout with a tp.reshard";
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled && !isa<ReshardOp>(op))
    return op->emitOpError() << "has no sharding rule, so it cannot be planned";
  unsigned node =
      addNode(ruled ? GraphNode::Operation : GraphNode::Passage, instance, op);
  if (ruled)
    graph.nodes[node].rule = getRule(ruled);
  graph.nodeOf[instance][op] = node;
  for (Value operand : op->getOperands())
    use(node, graph.valueOf[instance].lookup(operand));
  for (Value result : op->getResults()) {
    std::string name = op->getName().getStringRef().str();
    unsigned value = addValue(result, node, name);
    graph.valueOf[instance][result] = value;
    graph.values[value].isStream = op->hasAttr(streamAttrName);
    pin(value, result.getType(), op->getLoc(), result.getAsOpaquePointer());
  }
  return success();
}

LogicalResult GraphBuilder::visitFunction(unsigned instance,
                                          SmallVectorImpl<unsigned> &results) {
  func::FuncOp function = graph.instances[instance].function;
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; a graph has one";
  for (Operation &op : function.getBody().front()) {
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      visitReturn(instance, ret, results);
      continue;
    }
    if (failed(visitOp(instance, &op)))
      return failure();
  }
  return success();
}

/// Whether every index of the result along which an operation works is one of
/// the operand too. What only moves its operand may add others.
static bool covers(const ShardingRule &rule, unsigned operand) {
  if (rule.movesData && rule.operands.size() == 1)
    return true;
  return llvm::all_of(rule.results[0], [&](const DimFactors &dim) {
    return llvm::all_of(dim, [&](unsigned factor) {
      return llvm::any_of(rule.operands[operand], [&](const DimFactors &own) {
        return llvm::is_contained(own, factor);
      });
    });
  });
}

/// Of parameters that meet element by element, the one that stores most is the
/// weight; a scale or an offset is repeated along it.
void GraphBuilder::findCarried(GraphNode &node) {
  if (!node.rule || node.results.size() != 1)
    return;
  const ShardingRule &rule = *node.rule;
  bool reduces = llvm::any_of(rule.factors, [](const Factor &factor) {
    return factor.kind == FactorKind::Sum || factor.kind == FactorKind::Max;
  });
  if (reduces)
    return;
  int64_t most = 0;
  for (unsigned operand : node.operands)
    most = std::max(most, graph.values[operand].numStored);
  for (auto [index, operand] : llvm::enumerate(node.operands)) {
    const GraphValue &value = graph.values[operand];
    if (value.isParameter && value.numStored == most && covers(rule, index))
      node.carried.push_back(index);
  }
}

/// What is still a weight, and what parameters alone determine.
void GraphBuilder::markParameters() {
  for (GraphNode &node : graph.nodes) {
    bool isStatic = llvm::all_of(node.operands, [&](unsigned operand) {
      return graph.values[operand].isStatic;
    });
    // A reshard of the source moves a weight on purpose.
    bool isHandedOn = node.kind == GraphNode::Passage &&
                      isa<func::CallOp, func::ReturnOp>(node.op);
    if (isHandedOn && graph.values[node.operands[0]].isParameter)
      node.carried.push_back(0);
    if (node.kind == GraphNode::Operation && isStatic)
      findCarried(node);
    for (unsigned number : node.results) {
      GraphValue &value = graph.values[number];
      value.isParameter |= !node.carried.empty();
      value.isStatic =
          value.isParameter || (isStatic && node.kind != GraphNode::Home);
      value.numStored = numElements(value.type.getShape())
                            .value_or(std::numeric_limits<int64_t>::max());
      if (node.operands.empty() && node.kind == GraphNode::Operation)
        value.numStored = 0;
      for (unsigned index : node.carried)
        value.numStored = std::min(
            value.numStored, graph.values[node.operands[index]].numStored);
    }
  }
}

FailureOr<Graph> GraphBuilder::build(func::FuncOp entry) {
  unsigned instance = addInstance(entry, {}, ~0u);
  SmallVector<unsigned> arguments;
  for (auto [index, argument] : llvm::enumerate(entry.getArguments())) {
    if (!isa<RankedTensorType>(argument.getType()))
      return entry.emitOpError()
             << "argument " << index << " of type " << argument.getType()
             << " is not a tensor with a rank";
    unsigned node = addNode(GraphNode::Home, instance, entry);
    graph.nodes[node].number = index;
    auto name = entry.getArgAttrOfType<StringAttr>(index, nameAttrName);
    arguments.push_back(addValue(argument, node,
                                 name ? name.getValue().str()
                                      : "argument " + std::to_string(index)));
  }
  bindArguments(instance, arguments);
  SmallVector<unsigned> results;
  if (failed(visitFunction(instance, results)))
    return failure();
  markParameters();
  return std::move(graph);
}

FailureOr<Graph> Graph::build(func::FuncOp entry) {
  return GraphBuilder().build(entry);
}
