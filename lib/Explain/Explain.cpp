// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-explain: the reason of a plan, by what the alternatives cost.

#include "Explanation.h"
#include "tp/Check/ReportFile.h"
#include "tp/Passes.h"
#include "tp/Plan/Record.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_EXPLAIN
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

struct ExplainPass : tp::impl::ExplainBase<ExplainPass> {
  using ExplainBase::ExplainBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    std::optional<PlanSettings> settings = readSettings(module);
    if (!settings) {
      emitError(module.getLoc())
          << "carries no plan; run tp-plan before tp-explain";
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
    FailureOr<std::unique_ptr<Explanation>> explanation =
        Explanation::create(module, *settings);
    if (failed(explanation))
      return signalPassFailure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (failed(print(**explanation, os)))
      return signalPassFailure();
    if (failed(writeReport(module, output, text)))
      signalPassFailure();
  }

private:
  LogicalResult print(Explanation &explanation, llvm::raw_ostream &os) {
    explanation.printHead(os);
    if (!whyNot.empty())
      return explanation.printWhyNot(whyNot, os);
    explanation.printWeights(os);
    explanation.printCollectives(os);
    explanation.printConstraints(os);
    explanation.printPins(os);
    explanation.printSequence(os);
    return success();
  }
};

} // namespace
