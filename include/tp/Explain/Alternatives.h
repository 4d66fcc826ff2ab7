// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What other plans than a module's own cost. Each is solved, not estimated.

#ifndef TP_EXPLAIN_ALTERNATIVES_H
#define TP_EXPLAIN_ALTERNATIVES_H

#include "tp/Plan/Planner.h"

namespace tp {

/// Weights that stand for one argument of a function and lie alike, and the
/// best plan in which all of them lie otherwise.
struct WeightAlternative {
  /// Numbers of layers as `*`.
  std::string name;
  llvm::SmallVector<int64_t> shape;
  int64_t count = 1;
  /// As "column, dimension 0 of 4096 over "tp", 512 a rank".
  std::string layout;
  /// The other layout, and that plan's figures less those of the module's;
  /// nothing if the constraints leave no other layout.
  std::string otherLayout;
  std::optional<PlanFigures> more;
};

/// The best plan without one constraint.
struct ConstraintAlternative {
  /// As "weights=stationary", and what stands in its place, as "weights=free".
  std::string given, instead;
  /// Nothing if there is no plan.
  std::optional<PlanFigures> more;
};

struct Alternatives {
  /// The machine that the module was planned for, which prices them.
  std::string machine;
  /// Seconds of a step of the module's plan, nothing overlapping.
  double seconds = 0;
  std::vector<WeightAlternative> weights;
  std::vector<ConstraintAlternative> constraints;
};

/// Plans the module again and again. Diagnoses one that carries no plan or
/// whose types are none that its recorded settings allow.
mlir::FailureOr<Alternatives> findAlternatives(mlir::ModuleOp planned);

} // namespace tp

#endif // TP_EXPLAIN_ALTERNATIVES_H
