// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-plan.

#include "MeshSearch.h"
#include "Record.h"
#include "tp/IR/DecomposeCrossEntropy.h"
#include "tp/Passes.h"
#include "tp/Plan/Planner.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PLAN
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

struct PlanPass : tp::impl::PlanBase<PlanPass> {
  using PlanBase::PlanBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    decomposeCrossEntropy(module);
    PlanSettings settings{mesh,        machine,          sequenceParallel,
                          weights,     modelAxes,        uneven,
                          memoryLimit, bytesPerParameter};
    if (ranks.getNumOccurrences() > 0) {
      FailureOr<std::string> found = searchMesh(module, settings, ranks);
      if (failed(found))
        return signalPassFailure();
      settings.mesh = *found;
    }
    auto planner = Planner::create(module, settings);
    if (failed(planner))
      return signalPassFailure();
    FailureOr<Solution> solution = (*planner)->solve();
    if (failed(solution))
      return signalPassFailure();
    recordPlan(module, settings, **planner, *solution);
    if (failed((*planner)->write(*solution)))
      signalPassFailure();
  }
};

} // namespace
