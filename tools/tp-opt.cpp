// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Runs passes on IR files. What it reads is checked first, unless the first
/// pass is the one that puts wrong programs right; what each pass leaves is
/// checked again unless --verify-each=false.

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tp/Check/Legality.h"
#include "tp/Check/SourceText.h"
#include "tp/InitAll.h"
#include "tp/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {

/// Checks the module after each pass. An instrumentation cannot fail a pass,
/// so it leaves word for the exit code.
class CheckEach : public PassInstrumentation {
public:
  explicit CheckEach(bool &failedOnce) : failedOnce(failedOnce) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    // That pass is the check.
    if (pass->getArgument() == "tp-check")
      return;
    if (!module || failedOnce || failed(tp::checkModule(module)))
      failedOnce |= !!module;
  }

private:
  bool &failedOnce;
};

/// Source lines are printed, and a module or a function may have thousands of
/// them: what else MLIR prints of an operation is only printed if asked for.
void quoteSourceOnly(MLIRContext &context) {
  auto option =
      llvm::cl::getRegisteredOptions().find("mlir-print-op-on-diagnostic");
  if (option == llvm::cl::getRegisteredOptions().end() ||
      option->second->getNumOccurrences() == 0)
    context.printOpOnDiagnostic(false);
}

/// The passes of the command line, behind a check of the input.
LogicalResult setUpPipeline(MlirOptMainConfig &fromCommandLine,
                            PassManager &manager, bool &checkFailed) {
  quoteSourceOnly(*manager.getContext());
  PassManager asked(manager.getContext());
  if (failed(fromCommandLine.setupPassPipeline(asked)))
    return failure();
  bool legalizes =
      !asked.empty() && asked.begin()->getArgument() == "tp-legalize";
  if (!legalizes)
    manager.addPass(tp::createCheck());
  if (fromCommandLine.shouldVerifyPasses())
    manager.addInstrumentation(std::make_unique<CheckEach>(checkFailed));
  return fromCommandLine.setupPassPipeline(manager);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  tp::registerAllDialects(registry);
  tp::registerAllPasses();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "tensor-parallel planner and compiler\n", registry);

  MlirOptMainConfig fromCommandLine = MlirOptMainConfig::createFromCLOptions();
  MlirOptMainConfig config = fromCommandLine;
  bool checkFailed = false;
  // tp-check and tp-legalize run the verifier: they have more to say of calls
  // and returns than it has, and it stops at the first error.
  config.verifyOnParsing(false);
  config.setPassPipelineSetupFn([&](PassManager &manager) {
    return setUpPipeline(fromCommandLine, manager, checkFailed);
  });

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(*file), {});
  if (failed(tp::checkSourceText(sources)))
    return 1;
  std::unique_ptr<llvm::ToolOutputFile> result = openOutputFile(output, &error);
  if (!result) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  if (failed(MlirOptMain(result->os(), std::move(file), registry, config)) ||
      checkFailed)
    return 1;
  result->keep();
  return 0;
}
