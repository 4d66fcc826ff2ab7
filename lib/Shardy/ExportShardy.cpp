// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Passes.h"
#include "tp/Shardy/Shardy.h"

using namespace mlir;
using namespace tp;
using namespace tp::sdy;

namespace tp {
#define GEN_PASS_DEF_EXPORTSHARDY
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Turns encodings into annotations.
class ShardyExporter {
public:
  explicit ShardyExporter(ModuleOp module)
      : module(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check(Operation *op);
  FailureOr<TensorShardingAttr> convert(Type type, Operation *op,
                                        const Twine &place);
  LogicalResult exportSignature(func::FuncOp function);
  LogicalResult exportReshard(tp::ReshardOp op);
  LogicalResult exportResults(Operation *op);
  TensorShardingAttr undecided(Type type);
  void exportMeshes();

  ModuleOp module;
  OpBuilder builder;
  FlatSymbolRefAttr anyMesh;
};

} // namespace

static Type bare(Type type) {
  return isa<RankedTensorType>(type) ? withSharding(type, nullptr) : type;
}

/// What annotations on global tensors cannot say.
LogicalResult ShardyExporter::check(Operation *op) {
  if (op->hasAttr(localAttrName))
    return op->emitError() << "is the program of one rank; Shardy's "
                              "annotations are on the global one: export it "
                              "before tp-partition";
  if (isa<CollectiveOpInterface>(op))
    return op->emitError() << "is a collective, which is not annotation but "
                              "operation: export the program before "
                              "tp-insert-collectives";
  return success();
}

/// Null for a value without a layout.
FailureOr<TensorShardingAttr> ShardyExporter::convert(Type type, Operation *op,
                                                      const Twine &place) {
  ShardingAttr sharding = getSharding(type);
  if (!sharding)
    return TensorShardingAttr();
  auto tensor = cast<RankedTensorType>(type);
  auto emitError = [&] { return op->emitError() << place << ": "; };
  tp::MeshAttr mesh = lookupMesh(module, sharding.getMesh());
  Layout layout = getCheckedLayout(type, module);
  if (sharding.getKind() == ReductionKind::Max)
    return emitError() << "a maximum still to be taken, unreduced = max{..}, "
                          "is nothing that Shardy can say";
  Layout canonical = layout.canonical(tensor.getShape());
  SmallVector<DimensionShardingAttr> dims;
  for (auto [index, dim, size] :
       llvm::enumerate(canonical.dims, tensor.getShape())) {
    int64_t ranks = numRanks(dim.parts);
    if (size % ranks != 0)
      return emitError() << "dimension " << index << " of " << size
                         << " elements over " << ranks
                         << " ranks is uneven; Shardy pads the last parts, tp "
                            "deals the elements evenly";
    if (dim.unit != 1)
      return emitError() << "dimension " << index << " is dealt in units of "
                         << dim.unit << ", which Shardy cannot say";
    SmallVector<AxisRefAttr> axes;
    for (const AxisPart &part : dim.parts)
      axes.push_back(toAttr(part, mesh));
    dims.push_back(DimensionShardingAttr::get(module.getContext(), axes,
                                              /*isClosed=*/true,
                                              /*priority=*/0));
  }
  SmallVector<AxisRefAttr> unreduced;
  for (const AxisPart &part : canonical.unreduced)
    unreduced.push_back(toAttr(part, mesh));
  anyMesh = sharding.getMesh();
  return TensorShardingAttr::get(module.getContext(), sharding.getMesh(), dims,
                                 {}, unreduced);
}

LogicalResult ShardyExporter::exportSignature(func::FuncOp function) {
  SmallVector<Type> arguments, results;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto sharding = convert(type, function, "argument " + Twine(number));
    if (failed(sharding))
      return failure();
    if (*sharding)
      function.setArgAttr(number, shardingAttrName, *sharding);
    arguments.push_back(bare(type));
  }
  for (auto [number, type] : llvm::enumerate(function.getResultTypes())) {
    auto sharding = convert(type, function, "result " + Twine(number));
    if (failed(sharding))
      return failure();
    if (*sharding)
      function.setResultAttr(number, shardingAttrName, *sharding);
    results.push_back(bare(type));
  }
  function.setFunctionType(builder.getFunctionType(arguments, results));
  for (BlockArgument argument : function.getBody().getArguments())
    argument.setType(bare(argument.getType()));
  return success();
}

/// A reshard without a layout of its own says nothing.
LogicalResult ShardyExporter::exportReshard(tp::ReshardOp op) {
  auto sharding = convert(op.getType(), op, "the result");
  if (failed(sharding))
    return failure();
  Value value = op.getInput();
  if (*sharding) {
    builder.setInsertionPoint(op);
    value = ShardingConstraintOp::create(builder, op.getLoc(),
                                         bare(op.getType()), value, *sharding);
  }
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

TensorShardingAttr ShardyExporter::undecided(Type type) {
  auto open = DimensionShardingAttr::get(module.getContext(), {},
                                         /*isClosed=*/false, /*priority=*/0);
  SmallVector<DimensionShardingAttr> dims(
      cast<RankedTensorType>(type).getRank(), open);
  return TensorShardingAttr::get(module.getContext(), anyMesh, dims, {}, {});
}

LogicalResult ShardyExporter::exportResults(Operation *op) {
  SmallVector<TensorShardingAttr> shardings;
  for (OpResult result : op->getResults()) {
    auto sharding = convert(result.getType(), op,
                            "result " + Twine(result.getResultNumber()));
    if (failed(sharding))
      return failure();
    shardings.push_back(*sharding);
  }
  bool any = llvm::any_of(shardings, [](auto sharding) { return !!sharding; });
  for (auto [result, sharding] : llvm::zip_equal(op->getResults(), shardings)) {
    if (any && !sharding)
      sharding = undecided(result.getType());
    result.setType(bare(result.getType()));
  }
  // The types of a call are the callee's, where they are annotated.
  if (any && !isa<func::CallOp>(op))
    op->setAttr(shardingAttrName, TensorShardingPerValueAttr::get(
                                      module.getContext(), shardings));
  return success();
}

void ShardyExporter::exportMeshes() {
  for (auto op : llvm::make_early_inc_range(module.getOps<tp::MeshOp>())) {
    builder.setInsertionPoint(op);
    sdy::MeshOp::create(
        builder, op.getLoc(), op.getSymName(),
        sdy::MeshAttr::get(module.getContext(), op.getMesh(), {}));
    op.erase();
  }
}

LogicalResult ShardyExporter::run() {
  WalkResult checked =
      module.walk([&](Operation *op) -> WalkResult { return check(op); });
  if (checked.wasInterrupted())
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(exportSignature(function)))
      return failure();
    WalkResult exported = function.getBody().walk([&](Operation *op) {
      auto reshard = dyn_cast<tp::ReshardOp>(op);
      return WalkResult(reshard ? exportReshard(reshard) : exportResults(op));
    });
    if (exported.wasInterrupted())
      return failure();
  }
  exportMeshes();
  return success();
}

namespace {

struct ExportShardyPass : tp::impl::ExportShardyBase<ExportShardyPass> {
  using ExportShardyBase::ExportShardyBase;

  void runOnOperation() final {
    if (failed(ShardyExporter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
