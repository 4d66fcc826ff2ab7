// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Weights of which a plan decides once.

#ifndef TP_EXPLAIN_WEIGHTGROUPS_H
#define TP_EXPLAIN_WEIGHTGROUPS_H

#include "tp/Plan/Planner.h"

namespace tp {

/// Parameters that the same argument of a function stands for: one decision.
struct WeightGroup {
  /// With numbers between dots as `*`.
  std::string name;
  std::vector<ParameterChoice> members;
};
std::vector<WeightGroup> groupWeights(std::vector<ParameterChoice> parameters);

} // namespace tp

#endif // TP_EXPLAIN_WEIGHTGROUPS_H
