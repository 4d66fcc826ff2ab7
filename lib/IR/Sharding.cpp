// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/Sharding.h"
#include "mlir/IR/SymbolTable.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

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

PieceSizes tp::getPieceSizes(ArrayRef<AxisPart> parts, int64_t dimSize) {
  PieceSizes pieces{dimSize, dimSize};
  for (const AxisPart &part : parts)
    pieces = {pieces.least / part.size,
              llvm::divideCeilSigned(pieces.largest, part.size)};
  return pieces;
}

/// With `size` = k * ranks + r, the flat pieces are r times k + 1, then k. The
/// nested ones are the same in order only if no two groups of `minor` pieces
/// both hold pieces of both sizes and no group is short of them: r is 0, 1 or
/// ranks - 1.
static bool nestsFlat(int64_t size, int64_t ranks) {
  int64_t rest = size % ranks;
  return rest == 0 || rest == 1 || rest == ranks - 1;
}

bool tp::nestsFlat(PieceSizes pieces, int64_t major, int64_t minor) {
  if (major == 1 || minor == 1)
    return true;
  return ::nestsFlat(pieces.least, major * minor) &&
         ::nestsFlat(pieces.largest, major * minor);
}

AxisParts tp::joinParts(ArrayRef<AxisPart> parts, int64_t dimSize) {
  return joinParts(parts, PieceSizes{dimSize, dimSize});
}

AxisParts tp::joinParts(ArrayRef<AxisPart> parts, PieceSizes pieces) {
  AxisParts joined;
  for (const AxisPart &part : parts) {
    if (part.size == 1)
      continue;
    if (!joined.empty() && continues(joined.back(), part) &&
        nestsFlat(pieces, joined.back().size, part.size)) {
      joined.back().size *= part.size;
      continue;
    }
    // `pieces` are what the last part in `joined` splits.
    if (!joined.empty())
      pieces = {pieces.least / joined.back().size,
                llvm::divideCeilSigned(pieces.largest, joined.back().size)};
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

bool tp::overlapsAny(const AxisPart &part, ArrayRef<AxisPart> others) {
  return llvm::any_of(
      others, [&](const AxisPart &other) { return part.overlaps(other); });
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

AxisParts Layout::getSplitParts() const {
  AxisParts parts;
  for (const DimLayout &dim : dims)
    llvm::append_range(parts, dim.parts);
  return parts;
}

AxisParts Layout::getUsedParts() const {
  AxisParts parts(unreduced);
  llvm::append_range(parts, getSplitParts());
  return parts;
}

bool Layout::isWhole() const {
  return unreduced.empty() && llvm::all_of(dims, [](const DimLayout &dim) {
           return numRanks(dim.parts) == 1;
         });
}

DimLayout DimLayout::canonical(int64_t size) const {
  DimLayout result{joinParts(parts, size / unit), unit};
  // Where the shards are even anyway, dealing by unit changes nothing.
  if (size / unit % numRanks(parts) == 0)
    result.unit = 1;
  return result;
}

Layout Layout::canonical(ArrayRef<int64_t> shape) const {
  Layout result = *this;
  for (auto [dim, size] : llvm::zip_equal(result.dims, shape))
    dim = dim.canonical(size);
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
