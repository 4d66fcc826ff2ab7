// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-legalize: the mechanical fixes of what tp-check reports.

#include "mlir/IR/Verifier.h"
#include "tp/Check/Legality.h"
#include "tp/IR/Collective.h"
#include "tp/Passes.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_LEGALIZE
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Puts the operations of one module right, in program order: a fix may change
/// the layout of a result, which the operations behind it then see.
class Legalizer {
public:
  explicit Legalizer(ModuleOp module) : module(module) {}

  void bridgeSignatures();
  void legalizeOperations();

private:
  void legalize(Operation *op);
  void legalizeRuled(ShardingRuleOpInterface op, MeshAttr mesh);
  void legalizeConversion(Operation *op, MeshAttr mesh,
                          const Violation &violation);
  void apply(ShardingRuleOpInterface op, MeshAttr mesh,
             const Violation &violation, const Fix &fix);
  Value convert(OpBuilder &builder, Location loc, Value value, Type wanted);

  ModuleOp module;
  /// Conversions made already, by block: later users share them.
  DenseMap<std::tuple<Block *, Value, Type>, Value> made;
};

} // namespace

static void emitFixed(Operation *op, StringRef label, const Twine &text) {
  op->emitRemark() << "fixed [" << label << "]: " << text;
}

/// The mesh of all tensors of `op`, if all are laid out on one, as its axes
/// allow. Anything else no fix of ours puts right.
static MeshAttr findMesh(Operation *op) {
  FlatSymbolRefAttr name;
  auto isGood = [&](Type type) {
    ShardingAttr sharding = getSharding(type);
    if (!sharding || !findLayout(type, op) ||
        (name && name != sharding.getMesh()))
      return false;
    name = sharding.getMesh();
    return true;
  };
  if (!llvm::all_of(op->getOperandTypes(), isGood) ||
      !llvm::all_of(op->getResultTypes(), isGood) || !name)
    return {};
  return lookupMesh(op, name);
}

/// One collective if one is enough, else a reshard.
Value Legalizer::convert(OpBuilder &builder, Location loc, Value value,
                         Type wanted) {
  if (value.getType() == wanted)
    return value;
  Value &known = made[{builder.getInsertionBlock(), value, wanted}];
  if (known)
    return known;
  Operation *near = builder.getInsertionBlock()->getParentOp();
  auto type = cast<RankedTensorType>(value.getType());
  Layout before = *findLayout(type, near), after = *findLayout(wanted, near);
  if (auto step = findStep(before, after, type.getShape()))
    known = createStep(builder, loc, value, *step, wanted);
  else
    known = ReshardOp::create(builder, loc, wanted, value);
  return known;
}

/// Converts operands, gives the results their new types and, where the fix says
/// so, converts them back for their users.
void Legalizer::apply(ShardingRuleOpInterface op, MeshAttr mesh,
                      const Violation &violation, const Fix &fix) {
  emitFixed(op, violation.label, fix.text);
  FlatSymbolRefAttr meshName =
      getSharding(op->getOperands().empty() ? op->getResult(0)
                                            : op->getOperand(0))
          .getMesh();
  auto typeOf = [&](Value value, unsigned tensor) {
    return withSharding(value.getType(),
                        toAttr(fix.layouts[tensor], mesh, meshName));
  };
  OpBuilder builder(op);
  unsigned numOperands = op->getNumOperands();
  for (OpOperand &operand : op->getOpOperands())
    operand.set(convert(builder, op->getLoc(), operand.get(),
                        typeOf(operand.get(), operand.getOperandNumber())));
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type declared = result.getType();
    result.setType(typeOf(result, numOperands + result.getResultNumber()));
    if (!fix.restoresResults || result.getType() == declared)
      continue;
    Value restored = convert(builder, op->getLoc(), result, declared);
    result.replaceAllUsesExcept(restored, restored.getDefiningOp());
  }
}

/// Each fix removes a violation and brings no other, so this ends.
void Legalizer::legalizeRuled(ShardingRuleOpInterface op, MeshAttr mesh) {
  while (true) {
    const Fix *chosen = nullptr;
    std::vector<Violation> violations = checkOperation(op, mesh);
    for (const Violation &violation : violations) {
      for (const Fix &fix : violation.fixes)
        if (!fix.layouts.empty() &&
            (!chosen || (fix.restoresResults && !chosen->restoresResults)))
          chosen = &fix;
      if (!chosen)
        continue;
      apply(op, mesh, violation, *chosen);
      break;
    }
    if (!chosen)
      return;
  }
}

/// Replaces a collective that does not fit by what leads to the layout that it
/// declares.
void Legalizer::legalizeConversion(Operation *op, MeshAttr mesh,
                                   const Violation &violation) {
  if (violation.fixes.empty())
    return;
  const Fix &fix = violation.fixes.back();
  emitFixed(op, violation.label, fix.text);
  Value value = op->getOperand(0);
  Type wanted = op->getResult(0).getType();
  // A layout that cannot be reached is given up.
  std::optional<Layout> declared = findLayout(wanted, op);
  auto type = cast<RankedTensorType>(wanted);
  if (fix.layouts[1].means(fix.layouts[0], type.getShape()) &&
      !declared->means(fix.layouts[0], type.getShape()))
    wanted = value.getType();
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(
      convert(builder, op->getLoc(), value, wanted));
  op->erase();
}

void Legalizer::legalize(Operation *op) {
  MeshAttr mesh = findMesh(op);
  if (!mesh)
    return;
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    return legalizeRuled(ruled, mesh);
  std::vector<Violation> violations;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    violations = checkCollective(collective, mesh);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    violations = checkReshard(reshard, mesh);
  if (!violations.empty())
    legalizeConversion(op, mesh, violations.front());
}

void Legalizer::legalizeOperations() {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<TPDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    legalize(op);
}

void Legalizer::bridgeSignatures() {
  for (const SignatureMismatch &mismatch : findSignatureMismatches(module)) {
    emitFixed(mismatch.op, "R13",
              "reshard " + Twine(mismatch.operand ? "operand " : "result ") +
                  Twine(mismatch.number) +
                  " to the layout of the signature of @" +
                  func::FuncOp(mismatch.function).getSymName());
    bridge(mismatch);
  }
}

namespace {

struct LegalizePass : tp::impl::LegalizeBase<LegalizePass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    Legalizer legalizer(module);
    // Nothing has verified the module, and the verifier would refuse it for a
    // return that is laid out otherwise than the signature says.
    legalizer.bridgeSignatures();
    if (failed(verify(module)))
      return signalPassFailure();
    legalizer.legalizeOperations();
    legalizer.bridgeSignatures();
    if (failed(checkUnverifiedModule(module)))
      signalPassFailure();
  }
};

} // namespace
