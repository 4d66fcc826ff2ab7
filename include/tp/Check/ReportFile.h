// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Where the passes that report write to.

#ifndef TP_CHECK_REPORTFILE_H
#define TP_CHECK_REPORTFILE_H

#include "mlir/IR/BuiltinOps.h"

namespace tp {

/// Writes `text` to `path`; to standard error if the path is empty, to standard
/// output if it is -. A failure is an error of `module`.
mlir::LogicalResult writeReport(mlir::ModuleOp module, llvm::StringRef path,
                                llvm::StringRef text);

/// Refuses a `format` that is not among `formats` for the pass called `flag`.
mlir::LogicalResult
checkReportFormat(mlir::ModuleOp module, llvm::StringRef flag,
                  llvm::StringRef format,
                  llvm::ArrayRef<llvm::StringRef> formats = {"text", "json"});

} // namespace tp

#endif // TP_CHECK_REPORTFILE_H
