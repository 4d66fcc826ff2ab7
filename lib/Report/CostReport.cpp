// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-cost-report: what a typed program is predicted to take.

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "tp/Check/ReportFile.h"
#include "tp/Check/SourceText.h"
#include "tp/Passes.h"
#include "tp/Report/Report.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_COSTREPORT
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// The program of the file that a report compares with, in a context of its
/// own: one that runs passes takes no further dialects.
class OtherPlan {
public:
  explicit OtherPlan(ModuleOp module)
      : module(module), context(module.getContext()->getDialectRegistry()),
        handler(sources, &context) {}

  FailureOr<Report> collect(StringRef path, StringRef machineName,
                            const ReportSettings &settings);

private:
  ModuleOp module;
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  OwningOpRef<ModuleOp> other;
};

struct CostReportPass : tp::impl::CostReportBase<CostReportPass> {
  using CostReportBase::CostReportBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  ReportSettings getSettings() const;
  LogicalResult run(ModuleOp module);
  std::string print(const Report &report, const Report *other) const;
};

} // namespace

FailureOr<Report> OtherPlan::collect(StringRef path, StringRef machineName,
                                     const ReportSettings &settings) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
  if (!file)
    return module.emitError() << "cannot compare: " << error;
  sources.AddNewSourceBuffer(std::move(file), SMLoc());
  if (succeeded(checkSourceText(sources)))
    other = parseSourceFile<ModuleOp>(sources, &context);
  if (other) {
    FailureOr<Machine> machine = loadMachine(*other, machineName);
    FailureOr<Report> report = failure();
    if (succeeded(machine))
      report = collectReport(*other, *machine, settings);
    if (succeeded(report))
      return report;
  }
  return module.emitError()
         << "cannot compare: there is no report of '" << path << "'";
}

ReportSettings CostReportPass::getSettings() const {
  ReportSettings settings;
  settings.optimizer = optimizer;
  settings.gradientType = gradientType;
  settings.zero = zero;
  settings.dataAxes = dataAxes;
  settings.recompute = recompute;
  settings.flops = flops;
  // They take longer than all other figures.
  bool isLeftOut = alternatives == "auto" && format != "html";
  settings.alternatives = isLeftOut ? "off" : alternatives.getValue();
  return settings;
}

std::string CostReportPass::print(const Report &report,
                                  const Report *other) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (format == "html")
    printHTML(report, other, os);
  else if (format == "json")
    other ? printComparisonJSON(report, *other, os) : printJSON(report, os);
  else
    other ? printComparison(report, *other, os) : printText(report, os);
  return text;
}

LogicalResult CostReportPass::run(ModuleOp module) {
  if (failed(checkReportFormat(module, getArgument(), format,
                               {"text", "json", "html"})))
    return failure();
  FailureOr<Machine> loaded = loadMachine(module, machine);
  if (failed(loaded))
    return failure();
  FailureOr<Report> report = collectReport(module, *loaded, getSettings());
  if (failed(report))
    return failure();
  if (compare.empty())
    return writeReport(module, output, print(*report, nullptr));
  OtherPlan plan(module);
  ReportSettings settings = getSettings();
  settings.alternatives = "off";
  FailureOr<Report> other = plan.collect(compare, machine, settings);
  if (failed(other))
    return failure();
  return writeReport(module, output, print(*report, &*other));
}
