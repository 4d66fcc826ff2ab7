// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// In which units dimensions may be dealt where ranks do not divide them.

#ifndef TP_WEIGHTS_UNITS_H
#define TP_WEIGHTS_UNITS_H

#include "tp/Weights/Graph.h"

namespace tp {

/// For each factor of a rule the units in which it may be dealt unevenly.
using FactorUnits = std::vector<llvm::SmallVector<int64_t, 2>>;

/// Units besides which none is worth considering.
struct Units {
  /// By value, then by dimension.
  std::vector<std::vector<llvm::SmallVector<int64_t, 2>>> ofValue;
  /// By node, then by factor of its rule.
  std::vector<FactorUnits> ofNode;
};

/// A dimension that an operation reads as several factors is dealt by whole
/// major factors: a head's elements stay together, a group's heads too. What
/// one operation needs is a unit of every tensor that shares the factor.
Units findUnits(const Graph &graph);

} // namespace tp

#endif // TP_WEIGHTS_UNITS_H
