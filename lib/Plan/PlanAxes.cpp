// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/PlanAxes.h"
#include <set>

using namespace mlir;
using namespace tp;

AxisParts PlanAxes::modelParts() const {
  AxisParts model;
  for (auto [index, part] : llvm::enumerate(parts))
    if (!isData[index])
      model.push_back(part);
  return model;
}

/// Where pins cut axis number `axis`.
static void addPinned(const Graph &graph, MeshAttr mesh, unsigned axis,
                      SmallVectorImpl<int64_t> &borders) {
  // What does not resolve is diagnosed where pins are found.
  ScopedDiagnosticHandler quiet(mesh.getContext(),
                                [](Diagnostic &) { return success(); });
  for (const GraphValue &value : graph.values)
    for (const SourcePin &pin : value.pins) {
      FailureOr<Layout> layout = resolve(
          pin.sharding, mesh, [&] { return mlir::emitError(pin.location); });
      if (failed(layout))
        continue;
      for (const AxisPart &part : layout->getUsedParts())
        if (part.axis == axis)
          borders.append({part.pre, part.pre * part.size});
    }
}

FailureOr<PlanAxes> tp::choosePlanAxes(const Graph &graph,
                                       const std::vector<HeadGrouping> &all,
                                       MeshAttr mesh, ArrayRef<bool> isData,
                                       Uneven uneven) {
  PlanAxes axes;
  bool legal = true;
  SmallVector<int64_t> tiles = findDegreeLimits(graph).getTiles();
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes())) {
    int64_t ranks = axis.getSize();
    std::set<std::pair<int64_t, int64_t>> reported;
    for (const HeadGrouping &grouping : all) {
      if (isData[index] || uneven == Uneven::Allow ||
          isLegalDegree(grouping, ranks))
        continue;
      if (reported.insert({grouping.groups, grouping.inGroup}).second)
        diagnoseDegree(graph.nodes[grouping.node], grouping, axis);
      legal = false;
    }
    if (ranks == 1)
      continue;
    SmallVector<int64_t> borders = tiles;
    addPinned(graph, mesh, index, borders);
    int64_t pre = 1;
    auto cut = isData[index] ? SmallVector<int64_t>{ranks}
                             : cutDegree(all, borders, ranks);
    for (int64_t size : cut) {
      axes.parts.push_back({static_cast<unsigned>(index), pre, size});
      axes.isData.push_back(isData[index]);
      pre *= size;
    }
  }
  if (!legal)
    return failure();
  return axes;
}
