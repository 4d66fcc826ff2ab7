// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Check/Legality.h"
#include "tp/Passes.h"
#include "tp/Shardy/Shardy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tp;
using namespace tp::sdy;

namespace tp {
#define GEN_PASS_DEF_IMPORTSHARDY
#include "tp/Passes.h.inc"
} // namespace tp

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===- One sharding -------------------------------------------------------===//

/// A tensor that anything may be decided about.
static bool isUndecided(TensorShardingAttr sharding) {
  return sharding.getReplicated().empty() && sharding.getUnreduced().empty() &&
         llvm::all_of(sharding.getDims(), [](DimensionShardingAttr dim) {
           return !dim.getIsClosed() && dim.getAxes().empty();
         });
}

/// What Shardy can say of a dimension and tp cannot.
static LogicalResult checkDims(TensorShardingAttr sharding,
                               EmitError emitError) {
  for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
    if (!dim.getIsClosed())
      return emitError() << "dimension " << index
                         << " is open, other axes may follow; a tp.sharding "
                            "pins the whole tensor: close its dimensions, or "
                            "leave the tensor without a sharding";
    if (dim.getPriority() != 0)
      return emitError() << "dimension " << index << " has priority "
                         << dim.getPriority()
                         << "; the planner weighs all pins at once and knows "
                            "no priorities";
  }
  return success();
}

/// Axes that are named as replicated are so in a closed sharding anyway; they
/// must exist, and not split anything.
static LogicalResult checkReplicated(TensorShardingAttr sharding,
                                     const Layout &layout, tp::MeshAttr mesh,
                                     EmitError emitError) {
  SmallVector<Attribute> axes(sharding.getReplicated().begin(),
                              sharding.getReplicated().end());
  FailureOr<AxisParts> replicated =
      resolveAxes(ArrayAttr::get(mesh.getContext(), axes), mesh);
  if (failed(replicated))
    return emitError() << "'replicated' names an axis that the mesh does not "
                          "have";
  for (const AxisPart &part : layout.getUsedParts())
    for (const AxisPart &other : *replicated)
      if (part.overlaps(other))
        return emitError() << "'replicated' names " << toString({other}, mesh)
                           << ", which is in use";
  return success();
}

/// Shardy pads a dimension that its axes do not divide, and each rank gets as
/// much as the first; here it is dealt as evenly as can be.
static LogicalResult checkDivides(const Layout &layout, RankedTensorType type,
                                  EmitError emitError) {
  for (auto [index, dim, size] :
       llvm::enumerate(layout.dims, type.getShape())) {
    int64_t ranks = numRanks(dim.parts);
    if (size % ranks != 0)
      return emitError() << "dimension " << index << " of " << size
                         << " elements does not divide into " << ranks
                         << " parts; Shardy pads the last ones, tp deals the "
                            "elements evenly, so the two disagree about who "
                            "holds what";
  }
  return success();
}

namespace {

/// Turns annotations into encodings. Only func operations demand equal types
/// on both sides; there a reshard without a layout of its own stands between.
class ShardyImporter {
public:
  explicit ShardyImporter(ModuleOp module)
      : module(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  void readMeshes();
  FailureOr<FlatSymbolRefAttr> findMesh(Attribute meshOrRef,
                                        EmitError emitError);
  FailureOr<ShardingAttr> convert(TensorShardingAttr sharding, Type type,
                                  EmitError emitError);
  FailureOr<ShardingAttr> convert(Attribute attr, Type type, Operation *op,
                                  const Twine &place);
  LogicalResult importSignature(func::FuncOp function);
  LogicalResult importBody(func::FuncOp function);
  LogicalResult importPlacing(Operation *op, TensorShardingAttr sharding);
  LogicalResult importResults(Operation *op, Attribute attr);
  Value reshard(Value value, Type type, Location loc);
  void matchCallResults(func::FuncOp function);
  void matchOperands(func::FuncOp function);
  void freeConflicts(func::FuncOp function);

  ModuleOp module;
  OpBuilder builder;
  llvm::StringMap<sdy::MeshAttr> meshes;
  llvm::MapVector<tp::MeshAttr, FlatSymbolRefAttr> imported;
  /// What calls were annotated with: their types are the callee's.
  SmallVector<std::pair<Value, ShardingAttr>> callPins;
};

} // namespace

//===- Meshes -------------------------------------------------------------===//

void ShardyImporter::readMeshes() {
  for (auto op : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>())) {
    meshes[op.getSymName()] = op.getMesh();
    op.erase();
  }
}

FailureOr<FlatSymbolRefAttr> ShardyImporter::findMesh(Attribute meshOrRef,
                                                      EmitError emitError) {
  auto mesh = dyn_cast<sdy::MeshAttr>(meshOrRef);
  std::string name = "mesh";
  if (auto reference = dyn_cast<FlatSymbolRefAttr>(meshOrRef)) {
    name = reference.getValue().str();
    mesh = meshes.lookup(name);
    if (!mesh)
      return emitError() << "there is no sdy.mesh @" << name;
  }
  if (mesh.getAxes().getAxes().empty())
    return emitError() << "mesh " << meshOrRef
                       << " has no axes: it places a tensor on one device, "
                          "which no tp.sharding says";
  if (!mesh.getDeviceIds().empty())
    return emitError() << "mesh " << meshOrRef
                       << " has an order of devices of its own; the ranks of a "
                          "tp.mesh are numbered row-major";
  FlatSymbolRefAttr &known = imported[mesh.getAxes()];
  if (known)
    return known;
  builder.setInsertionPointToStart(module.getBody());
  auto op = tp::MeshOp::create(builder, module.getLoc(), name, mesh.getAxes());
  SymbolTable(module).insert(op);
  known = FlatSymbolRefAttr::get(op.getSymNameAttr());
  return known;
}

//===- Annotations --------------------------------------------------------===//

/// The pin that `sharding` is on a tensor of `type`; null if it is none.
FailureOr<ShardingAttr> ShardyImporter::convert(TensorShardingAttr sharding,
                                                Type type,
                                                EmitError emitError) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return emitError() << "annotates " << type
                       << "; only tensors of static shape are split";
  if (isUndecided(sharding))
    return ShardingAttr();
  if (failed(checkDims(sharding, emitError)))
    return failure();
  FailureOr<FlatSymbolRefAttr> mesh =
      findMesh(sharding.getMeshOrRef(), emitError);
  if (failed(mesh))
    return failure();
  SmallVector<DimShardingAttr> dims;
  for (DimensionShardingAttr dim : sharding.getDims())
    dims.push_back(
        DimShardingAttr::get(module.getContext(), dim.getAxes(), /*unit=*/1));
  auto result = ShardingAttr::getChecked(emitError, module.getContext(), *mesh,
                                         ArrayRef(dims), ReductionKind::Sum,
                                         sharding.getUnreduced());
  if (!result || failed(result.verifyEncoding(
                     tensor.getShape(), tensor.getElementType(), emitError)))
    return failure();
  tp::MeshAttr axes = lookupMesh(module, *mesh);
  FailureOr<Layout> layout = resolve(result, axes, emitError);
  if (failed(layout) ||
      failed(checkReplicated(sharding, *layout, axes, emitError)) ||
      failed(checkDivides(*layout, tensor, emitError)))
    return failure();
  return result;
}

/// The same for an attribute that should be a sharding, at `place` of `op`.
FailureOr<ShardingAttr> ShardyImporter::convert(Attribute attr, Type type,
                                                Operation *op,
                                                const Twine &place) {
  auto emitError = [&] { return op->emitError() << place << ": "; };
  auto sharding = dyn_cast<TensorShardingAttr>(attr);
  if (!sharding)
    return emitError() << "'" << shardingAttrName << "' is " << attr
                       << ", a #sdy.sharding is wanted";
  return convert(sharding, type, emitError);
}

LogicalResult ShardyImporter::importSignature(func::FuncOp function) {
  SmallVector<Type> results(function.getResultTypes());
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    Attribute attr = function.removeArgAttr(number, shardingAttrName);
    if (!attr)
      continue;
    FailureOr<ShardingAttr> pin = convert(attr, argument.getType(), function,
                                          "argument " + Twine(number));
    if (failed(pin))
      return failure();
    argument.setType(withSharding(argument.getType(), *pin));
  }
  for (auto [number, type] : llvm::enumerate(results)) {
    Attribute attr = function.removeResultAttr(
        number, builder.getStringAttr(shardingAttrName));
    if (!attr)
      continue;
    FailureOr<ShardingAttr> pin =
        convert(attr, type, function, "result " + Twine(number));
    if (failed(pin))
      return failure();
    type = withSharding(type, *pin);
  }
  SmallVector<Type> arguments(function.getBody().getArgumentTypes());
  function.setFunctionType(builder.getFunctionType(arguments, results));
  return success();
}

Value ShardyImporter::reshard(Value value, Type type, Location loc) {
  return tp::ReshardOp::create(builder, loc, type, value);
}

LogicalResult ShardyImporter::importPlacing(Operation *op,
                                            TensorShardingAttr sharding) {
  FailureOr<ShardingAttr> pin =
      convert(sharding, op->getResult(0).getType(), op, "the sharding");
  if (failed(pin))
    return failure();
  Value value = op->getOperand(0);
  builder.setInsertionPoint(op);
  if (*pin)
    value = reshard(value, withSharding(value.getType(), *pin), op->getLoc());
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

LogicalResult ShardyImporter::importResults(Operation *op, Attribute attr) {
  auto perValue = dyn_cast<TensorShardingPerValueAttr>(attr);
  if (!perValue || perValue.getShardings().size() != op->getNumResults())
    return op->emitError()
           << "'" << shardingAttrName << "' is " << attr
           << "; a #sdy.sharding_per_value with one entry for each of "
           << op->getNumResults() << " results is wanted";
  op->removeAttr(shardingAttrName);
  for (auto [result, sharding] :
       llvm::zip_equal(op->getResults(), perValue.getShardings())) {
    FailureOr<ShardingAttr> pin =
        convert(sharding, result.getType(), op,
                "result " + Twine(result.getResultNumber()));
    if (failed(pin))
      return failure();
    if (!*pin)
      continue;
    if (isa<func::CallOp>(op)) {
      callPins.push_back({result, *pin});
      continue;
    }
    if (!isa<ShardingRuleOpInterface>(op))
      return op->emitError() << "is not of the tp dialect; only its values, "
                                "and those of functions, have a layout";
    result.setType(withSharding(result.getType(), *pin));
  }
  return success();
}

LogicalResult ShardyImporter::importBody(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (auto constraint = dyn_cast<ShardingConstraintOp>(op))
      return importPlacing(op, constraint.getSharding());
    if (auto placed = dyn_cast<sdy::ReshardOp>(op))
      return importPlacing(op, placed.getSharding());
    if (Attribute attr = op->getAttr(shardingAttrName))
      return importResults(op, attr);
    return success();
  });
  return failure(result.wasInterrupted());
}

//===- Types of calls and returns -----------------------------------------===//

/// The results of calls have the types of the callee's.
void ShardyImporter::matchCallResults(func::FuncOp function) {
  function.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee)
      return;
    for (auto [result, type] :
         llvm::zip(call.getResults(), callee.getResultTypes()))
      result.setType(type);
  });
}

/// What calls and returns hand over has the types of the other side.
void ShardyImporter::matchOperands(func::FuncOp function) {
  function.walk([&](Operation *op) {
    ArrayRef<Type> wanted;
    if (isa<func::ReturnOp>(op)) {
      wanted = function.getResultTypes();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      wanted = callee ? callee.getArgumentTypes() : wanted;
    }
    builder.setInsertionPoint(op);
    for (auto [operand, type] : llvm::zip(op->getOpOperands(), wanted))
      if (operand.get().getType() != type)
        operand.set(reshard(operand.get(), type, op->getLoc()));
  });
}

//===- Pins that do not fit together --------------------------------------===//

static bool hasConflict(ShardingRuleOpInterface op) {
  auto isPinned = [](Value value) { return !!getSharding(value); };
  if (!llvm::all_of(op->getOperands(), isPinned) ||
      !llvm::all_of(op->getResults(), isPinned))
    return false;
  tp::MeshAttr mesh = lookupMesh(op, getSharding(op->getResult(0)).getMesh());
  return !checkOperation(op, mesh).empty();
}

/// An operation whose tensors are all pinned is typed. Where the pins do not
/// type-check, as Shardy's need not, it is left to the planner how the results
/// are made, and they are brought into their layouts after it.
void ShardyImporter::freeConflicts(func::FuncOp function) {
  function.walk([&](ShardingRuleOpInterface op) {
    if (!hasConflict(op))
      return;
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      Type pinned = result.getType();
      result.setType(withSharding(pinned, nullptr));
      Value placed = reshard(result, pinned, op->getLoc());
      result.replaceAllUsesExcept(placed, placed.getDefiningOp());
    }
  });
}

LogicalResult ShardyImporter::run() {
  readMeshes();
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (failed(importSignature(function)) || failed(importBody(function)))
      return failure();
  for (func::FuncOp function : functions)
    matchCallResults(function);
  for (auto [value, pin] : callPins) {
    builder.setInsertionPointAfterValue(value);
    Value placed =
        reshard(value, withSharding(value.getType(), pin), value.getLoc());
    value.replaceAllUsesExcept(placed, placed.getDefiningOp());
  }
  for (func::FuncOp function : functions) {
    matchOperands(function);
    freeConflicts(function);
  }
  return success();
}

namespace {

struct ImportShardyPass : tp::impl::ImportShardyBase<ImportShardyPass> {
  using ImportShardyBase::ImportShardyBase;

  void runOnOperation() final {
    if (failed(ShardyImporter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
