// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-explain: the reason of a plan, by what the alternatives cost.

#include "Record.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/ReportFile.h"
#include "tp/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_EXPLAIN
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Parameters that the same argument of a function stands for: one decision.
struct ParameterGroup {
  std::string name;
  std::vector<ParameterChoice> members;
};

class Explainer {
public:
  Explainer(ModuleOp module, PlanSettings settings, llvm::raw_ostream &os)
      : module(module), settings(std::move(settings)), os(os) {}

  LogicalResult run();

private:
  FailureOr<std::unique_ptr<Planner>> plan(bool withPins, StringRef sequence,
                                           PlanFigures *figures,
                                           Solution *solution);
  void printFigures(const PlanFigures &figures);
  void printParameter(Planner &planner, const ParameterGroup &group,
                      const PlanFigures &best);
  void comparePins(const PlanFigures &best);
  void compareSequence(const PlanFigures &best);

  ModuleOp module;
  PlanSettings settings;
  llvm::raw_ostream &os;
  /// The reopened modules must outlive their planners.
  std::vector<OwningOpRef<ModuleOp>> modules;
};

} // namespace

static std::string microseconds(double seconds) {
  return llvm::formatv("{0:f3} us", seconds * 1e6);
}

static std::string bytes(double count) {
  return llvm::formatv("{0:N} bytes", static_cast<int64_t>(count));
}

/// "model.layers.7.mlp.up_proj.weight" and its like in other layers are one
/// decision: numbers between dots become *.
static std::string withoutNumbers(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  std::string text;
  llvm::ListSeparator dot(".");
  for (StringRef part : parts) {
    bool isNumber = !part.empty() && llvm::all_of(part, llvm::isDigit);
    text += StringRef(dot).str() + (isNumber ? "*" : part.str());
  }
  return text;
}

static std::vector<ParameterGroup>
groupParameters(std::vector<ParameterChoice> parameters) {
  llvm::StringMap<size_t> numberOf;
  std::vector<ParameterGroup> groups;
  for (ParameterChoice &parameter : parameters) {
    std::string name = withoutNumbers(parameter.name);
    auto [entry, isNew] = numberOf.try_emplace(name, groups.size());
    if (isNew)
      groups.push_back({name, {}});
    groups[entry->second].members.push_back(std::move(parameter));
  }
  return groups;
}

/// "split along dimension 0 of 4096 over "tp" (512 each)", or "whole".
static std::string describe(ArrayRef<int64_t> shape, const Layout &layout,
                            MeshAttr mesh) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(layout.dims)) {
    if (numRanks(dim.parts) == 1)
      continue;
    DimLayout split = dim.canonical(shape[index]);
    text += llvm::formatv("{0}dimension {1} of {2} over {3}, {4}{5} a rank",
                          text.empty() ? "" : "; ", index, shape[index],
                          toString(split.parts, mesh),
                          isEven(shape[index], split) ? "" : "at most ",
                          getLargestShard(shape[index], split));
  }
  return text.empty() ? "whole" : text;
}

void Explainer::printFigures(const PlanFigures &figures) {
  os << "  " << microseconds(figures.seconds) << " a step, "
     << bytes(figures.sentBytes) << " sent a rank";
  for (auto &[name, count] : figures.collectives)
    os << ", " << count << " " << name;
  os << "\n";
}

FailureOr<std::unique_ptr<Planner>> Explainer::plan(bool withPins,
                                                    StringRef sequence,
                                                    PlanFigures *figures,
                                                    Solution *solution) {
  modules.push_back(reopen(module));
  ModuleOp copy = *modules.back();
  if (!withPins) {
    copy.walk([](Operation *op) { op->removeAttr(pinnedAttrName); });
    for (auto function : copy.getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, pinnedAttrName);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(
            i, StringAttr::get(copy.getContext(), pinnedAttrName));
    }
    modules.push_back(reopen(copy));
    copy = *modules.back();
  }
  PlanSettings changed = settings;
  changed.sequenceParallel = sequence.str();
  // An alternative that cannot be planned is reported, not diagnosed.
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  auto planner = Planner::create(copy, changed);
  if (failed(planner))
    return failure();
  FailureOr<Solution> solved = (*planner)->solve({}, /*quiet=*/true);
  if (failed(solved))
    return failure();
  *figures = (*planner)->getFigures(*solved);
  if (solution)
    *solution = std::move(*solved);
  return planner;
}

/// What the next best layout of a weight costs: all its layers are moved at
/// once, as they are one decision.
void Explainer::printParameter(Planner &planner, const ParameterGroup &group,
                               const PlanFigures &best) {
  const ParameterChoice &first = group.members.front();
  ArrayRef<int64_t> shape = first.type.getShape();
  MeshAttr mesh = planner.getMesh();
  FailureOr<Layout> chosen =
      resolve(first.sharding, mesh, [&] { return module.emitError(); });
  os << group.name << " [";
  llvm::interleaveComma(shape, os);
  os << "]";
  if (group.members.size() > 1)
    os << " x " << group.members.size();
  os << "\n  " << describe(shape, *chosen, mesh) << "\n";
  std::optional<double> next;
  std::string nextText;
  for (const Layout &home : planner.getHomes(first.argument)) {
    if (home.means(*chosen, shape))
      continue;
    Changes changes;
    for (const ParameterChoice &member : group.members)
      changes.pins.push_back({member.argument, home});
    FailureOr<Solution> other = planner.solve(changes, /*quiet=*/true);
    if (failed(other))
      continue;
    PlanFigures figures = planner.getFigures(*other);
    if (next && *next <= figures.seconds)
      continue;
    next = figures.seconds;
    nextText = llvm::formatv(
        "{0}: {1} more a step, {2} sent", describe(shape, home, mesh),
        microseconds(figures.seconds - best.seconds), bytes(figures.sentBytes));
  }
  if (next)
    os << "  next best: " << nextText << "\n";
  else
    os << "  no other layout meets weights=" << settings.weights
       << " and the pins\n";
}

void Explainer::comparePins(const PlanFigures &best) {
  bool hasPins = false;
  module.walk([&](Operation *op) {
    hasPins |= op->hasAttr(pinnedAttrName);
    auto function = dyn_cast<func::FuncOp>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      hasPins |= !!function.getArgAttr(i, pinnedAttrName);
  });
  PlanFigures free;
  if (!hasPins)
    return;
  os << "without the pins\n";
  if (failed(plan(false, settings.sequenceParallel, &free, nullptr))) {
    os << "  no plan\n";
    return;
  }
  printFigures(free);
  os << llvm::formatv("  the pins cost {0} a step and {1}",
                      microseconds(best.seconds - free.seconds),
                      bytes(best.sentBytes - free.sentBytes));
  if (free.sentBytes > 0)
    os << llvm::formatv(", {0:f2} times the bytes",
                        best.sentBytes / free.sentBytes);
  os << "\n";
}

void Explainer::compareSequence(const PlanFigures &best) {
  bool hasStream = false;
  module.walk([&](Operation *op) { hasStream |= op->hasAttr(streamAttrName); });
  if (!hasStream)
    return;
  for (StringRef setting : {"off", "on", "auto"}) {
    if (setting == settings.sequenceParallel)
      continue;
    os << "with sequence-parallel=" << setting << "\n";
    PlanFigures figures;
    if (failed(plan(true, setting, &figures, nullptr))) {
      os << "  no plan: the sequence or another size does not divide\n";
      continue;
    }
    printFigures(figures);
    double difference = figures.seconds - best.seconds;
    if (difference == 0)
      os << "  as fast as the plan\n";
    else
      os << "  " << microseconds(std::abs(difference))
         << (difference > 0 ? " slower" : " faster") << " than the plan\n";
  }
}

LogicalResult Explainer::run() {
  PlanFigures best;
  Solution solution;
  auto planner = plan(true, settings.sequenceParallel, &best, &solution);
  if (failed(planner))
    return module.emitError() << "was planned, but not by this program: its "
                                 "recorded settings give no plan";
  os << "plan for " << (*planner)->getMesh() << ", machine " << settings.machine
     << ", weights=" << settings.weights
     << ", sequence-parallel=" << settings.sequenceParallel << ", model axes "
     << (*planner)->getModelAxes() << "\n";
  printFigures(best);
  os << llvm::formatv(
      "  {0} of parameters a rank; lower bound {1}, gap {2}\n",
      bytes(best.parameterBytes), microseconds(solution.lowerBound.seconds()),
      microseconds(solution.cost.seconds() - solution.lowerBound.seconds()));
  for (const ParameterGroup &group :
       groupParameters((*planner)->getParameters(solution)))
    printParameter(**planner, group, best);
  comparePins(best);
  compareSequence(best);
  return success();
}

namespace {

struct ExplainPass : tp::impl::ExplainBase<ExplainPass> {
  using ExplainBase::ExplainBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    std::optional<PlanSettings> settings = readSettings(module);
    if (!settings) {
      module.emitError() << "carries no plan; run tp-plan before tp-explain";
      return signalPassFailure();
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    if (failed(Explainer(module, *settings, os).run()))
      return signalPassFailure();
    markAllAnalysesPreserved();
    if (failed(writeReport(module, output, text)))
      signalPassFailure();
  }
};

} // namespace
