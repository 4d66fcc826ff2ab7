// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REPORT_LAYERGRAPH_H
#define TP_REPORT_LAYERGRAPH_H

#include "Step.h"
#include "tp/Report/Report.h"

namespace tp {

/// The function that the timeline shows: what the second call of the entry
/// runs, or the first, or the entry.
LayerGraph drawLayer(const Step &step,
                     const llvm::DenseMap<mlir::Operation *, Cost> &costs);

} // namespace tp

#endif // TP_REPORT_LAYERGRAPH_H
