// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which numbers of ranks a model's heads allow, and where KV heads cut an
/// axis.

#ifndef TP_PLAN_DEGREES_H
#define TP_PLAN_DEGREES_H

#include "Choices.h"
#include "Graph.h"
#include <set>

namespace tp {

/// A dimension of heads x (queries of a group) beside one that has the groups
/// alone: grouped queries. Found in the rules.
struct HeadGrouping {
  unsigned node;
  int64_t groups;
  int64_t inGroup;
  /// Operands that have the groups alone: key and value.
  llvm::SmallVector<unsigned, 2> groupOperands;
};

std::vector<HeadGrouping> findHeadGroupings(const Graph &graph);

/// Whether heads = groups * inGroup may be split over `ranks`: ranks divide the
/// heads, and divide the groups or are a multiple of them.
bool isLegalDegree(const HeadGrouping &grouping, int64_t ranks);

/// The axes' parts: each model axis whole, or cut where there are fewer KV
/// groups than ranks. Diagnoses head counts that an axis does not fit, all of
/// them, with the degrees that do.
mlir::FailureOr<PlanAxes> choosePlanAxes(const Graph &graph,
                                         const std::vector<HeadGrouping> &all,
                                         MeshAttr mesh,
                                         llvm::ArrayRef<bool> isData);

/// The products (node, operand) whose weight makes keys or values: they may be
/// computed redundantly over a replica part.
std::set<std::pair<unsigned, unsigned>>
findGroupProjections(const Graph &graph, const std::vector<HeadGrouping> &all);

} // namespace tp

#endif // TP_PLAN_DEGREES_H
