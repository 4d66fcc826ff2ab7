// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Layouts that the source gives, and why no plan has one of them.

#include "tp/IR/LocalShape.h"
#include "tp/Plan/Builder.h"

using namespace mlir;
using namespace tp;

bool ProblemBuilder::breaksPins(unsigned value, unsigned layout) const {
  return llvm::any_of(pinned[value],
                      [&](unsigned pin) { return pin != layout; });
}

static InFlightDiagnostic emitPinError(const GraphValue &value,
                                       const SourcePin &pin) {
  return mlir::emitError(pin.location)
         << "'" << value.name << "' of shape [" << value.type.getShape()
         << "] is pinned as " << pin.sharding << ": ";
}

/// Layouts that no program has, whatever the planner is asked for.
LogicalResult ProblemBuilder::checkPin(unsigned value, const SourcePin &pin,
                                       const Layout &layout) const {
  const GraphValue &info = graph.values[value];
  auto suggest = [&](const Layout &other) {
    return toAttr(other, model.getMesh(), pin.sharding.getMesh());
  };
  for (auto [dim, split] : llvm::enumerate(layout.dims)) {
    if (info.type.getDimSize(dim) != 1 || numRanks(split.parts) == 1)
      continue;
    Layout other = layout;
    other.dims[dim] = {};
    InFlightDiagnostic error = emitPinError(info, pin);
    error << "dimension " << dim
          << " has one element, which cannot be split over "
          << toString(split.parts, model.getMesh());
    error.attachNote() << "fix: pin that dimension whole: " << suggest(other);
    return error;
  }
  if (graph.nodes[info.producer].kind != GraphNode::Home ||
      layout.unreduced.empty())
    return success();
  Layout other = layout;
  other.unreduced.clear();
  InFlightDiagnostic error = emitPinError(info, pin);
  error << "an argument may not come in partial, here unreduced over "
        << toString(layout.unreduced, model.getMesh())
        << ": nothing in the program makes its " << numRanks(layout.unreduced)
        << " summands";
  error.attachNote() << "fix: pin it finished: " << suggest(other);
  return error;
}

/// Whether the planner cuts the axis where the part begins and ends.
static bool isCutThere(const AxisPart &part, const AxisParts &parts) {
  bool begins = false, ends = false;
  for (const AxisPart &own : parts) {
    begins |= own.axis == part.axis && own.pre == part.pre;
    ends |= own.axis == part.axis && own.pre * own.size == part.pre * part.size;
  }
  return begins && ends;
}

/// Why the value's space has no such layout.
LogicalResult ProblemBuilder::diagnosePin(unsigned value, const SourcePin &pin,
                                          const Layout &layout) const {
  const GraphValue &info = graph.values[value];
  MeshAttr mesh = model.getMesh();
  InFlightDiagnostic error = emitPinError(info, pin);
  for (auto [dim, split] : llvm::enumerate(layout.dims)) {
    int64_t size = info.type.getDimSize(dim);
    if (uneven == Uneven::Refuse && !isEven(size, split))
      return error << "shards must be even unless uneven=allow, and "
                   << size / split.unit << (split.unit == 1 ? "" : " units")
                   << " of dimension " << dim << " cannot be dealt evenly to "
                   << numRanks(split.parts) << " ranks";
    for (const AxisPart &part : split.parts) {
      bool isData =
          llvm::any_of(llvm::zip_equal(axes.parts, axes.isData), [&](auto own) {
            return std::get<1>(own) && std::get<0>(own).axis == part.axis;
          });
      if (isData && dim != 0 && !info.isParameter)
        return error << "data axis " << toString({part}, mesh)
                     << " splits dimension 0 of an activation, not dimension "
                     << dim;
      if (!isCutThere(part, axes.parts))
        return error << "the plan is over " << toString(axes.parts, mesh)
                     << ", which cannot be joined to "
                     << toString({part}, mesh);
    }
  }
  for (const AxisPart &part : layout.unreduced)
    if (!isCutThere(part, axes.parts))
      return error << "the plan is over " << toString(axes.parts, mesh)
                   << ", which cannot be joined to " << toString({part}, mesh);
  if (!layout.unreduced.empty() && layout.kind == ReductionKind::Max)
    return error << "no operation leaves a maximum unfinished here";
  for (auto [dim, split] : llvm::enumerate(layout.dims))
    if (split.unit != 1)
      return error << "no operation deals dimension " << dim << " in units of "
                   << split.unit;
  return error << "no operation makes or takes this layout";
}

LogicalResult ProblemBuilder::findPins() {
  pinned.resize(graph.values.size());
  for (auto [number, value] : llvm::enumerate(graph.values)) {
    for (const SourcePin &pin : value.pins) {
      auto error = [&] { return mlir::emitError(pin.location); };
      FailureOr<Layout> layout = resolve(pin.sharding, model.getMesh(), error);
      if (failed(layout) || failed(checkPin(number, pin, *layout)))
        return failure();
      std::optional<unsigned> index = spaceOf[number]->find(*layout);
      if (!index)
        return diagnosePin(number, pin, *layout);
      pinned[number].push_back(*index);
    }
  }
  return success();
}
