// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Calls on buffers become calls on pointers, as Runtime/Abi.h declares them.

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tp;

/// The start of a buffer, which is contiguous and has no offset.
static Value pointerTo(OpBuilder &builder, Location loc, Value buffer) {
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), number);
}

static LLVM::LLVMFuncOp declare(ModuleOp module, StringRef name, Location loc,
                                TypeRange types) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(module.getContext()), llvm::to_vector(types));
  return LLVM::LLVMFuncOp::create(builder, loc, name, type);
}

static void lowerCall(func::CallOp call, func::FuncOp declaration) {
  OpBuilder builder(call);
  SmallVector<Value> arguments;
  for (Value operand : call.getOperands())
    arguments.push_back(isa<BaseMemRefType>(operand.getType())
                            ? pointerTo(builder, call.getLoc(), operand)
                            : operand);
  auto name = declaration->getAttrOfType<StringAttr>(runtimeAttrName);
  LLVM::LLVMFuncOp function =
      declare(call->getParentOfType<ModuleOp>(), name, call.getLoc(),
              ValueRange(arguments).getTypes());
  LLVM::CallOp::create(builder, call.getLoc(), function, arguments);
  call.erase();
}

namespace {

struct LowerRuntimeCalls
    : PassWrapper<LowerRuntimeCalls, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerRuntimeCalls)
  StringRef getName() const final { return "LowerRuntimeCalls"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect, memref::MemRefDialect>();
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    module.walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && callee->hasAttr(runtimeAttrName))
        lowerCall(call, callee);
    });
    for (func::FuncOp function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function->hasAttr(runtimeAttrName))
        function.erase();
      else
        function->removeAttr(localAttrName);
  }
};

} // namespace

std::unique_ptr<Pass> tp::createLowerRuntimeCallsPass() {
  return std::make_unique<LowerRuntimeCalls>();
}
