// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Layouts.h"
#include "tp/Check/Legality.h"
#include "tp/IR/FactorSplits.h"
#include "tp/IR/LocalShape.h"

using namespace mlir;
using namespace tp;
using namespace tp::test;

/// The axes of a mesh, one in four of those of 4 ranks cut in halves.
static AxisParts drawParts(MeshAttr mesh, Chance &chance) {
  AxisParts parts;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes())) {
    unsigned number = index;
    if (axis.getSize() == 4 && chance.oneIn(4)) {
      parts.push_back({number, 1, 2});
      parts.push_back({number, 2, 2});
    } else {
      parts.push_back({number, 1, axis.getSize()});
    }
  }
  return parts;
}

static MeshAttr drawMesh(MLIRContext *context, Chance &chance) {
  static const std::vector<std::vector<int64_t>> meshes = {
      {2}, {3}, {4}, {2, 2}, {2, 3}, {3, 2}, {4, 2}, {1, 2}};
  SmallVector<MeshAxisAttr> axes;
  StringRef names[] = {"a", "b"};
  for (auto [name, size] : llvm::zip(names, chance.of(ArrayRef(meshes))))
    axes.push_back(MeshAxisAttr::get(context, name, size));
  return MeshAttr::get(context, axes);
}

ShardingAttr tp::test::randomSharding(RankedTensorType type, MeshAttr mesh,
                                      FlatSymbolRefAttr meshName,
                                      Chance &chance, bool allowUneven) {
  Layout layout = Layout::whole(type.getRank());
  for (const AxisPart &part : drawParts(mesh, chance)) {
    if (type.getRank() == 0 || chance.oneIn(2))
      continue;
    Layout next = layout;
    next.dims[chance.below(type.getRank())].parts.push_back(part);
    if (allowUneven || isEven(type.getShape(), next))
      layout = next;
  }
  return toAttr(layout.canonical(type.getShape()), mesh, meshName);
}

namespace {

class LayoutAssigner {
public:
  LayoutAssigner(ModuleOp module, Chance &chance, bool allowUneven)
      : builder(module.getContext()), chance(chance), allowUneven(allowUneven),
        mesh(drawMesh(module.getContext(), chance)) {
    builder.setInsertionPointToStart(module.getBody());
    auto op = tp::MeshOp::create(builder, module.getLoc(), "mesh", mesh);
    meshName = FlatSymbolRefAttr::get(op.getSymNameAttr());
  }

  void run(func::FuncOp function);

private:
  using Layouts = SmallVector<Layout>;

  Layouts wholeLayouts(const ShardingRule &rule);
  Layouts drawLayouts(ShardingRuleOpInterface op, const ShardingRule &rule);
  bool tryLayouts(ShardingRuleOpInterface op, const ShardingRule &rule,
                  ArrayRef<Layout> layouts);
  void assign(ShardingRuleOpInterface op);
  void setOperand(OpOperand &operand, Type type);
  Type typed(Type type, const Layout &layout) {
    auto tensor = cast<RankedTensorType>(type);
    return withSharding(
        type, toAttr(layout.canonical(tensor.getShape()), mesh, meshName));
  }

  OpBuilder builder;
  Chance &chance;
  bool allowUneven;
  MeshAttr mesh;
  FlatSymbolRefAttr meshName;
};

} // namespace

LayoutAssigner::Layouts LayoutAssigner::wholeLayouts(const ShardingRule &rule) {
  Layouts layouts;
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor)
    layouts.push_back(Layout::whole(rule.tensor(tensor).size()));
  return layouts;
}

static bool holdsMaxima(Value value) {
  ShardingAttr sharding = getSharding(value);
  return sharding && sharding.getKind() == ReductionKind::Max;
}

/// Whether `value` is an unfinished maximum over just these axes.
static bool holdsMaximaOver(Value value, ArrayRef<AxisPart> axes) {
  return holdsMaxima(value) &&
         normalizeSet(getCheckedLayout(value).unreduced) == normalizeSet(axes);
}

/// The axes over which operand 0 is an unfinished maximum, half of the time: no
/// reshard makes one of a finished value.
static AxisParts pendingMaxima(Operation *op, Chance &chance) {
  if (op->getNumOperands() == 0 || !holdsMaxima(op->getOperand(0)) ||
      chance.oneIn(2))
    return {};
  return getCheckedLayout(op->getOperand(0)).unreduced;
}

/// Each axis splits a factor, arrives unreduced in linear operands, or does
/// nothing. Kinds and reductions are not looked at closely: tp-check judges.
LayoutAssigner::Layouts LayoutAssigner::drawLayouts(ShardingRuleOpInterface op,
                                                    const ShardingRule &rule) {
  SmallVector<DimLayout> splits(rule.factors.size());
  AxisParts carried, reduced;
  ArrayRef<unsigned> linear;
  if (!rule.linear.empty())
    linear = chance.of(ArrayRef(rule.linear));
  ReductionKind kind = ReductionKind::Sum;
  AxisParts maxima = pendingMaxima(op, chance);
  for (const AxisPart &part : drawParts(mesh, chance)) {
    int64_t use = chance.below(6);
    if (overlapsAny(part, maxima))
      continue;
    // What is an unfinished maximum over some axes is none over others.
    if (use == 0 && !linear.empty() && maxima.empty()) {
      carried.push_back(part);
      continue;
    }
    if (use < 2 || rule.factors.empty())
      continue;
    unsigned factor = chance.below(rule.factors.size());
    if (rule.factors[factor].kind == FactorKind::Whole && !chance.oneIn(8))
      continue;
    splits[factor].parts.push_back(part);
    if (rule.factors[factor].kind == FactorKind::Sum ||
        rule.factors[factor].kind == FactorKind::Max)
      reduced.push_back(part);
    if (rule.factors[factor].kind == FactorKind::Max)
      kind = ReductionKind::Max;
  }
  Layouts layouts;
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
    Layout layout = layoutFromFactors(rule, tensor, splits);
    bool isResult = tensor >= rule.operands.size();
    if (isResult)
      layout.unreduced = reduced;
    if (isResult || llvm::is_contained(linear, tensor))
      layout.unreduced.append(carried);
    if (!maxima.empty() &&
        (isResult || holdsMaximaOver(op->getOperand(tensor), maxima))) {
      layout.unreduced.append(maxima);
      layout.kind = ReductionKind::Max;
    } else if (isResult && !layout.unreduced.empty()) {
      layout.kind = kind;
    }
    layout.unreduced = normalizeSet(layout.unreduced);
    layouts.push_back(layout);
  }
  return layouts;
}

void LayoutAssigner::setOperand(OpOperand &operand, Type type) {
  Value value = operand.get();
  if (auto reshard = value.getDefiningOp<ReshardOp>())
    value = reshard.getInput();
  if (value.getType() != type)
    value =
        ReshardOp::create(builder, operand.getOwner()->getLoc(), type, value);
  operand.set(value);
}

bool LayoutAssigner::tryLayouts(ShardingRuleOpInterface op,
                                const ShardingRule &rule,
                                ArrayRef<Layout> layouts) {
  SmallVector<Type> types(op->getOperandTypes());
  types.append(op->result_type_begin(), op->result_type_end());
  for (auto [type, layout] : llvm::zip_equal(types, layouts)) {
    auto tensor = cast<RankedTensorType>(type);
    if (!allowUneven && !isEven(tensor.getShape(), layout))
      return false;
    // A non-zero constant, i1 and the like: the attribute would not be made.
    type = typed(type, layout);
  }
  SmallVector<Value> before(op->getOperands());
  builder.setInsertionPoint(op);
  unsigned next = 0;
  for (OpOperand &operand : op->getOpOperands())
    setOperand(operand, types[next++]);
  for (OpResult result : op->getResults())
    result.setType(types[next++]);
  if (checkOperation(op, mesh).empty())
    return true;
  for (OpResult result : op->getResults())
    result.setType(withSharding(result.getType(), nullptr));
  SmallVector<Operation *> unused;
  for (auto [operand, value] : llvm::zip_equal(op->getOpOperands(), before)) {
    Operation *reshard = operand.get().getDefiningOp();
    operand.set(value);
    if (reshard && isa<ReshardOp>(reshard) && reshard->use_empty())
      unused.push_back(reshard);
  }
  for (Operation *reshard : unused)
    reshard->erase();
  return false;
}

void LayoutAssigner::assign(ShardingRuleOpInterface op) {
  ShardingRule rule = op.getShardingRule();
  for (int attempt = 0; attempt < 12; ++attempt)
    if (tryLayouts(op, rule, drawLayouts(op, rule)))
      return;
  bool fits = tryLayouts(op, rule, wholeLayouts(rule));
  if (!fits)
    llvm::report_fatal_error("tp-check refuses an operation on whole tensors");
}

void LayoutAssigner::run(func::FuncOp function) {
  auto draw = [&](Type type) -> Type {
    return withSharding(type, randomSharding(cast<RankedTensorType>(type), mesh,
                                             meshName, chance, allowUneven));
  };
  for (BlockArgument argument : function.getArguments())
    argument.setType(draw(argument.getType()));
  auto ops = llvm::to_vector(
      llvm::make_pointer_range(function.getBody().front().getOperations()));
  for (Operation *op : ops)
    if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
      assign(ruled);
  Operation *terminator = function.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  SmallVector<Type> results;
  for (OpOperand &operand : terminator->getOpOperands()) {
    results.push_back(draw(operand.get().getType()));
    setOperand(operand, results.back());
  }
  function.setFunctionType(
      builder.getFunctionType(function.getBody().getArgumentTypes(), results));
}

void tp::test::assignLayouts(ModuleOp module, Chance &chance,
                             bool allowUneven) {
  LayoutAssigner assigner(module, chance, allowUneven);
  for (auto function : module.getOps<func::FuncOp>())
    assigner.run(function);
}
