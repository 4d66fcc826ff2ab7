// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/Sharding.h"
#include "mlir/IR/SymbolTable.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tp;

//===- Axes and their parts -----------------------------------------------===//

std::optional<int64_t> tp::numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    std::optional<int64_t> product = llvm::checkedMul(count, size);
    if (!product || size < 0)
      return std::nullopt;
    count = *product;
  }
  return count;
}

int64_t tp::numRanks(ArrayRef<AxisPart> parts) {
  int64_t ranks = 1;
  for (const AxisPart &part : parts)
    ranks *= part.size;
  return ranks;
}

static bool continues(const AxisPart &major, const AxisPart &minor) {
  return major.axis == minor.axis && major.pre * major.size == minor.pre;
}

AxisParts tp::joinParts(ArrayRef<AxisPart> parts, int64_t dimSize) {
  AxisParts joined;
  // Size of the pieces before the last part in `joined`; 0 once uneven.
  int64_t pieces = dimSize;
  for (const AxisPart &part : parts) {
    if (part.size == 1)
      continue;
    bool even = pieces > 0 && !joined.empty() &&
                pieces % (joined.back().size * part.size) == 0;
    if (even && continues(joined.back(), part)) {
      joined.back().size *= part.size;
      continue;
    }
    if (!joined.empty())
      pieces = pieces % joined.back().size ? 0 : pieces / joined.back().size;
    joined.push_back(part);
  }
  return joined;
}

AxisParts tp::normalizeSet(ArrayRef<AxisPart> parts) {
  AxisParts sorted(parts);
  llvm::sort(sorted);
  AxisParts joined;
  for (const AxisPart &part : sorted) {
    if (part.size == 1)
      continue;
    if (!joined.empty() && continues(joined.back(), part))
      joined.back().size *= part.size;
    else
      joined.push_back(part);
  }
  return joined;
}

/// `part` without `hole`: at most a major and a minor remainder. Parts whose
/// borders do not divide one another cannot be cut; the part is then dropped
/// whole, because some of it is gone.
static void subtractPart(AxisPart part, const AxisPart &hole,
                         AxisParts &remainder) {
  if (!part.overlaps(hole)) {
    remainder.push_back(part);
    return;
  }
  int64_t partEnd = part.pre * part.size, holeEnd = hole.pre * hole.size;
  if (hole.pre > part.pre && hole.pre % part.pre == 0)
    remainder.push_back({part.axis, part.pre, hole.pre / part.pre});
  if (holeEnd < partEnd && partEnd % holeEnd == 0)
    remainder.push_back({part.axis, holeEnd, partEnd / holeEnd});
}

AxisParts tp::subtractParts(ArrayRef<AxisPart> lhs, ArrayRef<AxisPart> rhs) {
  AxisParts current(lhs);
  for (const AxisPart &hole : rhs) {
    AxisParts next;
    for (const AxisPart &part : current)
      subtractPart(part, hole, next);
    current = std::move(next);
  }
  return current;
}

/// The one of `set` in which the most major digit of `part` lies, provided that
/// its borders and those of `part` divide one another; null if there is none.
static const AxisPart *findCover(ArrayRef<AxisPart> set, const AxisPart &part) {
  for (const AxisPart &known : set) {
    if (known.axis != part.axis || known.pre > part.pre)
      continue;
    int64_t end = known.pre * known.size, partEnd = part.pre * part.size;
    bool nested = part.pre % known.pre == 0 && end > part.pre &&
                  end % part.pre == 0 &&
                  (end >= partEnd ? end % partEnd : partEnd % end) == 0;
    if (nested)
      return &known;
  }
  return nullptr;
}

bool tp::containsParts(ArrayRef<AxisPart> set, ArrayRef<AxisPart> parts) {
  for (AxisPart part : parts) {
    while (part.size > 1) {
      const AxisPart *cover = findCover(set, part);
      if (!cover)
        return false;
      int64_t end = cover->pre * cover->size, partEnd = part.pre * part.size;
      part = {part.axis, end, end >= partEnd ? 1 : partEnd / end};
    }
  }
  return true;
}

//===- Layouts ------------------------------------------------------------===//

bool Layout::isWhole() const {
  return unreduced.empty() && llvm::all_of(dims, [](const DimLayout &dim) {
           return numRanks(dim.parts) == 1;
         });
}

Layout Layout::canonical(ArrayRef<int64_t> shape) const {
  Layout result = *this;
  for (auto [dim, size] : llvm::zip_equal(result.dims, shape)) {
    dim.parts = joinParts(dim.parts, size / dim.unit);
    // Where the shards are even anyway, dealing by unit changes nothing.
    if (size / dim.unit % numRanks(dim.parts) == 0)
      dim.unit = 1;
  }
  result.unreduced = normalizeSet(unreduced);
  if (result.unreduced.empty())
    result.kind = ReductionKind::Sum;
  return result;
}

bool Layout::means(const Layout &other, ArrayRef<int64_t> shape) const {
  return canonical(shape) == other.canonical(shape);
}

static FailureOr<AxisPart>
resolveAxis(AxisRefAttr ref, MeshAttr mesh,
            llvm::function_ref<InFlightDiagnostic()> emitError) {
  std::optional<unsigned> index = mesh.findAxis(ref.getName());
  if (!index) {
    InFlightDiagnostic diag = emitError();
    diag << "axis \"" << ref.getName() << "\" is not one of the mesh's axes";
    diag.attachNote() << "the mesh is " << mesh;
    return diag;
  }
  int64_t axisSize = mesh.getAxes()[*index].getSize();
  if (ref.isWhole())
    return AxisPart{*index, 1, axisSize};
  // The verifier of the attribute has checked that the product fits.
  if (axisSize % (ref.getPreSize() * ref.getSize()) != 0)
    return emitError() << "sub-axis " << ref << " does not divide axis \""
                       << ref.getName() << "\" of " << axisSize
                       << " ranks: " << ref.getPreSize() << " * "
                       << ref.getSize() << " must divide " << axisSize;
  return AxisPart{*index, ref.getPreSize(), ref.getSize()};
}

/// Refuses parts that share a coordinate, for a rank would hold two places, and
/// parts of one axis that no mesh of smaller axes has: on 6 ranks (1)2 and (3)2
/// name the places 00 and 11 twice, 01 and 10 once.
static LogicalResult
checkDisjoint(ArrayRef<AxisPart> parts, MeshAttr mesh,
              llvm::function_ref<InFlightDiagnostic()> emitError) {
  for (auto [i, part] : llvm::enumerate(parts))
    for (const AxisPart &other : parts.take_front(i)) {
      if (part.overlaps(other))
        return emitError() << "axis " << toString(part, mesh)
                           << " is used twice in one sharding";
      auto [major, minor] = std::minmax(part, other);
      if (part.axis == other.axis && minor.pre % (major.pre * major.size) != 0)
        return emitError() << "sub-axes " << toString(major, mesh) << " and "
                           << toString(minor, mesh)
                           << " do not go together: " << major.pre << " * "
                           << major.size << " must divide " << minor.pre;
    }
  return success();
}

FailureOr<Layout>
tp::resolve(ShardingAttr sharding, MeshAttr mesh,
            llvm::function_ref<InFlightDiagnostic()> emitError) {
  Layout layout;
  AxisParts all;
  for (DimShardingAttr dim : sharding.getDims()) {
    DimLayout &resolved = layout.dims.emplace_back();
    resolved.unit = dim.getUnit();
    for (AxisRefAttr ref : dim.getAxes()) {
      FailureOr<AxisPart> part = resolveAxis(ref, mesh, emitError);
      if (failed(part))
        return failure();
      resolved.parts.push_back(*part);
    }
    llvm::append_range(all, resolved.parts);
  }
  layout.kind = sharding.getKind();
  for (AxisRefAttr ref : sharding.getUnreduced()) {
    FailureOr<AxisPart> part = resolveAxis(ref, mesh, emitError);
    if (failed(part))
      return failure();
    layout.unreduced.push_back(*part);
  }
  llvm::append_range(all, layout.unreduced);
  if (failed(checkDisjoint(all, mesh, emitError)))
    return failure();
  return layout;
}

AxisRefAttr tp::toAttr(const AxisPart &part, MeshAttr mesh) {
  MeshAxisAttr axis = mesh.getAxes()[part.axis];
  bool whole = part.pre == 1 && part.size == axis.getSize();
  return AxisRefAttr::get(mesh.getContext(), axis.getName(), part.pre,
                          whole ? 0 : part.size);
}

ShardingAttr tp::toAttr(const Layout &layout, MeshAttr mesh,
                        FlatSymbolRefAttr meshName) {
  MLIRContext *context = mesh.getContext();
  auto refs = [&](ArrayRef<AxisPart> parts) {
    return llvm::map_to_vector(
        parts, [&](const AxisPart &part) { return toAttr(part, mesh); });
  };
  SmallVector<DimShardingAttr> dims;
  for (const DimLayout &dim : layout.dims)
    dims.push_back(DimShardingAttr::get(context, refs(dim.parts), dim.unit));
  return ShardingAttr::get(context, meshName, dims, layout.kind,
                           refs(layout.unreduced));
}

FailureOr<AxisParts> tp::resolveAxes(ArrayAttr axes, MeshAttr mesh) {
  AxisParts parts;
  for (auto ref : axes.getAsRange<AxisRefAttr>()) {
    std::optional<unsigned> index = mesh.findAxis(ref.getName());
    if (!index)
      return failure();
    int64_t axisSize = mesh.getAxes()[*index].getSize();
    int64_t size = ref.isWhole() ? axisSize : ref.getSize();
    if (axisSize % (ref.getPreSize() * size) != 0)
      return failure();
    parts.push_back({*index, ref.getPreSize(), size});
  }
  return parts;
}

std::string tp::toString(ArrayRef<AxisPart> parts, MeshAttr mesh) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(parts, os, [&](const AxisPart &part) {
    AxisRefAttr ref = toAttr(part, mesh);
    os << '"' << ref.getName() << '"';
    if (!ref.isWhole())
      os << ":(" << ref.getPreSize() << ")" << ref.getSize();
  });
  return text;
}

//===- Types and values ---------------------------------------------------===//

ShardingAttr tp::getSharding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<ShardingAttr>(tensor.getEncoding())
                : ShardingAttr();
}

ShardingAttr tp::getSharding(Value value) {
  return getSharding(value.getType());
}

RankedTensorType tp::withSharding(Type type, ShardingAttr sharding) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               sharding);
}

MeshAttr tp::lookupMesh(Operation *op, FlatSymbolRefAttr name) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, name);
  return mesh ? mesh.getMesh() : MeshAttr();
}

std::optional<Layout> tp::findLayout(Type type, Operation *near) {
  ShardingAttr sharding = getSharding(type);
  MeshAttr mesh = sharding ? lookupMesh(near, sharding.getMesh()) : MeshAttr();
  if (!mesh)
    return std::nullopt;
  ScopedDiagnosticHandler quiet(near->getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<Layout> layout =
      resolve(sharding, mesh, [&] { return near->emitError(); });
  if (failed(layout))
    return std::nullopt;
  return *layout;
}

Layout tp::getCheckedLayout(Type type, Operation *near) {
  ShardingAttr sharding = getSharding(type);
  if (!sharding)
    return Layout::whole(cast<RankedTensorType>(type).getRank());
  MeshAttr mesh = lookupMesh(near, sharding.getMesh());
  FailureOr<Layout> layout = failure();
  if (mesh)
    layout = resolve(sharding, mesh, [&] { return near->emitError(); });
  if (failed(layout))
    llvm::report_fatal_error("a layout was read before tp-check accepted it");
  return *layout;
}

Layout tp::getCheckedLayout(Value value) {
  Operation *near = value.getDefiningOp();
  if (!near)
    near = cast<BlockArgument>(value).getOwner()->getParentOp();
  return getCheckedLayout(value.getType(), near);
}

//===- Steps --------------------------------------------------------------===//

/// Steps that might lead from `before` to `after`: whatever moves exactly the
/// axes in which the two differ.
static std::vector<LayoutStep> candidateSteps(const Layout &before,
                                              const Layout &after) {
  std::vector<LayoutStep> steps;
  AxisParts reduced = subtractParts(before.unreduced, after.unreduced);
  AxisParts added = subtractParts(after.unreduced, before.unreduced);
  if (!reduced.empty())
    steps.push_back({LayoutStep::AllReduce, 0, 0, reduced});
  if (!added.empty())
    steps.push_back({LayoutStep::ToUnreduced, 0, 0, added});
  unsigned rank = before.dims.size();
  for (unsigned dim = 0; dim < rank; ++dim) {
    const AxisParts &from = before.dims[dim].parts, &to = after.dims[dim].parts;
    AxisParts gathered = subtractParts(from, to),
              split = subtractParts(to, from);
    if (!reduced.empty())
      steps.push_back({LayoutStep::ReduceScatter, dim, 0, reduced});
    if (!split.empty())
      steps.push_back({LayoutStep::AllSlice, dim, 0, split});
    if (gathered.empty() && !to.empty())
      steps.push_back({LayoutStep::Permute, dim, 0, to});
    if (gathered.empty())
      continue;
    steps.push_back({LayoutStep::AllGather, dim, 0, gathered});
    for (unsigned target = 0; target < rank; ++target)
      if (target != dim)
        steps.push_back({LayoutStep::AllToAll, dim, target, gathered});
  }
  return steps;
}

std::optional<Layout> tp::applyTowards(const LayoutStep &step,
                                       const Layout &before,
                                       const Layout &after) {
  std::optional<Layout> made = apply(step, before);
  if (!made)
    return std::nullopt;
  if (step.kind == LayoutStep::ToUnreduced) {
    // Zeros are added elsewhere: that is right for a sum alone.
    bool isSum = after.kind == ReductionKind::Sum &&
                 (before.unreduced.empty() || before.kind == after.kind);
    return isSum ? made : std::nullopt;
  }
  // Where a dimension is split anew the unit may be chosen.
  bool splits = step.kind == LayoutStep::AllSlice ||
                step.kind == LayoutStep::ReduceScatter ||
                step.kind == LayoutStep::AllToAll;
  unsigned dim = step.kind == LayoutStep::AllToAll ? step.target : step.dim;
  if (splits && before.dims[dim].parts.empty())
    made->dims[dim].unit = after.dims[dim].unit;
  return made;
}

std::optional<LayoutStep> tp::findStep(const Layout &before,
                                       const Layout &after,
                                       ArrayRef<int64_t> shape) {
  if (before.means(after, shape))
    return std::nullopt;
  for (const LayoutStep &step : candidateSteps(before, after)) {
    std::optional<Layout> made = applyTowards(step, before, after);
    if (made && made->means(after, shape))
      return step;
  }
  return std::nullopt;
}

StringRef tp::toString(LayoutStep::Kind kind) {
  switch (kind) {
  case LayoutStep::AllReduce:
    return "all_reduce";
  case LayoutStep::AllGather:
    return "all_gather";
  case LayoutStep::ReduceScatter:
    return "reduce_scatter";
  case LayoutStep::AllToAll:
    return "all_to_all";
  case LayoutStep::AllSlice:
    return "all_slice";
  case LayoutStep::ToUnreduced:
    return "to_unreduced";
  case LayoutStep::Permute:
    return "collective_permute";
  }
  return "";
}

/// Removes `parts` from the minor end of `dim`. Parts are compared after
/// joining, so that gathering "tp":(4)2 from "tp" works.
static bool removeMinor(DimLayout &dim, ArrayRef<AxisPart> parts) {
  for (const AxisPart &part : llvm::reverse(parts)) {
    if (part.size == 1)
      continue;
    while (!dim.parts.empty() && dim.parts.back().size == 1)
      dim.parts.pop_back();
    if (dim.parts.empty())
      return false;
    AxisPart &last = dim.parts.back();
    bool isSuffix = last.axis == part.axis && last.pre <= part.pre &&
                    part.pre % last.pre == 0 &&
                    last.pre * last.size == part.pre * part.size;
    if (!isSuffix)
      return false;
    last.size = part.pre / last.pre;
    if (last.size == 1)
      dim.parts.pop_back();
  }
  return true;
}

std::optional<Layout> tp::apply(const LayoutStep &step, const Layout &layout) {
  Layout result = layout;
  if (step.dim >= result.dims.size() && step.kind != LayoutStep::AllReduce &&
      step.kind != LayoutStep::ToUnreduced)
    return std::nullopt;
  auto append = [&](unsigned dim) {
    llvm::append_range(result.dims[dim].parts, step.parts);
  };
  switch (step.kind) {
  case LayoutStep::AllReduce:
  case LayoutStep::ReduceScatter:
    if (!containsParts(layout.unreduced, step.parts))
      return std::nullopt;
    result.unreduced = subtractParts(layout.unreduced, step.parts);
    if (step.kind == LayoutStep::ReduceScatter)
      append(step.dim);
    return result;
  case LayoutStep::AllGather:
    if (!removeMinor(result.dims[step.dim], step.parts))
      return std::nullopt;
    return result;
  case LayoutStep::AllToAll:
    if (step.target >= result.dims.size() || step.target == step.dim ||
        !removeMinor(result.dims[step.dim], step.parts))
      return std::nullopt;
    append(step.target);
    return result;
  case LayoutStep::AllSlice:
    append(step.dim);
    return result;
  case LayoutStep::ToUnreduced:
    llvm::append_range(result.unreduced, step.parts);
    return result;
  case LayoutStep::Permute:
    if (normalizeSet(result.dims[step.dim].parts) != normalizeSet(step.parts))
      return std::nullopt;
    result.dims[step.dim].parts = step.parts;
    return result;
  }
  return std::nullopt;
}
