// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Reshard/Path.h"
#include "tp/IR/LocalShape.h"
#include <queue>

using namespace mlir;
using namespace tp;

LayoutSpace::LayoutSpace(const CostModel &model, RankedTensorType type,
                         ArrayRef<AxisPart> parts, Filter allowed, bool maxima,
                         std::optional<DimUnits> uneven)
    : model(model), type(withSharding(type, nullptr)), parts(parts),
      uneven(std::move(uneven)) {
  Layout layout = Layout::whole(type.getRank());
  enumerate(0, layout, allowed);
  layout.kind = ReductionKind::Max;
  if (maxima)
    enumerate(0, layout, allowed);
  if (isFull()) {
    layouts.clear();
    numbers.clear();
  }
  edges.resize(layouts.size());
  for (unsigned from = 0; from < size(); ++from)
    addEdges(from);
  distances.numLayouts = size();
  distances.entries.reserve(size_t(size()) * size());
  for (unsigned from = 0; from < size(); ++from)
    llvm::append_range(distances.entries, reach(from).price);
}

//===- Layouts ------------------------------------------------------------===//

/// What a layout means, as numbers: unit and parts of each dimension, then the
/// unreduced parts.
SmallVector<int64_t> LayoutSpace::getKey(const Layout &layout) const {
  Layout canonical = layout.canonical(type.getShape());
  SmallVector<int64_t> key;
  auto add = [&](ArrayRef<AxisPart> list) {
    for (const AxisPart &part : list)
      key.append({part.axis, part.pre, part.size});
    key.push_back(-1);
  };
  for (const DimLayout &dim : canonical.dims) {
    key.push_back(dim.unit);
    add(dim.parts);
  }
  add(canonical.unreduced);
  if (!canonical.unreduced.empty())
    key.push_back(static_cast<int64_t>(canonical.kind));
  return key;
}

/// Every way to take neighbours of one axis together: dealt unevenly, they
/// differ.
static std::vector<AxisParts> joinEachWay(ArrayRef<AxisPart> parts) {
  std::vector<AxisParts> ways = {{}};
  for (const AxisPart &part : parts) {
    size_t before = ways.size();
    for (size_t way = 0; way < before; ++way) {
      AxisParts joined = ways[way];
      ways[way].push_back(part);
      bool continues = !joined.empty() && joined.back().axis == part.axis &&
                       joined.back().pre * joined.back().size == part.pre;
      if (!continues)
        continue;
      joined.back().size *= part.size;
      ways.push_back(std::move(joined));
    }
  }
  return ways;
}

/// The layouts of one dimension over all of `set`: the parts in every order;
/// where shards may differ, in every unit, nested and flat.
std::vector<DimLayout> LayoutSpace::arrange(const AxisParts &set,
                                            unsigned dim) {
  std::vector<DimLayout> arrangements;
  int64_t size = type.getDimSize(dim);
  AxisParts order = set;
  llvm::sort(order);
  // Whether shards are even does not depend on the order.
  if (!uneven && !isEven(size, {order, 1}))
    return arrangements;
  do {
    ++arrangementsSeen;
    if (!uneven) {
      arrangements.push_back({order, 1});
      continue;
    }
    for (const AxisParts &joined : joinEachWay(order))
      for (int64_t unit : (*uneven)[dim])
        if (DimLayout{joined, unit}.canonical(size).unit == unit)
          arrangements.push_back({joined, unit});
  } while (!isFull() && std::next_permutation(order.begin(), order.end()));
  return arrangements;
}

/// Adds `layout` with the parts of dimensions `dim` and up arranged in every
/// way.
void LayoutSpace::addArrangements(Layout &layout, unsigned dim,
                                  Filter allowed) {
  if (isFull())
    return;
  ++arrangementsSeen;
  if (dim == layout.dims.size()) {
    if (allowed && !allowed(layout))
      return;
    if (numbers.try_emplace(getKey(layout), layouts.size()).second)
      layouts.push_back(layout);
    return;
  }
  DimLayout before = layout.dims[dim];
  for (DimLayout &arranged : arrange(before.parts, dim)) {
    layout.dims[dim] = std::move(arranged);
    addArrangements(layout, dim + 1, allowed);
  }
  layout.dims[dim] = std::move(before);
}

/// Few of the arrangements that are looked at may be layouts.
bool LayoutSpace::isFull() const {
  return layouts.size() > maxLayouts || arrangementsSeen > 64 * maxLayouts;
}

void LayoutSpace::enumerate(unsigned part, Layout &layout, Filter allowed) {
  if (isFull())
    return;
  if (part == parts.size()) {
    Layout arranged = layout;
    addArrangements(arranged, 0, allowed);
    return;
  }
  enumerate(part + 1, layout, allowed);
  layout.unreduced.push_back(parts[part]);
  enumerate(part + 1, layout, allowed);
  layout.unreduced.pop_back();
  for (DimLayout &dim : layout.dims) {
    dim.parts.push_back(parts[part]);
    enumerate(part + 1, layout, allowed);
    dim.parts.pop_back();
  }
}

std::optional<unsigned> LayoutSpace::find(const Layout &layout) const {
  Layout canonical = layout.canonical(type.getShape());
  auto found = numbers.find(getKey(canonical));
  if (found == numbers.end())
    return std::nullopt;
  return found->second;
}

//===- Steps --------------------------------------------------------------===//

/// A group over neighbouring parts of one axis is one ring over the axis, where
/// what they split or gather does not depend on it.
static AxisParts joinOfStep(const LayoutStep &step, const Layout &before,
                            ArrayRef<int64_t> shape) {
  std::optional<unsigned> dim = step.getSplitDim();
  if (!dim)
    return joinParts(step.parts, numRanks(step.parts));
  const DimLayout &split = before.dims[*dim];
  int64_t unit = step.unit == 0 ? split.unit : step.unit;
  return joinParts(step.parts, getPieceSizes(split.parts, shape[*dim] / unit));
}

void LayoutSpace::addEdge(unsigned from, const LayoutStep &step) {
  std::optional<Layout> after = apply(step, layouts[from], type.getShape());
  if (!after)
    return;
  std::optional<unsigned> to = find(*after);
  if (!to || *to == from)
    return;
  LayoutStep joined = step;
  joined.parts = joinOfStep(step, layouts[from], type.getShape());
  Price price = toPrice(model.priceStep(joined, type, layouts[from]),
                        /*isReshardStep=*/true);
  edges[from].push_back({*to, price, joined});
}

/// The ways in which `step` can deal its parts to the dimension that gets them.
void LayoutSpace::addSplittingEdges(unsigned from, LayoutStep step) {
  if (!uneven)
    return addEdge(from, step);
  AxisParts nested = step.parts;
  for (const AxisParts &joined : joinEachWay(nested))
    for (int64_t unit : (*uneven)[*step.getSplitDim()]) {
      step.parts = joined;
      step.unit = unit;
      addEdge(from, step);
    }
}

/// Steps that act on a set of parts that hold partial sums, or replicate.
void LayoutSpace::addSubsetEdges(unsigned from, ArrayRef<AxisPart> subset) {
  const Layout &layout = layouts[from];
  bool isPartial = llvm::is_contained(layout.unreduced, subset.front());
  AxisParts set(subset);
  bool isMaximum =
      !layout.unreduced.empty() && layout.kind == ReductionKind::Max;
  if (isPartial)
    addEdge(from, {LayoutStep::AllReduce, 0, 0, set, 0});
  // Zeros on the other ranks make a sum, but no maximum.
  else if (!isMaximum)
    addEdge(from, {LayoutStep::ToUnreduced, 0, 0, set, 0});
  llvm::sort(set);
  do
    for (unsigned dim = 0; dim < layout.dims.size(); ++dim)
      addSplittingEdges(
          from, {isPartial ? LayoutStep::ReduceScatter : LayoutStep::AllSlice,
                 dim, 0, set, 0});
  while (std::next_permutation(set.begin(), set.end()));
}

/// Steps that act on the minor end of a dimension, or on its order.
void LayoutSpace::addDimEdges(unsigned from, unsigned dim) {
  const Layout &layout = layouts[from];
  ArrayRef<AxisPart> split = layout.dims[dim].parts;
  for (unsigned count = 1; count <= split.size(); ++count) {
    AxisParts suffix(split.take_back(count));
    addEdge(from, {LayoutStep::AllGather, dim, 0, suffix, 0});
    for (unsigned target = 0; target < layout.dims.size(); ++target)
      if (target != dim)
        addSplittingEdges(from, {LayoutStep::AllToAll, dim, target, suffix, 0});
  }
  if (split.size() < 2)
    return;
  AxisParts order(split);
  llvm::sort(order);
  do
    if (ArrayRef(order) != split)
      addEdge(from, {LayoutStep::Permute, dim, 0, order, 0});
  while (std::next_permutation(order.begin(), order.end()));
}

void LayoutSpace::addEdges(unsigned from) {
  const Layout &layout = layouts[from];
  AxisParts replicated, used = layout.getUsedParts();
  for (const AxisPart &part : parts)
    if (!overlapsAny(part, used))
      replicated.push_back(part);
  for (ArrayRef<AxisPart> set :
       {ArrayRef(layout.unreduced), ArrayRef(replicated)})
    for (unsigned mask = 1; mask < 1u << set.size(); ++mask) {
      AxisParts subset;
      for (unsigned bit = 0; bit < set.size(); ++bit)
        if (mask >> bit & 1)
          subset.push_back(set[bit]);
      addSubsetEdges(from, subset);
    }
  for (unsigned dim = 0; dim < layout.dims.size(); ++dim)
    addDimEdges(from, dim);
}

//===- Paths --------------------------------------------------------------===//

DistanceTable LayoutSpace::getDistancesWithout(ArrayRef<AxisPart> parts) const {
  DistanceTable table;
  table.numLayouts = size();
  for (unsigned from = 0; from < size(); ++from)
    llvm::append_range(table.entries, reach(from, parts).price);
  return table;
}

LayoutSpace::Reached LayoutSpace::reach(unsigned from,
                                        ArrayRef<AxisPart> silent) const {
  Reached reached;
  reached.price.assign(size(), Price::infinite());
  reached.by.assign(size(), {from, nullptr});
  reached.price[from] = Price();
  using Entry = std::pair<Price, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({Price(), from});
  while (!queue.empty()) {
    auto [price, at] = queue.top();
    queue.pop();
    if (reached.price[at] < price)
      continue;
    for (const Edge &edge : edges[at]) {
      Price there = price + edge.price;
      if (!(there < reached.price[edge.to]))
        continue;
      bool isSilenced =
          !silent.empty() && edge.price.getCollectives() > 0 &&
          llvm::any_of(edge.step.parts, [&](const AxisPart &part) {
            return overlapsAny(part, silent);
          });
      if (isSilenced)
        continue;
      reached.price[edge.to] = there;
      reached.by[edge.to] = {at, &edge};
      queue.push({there, edge.to});
    }
  }
  return reached;
}

SmallVector<LayoutStep> LayoutSpace::getPath(unsigned from, unsigned to) const {
  Reached reached = reach(from);
  SmallVector<LayoutStep> steps;
  while (to != from) {
    auto [before, edge] = reached.by[to];
    if (!edge)
      return {};
    steps.push_back(edge->step);
    to = before;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}
