// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Lower bounds by message passing.

#ifndef TP_SOLVER_MESSAGEPASSING_H
#define TP_SOLVER_MESSAGEPASSING_H

#include "DualGraph.h"

namespace tp {

/// By end of a graph: one number for each of its layouts.
///
/// A message moves cost from a node to a tree: the node's price of a choice
/// becomes lower by the messages at its ends, the tree's price of a combination
/// of layouts higher. The total of a plan stays what it was, so that the sum of
/// the minima of all nodes and trees is a lower bound whatever the messages
/// are.
using Messages = std::vector<std::vector<Ticks>>;

/// Messages of zero.
Messages makeMessages(const DualModel &model, const DualGraph &graph);

/// One tree under messages: the cheapest way to make one layout at the root and
/// one at each target. By dynamic programming over subsets of the targets (S.
/// E. Dreyfus and R. A. Wagner, "The Steiner problem in graphs", Networks 1,
/// 1971); nothing is tabulated over combinations of layouts.
class TreeMinimiser {
public:
  /// What may be made or wanted at an end, and the message for each.
  struct End {
    llvm::ArrayRef<unsigned> layouts;
    llvm::ArrayRef<Ticks> messages;
    /// Between each layout of the table and those of the end, which vary
    /// fastest: from them at the root, to them at a target.
    llvm::ArrayRef<Ticks> distances;
  };

  /// The end with the layouts `ends[index]` of the model.
  static End getEnd(const DualModel &model, const DualModel::Table &table,
                    unsigned index, bool isRoot,
                    llvm::ArrayRef<Ticks> messages) {
    return {model.ends[index].layouts, messages,
            isRoot ? table.fromEnd[index] : table.toEnd[index]};
  }

  /// Producer first, then the targets.
  void load(const DualModel::Table &table, llvm::ArrayRef<End> ends);

  /// The least price of all combinations.
  Ticks minimum();

  /// For each layout at end `place` the least price of the combinations that
  /// have it there; the message included.
  void marginals(unsigned place, std::vector<Ticks> &result);

private:
  using Row = std::vector<Ticks>;

  void grow();
  void joinParts(unsigned set, Row &row) const;
  void fromRoot(Row &row) const;
  void rootMarginals(Row &result) const;
  void targetMarginals(unsigned place, Row &result);

  const DualModel::Table *table = nullptr;
  llvm::SmallVector<End, 4> ends;
  bool isGrown = false;
  /// By set of targets and layout: the cheapest tree from there to them.
  std::vector<Row> inside;
  /// The cheapest rest of the tree, given that the part for a set of targets
  /// starts or branches there.
  std::vector<Row> outside;
};

/// Sequential reweighted message passing (V. Kolmogorov, "A new look at
/// reweighted message passing", IEEE TPAMI 37, 2015), with the trees as its
/// factors of higher order.
class MessagePassing {
public:
  /// Starts from `messages`.
  MessagePassing(const DualModel &model, const DualGraph &graph,
                 Messages messages);

  /// Nodes that are not visited, so that their messages stay.
  void freeze(unsigned begin, unsigned end);

  /// Visits all nodes, forth or back. The bound never falls.
  void pass(bool forth);

  Ticks bound();

  /// By node and choice: a lower bound of all plans with that choice, less
  /// `bound()`.
  std::vector<std::vector<Ticks>> slacks();

  const Messages &getMessages() const { return messages; }

private:
  const EndLayouts &layoutsOf(unsigned end) const {
    return model.ends[graph.ends[end].layouts];
  }
  void load(unsigned tree);
  /// The price of each choice of a node less the messages at its ends.
  void reducedCosts(unsigned node);
  void collect(unsigned end);
  void distribute(unsigned node, bool forth);

  const DualModel &model;
  const DualGraph &graph;
  Messages messages;
  std::vector<char> isFrozen;
  TreeMinimiser minimiser;
  /// Of the node being visited.
  std::vector<Ticks> costs, marginal;
};

} // namespace tp

#endif // TP_SOLVER_MESSAGEPASSING_H
