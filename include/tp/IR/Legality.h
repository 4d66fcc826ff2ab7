// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The type checker: a rule and the layouts of an operation's tensors in,
/// violations out.

#ifndef TP_IR_LEGALITY_H
#define TP_IR_LEGALITY_H

#include "tp/IR/TP.h"

namespace tp {

/// One violation. `label` is a rule of docs/errors.md.
struct Violation {
  std::string label;
  std::string message;
  /// Where the cause lies and what it is; without a cause the text is empty.
  std::optional<mlir::Location> causeLocation;
  std::string cause;
  /// Fixes that type-check, cheapest first.
  llvm::SmallVector<std::string> fixes;
};

/// The parts of one tensor's sharding, dealt to the factors of its dimensions.
struct FactorParts {
  /// One entry a factor; empty where the tensor does not have the factor.
  llvm::SmallVector<AxisParts> parts;
  llvm::SmallVector<bool> present;
};

/// Deals the axis parts of each dimension to its factors, major to minor,
/// cutting a part where a factor ends. Failure, with `dim` and `factor` set, if
/// a factor is not divided: half a head.
struct UndividedFactor {
  unsigned dim, factor;
  int64_t ranks;
};
mlir::FailureOr<FactorParts> dealParts(const ShardingRule &rule,
                                       unsigned tensor, const Layout &layout,
                                       UndividedFactor &undivided);

/// The layout of tensor number `tensor` when factor f is split over
/// `factorParts[f]`.
Layout layoutFromFactors(const ShardingRule &rule, unsigned tensor,
                         llvm::ArrayRef<AxisParts> factorParts);

/// All violations of `op`, whose tensors all have shardings that resolve on
/// `mesh`. Reads nothing but the rule.
llvm::SmallVector<Violation> checkOperation(ShardingRuleOpInterface op,
                                            MeshAttr mesh);

/// All violations of a collective.
llvm::SmallVector<Violation> checkCollective(CollectiveOpInterface op,
                                             MeshAttr mesh);

/// Checks a whole module and reports every violation once.
mlir::LogicalResult checkModule(mlir::ModuleOp module);

} // namespace tp

#endif // TP_IR_LEGALITY_H
