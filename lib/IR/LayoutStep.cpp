// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What collectives do to layouts.

#include "tp/IR/LocalShape.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tp;

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

std::optional<unsigned> LayoutStep::getSplitDim() const {
  switch (kind) {
  case ReduceScatter:
  case AllSlice:
    return dim;
  case AllToAll:
    return target;
  case AllReduce:
  case AllGather:
  case ToUnreduced:
  case Permute:
    return std::nullopt;
  }
  return std::nullopt;
}

/// Removes `part` from the minor end of `dim`. Written parts may be larger or
/// smaller than what is removed: gathering "tp":(4)2 from "tp" works, and so
/// does gathering "tp" from "tp":(1)4, "tp":(4)2. A part is cut only where its
/// pieces are those of the two parts nested.
static bool removeMinor(DimLayout &dim, AxisPart part, int64_t size) {
  while (part.size > 1) {
    if (dim.parts.empty())
      return false;
    AxisPart last = dim.parts.pop_back_val();
    if (last.size == 1)
      continue;
    if (last.axis != part.axis || last.pre * last.size != part.pre * part.size)
      return false;
    if (last.pre >= part.pre) {
      if (last.pre % part.pre != 0)
        return false;
      part.size = last.pre / part.pre;
      continue;
    }
    if (part.pre % last.pre != 0)
      return false;
    int64_t kept = part.pre / last.pre;
    if (!nestsFlat(getPieceSizes(dim.parts, size / dim.unit), kept, part.size))
      return false;
    dim.parts.push_back({last.axis, last.pre, kept});
    return true;
  }
  return true;
}

static bool removeMinor(DimLayout &dim, ArrayRef<AxisPart> parts,
                        int64_t size) {
  return llvm::all_of(llvm::reverse(parts), [&](const AxisPart &part) {
    return removeMinor(dim, part, size);
  });
}

/// Appends the step's parts. Another unit is in order where the shards so far
/// are those of whole units of it.
static bool append(DimLayout &dim, const LayoutStep &step, int64_t size) {
  if (step.unit != 0 && step.unit != dim.unit) {
    if (size % step.unit != 0)
      return false;
    DimLayout dealt{dim.parts, step.unit};
    if (dealt.canonical(size) != dim.canonical(size))
      return false;
    dim.unit = step.unit;
  }
  llvm::append_range(dim.parts, step.parts);
  return true;
}

/// A block of even shards is some rank's shard under any order of the axes.
static bool permute(DimLayout &dim, const LayoutStep &step, int64_t size) {
  if (normalizeSet(dim.parts) != normalizeSet(step.parts) || !isEven(size, dim))
    return false;
  dim.parts = step.parts;
  return true;
}

static bool reduce(Layout &layout, ArrayRef<AxisPart> parts) {
  if (!containsParts(layout.unreduced, parts))
    return false;
  layout.unreduced = subtractParts(layout.unreduced, parts);
  return true;
}

/// Applies `step`, whose dimensions exist.
static bool applyInPlace(const LayoutStep &step, Layout &layout,
                         ArrayRef<int64_t> shape) {
  switch (step.kind) {
  case LayoutStep::AllReduce:
    return reduce(layout, step.parts);
  case LayoutStep::ReduceScatter:
    return reduce(layout, step.parts) &&
           append(layout.dims[step.dim], step, shape[step.dim]);
  case LayoutStep::AllGather:
    return removeMinor(layout.dims[step.dim], step.parts, shape[step.dim]);
  case LayoutStep::AllToAll:
    return step.target != step.dim &&
           removeMinor(layout.dims[step.dim], step.parts, shape[step.dim]) &&
           append(layout.dims[step.target], step, shape[step.target]);
  case LayoutStep::AllSlice:
    return append(layout.dims[step.dim], step, shape[step.dim]);
  case LayoutStep::ToUnreduced:
    llvm::append_range(layout.unreduced, step.parts);
    return true;
  case LayoutStep::Permute:
    return permute(layout.dims[step.dim], step, shape[step.dim]);
  }
  return false;
}

std::optional<Layout> tp::apply(const LayoutStep &step, const Layout &layout,
                                ArrayRef<int64_t> shape) {
  bool hasDims = step.kind != LayoutStep::AllReduce &&
                 step.kind != LayoutStep::ToUnreduced;
  if (hasDims && (step.dim >= shape.size() || step.target >= shape.size()))
    return std::nullopt;
  Layout result = layout;
  if (!applyInPlace(step, result, shape))
    return std::nullopt;
  return result;
}

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
                                       const Layout &after,
                                       ArrayRef<int64_t> shape) {
  LayoutStep towards = step;
  if (std::optional<unsigned> split = step.getSplitDim();
      split && *split < after.dims.size())
    towards.unit = after.dims[*split].unit;
  std::optional<Layout> made = apply(towards, before, shape);
  if (!made || step.kind != LayoutStep::ToUnreduced)
    return made;
  // Zeros are added elsewhere: that is right for a sum alone.
  bool isSum = after.kind == ReductionKind::Sum &&
               (before.unreduced.empty() || before.kind == after.kind);
  return isSum ? made : std::nullopt;
}

std::optional<LayoutStep> tp::findStep(const Layout &before,
                                       const Layout &after,
                                       ArrayRef<int64_t> shape) {
  if (before.means(after, shape))
    return std::nullopt;
  for (const LayoutStep &step : candidateSteps(before, after)) {
    std::optional<Layout> made = applyTowards(step, before, after, shape);
    if (made && made->means(after, shape))
      return step;
  }
  return std::nullopt;
}
