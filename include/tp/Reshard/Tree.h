// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_RESHARD_TREE_H
#define TP_RESHARD_TREE_H

#include "tp/Cost/Price.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <map>
#include <vector>

namespace tp {

/// What it costs to bring a value of one shape from each of its layouts to each
/// other one: a cheapest path of collectives. A path over intermediate layouts
/// is never cheaper than the entry itself (the table is closed under shortest
/// paths), and staying costs nothing.
struct DistanceTable {
  /// Layouts are numbered from zero.
  unsigned numLayouts = 0;
  /// The price from layout i to layout j at i * numLayouts + j; infinite where
  /// there is no way.
  std::vector<Price> entries;

  Price at(unsigned from, unsigned to) const {
    return entries[size_t(from) * numLayouts + to];
  }

  /// Refuses a table of the wrong size, with a price on its diagonal, or with
  /// an entry that a detour undercuts.
  llvm::Error check() const;
  /// Refuses a table of the wrong size.
  llvm::Error checkSize() const;
};

/// One step of a tree: the value in layout `from` is brought to layout `to`.
struct TreeEdge {
  unsigned from = 0;
  unsigned to = 0;
  friend bool operator==(const TreeEdge &, const TreeEdge &) = default;
};

/// How a value reaches several layouts, shared steps once.
struct Tree {
  /// The sum of the edges' prices; infinite (and no edges) if a target cannot
  /// be reached.
  Price cost;
  /// Every edge starts at the root or where an earlier edge ends; no layout is
  /// reached twice.
  llvm::SmallVector<TreeEdge, 4> edges;
};

/// The most distinct targets other than the root that a tree may have. The work
/// grows as 3^targets.
inline constexpr unsigned maxTreeTargets = 12;

/// The cost of the cheapest tree (Steiner arborescence) in which the value
/// reaches every layout of `targets` from layout `root`. Targets may repeat.
/// Infinite if there is none or if there are more than `maxTreeTargets`
/// distinct targets other than the root.
///
/// Exact, by dynamic programming over subsets of the targets: S. E. Dreyfus and
/// R. A. Wagner, "The Steiner problem in graphs", Networks 1 (1971), here
/// directed, from the root towards the targets.
Price treeCost(const DistanceTable &table, unsigned root,
               llvm::ArrayRef<unsigned> targets);

/// `treeCost` for many sets of targets and roots in one table. What is found
/// for a set serves all larger ones.
class TreePrices {
public:
  explicit TreePrices(const DistanceTable &table) : table(table) {}

  /// `targets` are different and in ascending order.
  Price get(unsigned root, llvm::ArrayRef<unsigned> targets);

private:
  using Targets = std::vector<unsigned>;

  const std::vector<Price> &branchPrices(const Targets &targets);
  const std::vector<Price> &servePrices(const Targets &targets);
  const std::vector<std::pair<Price, unsigned>> &
  orderedBranches(const Targets &targets);

  const DistanceTable &table;
  /// By layout: the price of serving the targets by branching there, and of
  /// serving them from there.
  std::map<Targets, std::vector<Price>> branching, serving;
  /// Where branching is possible, cheapest first.
  std::map<Targets, std::vector<std::pair<Price, unsigned>>> ordered;
};

/// A tree of that cost. Among equally cheap ones the choice depends only on the
/// table, the root and the set of targets.
Tree cheapestTree(const DistanceTable &table, unsigned root,
                  llvm::ArrayRef<unsigned> targets);

} // namespace tp

#endif // TP_RESHARD_TREE_H
