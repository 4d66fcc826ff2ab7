// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/Record.h"
#include "tp/Solver/CertificateNumbers.h"

using namespace mlir;
using namespace tp;

static void markPins(func::FuncOp function) {
  UnitAttr unit = UnitAttr::get(function.getContext());
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (getSharding(type))
      function.setArgAttr(index, pinnedAttrName, unit);
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (getSharding(type))
      function.setResultAttr(index, pinnedAttrName, unit);
  function.walk([&](Operation *op) {
    bool isPinned = llvm::any_of(op->getResultTypes(), [](Type type) {
      return bool(getSharding(type));
    });
    if (isPinned)
      op->setAttr(pinnedAttrName, unit);
  });
}

void tp::recordPlan(ModuleOp module, const PlanSettings &settings,
                    const Planner &planner, const Solution &solution) {
  Builder builder(module.getContext());
  auto text = [&](StringRef name, StringRef value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  };
  auto picoseconds = static_cast<int64_t>(solution.cost.getTime() / 16);
  auto bound = static_cast<int64_t>(solution.lowerBound.getTime() / 16);
  SmallVector<NamedAttribute> entries = {
      text("sequence_parallel", settings.sequenceParallel),
      text("weights", settings.weights),
      text("model_axes", planner.getModelAxes()),
      builder.getNamedAttr("picoseconds",
                           builder.getI64IntegerAttr(picoseconds)),
      builder.getNamedAttr("lower_bound", builder.getI64IntegerAttr(bound))};
  if (settings.uneven != "refuse")
    entries.push_back(text("uneven", settings.uneven));
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  if (!settings.memoryLimit.empty()) {
    entries.push_back(text("memory_limit", settings.memoryLimit));
    entries.push_back(
        number("memory_bytes",
               planner.getProblem().memoryOf(solution.choices).getTotal()));
  }
  if (settings.memorySearch != PlanSettings().memorySearch)
    entries.push_back(text("memory_search", settings.memorySearch));
  if (settings.bytesPerParameter != 0)
    entries.push_back(
        number("bytes_per_parameter", settings.bytesPerParameter));
  module->setAttr(planAttrName, builder.getDictionaryAttr(entries));
  module->setAttr(machineAttrName, builder.getStringAttr(settings.machine));
  for (auto function : module.getOps<func::FuncOp>())
    markPins(function);
}

void tp::recordCertificate(ModuleOp module, const Solution &solution) {
  module->setAttr(
      certificateAttrName,
      DenseI64ArrayAttr::get(
          module.getContext(),
          toNumbers({solution.certificate, solution.memoryCertificate})));
}

std::optional<PlanSettings> tp::readSettings(ModuleOp module) {
  auto plan = module->getAttrOfType<DictionaryAttr>(planAttrName);
  auto machine = module->getAttrOfType<StringAttr>(machineAttrName);
  if (!plan || !machine)
    return std::nullopt;
  auto text = [&](StringRef name) {
    auto value = plan.getAs<StringAttr>(name);
    return value ? value.getValue().str() : std::string();
  };
  PlanSettings settings;
  settings.machine = machine.getValue().str();
  settings.sequenceParallel = text("sequence_parallel");
  settings.weights = text("weights");
  if (!text("uneven").empty())
    settings.uneven = text("uneven");
  settings.memoryLimit = text("memory_limit");
  if (!text("memory_search").empty())
    settings.memorySearch = text("memory_search");
  if (auto bytes = plan.getAs<IntegerAttr>("bytes_per_parameter"))
    settings.bytesPerParameter = bytes.getInt();
  for (char c : text("model_axes"))
    if (c != '"' && c != ' ')
      settings.modelAxes += c;
  return settings;
}

std::optional<double> tp::readLowerBound(ModuleOp module) {
  auto plan = module->getAttrOfType<DictionaryAttr>(planAttrName);
  auto bound = plan ? plan.getAs<IntegerAttr>("lower_bound") : IntegerAttr();
  if (!bound)
    return std::nullopt;
  return static_cast<double>(bound.getInt()) * 1e-12;
}

bool tp::isPlannedMove(Operation *op) {
  return isa<ReshardOp, CollectiveOpInterface>(op) &&
         !op->hasAttr(pinnedAttrName);
}

/// Removes the conversions that the plan placed.
static void eraseMoves(func::FuncOp function) {
  SmallVector<Operation *> moves;
  function.walk([&](Operation *op) {
    if (isPlannedMove(op))
      moves.push_back(op);
  });
  for (Operation *op : moves) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
}

/// The type without the layout that the plan gave it; `pinned` marks a user's.
static Type openType(Type type, Attribute pinned) {
  return pinned || !getSharding(type) ? type : withSharding(type, nullptr);
}

/// Removes the encodings of what was not pinned.
static void openFunction(func::FuncOp function) {
  eraseMoves(function);
  function.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(openType(result.getType(), op->getAttr(pinnedAttrName)));
  });
  for (BlockArgument argument : function.getArguments())
    argument.setType(
        openType(argument.getType(),
                 function.getArgAttr(argument.getArgNumber(), pinnedAttrName)));
  SmallVector<Type> results(function.getResultTypes());
  for (auto [index, type] : llvm::enumerate(results))
    type = openType(type, function.getResultAttr(index, pinnedAttrName));
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(), results));
}

OwningOpRef<ModuleOp> tp::reopen(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(module.clone());
  for (auto function : copy->getOps<func::FuncOp>())
    openFunction(function);
  return copy;
}
