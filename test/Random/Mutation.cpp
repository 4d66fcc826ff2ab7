// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mutation.h"
#include "Layouts.h"

using namespace mlir;
using namespace tp;
using namespace tp::test;

static std::string named(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << *op;
  return text;
}

/// The layout of a value, with an axis dropped from it, or any other.
static ShardingAttr otherSharding(Value value, Chance &chance) {
  ShardingAttr old = getSharding(value);
  auto module = value.getParentRegion()->getParentOfType<ModuleOp>();
  MeshAttr mesh = lookupMesh(module, old.getMesh());
  auto type = cast<RankedTensorType>(value.getType());
  if (!old.getUnreduced().empty() && chance.oneIn(2))
    return ShardingAttr::get(module.getContext(), old.getMesh(), old.getDims(),
                             ReductionKind::Sum, {});
  ShardingAttr drawn =
      randomSharding(type, mesh, old.getMesh(), chance, /*allowUneven=*/true);
  if (old.getUnreduced().empty() || chance.oneIn(3))
    return drawn;
  return ShardingAttr::get(module.getContext(), old.getMesh(), drawn.getDims(),
                           old.getKind(), old.getUnreduced());
}

static std::string relayout(ModuleOp module, Chance &chance) {
  SmallVector<Value> values;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (getSharding(result))
        values.push_back(result);
  });
  if (values.empty())
    return "";
  Value value = chance.of(ArrayRef(values));
  std::string what =
      "another layout of the result of " + named(value.getDefiningOp());
  value.setType(withSharding(value.getType(), otherSharding(value, chance)));
  return what;
}

static std::string leaveOut(ModuleOp module, Chance &chance) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<ReshardOp>(op) || isa<CollectiveOpInterface>(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return "";
  Operation *op = chance.of(ArrayRef(ops));
  std::string what = "left out: " + named(op);
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
  return what;
}

static Attribute otherAttr(Attribute attr, MeshAttr mesh, Chance &chance) {
  Builder builder(attr.getContext());
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return builder.getIntegerAttr(number.getType(), chance.below(4));
  auto axes = dyn_cast<ArrayAttr>(attr);
  if (!axes)
    return attr;
  SmallVector<Attribute> drawn;
  for (MeshAxisAttr axis : mesh.getAxes()) {
    if (chance.oneIn(3))
      continue;
    bool isHalf = axis.getSize() == 4 && chance.oneIn(3);
    drawn.push_back(isHalf
                        ? AxisRefAttr::get(attr.getContext(), axis.getName(),
                                           1 + chance.below(2), 2)
                        : AxisRefAttr::get(attr.getContext(), axis.getName()));
  }
  if (chance.oneIn(2))
    std::reverse(drawn.begin(), drawn.end());
  return builder.getArrayAttr(drawn);
}

static std::string reattribute(ModuleOp module, Chance &chance) {
  SmallVector<Operation *> ops;
  module.walk([&](CollectiveOpInterface op) { ops.push_back(op); });
  if (ops.empty())
    return "";
  Operation *op = chance.of(ArrayRef(ops));
  SmallVector<NamedAttribute> attrs(op->getAttrs());
  if (attrs.empty())
    return "";
  NamedAttribute attr = chance.of(ArrayRef(attrs));
  MeshAttr mesh = lookupMesh(op, getSharding(op->getOperand(0)).getMesh());
  std::string what = "another '" + attr.getName().str() + "' of " + named(op);
  op->setAttr(attr.getName(), otherAttr(attr.getValue(), mesh, chance));
  return what;
}

std::string tp::test::mutate(ModuleOp module, Chance &chance) {
  switch (chance.below(3)) {
  case 0:
    return relayout(module, chance);
  case 1:
    return leaveOut(module, chance);
  default:
    return reattribute(module, chance);
  }
}
