// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-insert-collectives: reshards become the cheapest tree of
/// collectives.

#include "tp/IR/Legality.h"
#include "tp/Passes.h"
#include "tp/Reshard/Path.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// The reshards of one value, in program order.
struct Reshards {
  Value source;
  SmallVector<ReshardOp> ops;
};

/// Decomposes the reshards of one module.
class CollectiveInserter {
public:
  CollectiveInserter(const CostModel &model, FlatSymbolRefAttr meshName)
      : model(model), meshName(meshName) {}

  LogicalResult run(const Reshards &reshards);

private:
  const LayoutSpace &getSpace(RankedTensorType type, ArrayRef<AxisPart> parts,
                              bool maxima);
  AxisParts findParts(const Reshards &reshards) const;
  Value insertPath(OpBuilder &builder, Value value, Location loc,
                   ArrayRef<LayoutStep> steps);
  Value insertStep(OpBuilder &builder, Value value, Location loc,
                   const LayoutStep &step);
  LogicalResult diagnose(ReshardOp op);

  const CostModel &model;
  FlatSymbolRefAttr meshName;
  /// By type, then by parts and whether they may hold maxima.
  llvm::DenseMap<
      Type, std::map<std::pair<AxisParts, bool>, std::unique_ptr<LayoutSpace>>>
      spaces;
};

} // namespace

const LayoutSpace &CollectiveInserter::getSpace(RankedTensorType type,
                                                ArrayRef<AxisPart> parts,
                                                bool maxima) {
  RankedTensorType plain = withSharding(type, nullptr);
  auto &space = spaces[plain][{AxisParts(parts), maxima}];
  if (!space)
    space = std::make_unique<LayoutSpace>(model, plain, parts,
                                          LayoutSpace::Filter(), maxima);
  return *space;
}

/// The parts that the source's and the targets' layouts use, cut at one
/// another's borders so that each layout is made of whole parts.
AxisParts CollectiveInserter::findParts(const Reshards &reshards) const {
  MeshAttr mesh = model.getMesh();
  std::vector<std::set<int64_t>> borders(mesh.getAxes().size());
  auto visit = [&](Value value) {
    Layout layout = getCheckedLayout(value);
    auto add = [&](const AxisPart &part) {
      borders[part.axis].insert(part.pre);
      borders[part.axis].insert(part.pre * part.size);
    };
    for (const DimLayout &dim : layout.dims)
      llvm::for_each(dim.parts, add);
    llvm::for_each(layout.unreduced, add);
  };
  visit(reshards.source);
  for (ReshardOp op : reshards.ops)
    visit(op.getResult());
  AxisParts parts;
  for (auto [axis, list] : llvm::enumerate(borders)) {
    std::optional<int64_t> last;
    for (int64_t border : list) {
      if (last && border % *last == 0)
        parts.push_back({static_cast<unsigned>(axis), *last, border / *last});
      last = border;
    }
  }
  return parts;
}

static bool hasMaxima(const Reshards &reshards) {
  auto isMaximum = [](Value value) {
    return getCheckedLayout(value).kind == ReductionKind::Max;
  };
  return isMaximum(reshards.source) ||
         llvm::any_of(reshards.ops,
                      [&](ReshardOp op) { return isMaximum(op.getResult()); });
}

Value CollectiveInserter::insertStep(OpBuilder &builder, Value value,
                                     Location loc, const LayoutStep &step) {
  MeshAttr mesh = model.getMesh();
  auto type = cast<RankedTensorType>(value.getType());
  Layout after = *apply(step, getCheckedLayout(value));
  Type result = withSharding(
      type, toAttr(after.canonical(type.getShape()), mesh, meshName));
  return createStep(builder, loc, value, step, result);
}

Value CollectiveInserter::insertPath(OpBuilder &builder, Value value,
                                     Location loc, ArrayRef<LayoutStep> steps) {
  for (const LayoutStep &step : steps)
    value = insertStep(builder, value, loc, step);
  return value;
}

LogicalResult CollectiveInserter::diagnose(ReshardOp op) {
  InFlightDiagnostic diag = op.emitOpError()
                            << "from " << getSharding(op.getInput()) << " to "
                            << getSharding(op.getResult()) << " on shape ["
                            << op.getInput().getType().getShape()
                            << "] has no sequence of collectives: ";
  diag << "shards must be even, and a finished value is not made a maximum";
  diag.attachNote() << "fix: use ranks that divide the dimensions";
  return diag;
}

/// The tree of the source's layout and all wanted ones. A step stands before
/// the first reshard that needs it.
LogicalResult CollectiveInserter::run(const Reshards &reshards) {
  auto type = cast<RankedTensorType>(reshards.source.getType());
  const LayoutSpace &space =
      getSpace(type, findParts(reshards), hasMaxima(reshards));
  std::optional<unsigned> root = space.find(getCheckedLayout(reshards.source));
  SmallVector<unsigned> targets;
  for (ReshardOp op : reshards.ops) {
    std::optional<unsigned> target =
        space.find(getCheckedLayout(op.getResult()));
    bool reachable =
        root && target && space.getDistances().at(*root, *target).isFinite();
    if (!reachable)
      return diagnose(op);
    targets.push_back(*target);
  }
  Tree tree = cheapestTree(space.getDistances(), *root, targets);
  if (tree.cost.isInfinite())
    return diagnose(reshards.ops.front());
  std::map<unsigned, const TreeEdge *> into;
  for (const TreeEdge &edge : tree.edges)
    into[edge.to] = &edge;
  std::map<unsigned, Value> made = {{*root, reshards.source}};
  for (auto [index, target] : llvm::enumerate(targets)) {
    ReshardOp op = reshards.ops[index];
    // The edges that lead here and are not made yet, last first.
    SmallVector<const TreeEdge *> missing;
    for (unsigned at = target; !made.count(at); at = missing.back()->from)
      missing.push_back(into.at(at));
    OpBuilder builder(op);
    for (const TreeEdge *edge : llvm::reverse(missing))
      made[edge->to] = insertPath(builder, made.at(edge->from), op.getLoc(),
                                  space.getPath(edge->from, edge->to));
    Value value = made.at(target);
    // Layouts that mean the same may be written differently.
    if (value.getType() != op.getType())
      value.setType(op.getType());
    op.getResult().replaceAllUsesWith(value);
    op.erase();
  }
  return success();
}

namespace {

struct InsertCollectivesPass
    : tp::impl::InsertCollectivesBase<InsertCollectivesPass> {
  using InsertCollectivesBase::InsertCollectivesBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    FailureOr<Machine> loaded = loadMachine(module, machine);
    if (failed(loaded))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(runOnFunction(function, *loaded)))
        return signalPassFailure();
  }

private:
  static LogicalResult runOnFunction(func::FuncOp function,
                                     const Machine &machine) {
    llvm::MapVector<Value, SmallVector<ReshardOp>> reshards;
    for (Operation &op : function.getBody().getOps())
      if (auto reshard = dyn_cast<ReshardOp>(op))
        if (getSharding(reshard.getInput()) && getSharding(reshard.getResult()))
          reshards[reshard.getInput()].push_back(reshard);
    for (auto &[first, ops] : reshards) {
      // The result of another reshard has been replaced by now.
      Value source = ops.front().getInput();
      FlatSymbolRefAttr meshName = getSharding(source).getMesh();
      CostModel model(machine, lookupMesh(function, meshName));
      CollectiveInserter inserter(model, meshName);
      if (failed(inserter.run({source, ops})))
        return failure();
    }
    return success();
  }
};

} // namespace
