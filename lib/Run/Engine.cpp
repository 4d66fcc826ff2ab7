// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Engine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "tp/CPU/Lowering.h"
#include "tp/Runtime/Symbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cstring>

using namespace mlir;
using namespace tp;

static LogicalResult lower(ModuleOp module) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  PassManager manager(module.getContext());
  buildLowerToCPUPipeline(manager);
  return manager.run(module);
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> hostMachine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder->createTargetMachine();
}

llvm::Expected<std::unique_ptr<Engine>>
Engine::create(ModuleOp localModule, const Signature &signature) {
  if (failed(lower(localModule)))
    return llvm::createStringError(
        "the program could not be lowered to machine code");
  auto machine = hostMachine();
  if (!machine)
    return machine.takeError();
  auto optimise = makeOptimizingTransformer(3, 0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = optimise;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  // The optimiser above keeps a reference to its own machine.
  auto codeMachine = hostMachine();
  if (!codeMachine)
    return codeMachine.takeError();
  auto engine =
      ExecutionEngine::create(localModule, options, std::move(*codeMachine));
  if (!engine)
    return engine.takeError();
  (*engine)->registerSymbols([](llvm::orc::MangleAndInterner mangle) {
    llvm::orc::SymbolMap symbols;
    for (const runtime::Symbol &symbol : runtime::abiSymbols())
      symbols[mangle(symbol.name)] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.address),
          llvm::JITSymbolFlags::Exported};
    return symbols;
  });
  std::unique_ptr<Engine> result(new Engine);
  for (const std::string &function : signature.functions) {
    auto entry = (*engine)->lookupPacked("_mlir_ciface_" + function);
    if (!entry)
      return entry.takeError();
    result->entries.push_back(*entry);
  }
  result->engine = std::move(*engine);
  result->signature = signature;
  return result;
}

/// A memref descriptor in words: allocated and aligned pointer, offset, sizes,
/// strides.
static SmallVector<int64_t> descriptor(const Array &array) {
  auto address = reinterpret_cast<intptr_t>(array.bytes.data());
  SmallVector<int64_t> words = {address, address, 0};
  words.append(array.shape);
  SmallVector<int64_t> strides(array.shape.size(), 1);
  for (size_t i = strides.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * array.shape[i - 1];
  words.append(strides);
  return words;
}

Engine::Call::Call(const Engine &engine, int64_t rank,
                   ArrayRef<Array> arguments)
    : engine(engine), rank(rank) {
  ArrayRef<unsigned> table = engine.signature.functionOfRank;
  entry = engine.entries[table.empty() ? 0 : table[rank]];
  // One result is a descriptor, several are a struct of descriptors; both are
  // rows of words.
  for (const Port &port : engine.signature.results)
    resultWords.append(3 + 2 * port.globalShape.size(), 0);
  argumentWords = llvm::map_to_vector(arguments, descriptor);
  if (!engine.signature.results.empty())
    pointers.push_back(resultWords.data());
  for (Words &words : argumentWords)
    pointers.push_back(words.data());
  for (void *&pointer : pointers)
    packed.push_back(&pointer);
}

std::vector<Array> Engine::Call::results() const {
  std::vector<Array> values;
  const int64_t *next = resultWords.data();
  for (const Port &port : engine.signature.results) {
    Array &value =
        values.emplace_back(port.kind, engine.signature.localShape(port, rank));
    const char *start = reinterpret_cast<const char *>(next[1]) +
                        next[2] * sizeInBytes(port.kind);
    if (!value.bytes.empty())
      std::memcpy(value.bytes.data(), start, value.bytes.size());
    next += 3 + 2 * port.globalShape.size();
  }
  return values;
}
