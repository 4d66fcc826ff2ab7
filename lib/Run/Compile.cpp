// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Program.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

RankFunctions Program::entry() const {
  return llvm::cantFail(findRankFunctions(local.get(), signature.entry));
}

/// Whether nothing is asked of the plan.
static bool takesAnyPlan(const RunOptions &options) {
  return llvm::all_of(ArrayRef<StringRef>{options.mesh, options.machine,
                                          options.sequenceParallel,
                                          options.weights, options.modelAxes,
                                          options.uneven},
                      [](StringRef option) { return option.empty(); });
}

/// The passes from an open or typed program to a local one, in text. A program
/// that has been planned is run as it was, unless another plan is asked for.
static std::string planPipeline(const RunOptions &options, bool splitsFused,
                                bool isPlanned) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isPlanned && takesAnyPlan(options))
    return "builtin.module(tp-insert-collectives,tp-partition)";
  os << "builtin.module(" << (splitsFused ? "tp-split-fused-weights," : "")
     << "tp-plan{";
  auto option = [&](StringRef name, StringRef value) {
    if (!value.empty())
      os << " " << name << "=" << value;
  };
  option("mesh", options.mesh);
  option("machine", options.machine);
  option("sequence-parallel", options.sequenceParallel);
  option("weights", options.weights);
  option("model-axes", options.modelAxes);
  option("uneven", options.uneven);
  os << " },tp-insert-collectives,tp-partition)";
  return text;
}

static llvm::Error partition(ModuleOp module, const RunOptions &options,
                             bool splitsFused) {
  PassManager manager(module.getContext());
  std::string why,
      text = planPipeline(options, splitsFused, module->hasAttr(planAttrName));
  llvm::raw_string_ostream errors(why);
  FailureOr<OpPassManager> pipeline = parsePassPipeline(text, errors);
  if (failed(pipeline))
    return llvm::createStringError("cannot set up '" + Twine(text) +
                                   "': " + why);
  static_cast<OpPassManager &>(manager) = std::move(*pipeline);
  if (failed(manager.run(module)))
    return llvm::createStringError("the program could not be planned and "
                                   "partitioned");
  return llvm::Error::success();
}

static llvm::Expected<Program>
compile(ModuleOp module, const RunOptions &options, bool splitsFused) {
  Program program;
  program.local = module.clone();
  auto entry = findRankFunctions(*program.local, options.entry);
  if (!entry)
    return entry.takeError();
  if (!entry->functions.front()->hasAttr(localAttrName)) {
    if (llvm::Error error = partition(*program.local, options, splitsFused))
      return std::move(error);
    entry = findRankFunctions(*program.local, entry->name);
    if (!entry)
      return entry.takeError();
  } else if (!options.mesh.empty()) {
    return llvm::createStringError(
        "the program is written for its ranks already; leave out --mesh");
  }
  auto signature = readSignature(*entry);
  if (!signature)
    return signature.takeError();
  program.signature = std::move(*signature);
  OwningOpRef<ModuleOp> lowered = program.local->clone();
  for (const std::string &function : program.signature.functions)
    lowered->lookupSymbol<func::FuncOp>(function).setPublic();
  auto engine = Engine::create(*lowered, program.signature);
  if (!engine)
    return engine.takeError();
  program.engine = std::move(*engine);
  return program;
}

llvm::Expected<Program> tp::compileProgram(ModuleOp module,
                                           const RunOptions &options) {
  return compile(module, options, /*splitsFused=*/true);
}

/// Takes out what says where values lie: collectives and reshards change no
/// value of the unsharded program.
static void removeLayouts(ModuleOp module) {
  module.walk([](Operation *op) {
    if (isa<CollectiveOpInterface, ReshardOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
    if (!getSharding(type))
      return std::nullopt;
    return RankedTensorType::get(type.getShape(), type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  for (MeshOp mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
  module->removeAttr(planAttrName);
}

llvm::Expected<Program> tp::compileUnsharded(ModuleOp module,
                                             MeshAttr shardedMesh,
                                             const RunOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  removeLayouts(*copy);
  RunOptions single = options;
  single.mesh.clear();
  llvm::raw_string_ostream os(single.mesh);
  llvm::ListSeparator comma(",");
  if (shardedMesh)
    for (MeshAxisAttr axis : shardedMesh.getAxes())
      os << comma << axis.getName() << "=1";
  if (single.mesh.empty())
    single.mesh = "x=1";
  // As it was read, so that a wrong split of a fused weight is seen.
  return compile(*copy, single, /*splitsFused=*/false);
}
