// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-plan.

#include "MeshSearch.h"
#include "PlanWarnings.h"
#include "tp/IR/DecomposeCrossEntropy.h"
#include "tp/Passes.h"
#include "tp/Plan/Planner.h"
#include "tp/Plan/Record.h"

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
    PlanSettings settings{mesh,        machine,           sequenceParallel,
                          weights,     modelAxes,         uneven,
                          memoryLimit, bytesPerParameter, memorySearch};
    if (ranks.getNumOccurrences() > 0) {
      FailureOr<std::string> found = searchMesh(module, settings, ranks);
      if (failed(found))
        return signalPassFailure();
      settings.mesh = *found;
    }
    auto planner = Planner::create(module, settings);
    if (failed(planner))
      return signalPassFailure();
    FailureOr<Solution> solution = choosePlan(**planner);
    if (failed(solution))
      return signalPassFailure();
    warnOfIdleAxes(module, **planner, *solution);
    remarkOnGap(module, settings, *solution);
    warnOfFusedWeights(module, **planner, *solution);
    warnOfUnsplitWeights(**planner, *solution);
    warnOfVocabularies(**planner);
    recordPlan(module, settings, **planner, *solution);
    if (certificate)
      recordCertificate(module, *solution);
    if (failed((*planner)->write(*solution)))
      signalPassFailure();
  }

private:
  FailureOr<Solution> choosePlan(Planner &planner) {
    int64_t wanted = nth;
    if (wanted == 1)
      return planner.solve();
    constexpr int64_t most = 1000;
    if (wanted < 1 || wanted > most)
      return getOperation().emitError()
             << "nth=" << wanted << " must be from 1 to " << most;
    FailureOr<std::vector<Solution>> plans = planner.solveBest(wanted);
    if (failed(plans))
      return failure();
    if (plans->size() < static_cast<size_t>(wanted))
      return getOperation().emitError()
             << "nth=" << wanted << ", but there are only " << plans->size()
             << " plans under these settings";
    return std::move(plans->back());
  }
};

} // namespace
