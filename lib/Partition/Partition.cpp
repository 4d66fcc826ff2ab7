// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-partition: from global types to the program of one rank.

#include "mlir/IR/IRMapping.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "tp/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PARTITION
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// The ranks of one function in classes: those whose local shapes agree, in the
/// function and in all that it calls, run one local function.
struct RankClasses {
  /// By rank. Empty if there is one class.
  SmallVector<int64_t> ofRank;
  /// By class: the first rank in it, and the local function.
  SmallVector<int64_t> firstRank = {0};
  SmallVector<func::FuncOp> functions;

  unsigned indexOf(int64_t rank) const {
    return ofRank.empty() ? 0 : ofRank[rank];
  }
};

using ClassesOf = llvm::DenseMap<Operation *, RankClasses>;

/// Writes the local form of one function for one rank.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp source, MeshAttr mesh, int64_t rank,
                      const ClassesOf &classes)
      : source(source), mesh(mesh), rank(rank), classes(classes) {}

  /// Into `target`, which has the attributes of the source and no local body
  /// yet. It may be the source: the old body is read while the new one is
  /// written.
  LogicalResult write(func::FuncOp target);

private:
  FailureOr<RankedTensorType> getLocalType(Type type, Location loc);
  FailureOr<SmallVector<Type>> getLocalTypes(TypeRange types, Location loc);
  LogicalResult writeOp(OpBuilder &builder, Operation &op);
  Operation *writeCall(OpBuilder &builder, func::CallOp call,
                       ValueRange operands, TypeRange types);

  func::FuncOp source;
  MeshAttr mesh;
  int64_t rank;
  const ClassesOf &classes;
  IRMapping mapping;
};

} // namespace

FailureOr<RankedTensorType> FunctionPartitioner::getLocalType(Type type,
                                                              Location loc) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !getSharding(tensor))
    return emitError(loc) << "has type " << type
                          << " without sharding; plan the program before "
                             "partitioning it";
  Layout layout = getCheckedLayout(tensor, source);
  return RankedTensorType::get(
      getLocalShape(tensor.getShape(), layout, mesh, rank),
      tensor.getElementType());
}

FailureOr<SmallVector<Type>> FunctionPartitioner::getLocalTypes(TypeRange types,
                                                                Location loc) {
  SmallVector<Type> local;
  for (Type type : types) {
    FailureOr<RankedTensorType> converted = getLocalType(type, loc);
    if (failed(converted))
      return failure();
    local.push_back(*converted);
  }
  return local;
}

/// Calls the local function of the rank.
Operation *FunctionPartitioner::writeCall(OpBuilder &builder, func::CallOp call,
                                          ValueRange operands,
                                          TypeRange types) {
  auto local =
      cast<func::CallOp>(copyWithTypes(builder, call, operands, types));
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  auto found = classes.find(callee);
  if (found != classes.end()) {
    func::FuncOp function =
        found->second.functions[found->second.indexOf(rank)];
    local.setCallee(function.getSymName());
  }
  return local;
}

LogicalResult FunctionPartitioner::writeOp(OpBuilder &builder, Operation &op) {
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return mapping.lookup(value); });
  FailureOr<SmallVector<Type>> types =
      getLocalTypes(op.getResultTypes(), op.getLoc());
  if (failed(types))
    return failure();
  if (isa<ReshardOp>(op))
    return op.emitOpError() << "is not decomposed; run tp-insert-collectives "
                               "first";
  LocalWriter writer(builder, &op, mesh, operands, *types);
  Operation *local = nullptr;
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    local = ruled.writeLocal(writer);
  else if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    local = collective.writeLocal(writer);
  else if (auto call = dyn_cast<func::CallOp>(op))
    local = writeCall(builder, call, operands, *types);
  else if (isa<func::ReturnOp>(op))
    local = writer.copy();
  else
    return op.emitOpError() << "has no local form";
  mapping.map(op.getResults(), local->getResults());
  return success();
}

LogicalResult FunctionPartitioner::write(func::FuncOp target) {
  Location loc = source.getLoc();
  FailureOr<SmallVector<Type>> inputs =
      getLocalTypes(source.getArgumentTypes(), loc);
  FailureOr<SmallVector<Type>> results =
      getLocalTypes(source.getResultTypes(), loc);
  if (failed(inputs) || failed(results))
    return failure();
  for (auto [index, type] : llvm::enumerate(source.getArgumentTypes()))
    target.setArgAttr(index, globalAttrName, TypeAttr::get(type));
  for (auto [index, type] : llvm::enumerate(source.getResultTypes()))
    target.setResultAttr(index, globalAttrName, TypeAttr::get(type));

  Block &old = source.getBody().front();
  Block *local = new Block;
  target.getBody().push_back(local);
  for (auto [argument, type] : llvm::zip_equal(old.getArguments(), *inputs))
    mapping.map(argument, local->addArgument(type, argument.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(local);
  for (Operation &op : old)
    if (failed(writeOp(builder, op)))
      return failure();
  if (target == source)
    old.erase();
  target.setFunctionType(
      FunctionType::get(source.getContext(), *inputs, *results));
  target->setAttr(localAttrName, builder.getUnitAttr());
  target->setAttr(ranksAttrName, builder.getI64IntegerAttr(mesh.getNumRanks()));
  return success();
}

//===- The module ---------------------------------------------------------===//

namespace {

/// Partitions the functions of a module, callees first.
class ModulePartitioner {
public:
  ModulePartitioner(ModuleOp module, MeshAttr mesh)
      : module(module), symbols(module), mesh(mesh) {}

  LogicalResult run();

private:
  LogicalResult visit(func::FuncOp function);
  RankClasses classify(func::FuncOp function);
  LogicalResult write(func::FuncOp function, RankClasses &ranks);
  func::FuncOp addFunction(func::FuncOp function, unsigned number);

  ModuleOp module;
  SymbolTable symbols;
  MeshAttr mesh;
  ClassesOf classes;
  /// Functions whose callees are being visited.
  SmallVector<func::FuncOp> active;
  /// Functions that several local ones stand for.
  SmallVector<func::FuncOp> replaced;
};

} // namespace

static SmallVector<func::FuncOp> findCallees(func::FuncOp function) {
  SmallVector<func::FuncOp> callees;
  function.walk([&](func::CallOp call) {
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr()))
      callees.push_back(callee);
  });
  return callees;
}

/// Types of a function's values whose shards differ in size.
static SmallVector<RankedTensorType> findUnevenTypes(func::FuncOp function) {
  llvm::SetVector<Type> types;
  for (BlockArgument argument : function.getArguments())
    types.insert(argument.getType());
  function.walk([&](Operation *op) {
    types.insert(op->result_type_begin(), op->result_type_end());
  });
  SmallVector<RankedTensorType> uneven;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && getSharding(tensor) &&
        !isEven(tensor.getShape(), getCheckedLayout(tensor, function)))
      uneven.push_back(tensor);
  }
  return uneven;
}

RankClasses ModulePartitioner::classify(func::FuncOp function) {
  RankClasses ranks;
  SmallVector<RankedTensorType> types = findUnevenTypes(function);
  SmallVector<func::FuncOp> callees =
      llvm::filter_to_vector(findCallees(function), [&](func::FuncOp callee) {
        auto found = classes.find(callee);
        return found != classes.end() && found->second.functions.size() > 1;
      });
  if (types.empty() && callees.empty())
    return ranks;
  SmallVector<Layout> layouts =
      llvm::map_to_vector(types, [&](RankedTensorType type) {
        return getCheckedLayout(type, function);
      });
  std::map<SmallVector<int64_t>, int64_t> numbers;
  ranks.firstRank.clear();
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    SmallVector<int64_t> shapes;
    for (auto [type, layout] : llvm::zip_equal(types, layouts))
      shapes.append(getLocalShape(type.getShape(), layout, mesh, rank));
    for (func::FuncOp callee : callees)
      shapes.push_back(classes.find(callee)->second.indexOf(rank));
    auto [entry, isNew] = numbers.try_emplace(shapes, numbers.size());
    if (isNew)
      ranks.firstRank.push_back(rank);
    ranks.ofRank.push_back(entry->second);
  }
  if (ranks.firstRank.size() == 1)
    ranks.ofRank.clear();
  return ranks;
}

/// A private function for class `number`, without a body.
func::FuncOp ModulePartitioner::addFunction(func::FuncOp function,
                                            unsigned number) {
  auto copy = cast<func::FuncOp>(function->cloneWithoutRegions());
  copy.setSymName((function.getSymName() + "_" + Twine(number)).str());
  symbols.insert(copy, function->getIterator());
  copy.setPrivate();
  return copy;
}

LogicalResult ModulePartitioner::write(func::FuncOp function,
                                       RankClasses &ranks) {
  if (ranks.firstRank.size() == 1) {
    ranks.functions.push_back(function);
    return FunctionPartitioner(function, mesh, 0, classes).write(function);
  }
  for (auto [number, rank] : llvm::enumerate(ranks.firstRank)) {
    func::FuncOp local = addFunction(function, number);
    ranks.functions.push_back(local);
    if (failed(FunctionPartitioner(function, mesh, rank, classes).write(local)))
      return failure();
  }
  replaced.push_back(function);
  return success();
}

LogicalResult ModulePartitioner::visit(func::FuncOp function) {
  if (function->hasAttr(localAttrName) || classes.count(function))
    return success();
  if (llvm::is_contained(active, function))
    return function.emitOpError()
           << "calls itself; a local program is straight-line code";
  if (function.isExternal())
    return function.emitOpError() << "is only declared; every function that a "
                                     "local program calls needs a body";
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; a local program is straight-line code";
  active.push_back(function);
  for (func::FuncOp callee : findCallees(function))
    if (failed(visit(callee)))
      return failure();
  active.pop_back();
  RankClasses ranks = classify(function);
  if (failed(write(function, ranks)))
    return failure();
  classes[function] = std::move(ranks);
  return success();
}

/// A table takes the place and the name of each function that several stand
/// for.
static void replaceByTable(func::FuncOp function, const RankClasses &ranks) {
  OpBuilder builder(function);
  SmallVector<Attribute> names =
      llvm::map_to_vector(ranks.functions, [](func::FuncOp local) -> Attribute {
        return FlatSymbolRefAttr::get(local.getSymNameAttr());
      });
  RankTableOp::create(builder, function.getLoc(), function.getSymNameAttr(),
                      function.getSymVisibilityAttr(),
                      builder.getArrayAttr(names), ranks.ofRank);
  function.erase();
}

LogicalResult ModulePartitioner::run() {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (failed(visit(function)))
      return failure();
  for (func::FuncOp function : replaced)
    replaceByTable(function, classes[function]);
  return success();
}

namespace {

struct PartitionPass : tp::impl::PartitionBase<PartitionPass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    auto meshes = module.getOps<MeshOp>();
    if (meshes.empty()) {
      module.emitError() << "has no tp.mesh to be partitioned over";
      return signalPassFailure();
    }
    if (!llvm::hasSingleElement(meshes)) {
      (*std::next(meshes.begin())).emitOpError()
          << "is a second mesh; a local program is for the ranks of one";
      return signalPassFailure();
    }
    MeshAttr mesh = (*meshes.begin()).getMesh();
    if (mesh.getNumRanks() > maxTableRanks) {
      (*meshes.begin()).emitOpError()
          << "has " << mesh.getNumRanks()
          << " ranks; local programs list their groups, up to " << maxTableRanks
          << " ranks";
      return signalPassFailure();
    }
    if (failed(ModulePartitioner(module, mesh).run()))
      signalPassFailure();
  }
};

} // namespace
