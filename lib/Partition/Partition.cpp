// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-partition: from global types to the program of one rank.

#include "mlir/IR/IRMapping.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "tp/Passes.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PARTITION
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Rewrites one function. The old body is read while the new one is written.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh) {}

  LogicalResult run();

private:
  FailureOr<RankedTensorType> getLocalType(Type type, Location loc);
  FailureOr<SmallVector<Type>> getLocalTypes(TypeRange types, Location loc);
  LogicalResult writeOp(OpBuilder &builder, Operation &op);

  func::FuncOp function;
  MeshAttr mesh;
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
  Layout layout = getCheckedLayout(tensor, function);
  if (!isEven(tensor.getShape(), layout))
    return emitError(loc) << "shape [" << tensor.getShape()
                          << "] is not split evenly by " << getSharding(tensor)
                          << "; only even shards can be partitioned";
  return RankedTensorType::get(
      getLocalShape(tensor.getShape(), layout, mesh, /*rank=*/0),
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

LogicalResult FunctionPartitioner::writeOp(OpBuilder &builder, Operation &op) {
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return mapping.lookup(value); });
  FailureOr<SmallVector<Type>> types =
      getLocalTypes(op.getResultTypes(), op.getLoc());
  if (failed(types))
    return failure();
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    Value local = collective.writeLocal(builder, operands[0], types->front());
    mapping.map(op.getResult(0), local);
    return success();
  }
  if (isa<ReshardOp>(op))
    return op.emitOpError() << "is not decomposed; run tp-insert-collectives "
                               "first";
  Operation *local = nullptr;
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    local = ruled.writeLocal(builder, operands, *types);
  else if (isa<func::CallOp, func::ReturnOp>(op))
    local = copyWithTypes(builder, &op, operands, *types);
  else
    return op.emitOpError() << "has no local form";
  mapping.map(op.getResults(), local->getResults());
  return success();
}

LogicalResult FunctionPartitioner::run() {
  Location loc = function.getLoc();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; a local program is straight-line code";
  FailureOr<SmallVector<Type>> inputs =
      getLocalTypes(function.getArgumentTypes(), loc);
  FailureOr<SmallVector<Type>> results =
      getLocalTypes(function.getResultTypes(), loc);
  if (failed(inputs) || failed(results))
    return failure();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    function.setArgAttr(index, globalAttrName, TypeAttr::get(type));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    function.setResultAttr(index, globalAttrName, TypeAttr::get(type));

  Block &old = function.getBody().front();
  Block *local = new Block;
  function.getBody().push_back(local);
  for (auto [argument, type] : llvm::zip_equal(old.getArguments(), *inputs))
    mapping.map(argument, local->addArgument(type, argument.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(local);
  for (Operation &op : old)
    if (failed(writeOp(builder, op)))
      return failure();
  old.erase();
  function.setFunctionType(
      FunctionType::get(function.getContext(), *inputs, *results));
  function->setAttr(localAttrName, builder.getUnitAttr());
  function->setAttr(ranksAttrName,
                    builder.getI64IntegerAttr(mesh.getNumRanks()));
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
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function->hasAttr(localAttrName))
        continue;
      if (function.isExternal()) {
        function.emitOpError() << "is only declared; every function that a "
                                  "local program calls needs a body";
        return signalPassFailure();
      }
      if (failed(FunctionPartitioner(function, mesh).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
