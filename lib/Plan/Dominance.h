// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_PLAN_DOMINANCE_H
#define TP_PLAN_DOMINANCE_H

#include "tp/Plan/Certificate.h"
#include "tp/Plan/Problem.h"

namespace tp {

/// The choices worth considering. Variables with the same costs, tables and
/// layout maps form a class and share them.
struct Domains {
  /// By variable.
  std::vector<unsigned> classOf;
  /// By class: the choices kept, ascending.
  std::vector<llvm::SmallVector<unsigned, 16>> kept;
  /// By class: the choices left out, banned ones excepted.
  std::vector<std::vector<Certificate::Dropped>> dropped;

  llvm::ArrayRef<unsigned> getKept(unsigned variable) const {
    return kept[classOf[variable]];
  }
};

/// Leaves out banned choices and, if `dominance` is set, every choice s with a
/// kept choice t such that
///
///     cost(t) + distances(in_s -> in_t) + distances(out_t -> out_s) <= cost(s)
///
/// summed over the values that the variable uses and makes. Any plan with s can
/// then take t and reshard around it: the tree that reaches in_s goes on to
/// in_t, the tree that starts at out_s is first reached from out_t.
Domains pruneChoices(const Problem &problem, bool dominance);

} // namespace tp

#endif // TP_PLAN_DOMINANCE_H
