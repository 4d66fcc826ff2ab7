// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MeshSearch.h"
#include "tp/Cost/CostModel.h"
#include "tp/Plan/Figures.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

std::vector<std::string> tp::listMeshes(int64_t ranks) {
  SmallVector<int64_t> divisors;
  for (int64_t size = 1; size <= ranks; ++size)
    if (ranks % size == 0)
      divisors.push_back(size);
  std::vector<std::string> meshes;
  auto add = [&](const char *pattern, int64_t outer, int64_t inner) {
    meshes.push_back(llvm::formatv(pattern, outer, inner));
  };
  for (int64_t size : llvm::reverse(divisors))
    add("tp={0}", size, 1);
  if (ranks > 1)
    add("dp={0}", ranks, 1);
  for (int64_t outer : divisors) {
    int64_t inner = ranks / outer;
    if (outer == 1 || inner == 1)
      continue;
    add("dp={0},tp={1}", outer, inner);
    add("tp={0},dp={1}", outer, inner);
    add("tp={0},tp2={1}", outer, inner);
  }
  return meshes;
}

namespace {

/// A mesh and how it fares.
struct Candidate {
  std::string mesh;
  /// In the list; it breaks ties.
  size_t place = 0;
  /// Why it is out; empty if it is not.
  std::string reason;
  /// Whether the planner found the reason.
  bool isRefused = false;
  uint64_t time = 0;
  PlanFigures figures;
  /// The links that its axes run over.
  std::string links;
};

} // namespace

/// "dp over infiniband, tp over nvlink".
static std::string describeLinks(const Planner &planner) {
  std::string text;
  for (auto [index, axis] : llvm::enumerate(planner.getMesh().getAxes())) {
    if (axis.getSize() == 1)
      continue;
    AxisPart whole{static_cast<unsigned>(index), 1, axis.getSize()};
    text +=
        llvm::formatv("{0}{1} over {2}", text.empty() ? "" : ", ",
                      axis.getName(), planner.getModel().getLink({whole}).name);
  }
  return text;
}

static Candidate tryMesh(ModuleOp module, PlanSettings settings,
                         const std::string &mesh) {
  Candidate candidate;
  candidate.mesh = settings.mesh = mesh;
  OwningOpRef<ModuleOp> copy(module.clone());
  ScopedDiagnosticHandler keepFirst(module.getContext(), [&](Diagnostic &diag) {
    bool isError = diag.getSeverity() == DiagnosticSeverity::Error;
    if (isError && candidate.reason.empty()) {
      candidate.reason = diag.str();
      candidate.isRefused = true;
    }
    return success();
  });
  FailureOr<std::unique_ptr<Planner>> planner =
      Planner::create(*copy, settings);
  if (failed(planner))
    return candidate;
  FailureOr<Solution> solution = (*planner)->solve();
  if (failed(solution))
    return candidate;
  candidate.time = solution->cost.getTime();
  candidate.figures = (*planner)->getFigures(*solution);
  candidate.links = describeLinks(**planner);
  const Machine &machine = (*planner)->getModel().getMachine();
  double held = candidate.figures.parameterBytes;
  if (held > static_cast<double>(machine.memoryBytes))
    candidate.reason = llvm::formatv(
        "{0} of parameters a rank do not fit the {1} of {2}", toBytes(held),
        toBytes(static_cast<double>(machine.memoryBytes)), machine.name);
  return candidate;
}

static void listCandidates(ArrayRef<Candidate> candidates, Diagnostic &diag) {
  for (const Candidate &candidate : candidates) {
    Diagnostic &note = diag.attachNote();
    note << candidate.mesh << ": ";
    if (!candidate.reason.empty()) {
      note << "no: " << candidate.reason;
      continue;
    }
    note << toMicroseconds(candidate.figures.seconds) << " a step, "
         << toBytes(candidate.figures.sentBytes) << " sent and "
         << toBytes(candidate.figures.parameterBytes)
         << " of parameters a rank";
    if (!candidate.links.empty())
      note << "; " << candidate.links;
  }
}

/// What keeps a module or settings from a search.
static LogicalResult checkSearch(ModuleOp module, const PlanSettings &settings,
                                 int64_t ranks) {
  Location loc = module.getLoc();
  if (ranks < 1 || ranks > maxSearchedRanks)
    return emitError(loc) << "ranks=" << ranks << " must be between 1 and "
                          << maxSearchedRanks;
  if (!settings.mesh.empty())
    return emitError(loc) << "mesh=" << settings.mesh << " and ranks=" << ranks
                          << " exclude each other: ranks= chooses the mesh";
  if (!settings.modelAxes.empty())
    return emitError(loc) << "model-axes=" << settings.modelAxes
                          << " names axes that ranks=" << ranks
                          << " is still to choose";
  for (auto mesh : module.getOps<MeshOp>())
    return emitError(mesh.getLoc())
           << "the module has a mesh, " << mesh.getMesh()
           << ", so that ranks=" << ranks << " has none to choose";
  return success();
}

/// What is wrong on every mesh is wrong with the program or the settings: it is
/// diagnosed once, at its place.
static bool isDiagnosedAlone(ModuleOp module, PlanSettings settings,
                             ArrayRef<Candidate> candidates) {
  const Candidate &first = candidates.front();
  bool isSame = llvm::all_of(candidates, [&](const Candidate &candidate) {
    return candidate.isRefused && candidate.reason == first.reason;
  });
  if (!isSame)
    return false;
  settings.mesh = first.mesh;
  OwningOpRef<ModuleOp> copy(module.clone());
  FailureOr<std::unique_ptr<Planner>> planner =
      Planner::create(*copy, settings);
  return failed(planner) || failed((*planner)->solve());
}

FailureOr<std::string>
tp::searchMesh(ModuleOp module, const PlanSettings &settings, int64_t ranks) {
  if (failed(checkSearch(module, settings, ranks)))
    return failure();
  std::vector<Candidate> candidates;
  for (const std::string &mesh : listMeshes(ranks)) {
    candidates.push_back(tryMesh(module, settings, mesh));
    candidates.back().place = candidates.size();
  }
  if (isDiagnosedAlone(module, settings, candidates))
    return failure();
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::make_tuple(!a.reason.empty(), a.time, a.place) <
           std::make_tuple(!b.reason.empty(), b.time, b.place);
  });
  const Candidate &best = candidates.front();
  bool isFound = best.reason.empty();
  InFlightDiagnostic diag =
      isFound ? emitRemark(module.getLoc()) : emitError(module.getLoc());
  if (isFound)
    diag << "mesh " << best.mesh << " is the fastest of " << candidates.size()
         << " for " << ranks << " ranks of " << settings.machine;
  else
    diag << "none of " << candidates.size() << " meshes of " << ranks
         << " ranks of " << settings.machine << " has a plan";
  listCandidates(candidates, *diag.getUnderlyingDiagnostic());
  if (!isFound)
    return failure();
  return best.mesh;
}
