// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REPORT_ALTERNATIVES_H
#define TP_REPORT_ALTERNATIVES_H

#include "tp/Report/Report.h"

namespace tp {

/// What `alternatives` asks for; diagnoses another word and, with `on`, a
/// program without alternatives.
mlir::FailureOr<AlternativeFigures>
collectAlternatives(mlir::ModuleOp module, const ReportSettings &settings);

} // namespace tp

#endif // TP_REPORT_ALTERNATIVES_H
