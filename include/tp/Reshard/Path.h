// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The layouts of one tensor type and the cheapest way from one to another.

#ifndef TP_RESHARD_PATH_H
#define TP_RESHARD_PATH_H

#include "tp/Cost/CostModel.h"
#include "tp/Reshard/Tree.h"
#include <map>

namespace tp {

/// For each dimension of a tensor the units in which it may be dealt unevenly.
using DimUnits = std::vector<llvm::SmallVector<int64_t, 2>>;

/// All layouts of a tensor over a set of axis parts, where each part splits one
/// dimension, holds a partial sum, or replicates; and the price of every
/// reshard between them.
class LayoutSpace {
public:
  /// `parts` do not overlap; together they are all that a layout may use.
  /// `allowed`, if given, narrows the space; it must keep the whole layout.
  using Filter = llvm::function_ref<bool(const Layout &)>;
  /// With `maxima` a part may hold an unfinished maximum, too. With `uneven`
  /// shards may differ in size, by whole units; without it they are equal.
  LayoutSpace(const CostModel &model, mlir::RankedTensorType type,
              llvm::ArrayRef<AxisPart> parts, Filter allowed = {},
              bool maxima = false, std::optional<DimUnits> uneven = {});

  /// A space of more layouts stays empty: distances take 16 bytes a pair.
  static constexpr unsigned maxLayouts = 8192;
  bool isTooLarge() const { return layouts.empty(); }

  unsigned size() const { return layouts.size(); }
  const Layout &operator[](unsigned index) const { return layouts[index]; }

  /// The number of the layout that means `layout`; nothing if the space has
  /// none.
  std::optional<unsigned> find(const Layout &layout) const;

  /// Shortest paths, where a step is a collective or a local slice. Distances
  /// do not separate over axes: a hierarchical all-reduce is a path.
  const DistanceTable &getDistances() const { return distances; }

  /// The distances over steps for which no ranks talk that differ along
  /// `parts`.
  DistanceTable getDistancesWithout(llvm::ArrayRef<AxisPart> parts) const;

  /// The steps of a cheapest path; the first found in a fixed order.
  llvm::SmallVector<LayoutStep> getPath(unsigned from, unsigned to) const;

private:
  struct Edge {
    unsigned to;
    Price price;
    LayoutStep step;
  };
  struct Reached {
    std::vector<Price> price;
    /// Edge by which a layout is reached, and from where.
    std::vector<std::pair<unsigned, const Edge *>> by;
  };

  bool isFull() const;
  void enumerate(unsigned part, Layout &layout, Filter allowed);
  void addArrangements(Layout &layout, unsigned dim, Filter allowed);
  std::vector<DimLayout> arrange(const AxisParts &set, unsigned dim);
  void addEdges(unsigned from);
  void addEdge(unsigned from, const LayoutStep &step);
  void addSplittingEdges(unsigned from, LayoutStep step);
  void addSubsetEdges(unsigned from, llvm::ArrayRef<AxisPart> subset);
  void addDimEdges(unsigned from, unsigned dim);
  /// Cheapest paths, without talk along `silent`.
  Reached reach(unsigned from, llvm::ArrayRef<AxisPart> silent = {}) const;
  llvm::SmallVector<int64_t> getKey(const Layout &layout) const;

  const CostModel &model;
  mlir::RankedTensorType type;
  AxisParts parts;
  std::optional<DimUnits> uneven;
  /// Orders of the parts of a dimension that were looked at.
  size_t arrangementsSeen = 0;
  std::vector<Layout> layouts;
  std::map<llvm::SmallVector<int64_t>, unsigned> numbers;
  std::vector<std::vector<Edge>> edges;
  DistanceTable distances;
};

} // namespace tp

#endif // TP_RESHARD_PATH_H
