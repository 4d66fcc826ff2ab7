// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-check: every violation of a module, each once.

#include "mlir/IR/Verifier.h"
#include "tp/Check/Legality.h"
#include "tp/Passes.h"

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
    module.walk<WalkOrder::PreOrder>([&](Operation *op) { checkOp(op); });
    return success(numErrors == 0);
  }
  void checkSignature(const SignatureMismatch &mismatch);

private:
  InFlightDiagnostic emit(Operation *op);
  void checkOp(Operation *op);
  void checkRule(Operation *op, MeshAttr mesh);
  bool checkSharding(Operation *op, ShardingAttr sharding, StringRef place);
  bool checkType(Operation *op, Type type, StringRef place);
  bool checkNested(Operation *op, Type type, StringRef place);
  bool checkTypes(Operation *op);
  void checkFunction(func::FuncOp function);
  void checkLikeness(func::FuncOp function, unsigned result);
  void checkForeign(Operation *op);
  bool checkLocal(Operation *op);
  MeshAttr onlyMesh(Operation *op, Value &stranger);

  ModuleOp module;
  int64_t numErrors = 0;
  /// Whether a sharding resolves. Wrong ones have been reported.
  DenseMap<ShardingAttr, bool> resolved;
};

} // namespace

void tp::report(Operation *op, const Violation &violation) {
  InFlightDiagnostic diag = op->emitError() << violation.message << " ["
                                            << violation.label << "]";
  for (const Cause &cause : violation.causes)
    diag.attachNote(cause.location) << cause.text;
  for (const Fix &fix : violation.fixes)
    diag.attachNote() << "fix: " << fix.text;
}

InFlightDiagnostic ModuleChecker::emit(Operation *op) {
  ++numErrors;
  return op->emitError();
}

/// Names of the meshes that `op` sees.
static std::string listMeshes(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator;
  for (auto module = op->getParentOfType<ModuleOp>(); module;
       module = module->getParentOfType<ModuleOp>())
    for (auto mesh : module.getOps<MeshOp>())
      os << separator << "@" << mesh.getSymName();
  return text;
}

// R10: shardings name a mesh of the module and axes of it. One that is wrong is
// reported where it is met first.
bool ModuleChecker::checkSharding(Operation *op, ShardingAttr sharding,
                                  StringRef place) {
  auto [known, isNew] = resolved.try_emplace(sharding, true);
  if (!isNew)
    return known->second;
  MeshAttr mesh = lookupMesh(op, sharding.getMesh());
  bool good = mesh && succeeded(resolve(sharding, mesh, [&] {
                return emit(op) << place << " is laid out wrongly [R10]: ";
              }));
  known->second = good;
  if (mesh)
    return good;
  std::string meshes = listMeshes(op);
  InFlightDiagnostic diag = emit(op);
  diag << place << " is laid out on " << sharding.getMesh()
       << ", but the module has no such mesh [R10]";
  diag.attachNote() << "fix: "
                    << (meshes.empty() ? "add a tp.mesh of that name"
                                       : "name one of " + meshes);
  return false;
}

bool ModuleChecker::checkType(Operation *op, Type type, StringRef place) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return checkNested(op, type, place);
  if (tensor.hasStaticShape() && !numElements(tensor.getShape())) {
    emit(op) << place << " has more than 2^63 - 1 elements: " << tensor
             << " [R10]";
    return false;
  }
  ShardingAttr sharding = getSharding(type);
  return !sharding || checkSharding(op, sharding, place);
}

// R12: a sharding inside another type (a tuple, a function) is seen by nobody.
bool ModuleChecker::checkNested(Operation *op, Type type, StringRef place) {
  bool found = false;
  type.walk([&](ShardingAttr) {
    found = true;
    return WalkResult::interrupt();
  });
  if (!found)
    return true;
  InFlightDiagnostic diag = emit(op);
  diag << place << " hides a sharding in the type " << type << " [R12]";
  diag.attachNote() << "fix: pass the tensor itself";
  return false;
}

bool ModuleChecker::checkTypes(Operation *op) {
  bool good = true;
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    good &= checkType(op, type, "result " + std::to_string(index));
  // Operands are results or arguments: an error in one is reported there.
  for (Type type : op->getOperandTypes())
    if (ShardingAttr sharding = getSharding(type))
      good &= checkSharding(op, sharding, "an operand");
  return good;
}

void ModuleChecker::checkFunction(func::FuncOp function) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    checkType(function, type, "argument " + std::to_string(index));
    bool isLocal = function->hasAttr(localAttrName);
    if (!isLocal || !getSharding(type))
      continue;
    InFlightDiagnostic diag = emit(function);
    diag << "argument " << index
         << " of a local function carries a sharding [R12]";
    diag.attachNote() << "fix: give it the local type; 'tp.global' on the "
                         "argument may say the global one";
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (checkType(function, type, "result " + std::to_string(index)))
      checkLikeness(function, index);
}

// R13: a result that is fed back as an argument lies as that one does. Their
// sizes may differ: what is new in a cache lies as the cache.
void ModuleChecker::checkLikeness(func::FuncOp function, unsigned result) {
  auto like = function.getResultAttrOfType<IntegerAttr>(result, likeAttrName);
  if (!like)
    return;
  Type argumentType = function.getArgumentTypes()[like.getInt()];
  Type resultType = function.getResultTypes()[result];
  std::optional<Layout> there = findLayout(argumentType, function);
  std::optional<Layout> here = findLayout(resultType, function);
  if (!there || !here)
    return;
  ShardingAttr wanted = getSharding(argumentType);
  ShardingAttr found = getSharding(resultType);
  bool isLike =
      wanted.getMesh() == found.getMesh() &&
      there->dims.size() == here->dims.size() &&
      here->means(*there, cast<RankedTensorType>(argumentType).getShape());
  if (isLike)
    return;
  InFlightDiagnostic diag = emit(function);
  diag << "result " << result << " is laid out as " << found
       << ", but like argument " << like.getInt() << ", which is laid out as "
       << wanted << " [R13]";
  diag.attachNote() << "fix: give both the same layout, or leave out 'tp.like'";
}

// R12: other dialects ignore encodings, or demand them equal. So do calls of
// function values, whose callee nobody knows.
void ModuleChecker::checkForeign(Operation *op) {
  if (isa_and_nonnull<TPDialect>(op->getDialect()) ||
      isa<func::CallOp, func::ReturnOp>(op))
    return;
  auto isEncoded = [](Value value) { return bool(getSharding(value)); };
  Value operand, result;
  if (auto found = llvm::find_if(op->getOperands(), isEncoded);
      found != op->operand_end())
    operand = *found;
  if (llvm::any_of(op->getResults(), isEncoded))
    result = op->getResult(0);
  if (!operand && !result)
    return;
  InFlightDiagnostic diag = emit(op);
  diag << "'" << op->getName()
       << "' meets a sharded value, whose layout it would ignore [R12]";
  if (operand)
    diag.attachNote(operand.getLoc())
        << "its operand is laid out here: " << getSharding(operand);
  diag.attachNote() << "fix: use the tp operation, or partition first";
}

// R12: the local phase has plain tensors.
bool ModuleChecker::checkLocal(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto encoded = [](Type type) { return bool(getSharding(type)); };
  if (!function || !function->hasAttr(localAttrName) ||
      llvm::none_of(op->getResultTypes(), encoded))
    return true;
  InFlightDiagnostic diag = emit(op);
  diag << "'" << op->getName()
       << "' of a local function makes a sharded value [R12]";
  diag.attachNote() << "fix: give it the local type";
  return false;
}

// R13: what a call or a return hands on lies as the signature says.
void ModuleChecker::checkSignature(const SignatureMismatch &mismatch) {
  Operation *op = mismatch.op;
  func::FuncOp function = mismatch.function;
  bool isResult = !mismatch.operand;
  Value value =
      isResult ? op->getResult(mismatch.number) : mismatch.operand->get();
  RankedTensorType type = mismatch.promised;
  ShardingAttr from = getSharding(value), to = getSharding(type);
  if (isResult)
    std::swap(from, to);
  bool isCall = isa<func::CallOp>(op);
  Violation violation;
  violation.label = "R13";
  llvm::raw_string_ostream(violation.message)
      << "'" << op->getName() << "': " << (isResult ? "result " : "operand ")
      << mismatch.number << " is " << getSharding(value)
      << ", but the signature of @" << function.getSymName() << " says "
      << getSharding(type);
  if (isCall)
    violation.causes.push_back({function.getLoc(), "the signature is here"});
  std::optional<Layout> before = findLayout(withSharding(type, from), op);
  std::optional<Layout> after = findLayout(withSharding(type, to), op);
  if (before && after && from.getMesh() == to.getMesh()) {
    if (!isResult && !before->unreduced.empty())
      violation.causes.push_back(findCause(value, before->unreduced));
    violation.fixes.push_back(
        {describeConversion(*before, *after, type, lookupMesh(op, to.getMesh()),
                            to.getMesh(), "it") +
             (isResult ? " after the call"
              : isCall ? " before the call"
                       : " before returning it"),
         {}});
  }
  ++numErrors;
  report(op, violation);
}

/// The mesh of all tensors of `op`; `stranger` is a value of another one.
MeshAttr ModuleChecker::onlyMesh(Operation *op, Value &stranger) {
  FlatSymbolRefAttr name;
  auto visit = [&](Value value) {
    ShardingAttr sharding = getSharding(value);
    if (!sharding)
      return;
    if (name && name != sharding.getMesh())
      stranger = value;
    else
      name = sharding.getMesh();
  };
  llvm::for_each(op->getOperands(), visit);
  llvm::for_each(op->getResults(), visit);
  return name ? lookupMesh(op, name) : MeshAttr();
}

void ModuleChecker::checkRule(Operation *op, MeshAttr mesh) {
  std::vector<Violation> violations;
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    violations = checkOperation(ruled, mesh);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    violations = checkCollective(collective, mesh);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    violations = checkReshard(reshard, mesh);
  numErrors += violations.size();
  for (const Violation &violation : violations)
    report(op, violation);
}

void ModuleChecker::checkOp(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op))
    return checkFunction(function);
  checkForeign(op);
  if (!checkTypes(op) || !isa_and_nonnull<TPDialect>(op->getDialect()) ||
      !checkLocal(op))
    return;
  auto undecided = [](Type type) {
    return isa<RankedTensorType>(type) && !getSharding(type);
  };
  if (llvm::any_of(op->getOperandTypes(), undecided) ||
      llvm::any_of(op->getResultTypes(), undecided))
    return;
  Value stranger;
  MeshAttr mesh = onlyMesh(op, stranger);
  if (!stranger && mesh)
    return checkRule(op, mesh);
  if (!stranger)
    return;
  InFlightDiagnostic diag = emit(op);
  diag << "'" << op->getName() << "' mixes values of different meshes [R10]";
  diag.attachNote(stranger.getLoc())
      << "this value lies on " << getSharding(stranger).getMesh();
  diag.attachNote() << "fix: lay all of them out on one mesh";
}

LogicalResult tp::checkModule(ModuleOp module) {
  return ModuleChecker(module).check();
}

LogicalResult tp::checkUnverifiedModule(ModuleOp module) {
  std::vector<SignatureMismatch> mismatches = findSignatureMismatches(module);
  if (mismatches.empty())
    return success(succeeded(verify(module)) && succeeded(checkModule(module)));
  ModuleChecker checker(module);
  for (const SignatureMismatch &mismatch : mismatches)
    checker.checkSignature(mismatch);
  OwningOpRef<ModuleOp> bridged = module.clone();
  for (const SignatureMismatch &mismatch : findSignatureMismatches(*bridged))
    bridge(mismatch);
  // Reports what else there is; the module is refused in any case.
  if (succeeded(verify(*bridged)))
    (void)checkModule(*bridged);
  return failure();
}

namespace {

struct CheckPass : tp::impl::CheckBase<CheckPass> {
  void runOnOperation() final {
    if (failed(checkUnverifiedModule(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
