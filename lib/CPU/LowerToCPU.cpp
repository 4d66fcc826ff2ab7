// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "tp/CPU/Lowering.h"
#include "tp/IR/DecomposeCrossEntropy.h"
#include "tp/Passes.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_LOWERTOCPU
#include "tp/Passes.h.inc"
} // namespace tp

/// What earlier phases said about arguments and functions: nothing that the
/// code depends on.
static NamedAttrList withoutOurs(DictionaryAttr attributes) {
  NamedAttrList rest;
  for (NamedAttribute attr :
       attributes ? attributes.getValue() : ArrayRef<NamedAttribute>())
    if (!attr.getName().getValue().starts_with("tp."))
      rest.append(attr);
  return rest;
}

/// Prepares a function for its ABI: public ones can be called from C, and none
/// may write into its arguments. It stays marked as local, where shards may be
/// empty.
static void prepare(func::FuncOp function, MLIRContext *context) {
  Builder builder(context);
  NamedAttrList kept = withoutOurs(function->getDiscardableAttrDictionary());
  if (!function.isDeclaration())
    kept.set(localAttrName, builder.getUnitAttr());
  function->setDiscardableAttrs(kept.getDictionary(context));
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    NamedAttrList rest = withoutOurs(function.getArgAttrDict(i));
    if (isa<TensorType>(function.getArgumentTypes()[i]) &&
        !function.isDeclaration())
      rest.set(bufferization::BufferizationDialect::kWritableAttrName,
               builder.getBoolAttr(false));
    function.setArgAttrs(i, rest);
  }
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    function.setResultAttrs(i, withoutOurs(function.getResultAttrDict(i)));
  if (function.isPublic() && !function.isDeclaration())
    function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                      builder.getUnitAttr());
}

static LogicalResult requireLocal(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getSymName().starts_with("tp_"))
      return function.emitError() << "begins with 'tp_', which names functions "
                                     "of the run-time library";
    if (!function.isDeclaration() && !function->hasAttr(localAttrName))
      return function.emitError()
             << "is not the program of one rank; run tp-partition first";
  }
  return success();
}

static bool communicates(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffectsOnResource(CommunicationResource::get(), found);
  return !found.empty();
}

/// Numbers the collectives in the order of the program's text. The functions of
/// a rank table are one program: what one rank runs has the numbers of what the
/// others run.
static void numberCollectives(ModuleOp module) {
  llvm::StringMap<StringRef> tableOf;
  for (auto table : module.getOps<RankTableOp>())
    for (auto name : table.getFunctions().getAsRange<FlatSymbolRefAttr>())
      tableOf[name.getValue()] = table.getSymName();
  llvm::StringMap<int64_t> firstSites;
  int64_t next = 0;
  Builder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    auto table = tableOf.find(function.getSymName());
    StringRef name =
        table == tableOf.end() ? function.getSymName() : table->second;
    int64_t site = firstSites.try_emplace(name, next).first->second;
    function.walk([&](Operation *op) {
      if (communicates(op))
        op->setAttr(siteAttrName, builder.getI64IntegerAttr(site++));
    });
    next = std::max(next, site);
  }
}

namespace {

/// tp operations that are loops become linalg; the others stay and bufferize
/// to calls.
struct ConvertToLoops : PassWrapper<ConvertToLoops, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertToLoops)
  StringRef getName() const final { return "ConvertToLoops"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                    linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                    memref::MemRefDialect, tensor::TensorDialect>();
    registerCPUBufferization(registry);
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    if (failed(requireLocal(module)) || failed(lowerShardOrigins(module)))
      return signalPassFailure();
    // Losses have constants of their own type, so they are taken apart first.
    decomposeCrossEntropy(module);
    if (failed(widenFloats(module)))
      return signalPassFailure();
    numberCollectives(module);
    RewritePatternSet patterns(&getContext());
    addElementwisePatterns(patterns);
    addShapePatterns(patterns);
    addReductionPatterns(patterns);
    addVocabularyPatterns(patterns);
    if (failed(applyPatternsGreedily(module, std::move(patterns))))
      return signalPassFailure();
    module->setDiscardableAttrs(
        withoutOurs(module->getDiscardableAttrDictionary())
            .getDictionary(&getContext()));
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        prepare(function, &getContext());
      else if (isa<MeshOp, RankTableOp>(op))
        op.erase();
    }
  }
};

/// The functions that have no vector form in hardware become polynomials, which
/// LLVM vectorises; f64 keeps the C library's.
struct ExpandTranscendentals
    : PassWrapper<ExpandTranscendentals, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandTranscendentals)
  StringRef getName() const final { return "ExpandTranscendentals"; }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == math::ExpOp::getOperationName() ||
             name == math::TanhOp::getOperationName() ||
             name == math::ErfOp::getOperationName();
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct LowerToCPUPass : tp::impl::LowerToCPUBase<LowerToCPUPass> {
  void getDependentDialects(DialectRegistry &registry) const final {
    OpPassManager manager(ModuleOp::getOperationName());
    buildLowerToCPUPipeline(manager);
    manager.getDependentDialects(registry);
  }

  void runOnOperation() final {
    OpPassManager manager(ModuleOp::getOperationName());
    buildLowerToCPUPipeline(manager);
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }
};

} // namespace

void tp::registerCPUBufferization(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  memref::registerBufferViewFlowOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, TPDialect *) {
    addElementwiseModels(*context);
    addMatmulModels(*context);
    addAttentionModels(*context);
    addNormModels(*context);
    addReductionModels(*context);
    addVocabularyModels(*context);
    addCollectiveModels(*context);
  });
}

static void addBufferization(OpPassManager &manager) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(createCanonicalizerPass());
  bufferization::buildBufferDeallocationPipeline(manager);
  manager.addPass(createConvertBufferizationToMemRefPass());
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createTidyBuffersPass());
}

static void addLoopsToLLVM(OpPassManager &manager) {
  manager.addPass(createLowerRuntimeCallsPass());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addNestedPass<func::FuncOp>(
      std::make_unique<ExpandTranscendentals>());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useAlignedAlloc = true;
  memory.useGenericFunctions = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void tp::buildLowerToCPUPipeline(OpPassManager &manager) {
  manager.addPass(std::make_unique<ConvertToLoops>());
  manager.addPass(createLinalgElementwiseOpFusionPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  addBufferization(manager);
  addLoopsToLLVM(manager);
}
