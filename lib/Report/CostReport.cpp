// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-cost-report: what a typed program is predicted to take.

#include "tp/IR/ReportFile.h"
#include "tp/Passes.h"
#include "tp/Report/Report.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_COSTREPORT
#include "tp/Passes.h.inc"
} // namespace tp

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
    if (failed(checkReportFormat(module, getArgument(), format)))
      return failure();
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
    return writeReport(module, output, text);
  }
};

} // namespace
