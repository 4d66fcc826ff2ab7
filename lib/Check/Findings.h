// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Between the type checker and the search for fixes.

#ifndef TP_CHECK_FINDINGS_H
#define TP_CHECK_FINDINGS_H

#include "tp/Check/Legality.h"

namespace tp {

/// An operation with layouts of its tensors that need not be those of the IR.
struct LaidOutOperation {
  ShardingRuleOpInterface op;
  MeshAttr mesh;
  ShardingRule rule;
  std::vector<Layout> layouts;

  mlir::Value getValue(unsigned tensor) const;
  mlir::RankedTensorType getType(unsigned tensor) const;
  mlir::FlatSymbolRefAttr getMeshName() const;
  bool isOperand(unsigned tensor) const {
    return tensor < rule.operands.size();
  }
  /// Whether both are operands that have one value, layout and factors: what is
  /// wrong with one is wrong with the other.
  bool areAlike(unsigned tensor, unsigned other) const;
  /// "operand 1", "the result".
  std::string describe(unsigned tensor) const;
  std::string toText(const Layout &layout) const;
};

/// A violation and what a fix has to know of it.
struct Finding {
  enum Kind {
    Undivided,
    Differs,
    NotWhole,
    UsedTwice,
    Nonlinear,
    AddedToOther,
    Multiplied,
    WrongResult
  };
  Kind kind;
  Violation violation;
  /// The tensor at fault, and the one that it does not go with.
  unsigned tensor = 0;
  unsigned other = 0;
  /// Factors concerned.
  llvm::SmallVector<unsigned, 2> factors;
  unsigned dim = 0;
  AxisParts axes;

  /// Whether both say the same of the same tensors and factors.
  bool isSameAs(const Finding &that) const {
    return kind == that.kind && tensor == that.tensor && other == that.other &&
           factors == that.factors;
  }
};

/// What is wrong, and what would not be.
struct Findings {
  std::vector<Finding> all;
  /// The layouts that the rule gives the results.
  std::vector<Layout> results;
  /// How each factor is split, where the operands agree.
  llvm::SmallVector<DimLayout> splits;
};

Findings findViolations(const LaidOutOperation &operation);

/// The fixes of one finding that type-check.
void addFixes(const LaidOutOperation &operation, const Findings &findings,
              Finding &finding);

} // namespace tp

#endif // TP_CHECK_FINDINGS_H
