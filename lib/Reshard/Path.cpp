// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Reshard/Path.h"
#include "tp/IR/LocalShape.h"
#include <queue>

using namespace mlir;
using namespace tp;

LayoutSpace::LayoutSpace(const CostModel &model, RankedTensorType type,
                         ArrayRef<AxisPart> parts, Filter allowed, bool maxima)
    : model(model), type(withSharding(type, nullptr)), parts(parts) {
  Layout layout = Layout::whole(type.getRank());
  enumerate(0, layout, allowed);
  layout.kind = ReductionKind::Max;
  if (maxima)
    enumerate(0, layout, allowed);
  edges.resize(layouts.size());
  for (unsigned from = 0; from < size(); ++from)
    addEdges(from);
  distances.numLayouts = size();
  distances.entries.reserve(size_t(size()) * size());
  for (unsigned from = 0; from < size(); ++from)
    llvm::append_range(distances.entries, reach(from).price);
}

//===- Layouts ------------------------------------------------------------===//

/// A layout as numbers: the parts of each dimension in order, then the
/// unreduced ones, by their place in `parts`.
SmallVector<int64_t> LayoutSpace::getKey(const Layout &layout) const {
  SmallVector<int64_t> key;
  auto add = [&](ArrayRef<AxisPart> list) {
    for (const AxisPart &part : list)
      key.push_back(llvm::find(parts, part) - parts.begin());
    key.push_back(-1);
  };
  for (const DimLayout &dim : layout.dims)
    add(dim.parts);
  AxisParts unreduced(layout.unreduced);
  llvm::sort(unreduced);
  add(unreduced);
  if (!unreduced.empty())
    key.push_back(static_cast<int64_t>(layout.kind));
  return key;
}

/// Adds `layout` with the parts of dimensions `dim` and up in every order.
void LayoutSpace::addOrders(Layout &layout, unsigned dim, Filter allowed) {
  if (dim == layout.dims.size()) {
    if (!isEven(type.getShape(), layout) || (allowed && !allowed(layout)))
      return;
    if (numbers.try_emplace(getKey(layout), layouts.size()).second)
      layouts.push_back(layout);
    return;
  }
  AxisParts &order = layout.dims[dim].parts;
  llvm::sort(order);
  do
    addOrders(layout, dim + 1, allowed);
  while (std::next_permutation(order.begin(), order.end()));
}

void LayoutSpace::enumerate(unsigned part, Layout &layout, Filter allowed) {
  if (part == parts.size()) {
    Layout ordered = layout;
    addOrders(ordered, 0, allowed);
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

/// Cuts `list` at the borders of the space's parts.
static bool cutAtBorders(AxisParts &list, ArrayRef<AxisPart> parts) {
  AxisParts cut;
  for (AxisPart part : list) {
    while (part.size > 1) {
      const AxisPart *piece = llvm::find_if(parts, [&](const AxisPart &known) {
        return known.axis == part.axis && known.pre == part.pre;
      });
      if (piece == parts.end() || part.size % piece->size != 0)
        return false;
      cut.push_back(*piece);
      part = {part.axis, part.pre * piece->size, part.size / piece->size};
    }
  }
  list = std::move(cut);
  return true;
}

std::optional<Layout> LayoutSpace::splitIntoParts(const Layout &layout) const {
  Layout result = layout.canonical(type.getShape());
  for (DimLayout &dim : result.dims)
    if (dim.unit != 1 || !cutAtBorders(dim.parts, parts))
      return std::nullopt;
  if (!cutAtBorders(result.unreduced, parts))
    return std::nullopt;
  return result;
}

std::optional<unsigned> LayoutSpace::find(const Layout &layout) const {
  std::optional<Layout> split = splitIntoParts(layout);
  if (!split)
    return std::nullopt;
  auto found = numbers.find(getKey(*split));
  if (found == numbers.end())
    return std::nullopt;
  return found->second;
}

//===- Steps --------------------------------------------------------------===//

void LayoutSpace::addEdge(unsigned from, const LayoutStep &step) {
  std::optional<Layout> after = apply(step, layouts[from]);
  if (!after)
    return;
  std::optional<unsigned> to = find(*after);
  if (!to || *to == from)
    return;
  LayoutStep joined = step;
  // A group over neighbouring parts of one axis is one ring over the axis.
  joined.parts = joinParts(step.parts, numRanks(step.parts));
  Price price =
      toPrice(model.priceStep(joined, type, layouts[from]), /*step=*/true);
  edges[from].push_back({*to, price, joined});
}

/// Steps that act on a set of parts that hold partial sums, or replicate.
void LayoutSpace::addSubsetEdges(unsigned from, ArrayRef<AxisPart> subset) {
  const Layout &layout = layouts[from];
  bool isPartial = llvm::is_contained(layout.unreduced, subset.front());
  AxisParts set(subset);
  bool isMaximum =
      !layout.unreduced.empty() && layout.kind == ReductionKind::Max;
  if (isPartial)
    addEdge(from, {LayoutStep::AllReduce, 0, 0, set});
  // Zeros on the other ranks make a sum, but no maximum.
  else if (!isMaximum)
    addEdge(from, {LayoutStep::ToUnreduced, 0, 0, set});
  llvm::sort(set);
  do
    for (unsigned dim = 0; dim < layout.dims.size(); ++dim)
      addEdge(from,
              {isPartial ? LayoutStep::ReduceScatter : LayoutStep::AllSlice,
               dim, 0, set});
  while (std::next_permutation(set.begin(), set.end()));
}

/// Steps that act on the minor end of a dimension, or on its order.
void LayoutSpace::addDimEdges(unsigned from, unsigned dim) {
  const Layout &layout = layouts[from];
  ArrayRef<AxisPart> split = layout.dims[dim].parts;
  for (unsigned count = 1; count <= split.size(); ++count) {
    AxisParts suffix(split.take_back(count));
    addEdge(from, {LayoutStep::AllGather, dim, 0, suffix});
    for (unsigned target = 0; target < layout.dims.size(); ++target)
      if (target != dim)
        addEdge(from, {LayoutStep::AllToAll, dim, target, suffix});
  }
  if (split.size() < 2)
    return;
  AxisParts order(split);
  llvm::sort(order);
  do
    if (ArrayRef(order) != split)
      addEdge(from, {LayoutStep::Permute, dim, 0, order});
  while (std::next_permutation(order.begin(), order.end()));
}

void LayoutSpace::addEdges(unsigned from) {
  const Layout &layout = layouts[from];
  AxisParts replicated;
  for (const AxisPart &part : parts) {
    bool used = llvm::is_contained(layout.unreduced, part) ||
                llvm::any_of(layout.dims, [&](const DimLayout &dim) {
                  return llvm::is_contained(dim.parts, part);
                });
    if (!used)
      replicated.push_back(part);
  }
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

LayoutSpace::Reached LayoutSpace::reach(unsigned from) const {
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
