// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Over which parts of the mesh's axes a plan splits what.

#ifndef TP_PLAN_PLANAXES_H
#define TP_PLAN_PLANAXES_H

#include "tp/Weights/Degrees.h"

namespace tp {

/// The parts of the mesh's axes that strategies use, with their roles.
struct PlanAxes {
  AxisParts parts;
  /// Whether part i carries the batch instead of splitting the model.
  llvm::SmallVector<bool> isData;

  AxisParts modelParts() const;
};

/// The axes' parts: each model axis whole, or cut where there are fewer KV
/// groups or tiles of a weight than ranks and they divide the ranks, and where
/// pins cut it. Unless shards may be uneven,
/// diagnoses head counts that an axis does not fit, all of them, with the
/// degrees that do.
mlir::FailureOr<PlanAxes>
choosePlanAxes(const Graph &graph, const std::vector<HeadGrouping> &all,
               MeshAttr mesh, llvm::ArrayRef<bool> isData, Uneven uneven);

} // namespace tp

#endif // TP_PLAN_PLANAXES_H
