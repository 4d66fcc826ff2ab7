// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The problem as message passing sees it, and its repeated layers.

#ifndef TP_SOLVER_DUALGRAPH_H
#define TP_SOLVER_DUALGRAPH_H

#include "Domains.h"
#include "Ticks.h"

namespace tp {

/// The layouts along one end of a value.
struct EndLayouts {
  /// The different ones, ascending.
  std::vector<unsigned> layouts;
  /// By choice kept: index into `layouts`.
  std::vector<unsigned> indexOf;
};

/// A bipartite graph: nodes, which have choices, and the trees of values, one
/// end for each time a node makes or uses a value.
struct DualGraph {
  struct End {
    unsigned node = 0;
    unsigned tree = 0;
    /// Index into `DualModel::ends`.
    unsigned layouts = 0;
    /// Whether another end of the tree is at a later or an earlier node.
    bool hasLater = false, hasEarlier = false;
  };
  struct Node {
    /// Index into `DualModel::costs`.
    unsigned costs = 0;
    unsigned variable = 0;
    llvm::SmallVector<unsigned, 4> ends;
  };
  struct Tree {
    unsigned table = 0;
    /// The producer's end, then the consumers'.
    llvm::SmallVector<unsigned, 4> ends;
  };

  /// In the order in which they are visited: as in the program, but parameters
  /// just before their first use.
  std::vector<Node> nodes;
  std::vector<Tree> trees;
  std::vector<End> ends;

  unsigned getProducer(unsigned tree) const {
    return ends[trees[tree].ends.front()].node;
  }

  /// Appends a tree over the nodes and layouts given, producer first.
  void addTree(unsigned table,
               llvm::ArrayRef<std::pair<unsigned, unsigned>> nodesAndLayouts);
};

/// A problem under given domains.
struct DualModel {
  /// Nothing if a variable has no choice, a value more than `maxTargets`
  /// different uses, or a price exceeds `largestTicks`.
  static std::optional<DualModel> get(const Problem &problem,
                                      const Domains &domains);

  /// The work of a tree grows as 3^targets.
  static constexpr unsigned maxTargets = 8;

  /// By class of variables: the price of each choice kept.
  std::vector<std::vector<Ticks>> costs;
  std::vector<EndLayouts> ends;
  /// Of the problem: distances [from][to] and [to][from].
  struct Table {
    unsigned numLayouts = 0;
    std::vector<Ticks> from, to;
    /// By index into `ends`, empty where no tree of the table has such an end:
    /// the distances from its layouts to each other one, and to its layouts
    /// from each other one; the layouts of the end vary fastest.
    std::vector<std::vector<Ticks>> fromEnd, toEnd;
  };
  std::vector<Table> tables;
  DualGraph graph;
};

/// Equal layers, one after the other.
struct Repetition {
  /// The first node of the first layer, and the nodes in a layer.
  unsigned begin = 0, period = 0;
  unsigned count = 0;
};

/// The longest row of equal layers about the middle of the graph; nothing if
/// there are none, or fewer than `minCount`.
std::optional<Repetition> findRepetition(const DualGraph &graph,
                                         unsigned minCount);

/// A graph with some layers of another one, and what became of its trees.
struct ReducedGraph {
  DualGraph graph;
  /// By tree of the large graph: the tree here that it is like, or ~0u.
  std::vector<unsigned> treeOf;
  /// By node of the large graph: the node here that it is like, or ~0u.
  std::vector<unsigned> nodeOf;
};

/// One layer, whose end meets its beginning.
ReducedGraph makeRing(const DualGraph &graph, const Repetition &layers);

/// All but the layers beyond the first `head` + 1 and the last `tail`; what is
/// left out is like layer `head`.
ReducedGraph shorten(const DualGraph &graph, const Repetition &layers,
                     unsigned head, unsigned tail);

} // namespace tp

#endif // TP_SOLVER_DUALGRAPH_H
