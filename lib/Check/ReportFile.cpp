// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Check/ReportFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

LogicalResult tp::writeReport(ModuleOp module, StringRef path, StringRef text) {
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

LogicalResult tp::checkReportFormat(ModuleOp module, StringRef flag,
                                    StringRef format,
                                    ArrayRef<StringRef> formats) {
  if (llvm::is_contained(formats, format))
    return success();
  InFlightDiagnostic diag = module.emitError() << flag << " knows no format '"
                                               << format << "'; use ";
  llvm::interleaveComma(formats.drop_back(), diag);
  return diag << " or " << formats.back();
}
