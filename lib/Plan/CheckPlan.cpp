// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-check-plan: the price and the bound of a plan, worked out again.

#include "tp/Check/ReportFile.h"
#include "tp/Passes.h"
#include "tp/Plan/ReadPlan.h"
#include "tp/Plan/Record.h"
#include "tp/Solver/CertificateNumbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_CHECKPLAN
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Checks one planned module.
class PlanChecker {
public:
  explicit PlanChecker(ModuleOp module) : module(module) {}

  LogicalResult run();
  void print(llvm::raw_ostream &os) const;

private:
  LogicalResult readPlan();
  LogicalResult readCertificate();
  LogicalResult checkMemory();
  LogicalResult prove();
  LogicalResult compare(StringRef entry, Price price, StringRef what,
                        bool mayBeLess);

  ModuleOp module;
  OwningOpRef<ModuleOp> opened;
  std::unique_ptr<Planner> planner;
  std::vector<unsigned> choices;
  PlanProof proof;
  bool isFoundAgain = false;
  Price cost, bound;
};

} // namespace

LogicalResult PlanChecker::readPlan() {
  std::optional<PlanSettings> settings = readSettings(module);
  if (!settings)
    return module.emitError()
           << "carries no plan; run tp-plan before tp-check-plan";
  opened = reopen(module);
  FailureOr<std::unique_ptr<Planner>> made =
      Planner::create(*opened, *settings);
  if (failed(made))
    return failure();
  planner = std::move(*made);
  FailureOr<Solution> read = readSolution(module, *opened, *planner);
  if (failed(read))
    return failure();
  choices = std::move(read->choices);
  cost = read->cost;
  return success();
}

/// The certificate in the module or, without one, that of another solution: it
/// need not be trusted, so it does not matter where it comes from.
LogicalResult PlanChecker::readCertificate() {
  auto numbers = module->getAttrOfType<DenseI64ArrayAttr>(certificateAttrName);
  if (!numbers) {
    FailureOr<Solution> solution = planner->solve();
    if (failed(solution))
      return failure();
    proof = {std::move(solution->certificate),
             std::move(solution->memoryCertificate)};
    isFoundAgain = true;
    return success();
  }
  llvm::Expected<PlanProof> read = fromNumbers(numbers.asArrayRef());
  if (!read)
    return module.emitError()
           << certificateAttrName << ": " << llvm::toString(read.takeError());
  proof = std::move(*read);
  return success();
}

LogicalResult PlanChecker::checkMemory() {
  const Problem &problem = planner->getProblem();
  if (!problem.memoryLimit)
    return success();
  uint64_t bytes = problem.memoryOf(choices).getTotal();
  if (bytes <= *problem.memoryLimit)
    return success();
  return module.emitError()
         << "holds a plan that takes " << bytes
         << " bytes a rank, but the limit is " << *problem.memoryLimit;
}

LogicalResult PlanChecker::prove() {
  const Problem &problem = planner->getProblem();
  llvm::Expected<Price> proven =
      proof.withinMemory
          ? checkMemoryCertificate(problem, cost, *proof.withinMemory)
          : checkCertificate(problem, cost, proof.certificate);
  if (!proven)
    return module.emitError() << "the certificate proves nothing: "
                              << llvm::toString(proven.takeError());
  bound = *proven;
  return success();
}

/// What the module says of its plan must be so.
LogicalResult PlanChecker::compare(StringRef entry, Price price, StringRef what,
                                   bool mayBeLess) {
  auto plan = module->getAttrOfType<DictionaryAttr>(planAttrName);
  auto said = plan.getAs<IntegerAttr>(entry);
  if (!said)
    return module.emitError()
           << "its " << planAttrName << " says nothing of " << entry;
  auto picoseconds = static_cast<int64_t>(price.getTime() / 16);
  if (said.getInt() == picoseconds ||
      (mayBeLess && said.getInt() < picoseconds))
    return success();
  InFlightDiagnostic diag = module.emitError()
                            << "its " << planAttrName << " says " << entry
                            << " = " << said.getInt() << ", but " << what
                            << " is " << picoseconds << " ps";
  diag.attachNote() << "fix: plan again with tp-plan; types, settings or "
                       "numbers were changed after it";
  return diag;
}

LogicalResult PlanChecker::run() {
  if (failed(readPlan()) || failed(checkMemory()) ||
      failed(readCertificate()) || failed(prove()))
    return failure();
  bool good = succeeded(compare("picoseconds", cost, "the price of its types",
                                /*mayBeLess=*/false));
  // Within a memory limit that binds the planner has searched what lies between
  // the bound and the plan, of which there is no proof.
  Price most = proof.withinMemory ? cost : bound;
  good &= succeeded(compare("lower_bound", most, "the bound that is proven",
                            /*mayBeLess=*/true));
  return success(good);
}

void PlanChecker::print(llvm::raw_ostream &os) const {
  auto us = [](double seconds) {
    return llvm::formatv("{0:f3} us", seconds * 1e6);
  };
  os << "plan: " << us(cost.seconds()) << " a step, by its types\n"
     << "bound: " << us(bound.seconds()) << ", proven by a certificate of "
     << proof.getSize() << " bytes "
     << (isFoundAgain ? "that was found again\n" : "in the module\n");
  double gap = cost.seconds() - bound.seconds();
  if (cost == bound) {
    os << "gap: 0, no plan is cheaper\n";
    return;
  }
  os << llvm::formatv("gap: {0:f6} us, {1:f6} % of the plan; a cheaper one "
                      "may exist\n",
                      gap * 1e6, 100 * gap / cost.seconds());
  if (proof.withinMemory)
    os << "between them tp-plan has searched; of that there is no proof\n";
}

namespace {

struct CheckPlanPass : tp::impl::CheckPlanBase<CheckPlanPass> {
  using CheckPlanBase::CheckPlanBase;

  void runOnOperation() final {
    PlanChecker checker(getOperation());
    if (failed(checker.run()))
      return signalPassFailure();
    markAllAnalysesPreserved();
    std::string text;
    llvm::raw_string_ostream os(text);
    checker.print(os);
    if (failed(writeReport(getOperation(), output, text)))
      signalPassFailure();
  }
};

} // namespace
