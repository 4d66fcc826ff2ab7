// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Runs passes on IR files. What it reads is checked first, and what each pass
/// leaves is checked again unless --verify-each=false.

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tp/IR/Legality.h"
#include "tp/InitAll.h"
#include "tp/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
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
    if (!module || failedOnce || failed(tp::checkModule(module)))
      failedOnce |= !!module;
  }

private:
  bool &failedOnce;
};

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
  config.setPassPipelineSetupFn([&](PassManager &manager) {
    manager.addPass(tp::createCheck());
    if (fromCommandLine.shouldVerifyPasses())
      manager.addInstrumentation(std::make_unique<CheckEach>(checkFailed));
    return fromCommandLine.setupPassPipeline(manager);
  });

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file) {
    llvm::errs() << error << "\n";
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> result = openOutputFile(output, &error);
  if (!result) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (failed(MlirOptMain(result->os(), std::move(file), registry, config)) ||
      checkFailed)
    return 1;
  result->keep();
  return 0;
}
