// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-insert-collectives: reshards become the cheapest tree of
/// collectives.

#include "tp/IR/Collective.h"
#include "tp/IR/LocalShape.h"
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

/// By axis, where its parts begin and end: the ranks of what is major to it.
using Borders = std::map<unsigned, std::set<int64_t>>;

/// The reshards of one value, in program order.
struct Reshards {
  Value source;
  SmallVector<ReshardOp> ops;
};

/// Decomposes the reshards of one module.
class CollectiveInserter {
public:
  /// With `allowUneven` values may pass through uneven layouts between even
  /// ones, as they may in a plan that says so.
  /// `planned` are the borders at which a plan cuts the axes.
  CollectiveInserter(const CostModel &model, FlatSymbolRefAttr meshName,
                     bool allowUneven, const Borders &planned)
      : model(model), meshName(meshName), allowUneven(allowUneven),
        planned(planned) {}

  LogicalResult run(const Reshards &reshards);

private:
  const LayoutSpace &getSpace(const Reshards &reshards);
  SmallVector<Layout> collectLayouts(const Reshards &reshards) const;
  AxisParts findParts(ArrayRef<Layout> layouts) const;
  Value insertPath(OpBuilder &builder, Value value, Location loc,
                   ArrayRef<LayoutStep> steps);
  Value insertStep(OpBuilder &builder, Value value, Location loc,
                   const LayoutStep &step);
  LogicalResult diagnose(ReshardOp op);

  const CostModel &model;
  FlatSymbolRefAttr meshName;
  bool allowUneven;
  const Borders &planned;
  /// By type, then by parts, whether they may hold maxima, and units.
  using SpaceKey = std::tuple<AxisParts, bool, std::optional<DimUnits>>;
  llvm::DenseMap<Type, std::map<SpaceKey, std::unique_ptr<LayoutSpace>>> spaces;
};

} // namespace

/// The layouts of the source and of the targets.
SmallVector<Layout>
CollectiveInserter::collectLayouts(const Reshards &reshards) const {
  SmallVector<Layout> layouts = {getCheckedLayout(reshards.source)};
  for (ReshardOp op : reshards.ops)
    layouts.push_back(getCheckedLayout(op.getResult()));
  return layouts;
}

/// The units in which the layouts deal each dimension; nothing if shards are
/// even.
static std::optional<DimUnits>
findUnits(ArrayRef<Layout> layouts, ArrayRef<int64_t> shape, bool allowUneven) {
  DimUnits units(shape.size());
  bool even = !allowUneven;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    std::set<int64_t> found = {1};
    for (const Layout &layout : layouts) {
      found.insert(layout.dims[dim].canonical(size).unit);
      even = even && isEven(size, layout.dims[dim]);
    }
    units[dim].assign(found.begin(), found.end());
  }
  if (even)
    return std::nullopt;
  return units;
}

static bool hasMaxima(ArrayRef<Layout> layouts) {
  return llvm::any_of(layouts, [](const Layout &layout) {
    return layout.kind == ReductionKind::Max;
  });
}

const LayoutSpace &CollectiveInserter::getSpace(const Reshards &reshards) {
  RankedTensorType plain = withSharding(reshards.source.getType(), nullptr);
  SmallVector<Layout> layouts = collectLayouts(reshards);
  AxisParts parts = findParts(layouts);
  bool maxima = hasMaxima(layouts);
  std::optional<DimUnits> units =
      findUnits(layouts, plain.getShape(), allowUneven);
  auto &space = spaces[plain][{parts, maxima, units}];
  if (!space)
    space = std::make_unique<LayoutSpace>(model, plain, parts,
                                          LayoutSpace::Filter(), maxima, units);
  return *space;
}

static void addBorders(const Layout &layout, Borders &borders) {
  auto add = [&](const AxisPart &part) {
    borders[part.axis].insert(part.pre);
    borders[part.axis].insert(part.pre * part.size);
  };
  for (const DimLayout &dim : layout.dims)
    llvm::for_each(dim.parts, add);
  llvm::for_each(layout.unreduced, add);
}

/// The parts that the layouts use, cut at one another's borders so that each
/// layout is made of whole parts. A plan was priced with all its parts: from
/// part to part may be cheaper than over the whole axis.
AxisParts CollectiveInserter::findParts(ArrayRef<Layout> layouts) const {
  Borders borders;
  for (const Layout &layout : layouts)
    addBorders(layout, borders);
  AxisParts parts;
  for (auto &[axis, used] : borders) {
    std::set<int64_t> list = used;
    if (auto cuts = planned.find(axis); cuts != planned.end())
      for (int64_t border : cuts->second)
        if (*used.begin() < border && border < *used.rbegin())
          list.insert(border);
    std::optional<int64_t> last;
    for (int64_t border : list) {
      if (last && border % *last == 0)
        parts.push_back({axis, *last, border / *last});
      last = border;
    }
  }
  return parts;
}

Value CollectiveInserter::insertStep(OpBuilder &builder, Value value,
                                     Location loc, const LayoutStep &step) {
  MeshAttr mesh = model.getMesh();
  auto type = cast<RankedTensorType>(value.getType());
  Layout after = *apply(step, getCheckedLayout(value), type.getShape());
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
                            << "] has no sequence of collectives: sub-axes of "
                               "one axis must nest";
  diag.attachNote() << "fix: all-gather or all-reduce the value first";
  return diag;
}

/// The tree of the source's layout and all wanted ones. A step stands before
/// the first reshard that needs it.
LogicalResult CollectiveInserter::run(const Reshards &reshards) {
  const LayoutSpace &space = getSpace(reshards);
  if (space.isTooLarge()) {
    ReshardOp first = reshards.ops.front();
    InFlightDiagnostic diag = first.emitOpError()
                              << "may pass through more than "
                              << LayoutSpace::maxLayouts
                              << " layouts; a path is not looked for";
    diag.attachNote() << "fix: split each tensor over fewer axes and sub-axes";
    return diag;
  }
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
    Borders planned = findPlannedBorders(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(runOnFunction(function, *loaded, planned)))
        return signalPassFailure();
  }

private:
  static bool allowsUneven(func::FuncOp function) {
    auto plan =
        function->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(
            planAttrName);
    auto uneven = plan ? plan.getAs<StringAttr>("uneven") : StringAttr();
    return uneven && uneven.getValue() == "allow";
  }

  /// Of all layouts of a planned module; none without a plan.
  static Borders findPlannedBorders(ModuleOp module) {
    Borders borders;
    if (!module->hasAttr(planAttrName))
      return borders;
    auto add = [&](Value value) {
      if (getSharding(value))
        addBorders(getCheckedLayout(value), borders);
    };
    module.walk([&](Block *block) {
      llvm::for_each(block->getArguments(), add);
      for (Operation &op : *block)
        llvm::for_each(op.getResults(), add);
    });
    return borders;
  }

  static LogicalResult runOnFunction(func::FuncOp function,
                                     const Machine &machine,
                                     const Borders &planned) {
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
      CollectiveInserter inserter(model, meshName, allowsUneven(function),
                                  planned);
      if (failed(inserter.run({source, ops})))
        return failure();
    }
    return success();
  }
};

} // namespace
