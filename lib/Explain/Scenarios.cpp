// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scenarios.h"
#include "tp/Plan/Record.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

//===- Figures in words ---------------------------------------------------===//

PlanFigures tp::subtract(PlanFigures other, const PlanFigures &than) {
  other.seconds -= than.seconds;
  other.sentBytes -= than.sentBytes;
  other.parameterBytes -= than.parameterBytes;
  for (auto &[name, count] : than.collectives)
    other.collectives[name] -= count;
  other.collectives.remove_if([](auto &entry) { return entry.second == 0; });
  // Equal sums of other terms: only roundings differ.
  if (std::abs(other.seconds) < leastDifference)
    other.seconds = 0;
  return other;
}

std::string tp::describeDifference(const PlanFigures &other,
                                   const PlanFigures &than) {
  PlanFigures more = subtract(other, than);
  std::string text = "as fast a step";
  if (more.seconds != 0)
    text = toMicroseconds(std::abs(more.seconds)) +
           (more.seconds > 0 ? " more a step" : " less a step");
  if (std::abs(more.sentBytes) >= 0.5)
    text += ", " + toBytes(std::abs(more.sentBytes)) +
            (more.sentBytes > 0 ? " more sent a rank" : " fewer sent a rank");
  for (auto &[name, count] : more.collectives)
    text += llvm::formatv(", {0} {1} {2}", std::abs(count),
                          count > 0 ? "more" : "fewer", name);
  if (more.parameterBytes != 0)
    text += ", " + toBytes(std::abs(more.parameterBytes)) +
            (more.parameterBytes > 0 ? " more" : " fewer") +
            " of parameters a rank";
  return text;
}

//===- Scenarios ----------------------------------------------------------===//

Scenario::Scenario(ModuleOp planned, const PlanSettings &settings)
    : module(reopen(planned)) {
  // An alternative that cannot be planned is reported, not diagnosed.
  ScopedDiagnosticHandler quiet(planned.getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<std::unique_ptr<Planner>> created =
      Planner::create(*module, settings);
  if (failed(created))
    return;
  planner = std::move(*created);
  best = solve({});
}

std::optional<Outcome> Scenario::solve(const Changes &changes) const {
  if (!planner)
    return std::nullopt;
  FailureOr<Solution> solution = planner->solve(changes, /*quiet=*/true);
  if (failed(solution))
    return std::nullopt;
  PlanFigures figures = planner->getFigures(*solution);
  return Outcome{std::move(*solution), std::move(figures)};
}

static bool hasPins(ModuleOp planned) {
  bool found = false;
  planned.walk([&](Operation *op) {
    found |= op->hasAttr(pinnedAttrName);
    auto function = dyn_cast<func::FuncOp>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      found |= !!function.getArgAttr(i, pinnedAttrName);
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      found |= !!function.getResultAttr(i, pinnedAttrName);
  });
  return found;
}

/// All axes of the module's mesh, if some of them carry the batch.
static std::string findAllAxes(ModuleOp planned, const PlanSettings &settings) {
  std::string all;
  bool hasData = false;
  SmallVector<StringRef> model;
  StringRef(settings.modelAxes).split(model, ',', -1, /*KeepEmpty=*/false);
  for (auto mesh : planned.getOps<MeshOp>())
    for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
      all += (all.empty() ? "" : ",") + axis.getName().str();
      hasData |=
          axis.getSize() > 1 && !llvm::is_contained(model, axis.getName());
    }
  return hasData ? all : "";
}

std::vector<Lifting> tp::liftConstraints(ModuleOp planned,
                                         const PlanSettings &settings) {
  std::vector<Lifting> liftings;
  auto add = [&](StringRef given, StringRef instead,
                 const PlanSettings &changed) {
    liftings.push_back(
        {given.str(), instead.str(), Scenario(planned, changed)});
  };
  PlanSettings changed = settings;
  changed.ignorePins = true;
  if (hasPins(planned))
    add("the pins", "no pins", changed);
  changed = settings;
  changed.sequenceParallel = "auto";
  if (settings.sequenceParallel != "auto")
    add("sequence-parallel=" + settings.sequenceParallel,
        "sequence-parallel=auto", changed);
  changed = settings;
  changed.weights = "stored";
  if (settings.weights == "stationary")
    add("weights=stationary", "weights=stored", changed);
  changed.weights = "free";
  if (settings.weights != "free")
    add("weights=" + settings.weights, "weights=free", changed);
  changed = settings;
  changed.modelAxes = findAllAxes(planned, settings);
  if (!changed.modelAxes.empty())
    add("the batch on the data axes", "model-axes=" + changed.modelAxes,
        changed);
  changed = settings;
  changed.uneven = "allow";
  if (settings.uneven == "refuse")
    add("even shards", "uneven=allow", changed);
  changed = settings;
  changed.memoryLimit.clear();
  changed.bytesPerParameter = 0;
  changed.memorySearch = PlanSettings().memorySearch;
  if (!settings.memoryLimit.empty())
    add("memory-limit=" + settings.memoryLimit, "no memory-limit", changed);
  return liftings;
}
