// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-cost-report: what a typed program is predicted to take.

#include "tp/Passes.h"
#include "tp/Report/Report.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_COSTREPORT
#include "tp/Passes.h.inc"
} // namespace tp

/// Writes `text` to `path`; to standard error if the path is empty, to standard
/// output if it is -.
static LogicalResult write(ModuleOp module, StringRef path, StringRef text) {
  if (path.empty()) {
    llvm::errs() << text;
    return success();
  }
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << text;
    file.flush();
    error = file.error();
    // The stream aborts if it is closed with an error that nobody looked at.
    file.clear_error();
  }
  if (error)
    return module.emitError() << "cannot write the report to '" << path
                              << "': " << error.message();
  return success();
}

namespace {

struct CostReportPass : tp::impl::CostReportBase<CostReportPass> {
  using CostReportBase::CostReportBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (format != "text" && format != "json")
      return module.emitError() << "tp-cost-report knows no format '" << format
                                << "'; use text or json";
    FailureOr<Machine> loaded = loadMachine(module, machine);
    if (failed(loaded))
      return failure();
    FailureOr<Report> report = collectReport(module, *loaded);
    if (failed(report))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      printJSON(*report, os);
    else
      printText(*report, os);
    return write(module, output, text);
  }
};

} // namespace
