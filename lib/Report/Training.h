// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REPORT_TRAINING_H
#define TP_REPORT_TRAINING_H

#include "tp/Report/Report.h"

namespace tp {

/// Reads `flops`; diagnoses what is no convention.
mlir::FailureOr<FlopConvention> readConvention(mlir::ModuleOp module,
                                               const ReportSettings &settings);

/// Reads the settings of a training; diagnoses those that are unknown, that
/// have no effect, or name no axis of `mesh`, which is null for a program
/// without tensors.
mlir::FailureOr<TrainingSettings> readTraining(mlir::ModuleOp module,
                                               MeshAttr mesh,
                                               const ReportSettings &settings);

} // namespace tp

#endif // TP_REPORT_TRAINING_H
