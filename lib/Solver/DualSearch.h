// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_DUALSEARCH_H
#define TP_SOLVER_DUALSEARCH_H

#include "MessagePassing.h"

namespace tp {

/// What message passing found out about a problem.
struct DualResult {
  /// By end of the model's graph: which of the messages it has.
  std::vector<unsigned> messageOf;
  Messages messages;
  /// What they prove.
  Ticks bound = 0;
  /// By node of the model's graph: which of the slacks it has.
  std::vector<unsigned> slackOf;
  /// By choice: a lower bound of all plans with that choice, less `bound`.
  std::vector<std::vector<Ticks>> slacks;
  /// Passes over all nodes of some graph.
  unsigned passes = 0;
};

/// Bounds a problem by messages.
///
/// Equal layers are first solved as one layer that is its own neighbour; its
/// messages are then given to all layers but the first and the last few, which
/// are solved with what stands before and behind them.
///
/// Begins with the messages of `start`, if there is one. If these alone prove
/// more than `cutoff`, that is all: the result then has no slacks.
DualResult searchDual(const DualModel &model, const DualResult *start = nullptr,
                      Ticks cutoff = infiniteTicks);

} // namespace tp

#endif // TP_SOLVER_DUALSEARCH_H
