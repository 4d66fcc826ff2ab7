// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Reshard/Tree.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;

llvm::Error DistanceTable::checkSize() const {
  size_t n = numLayouts;
  if (entries.size() != n * n)
    return llvm::createStringError(
        "a distance table of %zu layouts needs %zu entries and has %zu", n,
        n * n, entries.size());
  return llvm::Error::success();
}

llvm::Error DistanceTable::check() const {
  if (llvm::Error error = checkSize())
    return error;
  size_t n = numLayouts;
  for (size_t i = 0; i < n; ++i)
    if (entries[i * n + i] != Price())
      return llvm::createStringError(
          "the distance from layout %zu to itself is not zero", i);
  for (size_t i = 0; i < n; ++i)
    for (size_t via = 0; via < n; ++via) {
      Price first = entries[i * n + via];
      for (size_t j = 0; j < n; ++j)
        if (first + entries[via * n + j] < entries[i * n + j])
          return llvm::createStringError(
              "the distance from layout %zu to layout %zu is larger than the "
              "detour over layout %zu; the table must hold shortest paths",
              i, j, via);
    }
  return llvm::Error::success();
}

namespace {
using TargetSet = uint32_t;

/// The dynamic program: for a set of targets (a bit each) and a layout, the
/// cheapest tree from that layout to those targets. Such a tree runs to the
/// layout where it first branches, and there splits the set in two.
class SubsetTrees {
public:
  SubsetTrees(const DistanceTable &table, llvm::ArrayRef<unsigned> targets)
      : table(table), targets(targets),
        full((TargetSet(1) << targets.size()) - 1),
        best((size_t(full) + 1) * table.numLayouts), joined(table.numLayouts) {
    for (TargetSet set = 1; set < full; ++set)
      grow(set);
  }

  TargetSet getFull() const { return full; }

  /// The cheapest tree from `layout` to all targets.
  Price costFrom(unsigned layout) {
    return costOver(layout, branchCosts(full));
  }

  /// The layout where the cheapest tree from `layout` to `set` first branches,
  /// or the only target. Ties: not moving at all, then the first layout.
  unsigned firstBranch(unsigned layout, TargetSet set) {
    llvm::ArrayRef<Price> costs = branchCosts(set);
    Price cost = costOver(layout, costs);
    if (costs[layout] == cost)
      return layout;
    unsigned branch = 0;
    while (table.at(layout, branch) + costs[branch] != cost)
      ++branch;
    return branch;
  }

  /// One part of the cheapest split of `set` at `layout`. Ties: the first.
  TargetSet firstPart(unsigned layout, TargetSet set) const {
    TargetSet bestPart = 0;
    Price bestCost = Price::infinite();
    forEachPart(set, [&](TargetSet part) {
      Price cost = costAt(part, layout) + costAt(set ^ part, layout);
      if (cost < bestCost) {
        bestCost = cost;
        bestPart = part;
      }
    });
    return bestPart;
  }

private:
  static bool isSingle(TargetSet set) { return (set & (set - 1)) == 0; }

  Price costAt(TargetSet set, unsigned layout) const {
    return best[size_t(set) * table.numLayouts + layout];
  }

  Price costOver(unsigned layout, llvm::ArrayRef<Price> costs) const {
    Price cost = Price::infinite();
    for (unsigned branch = 0; branch < table.numLayouts; ++branch)
      cost = std::min(cost, table.at(layout, branch) + costs[branch]);
    return cost;
  }

  /// Calls `visit` on one part of each split of `set` into two parts.
  template <typename Visitor>
  static void forEachPart(TargetSet set, Visitor visit) {
    TargetSet lowest = set & -set, others = set ^ lowest;
    for (TargetSet rest = (others - 1) & others;; rest = (rest - 1) & others) {
      visit(lowest | rest);
      if (!rest)
        return;
    }
  }

  /// For each layout the cost of serving `set` by branching there.
  llvm::ArrayRef<Price> branchCosts(TargetSet set) {
    llvm::fill(joined, Price::infinite());
    if (isSingle(set)) {
      joined[targets[llvm::countr_zero(set)]] = Price();
      return joined;
    }
    size_t n = table.numLayouts;
    forEachPart(set, [&](TargetSet part) {
      const Price *a = &best[part * n], *b = &best[(set ^ part) * n];
      for (size_t i = 0; i < n; ++i)
        joined[i] = std::min(joined[i], a[i] + b[i]);
    });
    return joined;
  }

  void grow(TargetSet set) {
    Price *row = &best[size_t(set) * table.numLayouts];
    if (isSingle(set)) {
      unsigned target = targets[llvm::countr_zero(set)];
      for (unsigned i = 0; i < table.numLayouts; ++i)
        row[i] = table.at(i, target);
      return;
    }
    llvm::ArrayRef<Price> costs = branchCosts(set);
    for (unsigned i = 0; i < table.numLayouts; ++i)
      row[i] = costOver(i, costs);
  }

  const DistanceTable &table;
  llvm::ArrayRef<unsigned> targets;
  TargetSet full;
  std::vector<Price> best;
  std::vector<Price> joined;
};
} // namespace

static llvm::SmallVector<unsigned, 8>
distinctTargets(llvm::ArrayRef<unsigned> targets) {
  llvm::SmallVector<unsigned, 8> distinct(targets);
  llvm::sort(distinct);
  distinct.erase(llvm::unique(distinct), distinct.end());
  return distinct;
}

static llvm::SmallVector<unsigned, 8>
distinctTargets(llvm::ArrayRef<unsigned> targets, unsigned root) {
  llvm::SmallVector<unsigned, 8> distinct = distinctTargets(targets);
  llvm::erase(distinct, root);
  return distinct;
}

Price tp::treeCost(const DistanceTable &table, unsigned root,
                   llvm::ArrayRef<unsigned> targets) {
  if (targets.size() == 1)
    return table.at(root, targets.front());
  llvm::SmallVector<unsigned, 8> distinct = distinctTargets(targets, root);
  if (distinct.empty())
    return Price();
  if (distinct.size() == 1)
    return table.at(root, distinct.front());
  if (distinct.size() > maxTreeTargets)
    return Price::infinite();
  return SubsetTrees(table, distinct).costFrom(root);
}

const std::vector<Price> &TreePrices::branchPrices(const Targets &targets) {
  auto [it, isNew] = branching.try_emplace(targets);
  std::vector<Price> &prices = it->second;
  if (!isNew)
    return prices;
  prices.assign(table.numLayouts, Price::infinite());
  if (targets.size() == 1) {
    prices[targets.front()] = Price();
    return prices;
  }
  // Each split once: the first target is always in the first part.
  TargetSet rest = (TargetSet(1) << (targets.size() - 1)) - 1;
  for (TargetSet chosen = 0; chosen < rest; ++chosen) {
    Targets parts[2] = {{targets.front()}, {}};
    for (size_t i = 1; i < targets.size(); ++i)
      parts[(chosen >> (i - 1) & 1) ? 0 : 1].push_back(targets[i]);
    llvm::ArrayRef<Price> one = servePrices(parts[0]);
    llvm::ArrayRef<Price> other = servePrices(parts[1]);
    for (size_t i = 0; i < prices.size(); ++i)
      prices[i] = std::min(prices[i], one[i] + other[i]);
  }
  return prices;
}

const std::vector<Price> &TreePrices::servePrices(const Targets &targets) {
  auto [it, isNew] = serving.try_emplace(targets);
  std::vector<Price> &prices = it->second;
  if (!isNew)
    return prices;
  const std::vector<Price> &branches = branchPrices(targets);
  size_t n = table.numLayouts;
  prices.assign(n, Price::infinite());
  for (size_t branch = 0; branch < n; ++branch)
    if (branches[branch].isFinite())
      for (size_t from = 0; from < n; ++from)
        prices[from] =
            std::min(prices[from], table.at(from, branch) + branches[branch]);
  return prices;
}

Price TreePrices::get(unsigned root, llvm::ArrayRef<unsigned> targets) {
  Targets others(targets.begin(), targets.end());
  llvm::erase(others, root);
  if (others.empty())
    return Price();
  if (others.size() == 1)
    return table.at(root, others.front());
  if (others.size() > maxTreeTargets)
    return Price::infinite();
  // Where to branch, cheapest first: what costs more there than all from
  // elsewhere need not be looked at.
  Price price = Price::infinite();
  for (auto [branchPrice, branch] : orderedBranches(others)) {
    if (branchPrice >= price)
      break;
    price = std::min(price, table.at(root, branch) + branchPrice);
  }
  return price;
}

const std::vector<std::pair<Price, unsigned>> &
TreePrices::orderedBranches(const Targets &targets) {
  auto [it, isNew] = ordered.try_emplace(targets);
  if (!isNew)
    return it->second;
  for (auto [layout, price] : llvm::enumerate(branchPrices(targets)))
    if (price.isFinite())
      it->second.emplace_back(price, layout);
  llvm::sort(it->second);
  return it->second;
}

Tree tp::cheapestTree(const DistanceTable &table, unsigned root,
                      llvm::ArrayRef<unsigned> targets) {
  Tree tree;
  llvm::SmallVector<unsigned, 8> distinct = distinctTargets(targets, root);
  if (distinct.empty())
    return tree;
  tree.cost = Price::infinite();
  if (distinct.size() > maxTreeTargets)
    return tree;
  SubsetTrees trees(table, distinct);
  tree.cost = trees.costFrom(root);
  if (tree.cost.isInfinite())
    return tree;

  // No layout is reached twice: all but one of the ways there could be left
  // out, so they would have to be free, and `firstBranch` takes no free way
  // that is not needed.
  llvm::SmallVector<std::pair<unsigned, TargetSet>, 8> pending;
  pending.emplace_back(root, trees.getFull());
  while (!pending.empty()) {
    auto [layout, set] = pending.pop_back_val();
    unsigned branch = trees.firstBranch(layout, set);
    if (branch != layout)
      tree.edges.push_back({layout, branch});
    if (llvm::has_single_bit(set))
      continue;
    TargetSet part = trees.firstPart(branch, set);
    pending.emplace_back(branch, set ^ part);
    pending.emplace_back(branch, part);
  }
  return tree;
}
