// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Messages as the solver has them, by layouts kept, and as certificates do, by
/// all layouts of a map.

#ifndef TP_SOLVER_DUALMESSAGES_H
#define TP_SOLVER_DUALMESSAGES_H

#include "DualSearch.h"
#include "tp/Solver/Certificate.h"

namespace tp {

/// Fills the messages of `certificate`.
void writeMessages(const Problem &problem, const DualModel &model,
                   const DualResult &result, Certificate &certificate);

/// The messages of a certificate, to begin with; no bound is worked out.
/// Nothing if it has none, or is for a problem with other values and layouts.
std::optional<DualResult> readMessages(const Problem &problem,
                                       const DualModel &model,
                                       const Certificate &certificate);

} // namespace tp

#endif // TP_SOLVER_DUALMESSAGES_H
