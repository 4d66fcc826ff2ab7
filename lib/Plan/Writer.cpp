// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Writer.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tp;

namespace {

class PlanWriter {
public:
  PlanWriter(ModuleOp module, const Graph &graph, const ProblemBuilder &builder,
             ArrayRef<unsigned> choices, MeshAttr mesh,
             FlatSymbolRefAttr meshName)
      : module(module), symbols(module), graph(graph), builder(builder),
        choices(choices), mesh(mesh), meshName(meshName) {
    for (auto [index, node] : llvm::enumerate(graph.nodes))
      if (node.kind == GraphNode::Demand)
        demands.push_back(index);
  }

  void write();

private:
  /// One function to write: the instance whose plan it is, and where the
  /// original's values and operations went.
  struct Copy {
    unsigned instance;
    func::FuncOp function;
    IRMapping mapping;
  };

  /// What one operation of a copy becomes.
  struct Wanted {
    Operation *op;
    SmallVector<ShardingAttr> operands, results;
    std::string callee;
  };

  ShardingAttr shardingOf(unsigned value, unsigned layout) const {
    const LayoutSpace &space = builder.getSpace(value);
    return toAttr(space[layout].canonical(graph.values[value].type.getShape()),
                  mesh, meshName);
  }
  /// The layout that a value is made in.
  ShardingAttr shardingOf(unsigned value) const {
    return shardingOf(value, builder.getProducedLayout(value, choices));
  }
  ShardingAttr shardingOfOperand(unsigned node, unsigned operand) const {
    return shardingOf(graph.nodes[node].operands[operand],
                      builder.getLayout(node, choices[node], operand));
  }

  std::string signatureOf(unsigned instance) const;
  func::FuncOp addCopy(unsigned instance, bool isFirst);
  void makeCopies();
  std::vector<Wanted> readWanted(const Copy &copy) const;
  void writeCopy(Copy &copy, ArrayRef<Wanted> plan);
  void writeOp(const Wanted &wanted);
  void setOperand(Operation *op, unsigned number, ShardingAttr wanted);
  ShardingAttr wantedOperand(unsigned instance, OpOperand &operand) const;

  ModuleOp module;
  SymbolTable symbols;
  const Graph &graph;
  const ProblemBuilder &builder;
  ArrayRef<unsigned> choices;
  MeshAttr mesh;
  FlatSymbolRefAttr meshName;
  SmallVector<unsigned> demands;
  /// The call of an instance, to find the callee's copy.
  llvm::DenseMap<std::pair<unsigned, Operation *>, unsigned> calleeOf;
  std::vector<std::string> nameOf;
  std::vector<Copy> copies;
};

} // namespace

/// The layout that a use wants.
ShardingAttr PlanWriter::wantedOperand(unsigned instance,
                                       OpOperand &operand) const {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  bool isEntry = graph.instances[instance].parent == ~0u;
  if (isEntry && isa<func::ReturnOp>(op))
    return shardingOfOperand(demands[number], 0);
  auto node = graph.nodeOf[instance].find(op);
  bool isReshard = isa<ReshardOp>(op);
  if (node != graph.nodeOf[instance].end() && !isReshard)
    return shardingOfOperand(node->second, number);
  auto passage = graph.passageOf.find({instance, &operand});
  if (passage != graph.passageOf.end())
    return shardingOf(passage->second);
  return shardingOf(graph.valueOf[instance].lookup(operand.get()));
}

/// Everything that the text of the function's copy will depend on.
std::string PlanWriter::signatureOf(unsigned instance) const {
  func::FuncOp function = graph.instances[instance].function;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << function.getName() << '|';
  for (Value argument : function.getArguments())
    os << shardingOf(graph.valueOf[instance].lookup(argument)) << ';';
  for (Operation &op : function.getBody().front()) {
    for (OpOperand &operand : op.getOpOperands())
      os << wantedOperand(instance, operand) << ',';
    for (Value result : op.getResults())
      os << shardingOf(graph.valueOf[instance].lookup(result)) << ';';
    if (isa<func::CallOp>(op))
      os << nameOf[calleeOf.lookup({instance, &op})];
  }
  return text;
}

/// The function itself for the first plan of it, a clone for any other.
func::FuncOp PlanWriter::addCopy(unsigned instance, bool isFirst) {
  Copy &copy = copies.emplace_back(
      Copy{instance, graph.instances[instance].function, {}});
  if (isFirst)
    return copy.function;
  auto clone = cast<func::FuncOp>(copy.function->clone(copy.mapping));
  symbols.insert(clone, std::next(copy.function->getIterator()));
  return copy.function = clone;
}

void PlanWriter::makeCopies() {
  nameOf.resize(graph.instances.size());
  for (auto [index, instance] : llvm::enumerate(graph.instances))
    if (instance.call)
      calleeOf[{instance.parent, instance.call}] = index;
  std::map<std::string, std::string> nameOfPlan;
  llvm::DenseSet<Operation *> taken;
  // Callees come after their callers.
  for (unsigned instance = graph.instances.size(); instance-- > 0;) {
    auto [entry, isNew] = nameOfPlan.try_emplace(signatureOf(instance), "");
    if (isNew) {
      bool isFirst = taken.insert(graph.instances[instance].function).second;
      entry->second = addCopy(instance, isFirst).getName().str();
    }
    nameOf[instance] = entry->second;
  }
}

void PlanWriter::setOperand(Operation *op, unsigned number,
                            ShardingAttr wanted) {
  Value value = op->getOperand(number);
  if (getSharding(value) == wanted)
    return;
  OpBuilder reshard(op);
  op->setOperand(
      number, ReshardOp::create(reshard, op->getLoc(),
                                withSharding(value.getType(), wanted), value));
}

void PlanWriter::writeOp(const Wanted &wanted) {
  Operation *op = wanted.op;
  if (!isa<ReshardOp>(op))
    for (auto [number, sharding] : llvm::enumerate(wanted.operands))
      setOperand(op, number, sharding);
  for (auto [result, sharding] :
       llvm::zip_equal(op->getResults(), wanted.results))
    result.setType(withSharding(result.getType(), sharding));
  if (!wanted.callee.empty())
    cast<func::CallOp>(op).setCallee(wanted.callee);
}

/// What each operation of a copy wants; read before anything changes.
std::vector<PlanWriter::Wanted> PlanWriter::readWanted(const Copy &copy) const {
  unsigned instance = copy.instance;
  std::vector<Wanted> plan;
  func::FuncOp original = graph.instances[instance].function;
  for (Operation &op : original.getBody().front()) {
    Wanted &wanted = plan.emplace_back();
    wanted.op = copy.mapping.lookupOrDefault(&op);
    for (OpOperand &operand : op.getOpOperands())
      wanted.operands.push_back(wantedOperand(instance, operand));
    for (Value result : op.getResults())
      wanted.results.push_back(
          shardingOf(graph.valueOf[instance].lookup(result)));
    if (isa<func::CallOp>(op))
      wanted.callee = nameOf[calleeOf.lookup({instance, &op})];
  }
  return plan;
}

void PlanWriter::writeCopy(Copy &copy, ArrayRef<Wanted> plan) {
  func::FuncOp function = copy.function;
  func::FuncOp original = graph.instances[copy.instance].function;
  for (auto [argument, target] :
       llvm::zip_equal(original.getArguments(), function.getArguments())) {
    unsigned value = graph.valueOf[copy.instance].lookup(argument);
    target.setType(withSharding(target.getType(), shardingOf(value)));
  }
  for (const Wanted &wanted : plan)
    writeOp(wanted);
  Operation *terminator = function.getBody().front().getTerminator();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(),
      terminator->getOperandTypes()));
}

void PlanWriter::write() {
  makeCopies();
  std::vector<std::vector<Wanted>> plans;
  for (const Copy &copy : copies)
    plans.push_back(readWanted(copy));
  for (auto [copy, plan] : llvm::zip_equal(copies, plans))
    writeCopy(copy, plan);
}

void tp::writePlan(ModuleOp module, const Graph &graph,
                   const ProblemBuilder &builder, ArrayRef<unsigned> choices,
                   MeshAttr mesh, FlatSymbolRefAttr meshName) {
  PlanWriter(module, graph, builder, choices, mesh, meshName).write();
}
