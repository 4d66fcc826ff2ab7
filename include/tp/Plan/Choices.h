// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From a rule to the strategies of an operation.

#ifndef TP_PLAN_CHOICES_H
#define TP_PLAN_CHOICES_H

#include "tp/Plan/PlanAxes.h"
#include "tp/Weights/Units.h"

namespace tp {

/// What the user wants of a plan (DESIGN: weights=, sequence-parallel=).
enum class Weights { Stationary, Stored, Free };
enum class SequenceParallel { Off, On, Auto };

struct PlanWishes {
  Weights weights = Weights::Stationary;
  SequenceParallel sequence = SequenceParallel::Auto;
  Uneven uneven = Uneven::Refuse;
};

/// The constraints that can exclude a strategy, as bits.
enum Constraint : unsigned {
  StationaryWeights = 1,
  DataAxes = 2,
  Sequence = 4,
  Pin = 8,
};

/// "weights=stationary", as in a diagnostic.
llvm::StringRef toString(Constraint constraint);

/// A strategy: for each part the factor it splits, and so the layout of each
/// tensor.
struct Strategy {
  llvm::SmallVector<Layout, 0> layouts;
};

/// All strategies of a rule over `axes`: each part splits one factor, is idle
/// (the work is done redundantly), or carries a partial sum through operands in
/// which the operation is linear; parts on the same factor in every order.
/// Maxima are carried through the operands `maxima`, which may come unfinished,
/// if the operation takes them. Without `uneven` shards are even; with it a
/// factor that the ranks do not divide is dealt in each of its units.
std::vector<Strategy> enumerateStrategies(const ShardingRule &rule,
                                          const PlanAxes &axes,
                                          llvm::ArrayRef<unsigned> maxima = {},
                                          const FactorUnits *uneven = nullptr);

} // namespace tp

#endif // TP_PLAN_CHOICES_H
