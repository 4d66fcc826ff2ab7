// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Program.h"
#include "Run/Typing.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tp;

RankFunctions Program::entry() const {
  return llvm::cantFail(findRankFunctions(local.get(), signature.entry));
}

/// An option of tp-plan and its value.
using PlanOption = std::pair<StringRef, StringRef>;

/// What is asked of the plan.
static SmallVector<PlanOption> getPlanOptions(const RunOptions &options) {
  SmallVector<PlanOption> all = {
      {"mesh", options.mesh},
      {"machine", options.machine},
      {"sequence-parallel", options.sequenceParallel},
      {"weights", options.weights},
      {"model-axes", options.modelAxes},
      {"uneven", options.uneven}};
  llvm::erase_if(all, [](PlanOption option) { return option.second.empty(); });
  return all;
}

/// As they are written on the command line.
static std::string listNames(ArrayRef<PlanOption> options) {
  return llvm::join(llvm::map_range(options,
                                    [](PlanOption option) {
                                      return ("--" + option.first).str();
                                    }),
                    ", ");
}

/// The passes from an open program to a local one, in text.
static std::string planPipeline(ArrayRef<PlanOption> options,
                                bool splitsFused) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "builtin.module(" << (splitsFused ? "tp-split-fused-weights," : "")
     << "tp-plan{";
  for (PlanOption option : options)
    os << " " << option.first << "=" << option.second;
  os << " },tp-insert-collectives,tp-partition)";
  return text;
}

static llvm::Error runPasses(ModuleOp module, StringRef text,
                             const Twine &failure) {
  PassManager manager(module.getContext());
  std::string why;
  llvm::raw_string_ostream errors(why);
  FailureOr<OpPassManager> pipeline = parsePassPipeline(text, errors);
  if (failed(pipeline))
    return llvm::createStringError("cannot set up '" + Twine(text) +
                                   "': " + why);
  static_cast<OpPassManager &>(manager) = std::move(*pipeline);
  if (failed(manager.run(module)))
    return llvm::createStringError(failure);
  return llvm::Error::success();
}

/// As it is typed.
static llvm::Error partitionTyped(func::FuncOp entry) {
  auto module = cast<ModuleOp>(entry->getParentOp());
  StringRef failure = "the program could not be run as it is typed";
  if (failed(checkEdges(entry)))
    return llvm::createStringError(failure);
  return runPasses(module, "builtin.module(tp-insert-collectives,tp-partition)",
                   failure);
}

/// From whatever comes before the local phase to it. A typed program runs as it
/// is; one that has been planned is planned anew if another plan is asked for.
static llvm::Error partition(func::FuncOp entry, const RunOptions &options,
                             bool splitsFused) {
  keepReachable(entry);
  auto module = cast<ModuleOp>(entry->getParentOp());
  Typing typing = readTyping(entry);
  SmallVector<PlanOption> asked = getPlanOptions(options);
  bool isPlanned = module->hasAttr(planAttrName) && !typing.firstCollective;
  if (typing.isTyped() && asked.empty())
    return partitionTyped(entry);
  if (typing.isTyped() && !isPlanned)
    return llvm::createStringError(
        "every value of the program has a layout, which leaves nothing to "
        "plan; leave out " +
        listNames(asked) + ", or give the program without layouts");
  if (!typing.isTyped() && failed(checkPlannable(typing)))
    return llvm::createStringError("the program is typed in part");
  return runPasses(module, planPipeline(asked, splitsFused),
                   "the program could not be planned and partitioned");
}

static llvm::Expected<Program>
compile(ModuleOp module, const RunOptions &options, bool splitsFused) {
  Program program;
  program.local = module.clone();
  auto entry = findRankFunctions(*program.local, options.entry);
  if (!entry)
    return entry.takeError();
  SmallVector<PlanOption> asked = getPlanOptions(options);
  func::FuncOp function = entry->functions.front();
  if (!function->hasAttr(localAttrName)) {
    if (llvm::Error error = partition(function, options, splitsFused))
      return std::move(error);
    entry = findRankFunctions(*program.local, entry->name);
    if (!entry)
      return entry.takeError();
  } else if (!asked.empty()) {
    return llvm::createStringError(
        "the program is written for its ranks already; leave out " +
        listNames(asked));
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
