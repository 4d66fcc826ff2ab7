// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-check: every violation of a module, each once.

#include "tp/IR/Legality.h"
#include "tp/Passes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_CHECK
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Walks a module. Encodings are resolved first; an operation whose own types
/// are wrong is not checked further, so that one mistake gives one error.
class ModuleChecker {
public:
  explicit ModuleChecker(ModuleOp module) : module(module) {}

  LogicalResult check() {
    module.walk([&](Operation *op) { checkOp(op); });
    return success(numErrors == 0);
  }

private:
  void checkOp(Operation *op);
  bool checkType(Operation *op, Type type, StringRef place);
  bool checkTypes(Operation *op);
  void checkFunction(func::FuncOp function);
  void checkForeign(Operation *op);
  void report(Operation *op, const Violation &violation);
  MeshAttr onlyMesh(Operation *op, bool &mixed);

  ModuleOp module;
  int64_t numErrors = 0;
};

} // namespace

void ModuleChecker::report(Operation *op, const Violation &violation) {
  ++numErrors;
  InFlightDiagnostic diag = op->emitError() << violation.message << " ["
                                            << violation.label << "]";
  if (!violation.cause.empty() && violation.causeLocation)
    diag.attachNote(*violation.causeLocation) << violation.cause;
  for (const std::string &fix : violation.fixes)
    diag.attachNote() << "fix: " << fix;
}

// R10: shardings name a mesh of the module and axes of it.
bool ModuleChecker::checkType(Operation *op, Type type, StringRef place) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return true;
  if (tensor.hasStaticShape() && !numElements(tensor.getShape())) {
    ++numErrors;
    op->emitError() << place << " has more than 2^63 - 1 elements: " << tensor
                    << " [R10]";
    return false;
  }
  ShardingAttr sharding = getSharding(type);
  if (!sharding)
    return true;
  MeshAttr mesh = lookupMesh(op, sharding.getMesh());
  if (!mesh) {
    ++numErrors;
    op->emitError() << place << " is laid out on " << sharding.getMesh()
                    << ", but the module has no such mesh [R10]";
    return false;
  }
  bool good = succeeded(resolve(sharding, mesh, [&] {
    return op->emitError() << place << " is laid out wrongly [R10]: ";
  }));
  numErrors += !good;
  return good;
}

bool ModuleChecker::checkTypes(Operation *op) {
  bool good = true;
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    good &= checkType(op, type, "result " + std::to_string(index));
  // Operands are results or arguments: an error in one is reported there.
  for (Type type : op->getOperandTypes()) {
    ShardingAttr sharding = getSharding(type);
    if (!sharding)
      continue;
    MeshAttr mesh = lookupMesh(op, sharding.getMesh());
    ScopedDiagnosticHandler quiet(op->getContext(),
                                  [](Diagnostic &) { return success(); });
    good &= mesh &&
            succeeded(resolve(sharding, mesh, [&] { return op->emitError(); }));
  }
  return good;
}

void ModuleChecker::checkFunction(func::FuncOp function) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    checkType(function, type, "argument " + std::to_string(index));
    bool isLocal = function->hasAttr(localAttrName);
    if (!isLocal || !getSharding(type))
      continue;
    ++numErrors;
    function.emitError() << "argument " << index
                         << " of a local function carries a sharding [R12]";
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    checkType(function, type, "result " + std::to_string(index));
}

// R12: other dialects ignore encodings, or demand them equal.
void ModuleChecker::checkForeign(Operation *op) {
  if (isa_and_nonnull<TPDialect>(op->getDialect()) ||
      isa_and_nonnull<func::FuncDialect>(op->getDialect()))
    return;
  auto encoded = [](Type type) { return bool(getSharding(type)); };
  if (llvm::none_of(op->getOperandTypes(), encoded) &&
      llvm::none_of(op->getResultTypes(), encoded))
    return;
  ++numErrors;
  InFlightDiagnostic diag = op->emitError()
                            << "'" << op->getName()
                            << "' meets a sharded value, whose layout it would "
                               "ignore [R12]";
  diag.attachNote() << "fix: use the tp operation, or partition first";
}

/// The mesh of all tensors of `op`; `mixed` if there are several.
MeshAttr ModuleChecker::onlyMesh(Operation *op, bool &mixed) {
  FlatSymbolRefAttr name;
  mixed = false;
  auto visit = [&](Type type) {
    ShardingAttr sharding = getSharding(type);
    if (!sharding)
      return;
    mixed |= name && name != sharding.getMesh();
    name = sharding.getMesh();
  };
  llvm::for_each(op->getOperandTypes(), visit);
  llvm::for_each(op->getResultTypes(), visit);
  return name ? lookupMesh(op, name) : MeshAttr();
}

void ModuleChecker::checkOp(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op))
    return checkFunction(function);
  checkForeign(op);
  if (!checkTypes(op))
    return;
  auto undecided = [](Type type) {
    return isa<RankedTensorType>(type) && !getSharding(type);
  };
  if (llvm::any_of(op->getOperandTypes(), undecided) ||
      llvm::any_of(op->getResultTypes(), undecided))
    return;
  bool mixed = false;
  MeshAttr mesh = onlyMesh(op, mixed);
  if (mixed) {
    ++numErrors;
    op->emitError() << "'" << op->getName()
                    << "' mixes values of different meshes [R10]";
    return;
  }
  if (!mesh)
    return;
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    for (const Violation &violation : checkOperation(ruled, mesh))
      report(op, violation);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    for (const Violation &violation : checkCollective(collective, mesh))
      report(op, violation);
}

LogicalResult tp::checkModule(ModuleOp module) {
  return ModuleChecker(module).check();
}

namespace {

struct CheckPass : tp::impl::CheckBase<CheckPass> {
  void runOnOperation() final {
    if (failed(checkModule(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
