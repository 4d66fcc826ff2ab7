// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MessagePassing.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;

void TreeMinimiser::load(const DualModel::Table &newTable,
                         llvm::ArrayRef<End> newEnds) {
  table = &newTable;
  ends.assign(newEnds.begin(), newEnds.end());
  isGrown = false;
}

/// Lowers `row` to `base` plus what lies ahead on each way.
static void lowerTo(std::vector<Ticks> &row, Ticks base, const Ticks *ways) {
  if (base >= infiniteTicks)
    return;
  for (size_t i = 0, size = row.size(); i < size; ++i) {
    Ticks sum = base + ways[i];
    row[i] = sum < row[i] ? sum : row[i];
  }
}

/// The least of `prices` plus the way from there, for each layout.
///
/// A layout that is had more cheaply by way of another one serves no third
/// better than that one does, as ways are shortest. The cheapest goes first, so
/// that most are such layouts.
static void spread(const std::vector<Ticks> &prices,
                   const std::vector<Ticks> &ways, std::vector<Ticks> &row) {
  size_t n = prices.size();
  row.assign(n, infiniteTicks);
  size_t cheapest = llvm::min_element(prices) - prices.begin();
  lowerTo(row, prices[cheapest], &ways[cheapest * n]);
  for (size_t i = 0; i < n; ++i)
    if (row[i] > prices[i])
      lowerTo(row, prices[i], &ways[i * n]);
}

/// The cheapest way to serve `set` by branching at each layout.
void TreeMinimiser::joinParts(unsigned set, Row &row) const {
  row.assign(table->numLayouts, infiniteTicks);
  unsigned lowest = set & -set;
  for (unsigned part = (set - 1) & set; part; part = (part - 1) & set) {
    if (!(part & lowest))
      continue;
    const Row &one = inside[part], &other = inside[set ^ part];
    for (size_t i = 0; i < row.size(); ++i) {
      Ticks sum = one[i] + other[i];
      row[i] = sum < row[i] ? sum : row[i];
    }
  }
}

/// Fills `inside` for all sets but the full one.
void TreeMinimiser::grow() {
  if (isGrown)
    return;
  isGrown = true;
  size_t n = table->numLayouts;
  unsigned numTargets = ends.size() - 1, full = (1u << numTargets) - 1;
  inside.resize(std::max<size_t>(inside.size(), full + 1));
  Row branch;
  for (unsigned set = 1; set < full; ++set) {
    Row &row = inside[set];
    row.assign(n, infiniteTicks);
    if (llvm::has_single_bit(set)) {
      const End &end = ends[llvm::countr_zero(set) + 1];
      for (auto [layout, message] : llvm::zip_equal(end.layouts, end.messages))
        if (row[layout] > message)
          lowerTo(row, message, &table->to[layout * n]);
      continue;
    }
    joinParts(set, branch);
    spread(branch, table->to, row);
  }
}

void TreeMinimiser::rootMarginals(Row &result) const {
  const End &root = ends.front();
  size_t width = root.layouts.size();
  result.assign(width, infiniteTicks);
  if (ends.size() == 2) {
    for (auto [layout, message] :
         llvm::zip_equal(ends[1].layouts, ends[1].messages))
      lowerTo(result, message, &root.distances[layout * width]);
  } else {
    Row branch;
    joinParts((1u << (ends.size() - 1)) - 1, branch);
    Row row;
    spread(branch, table->to, row);
    for (auto [i, layout] : llvm::enumerate(root.layouts))
      result[i] = row[layout];
  }
  for (auto [price, message] : llvm::zip_equal(result, root.messages))
    price += message;
}

/// The price of a way from the root to each layout.
void TreeMinimiser::fromRoot(Row &row) const {
  row.assign(table->numLayouts, infiniteTicks);
  const End &root = ends.front();
  for (auto [layout, message] : llvm::zip_equal(root.layouts, root.messages))
    if (row[layout] > message)
      lowerTo(row, message, &table->from[layout * size_t(table->numLayouts)]);
}

void TreeMinimiser::targetMarginals(unsigned place, Row &result) {
  const End &end = ends[place];
  size_t width = end.layouts.size();
  result.assign(width, infiniteTicks);
  if (ends.size() == 2) {
    for (auto [layout, message] :
         llvm::zip_equal(ends[0].layouts, ends[0].messages))
      lowerTo(result, message, &end.distances[layout * width]);
    for (auto [price, message] : llvm::zip_equal(result, end.messages))
      price += message;
    return;
  }
  size_t n = table->numLayouts;
  unsigned full = (1u << (ends.size() - 1)) - 1, own = 1u << (place - 1);
  outside.resize(std::max<size_t>(outside.size(), full + 1));
  fromRoot(outside[full]);
  // Larger sets have larger numbers. A set with the target is split off a
  // larger one, whose other part is served where they branch.
  Row branch;
  for (unsigned set = full - 1; set >= own; --set) {
    if (!(set & own))
      continue;
    branch.assign(n, infiniteTicks);
    for (unsigned larger = (set + 1) | set; larger <= full;
         larger = (larger + 1) | set) {
      const Row &before = outside[larger], &rest = inside[larger ^ set];
      for (size_t i = 0; i < n; ++i)
        branch[i] = std::min(branch[i], before[i] + rest[i]);
    }
    Row &row = outside[set];
    if (set == own) {
      row = branch;
      break;
    }
    spread(branch, table->from, row);
  }
  spread(outside[own], table->from, branch);
  for (auto [i, layout] : llvm::enumerate(end.layouts))
    result[i] = branch[layout];
  for (auto [price, message] : llvm::zip_equal(result, end.messages))
    price += message;
}

void TreeMinimiser::marginals(unsigned place, std::vector<Ticks> &result) {
  if (ends.size() > 2)
    grow();
  if (place == 0)
    rootMarginals(result);
  else
    targetMarginals(place, result);
}

Ticks TreeMinimiser::minimum() {
  Row all;
  marginals(0, all);
  return all.empty() ? infiniteTicks : *llvm::min_element(all);
}
