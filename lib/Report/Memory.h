// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The ledger of a rank's memory.

#ifndef TP_REPORT_MEMORY_H
#define TP_REPORT_MEMORY_H

#include "Step.h"
#include "tp/Report/Report.h"

namespace tp {

/// What a rank with the largest shards holds during `step`. Diagnoses what does
/// not fit 63 bits.
mlir::FailureOr<MemoryFigures> collectMemory(const Step &step, MeshAttr mesh,
                                             const TrainingSettings &training);

} // namespace tp

#endif // TP_REPORT_MEMORY_H
