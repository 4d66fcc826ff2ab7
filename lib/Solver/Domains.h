// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_DOMAINS_H
#define TP_SOLVER_DOMAINS_H

#include "tp/Solver/Problem.h"
#include <map>

namespace tp {

/// The choices worth considering. Variables with the same costs and the same
/// choices kept form a class.
class Domains {
public:
  /// Leaves out what no plan can use: banned choices, and those whose layouts
  /// have no way to or from any choice left at the other end.
  static Domains findPossible(const Problem &problem);

  /// Those choices c of a variable v for which `isKept(v, c)`.
  static Domains select(const Problem &problem,
                        llvm::function_ref<bool(unsigned, unsigned)> isKept);

  unsigned classOf(unsigned variable) const { return classes[variable]; }
  size_t numClasses() const { return kept.size(); }
  llvm::ArrayRef<unsigned> getKeptOfClass(unsigned number) const {
    return kept[number];
  }
  /// Ascending.
  llvm::ArrayRef<unsigned> getKept(unsigned variable) const {
    return kept[classes[variable]];
  }

private:
  /// By variable.
  std::vector<unsigned> classes;
  /// By class.
  std::vector<std::vector<unsigned>> kept;
};

} // namespace tp

#endif // TP_SOLVER_DOMAINS_H
