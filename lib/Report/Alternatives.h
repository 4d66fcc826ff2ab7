// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REPORT_ALTERNATIVES_H
#define TP_REPORT_ALTERNATIVES_H

#include "tp/Report/Report.h"

namespace tp {

/// What `alternatives` asks for; `mesh` may be null. Diagnoses another word
/// and, with `on`, a program without alternatives.
mlir::FailureOr<AlternativeFigures>
collectAlternatives(mlir::ModuleOp module, MeshAttr mesh,
                    const ReportSettings &settings);

} // namespace tp

#endif // TP_REPORT_ALTERNATIVES_H
