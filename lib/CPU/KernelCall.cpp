// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tp;

std::string tp::kernelSuffix(Type elementType) {
  assert((elementType.isF32() || elementType.isF64()) &&
         "floats are widened first");
  return elementType.isF32() ? "_f32" : "_f64";
}

void KernelCall::buffer(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto unranked =
      UnrankedMemRefType::get(type.getElementType(), type.getMemorySpace());
  arguments.push_back(
      memref::CastOp::create(rewriter, op->getLoc(), unranked, memref));
}

void KernelCall::tensor(Value operand) {
  FailureOr<Value> source =
      bufferization::getBuffer(rewriter, operand, options, state);
  if (failed(source)) {
    broken = true;
    return;
  }
  auto type = cast<MemRefType>(source->getType());
  if (type.getLayout().isIdentity())
    return buffer(*source);
  auto contiguous = MemRefType::get(type.getShape(), type.getElementType());
  FailureOr<Value> copy =
      options.createAlloc(rewriter, op->getLoc(), contiguous, {});
  broken |= failed(copy) || failed(options.createMemCpy(rewriter, op->getLoc(),
                                                        *source, *copy));
  if (!broken)
    buffer(*copy);
}

void KernelCall::integer(int64_t value) {
  arguments.push_back(
      arith::ConstantIntOp::create(rewriter, op->getLoc(), value, 64));
}

void KernelCall::index(Value value, int64_t otherwise) {
  if (!value)
    return integer(otherwise);
  arguments.push_back(arith::IndexCastOp::create(rewriter, op->getLoc(),
                                                 rewriter.getI64Type(), value));
}

void KernelCall::real(double value) {
  arguments.push_back(arith::ConstantFloatOp::create(
      rewriter, op->getLoc(), rewriter.getF64Type(), APFloat(value)));
}

void KernelCall::numbers(DenseIntElementsAttr table) {
  auto constant = arith::ConstantOp::create(rewriter, op->getLoc(), table);
  FailureOr<memref::GlobalOp> global = bufferization::getGlobalFor(
      constant, state.getSymbolTables(), options.bufferAlignment);
  rewriter.eraseOp(constant);
  if (failed(global)) {
    broken = true;
    return;
  }
  buffer(memref::GetGlobalOp::create(rewriter, op->getLoc(), global->getType(),
                                     global->getName()));
}

void KernelCall::table(DenseIntElementsAttr ranks, bool withColumns) {
  numbers(ranks);
  auto type = cast<ShapedType>(ranks.getType());
  integer(type.getDimSize(0));
  if (withColumns)
    integer(type.getDimSize(1));
}

func::FuncOp KernelCall::declare(StringRef function) {
  auto module = op->getParentOfType<ModuleOp>();
  SmallVector<Type> types(ValueRange(arguments).getTypes());
  std::string name;
  llvm::raw_string_ostream(name)
      << function << "."
      << cast<UnrankedMemRefType>(types.front()).getElementType();
  SymbolTable &symbols = state.getSymbolTables().getSymbolTable(module);
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  auto declaration = func::FuncOp::create(rewriter, op->getLoc(), name,
                                          rewriter.getFunctionType(types, {}));
  declaration.setPrivate();
  declaration->setAttr(runtimeAttrName, rewriter.getStringAttr(function));
  symbols.insert(declaration);
  return declaration;
}

LogicalResult KernelCall::finish(StringRef function) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  FailureOr<Value> result = options.createAlloc(
      rewriter, op->getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), {});
  if (broken || failed(result))
    return failure();
  SmallVector<Value> inputs = std::move(arguments);
  arguments.clear();
  buffer(*result);
  arguments.append(inputs);
  func::CallOp::create(rewriter, op->getLoc(), declare(function), arguments);
  bufferization::replaceOpWithBufferizedValues(rewriter, op, *result);
  return success();
}

LogicalResult KernelCall::finishCollective(StringRef function) {
  integer(op->getAttrOfType<IntegerAttr>(siteAttrName).getInt());
  return finish(function);
}
