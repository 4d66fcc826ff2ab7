// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_ROUNDING_H
#define TP_SOLVER_ROUNDING_H

#include "DualSearch.h"

namespace tp {

/// A plan made from messages, by node: index of a choice kept.
///
/// The nodes are visited in order. Each takes the choice that is cheapest given
/// those of the nodes before it, where the messages stand for the nodes after
/// it (V. Kolmogorov, "Convergent tree-reweighted message passing for energy
/// minimization", IEEE TPAMI 28, 2006, section 5). Nothing says how good it is,
/// nor that it is possible.
std::vector<unsigned> roundMessages(const DualModel &model,
                                    const DualResult &dual);

} // namespace tp

#endif // TP_SOLVER_ROUNDING_H
