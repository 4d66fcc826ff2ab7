// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Alternatives.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tp;

/// Names come from outside.
static Alternatives withUTF8(Alternatives found) {
  found.machine = llvm::json::fixUTF8(found.machine);
  for (WeightAlternative &weight : found.weights) {
    weight.name = llvm::json::fixUTF8(weight.name);
    weight.layout = llvm::json::fixUTF8(weight.layout);
    weight.otherLayout = llvm::json::fixUTF8(weight.otherLayout);
  }
  for (ConstraintAlternative &constraint : found.constraints) {
    constraint.given = llvm::json::fixUTF8(constraint.given);
    constraint.instead = llvm::json::fixUTF8(constraint.instead);
  }
  return found;
}

/// Why planning again is left to who asks for it: with each axis a weight has
/// more layouts to be tried, and a plan takes longer.
static std::string findHindrance(MeshAttr mesh) {
  auto axes =
      llvm::count_if(mesh ? mesh.getAxes() : ArrayRef<MeshAxisAttr>(),
                     [](MeshAxisAttr axis) { return axis.getSize() > 1; });
  if (axes <= 2)
    return "";
  return llvm::formatv("planning again on {0} axes may take a minute; "
                       "alternatives=on does it",
                       axes);
}

FailureOr<AlternativeFigures>
tp::collectAlternatives(ModuleOp module, MeshAttr mesh,
                        const ReportSettings &settings) {
  StringRef asked = settings.alternatives;
  if (asked != "auto" && asked != "on" && asked != "off")
    return module.emitError()
           << "alternatives='" << asked << "' must be auto, on or off";
  AlternativeFigures figures;
  bool isAuto = asked == "auto";
  if (asked == "off" || (isAuto && !module->hasAttr(planAttrName)))
    return figures;
  if (isAuto)
    figures.missing = findHindrance(mesh);
  if (!figures.missing.empty())
    return figures;
  // Where nobody asked for them, what is wrong with the plan is no error of the
  // report.
  std::optional<ScopedDiagnosticHandler> quiet;
  if (isAuto)
    quiet.emplace(module.getContext(), [&](Diagnostic &diag) {
      if (figures.missing.empty())
        figures.missing = llvm::json::fixUTF8(diag.str());
      return success();
    });
  FailureOr<Alternatives> found = findAlternatives(module);
  if (succeeded(found)) {
    figures.found = withUTF8(std::move(*found));
    figures.missing.clear();
  } else if (!isAuto) {
    return failure();
  }
  return figures;
}
