// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which mesh a number of ranks should be.

#ifndef TP_PLAN_MESHSEARCH_H
#define TP_PLAN_MESHSEARCH_H

#include "tp/Plan/Planner.h"

namespace tp {

/// The most ranks that a mesh is searched for.
inline constexpr int64_t maxSearchedRanks = 1 << 16;

/// Every mesh of `ranks` ranks with a data axis and a model axis, either of
/// them inside (ranks that are neighbours), with one of them alone, or with two
/// model axes; and model axes of fewer ranks that divide them, the others idle.
/// As `dp=2,tp=8`, fewest axes first.
std::vector<std::string> listMeshes(int64_t ranks);

/// Plans `module` on each of them and returns the one of the fastest plan whose
/// parameters the machine holds; of equally fast ones that of the fewest axes.
/// All are listed in a remark, what excludes one with it. Diagnoses a module
/// that has a mesh, and that no mesh serves.
mlir::FailureOr<std::string>
searchMesh(mlir::ModuleOp module, const PlanSettings &settings, int64_t ranks);

} // namespace tp

#endif // TP_PLAN_MESHSEARCH_H
