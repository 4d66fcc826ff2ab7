// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What an operation says about how it may be split.

#ifndef TP_IR_SHARDINGRULE_H
#define TP_IR_SHARDINGRULE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tp {

/// How the points along a factor meet: not at all, in a sum, in a maximum, or
/// in a way that forbids splitting (`Whole`: a normalised dimension).
enum class FactorKind { Parallel, Sum, Max, Whole };

/// An index of the operation's iteration space, as in einsum.
struct Factor {
  std::string name;
  int64_t size;
  FactorKind kind;
  /// Points are treated by where they are, as a rotation treats positions: a
  /// shard needs its origin, and rows taken of the result are not the result of
  /// the rows.
  bool isPositional = false;
};

/// The factors of one dimension, major to minor.
using DimFactors = llvm::SmallVector<unsigned, 2>;
/// One entry a dimension.
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

/// Factors, by number, of heads that share keys and values: a dimension of
/// heads is groups x heads of a group, and some operands have one entry a
/// group.
struct FactorGrouping {
  unsigned groups, inGroup;
};

/// What an operation means for layouts: its factors, where they appear, and
/// what it is linear in. What it costs is its `Work`. Ask an operation once and
/// keep the answer: building a rule walks all shapes.
struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  /// One entry an operand of the global form, then one a result.
  llvm::SmallVector<TensorFactors> operands;
  llvm::SmallVector<TensorFactors> results;
  /// Sets of operands in which the operation is linear when the others are
  /// held fixed: those of a set are unreduced over the same axes, or none is.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> linear;
  /// Only moves elements, so that an unreduced maximum passes too.
  bool movesData = false;
  /// Takes the maximum of its operands' elements, so that an unreduced maximum
  /// passes though elements do not stay what they are.
  bool takesMaximum = false;
  /// Every element of the results is zero, so that they may be unreduced.
  bool isZero = false;

  /// The factors of the operand or, counted after the operands, the result.
  const TensorFactors &tensor(unsigned operandOrResult) const {
    return operandOrResult < operands.size()
               ? operands[operandOrResult]
               : results[operandOrResult - operands.size()];
  }
  unsigned numTensors() const { return operands.size() + results.size(); }

  /// The rule in text: `([b,s,k], [n,k]) -> ([b,s,n]) {b=2, s=7, k=48 sum,
  /// n=64} linear {0} linear {1}`, then `moves`, `maximum`, `zero` where
  /// `movesData`, `takesMaximum`, `isZero`.
  std::string str() const;
};

/// Builds a rule. Factors of size 1 vanish from the dimensions: they cannot be
/// split.
class ShardingRuleBuilder {
public:
  unsigned factor(llvm::StringRef name, int64_t size,
                  FactorKind kind = FactorKind::Parallel);
  ShardingRuleBuilder &operand(llvm::ArrayRef<DimFactors> dims);
  ShardingRuleBuilder &result(llvm::ArrayRef<DimFactors> dims);
  ShardingRuleBuilder &linearIn(llvm::ArrayRef<unsigned> operands);
  ShardingRuleBuilder &movesData();
  ShardingRuleBuilder &takesMaximum();
  ShardingRuleBuilder &isZero();
  ShardingRuleBuilder &dependsOnPosition(llvm::ArrayRef<unsigned> factors);
  ShardingRule build();

private:
  TensorFactors withoutUnits(llvm::ArrayRef<DimFactors> dims) const;
  ShardingRule rule;
};

/// The rule of an operation that treats every element alone: dimensions of the
/// operands are aligned with the last ones of the result.
ShardingRuleBuilder elementwiseRule(mlir::Operation *op);

} // namespace tp

#endif // TP_IR_SHARDINGRULE_H
