// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Calls and returns against signatures. Nothing here relies on the verifier,
/// which refuses what this is to explain.

#include "tp/Check/Legality.h"

using namespace mlir;
using namespace tp;

/// Whether the types differ in their layouts alone.
static bool differInLayout(Type actual, Type promised) {
  return actual != promised && getSharding(actual) && getSharding(promised) &&
         withSharding(actual, nullptr) == withSharding(promised, nullptr);
}

static void compareOperands(Operation *op, TypeRange promised,
                            func::FuncOp function,
                            std::vector<SignatureMismatch> &mismatches) {
  if (op->getNumOperands() != promised.size())
    return;
  for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), promised))
    if (differInLayout(operand.get().getType(), type))
      mismatches.push_back({op, &operand, operand.getOperandNumber(),
                            cast<RankedTensorType>(type), function});
}

static void compareCall(func::CallOp call,
                        std::vector<SignatureMismatch> &mismatches) {
  if (!call.getCalleeAttr())
    return;
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!function || !function.getFunctionTypeAttr())
    return;
  FunctionType type = function.getFunctionType();
  compareOperands(call, type.getInputs(), function, mismatches);
  if (call.getNumResults() != type.getNumResults())
    return;
  for (auto [index, result] : llvm::enumerate(call.getResults()))
    if (differInLayout(result.getType(), type.getResult(index)))
      mismatches.push_back({call, nullptr, static_cast<unsigned>(index),
                            cast<RankedTensorType>(type.getResult(index)),
                            function});
}

std::vector<SignatureMismatch> tp::findSignatureMismatches(ModuleOp module) {
  std::vector<SignatureMismatch> mismatches;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return compareCall(call, mismatches);
    auto function = dyn_cast_or_null<func::FuncOp>(op->getParentOp());
    if (isa<func::ReturnOp>(op) && function && function.getFunctionTypeAttr())
      compareOperands(op, function.getFunctionType().getResults(), function,
                      mismatches);
  });
  return mismatches;
}

void tp::bridge(const SignatureMismatch &mismatch) {
  OpBuilder builder(mismatch.op);
  if (mismatch.operand) {
    mismatch.operand->set(ReshardOp::create(builder, mismatch.op->getLoc(),
                                            mismatch.promised,
                                            mismatch.operand->get()));
    return;
  }
  Value result = mismatch.op->getResult(mismatch.number);
  Type wanted = result.getType();
  result.setType(mismatch.promised);
  builder.setInsertionPointAfter(mismatch.op);
  auto reshard =
      ReshardOp::create(builder, mismatch.op->getLoc(), wanted, result);
  result.replaceAllUsesExcept(reshard, reshard);
}
