// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_NARROWING_H
#define TP_SOLVER_NARROWING_H

#include "DualSearch.h"
#include "tp/Solver/Solver.h"

namespace tp {

/// Leaves out choices by what messages say of them.
class Narrowing {
public:
  /// Nothing is left out if message passing does not take the problem on.
  Narrowing(const Problem &problem, Domains possible,
            const SolveOptions &options);

  bool hasMessages() const { return model.has_value(); }
  const DualModel &getModel() const { return *model; }
  const DualResult &getDual() const { return dual; }
  /// Whether messages prove that no plan is below the cutoff; nothing else is
  /// then known.
  bool isBeyondCutoff() const { return dual.bound > cutoff; }

  /// The choices of plans whose time is at most `margin` above the bound;
  /// others may be among them, none is missing.
  Domains getChoices(Ticks margin) const;

private:
  const Problem &problem;
  Domains possible;
  std::optional<DualModel> model;
  Ticks cutoff;
  DualResult dual;
  /// By variable: which of the slacks it has.
  std::vector<unsigned> slackOf;
};

} // namespace tp

#endif // TP_SOLVER_NARROWING_H
