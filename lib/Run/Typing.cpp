// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Typing.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tp;

/// The entry and what it calls, in the order of the calls.
static llvm::SetVector<func::FuncOp> findReachable(func::FuncOp entry) {
  llvm::SetVector<func::FuncOp> reachable;
  reachable.insert(entry);
  // Grows while it is read.
  for (size_t i = 0; i < reachable.size(); ++i) {
    func::FuncOp caller = reachable[i];
    caller.walk([&](func::CallOp call) {
      if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
              call, call.getCalleeAttr()))
        reachable.insert(callee);
    });
  }
  return reachable;
}

static void visit(Typing &typing, Type type, Location location,
                  llvm::function_ref<std::string()> name) {
  if (!isa<TensorType>(type))
    return;
  if (getSharding(type))
    typing.hasLayout = true;
  else if (!typing.firstOpen)
    typing.firstOpen = Typing::OpenValue{name(), location};
}

static void visit(Typing &typing, func::FuncOp function) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Location location = function.isExternal()
                            ? function.getLoc()
                            : function.getArgument(index).getLoc();
    visit(typing, type, location, [&, index = index] {
      return ("argument " + Twine(index) + " of @" + function.getSymName())
          .str();
    });
  }
  function.walk([&](Operation *op) {
    if (!typing.firstCollective && isa<CollectiveOpInterface>(op))
      typing.firstCollective = op;
    for (OpResult result : op->getResults())
      visit(typing, result.getType(), op->getLoc(), [&] {
        return ("result " + Twine(result.getResultNumber()) + " of '" +
                op->getName().getStringRef() + "'")
            .str();
      });
  });
}

Typing tp::readTyping(func::FuncOp entry) {
  Typing typing;
  for (func::FuncOp function : findReachable(entry))
    visit(typing, function);
  return typing;
}

/// The symbols that attributes, types and layouts of a module name.
static llvm::DenseSet<StringAttr> findUsedSymbols(ModuleOp module) {
  llvm::DenseSet<StringAttr> used;
  AttrTypeWalker walker;
  walker.addWalk(
      [&](SymbolRefAttr symbol) { used.insert(symbol.getRootReference()); });
  module.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
  });
  return used;
}

void tp::keepReachable(func::FuncOp entry) {
  auto module = cast<ModuleOp>(entry->getParentOp());
  llvm::SetVector<func::FuncOp> reachable = findReachable(entry);
  llvm::DenseSet<StringAttr> before = findUsedSymbols(module);
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function->hasAttr(localAttrName))
      continue;
    if (!reachable.contains(function))
      function.erase();
    else if (function != entry)
      function.setPrivate();
  }
  entry.setPublic();
  llvm::DenseSet<StringAttr> after = findUsedSymbols(module);
  for (MeshOp mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    if (before.contains(mesh.getSymNameAttr()) &&
        !after.contains(mesh.getSymNameAttr()))
      mesh.erase();
}

static bool isUnreduced(Type type, func::FuncOp function) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && getSharding(tensor) &&
         !getCheckedLayout(tensor, function).unreduced.empty();
}

LogicalResult tp::checkEdges(func::FuncOp entry) {
  LogicalResult result = success();
  for (BlockArgument argument : entry.getArguments()) {
    if (!isUnreduced(argument.getType(), entry))
      continue;
    InFlightDiagnostic error = emitError(argument.getLoc());
    error << "argument " << argument.getArgNumber()
          << " is unreduced at the edge of the program: "
          << getSharding(argument.getType())
          << "; an input is one tensor, not a term for every rank";
    error.attachNote() << "fix: take it finished and make it unreduced with "
                          "tp.to_unreduced, or take the terms as one more "
                          "dimension, split over those axes, and combine them "
                          "with tp.reduce";
    result = failure();
  }
  auto terminator =
      cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [index, type] : llvm::enumerate(terminator.getOperandTypes())) {
    if (!isUnreduced(type, entry))
      continue;
    InFlightDiagnostic error = emitError(terminator.getLoc());
    error << "result " << index
          << " is unreduced at the edge of the program: " << getSharding(type)
          << "; no rank holds an element of it";
    error.attachNote() << "fix: finish it with tp.all_reduce before the return";
    result = failure();
  }
  return result;
}

LogicalResult tp::checkPlannable(const Typing &typing) {
  if (!typing.firstCollective)
    return success();
  const Typing::OpenValue &open = *typing.firstOpen;
  InFlightDiagnostic error = emitError(open.location);
  error << open.name
        << " has no layout, but the program has collectives of its own; such "
           "a program runs as it is typed, which every value has to be";
  error.attachNote(typing.firstCollective->getLoc())
      << "the first collective is here";
  error.attachNote() << "fix: give the value a layout";
  error.attachNote()
      << "fix: leave collectives to the planner: remove them, or write "
         "tp.reshard in their place";
  return failure();
}
