// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What an operation says about how it may be split.

#ifndef TP_IR_SHARDINGRULE_H
#define TP_IR_SHARDINGRULE_H

#include "mlir/IR/Builders.h"
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

/// Factors of heads that share keys and values: a dimension of heads is groups
/// x heads of a group, and some operands have one entry a group.
struct FactorGrouping {
  unsigned groups, inGroup;
};

/// What a backward pass needs of an operation's values: the operands that its
/// derivative depends on (those outside each set of `ShardingRule::linear`, all
/// if there is an operand in no set), the result instead, one byte an element
/// of the result that says which are kept, or nothing.
enum class KeptForBackward { Operands, Result, Mask, Nothing };

/// A rule: factors, where they appear, and what the operation is linear in.
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
  /// Floating-point operations at one point of the product of the factors in
  /// `workFactors`. A multiply-add counts 2.
  double flopsPerPoint = 1;
  llvm::SmallVector<unsigned> workFactors;
  /// Operand whose rows are read by index: as many elements as the result has.
  std::optional<unsigned> lookedUp;
  /// Attention's heads. A plan splits them over all of a model's ranks, or is
  /// refused.
  std::optional<FactorGrouping> grouping;
  KeptForBackward kept = KeptForBackward::Operands;

  /// Whether the whole of dimension `dim` is one factor, or a size-1 dimension.
  const TensorFactors &tensor(unsigned operandOrResult) const {
    return operandOrResult < operands.size()
               ? operands[operandOrResult]
               : results[operandOrResult - operands.size()];
  }
  unsigned numTensors() const { return operands.size() + results.size(); }

  /// The rule in text: `([b,s,k], [n,k]) -> ([b,s,n]) {b=2, s=7, k=48 sum,
  /// n=64} linear {0} {1}`.
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
  /// FLOPs a point; without factors: all of them.
  ShardingRuleBuilder &work(double flopsPerPoint,
                            llvm::ArrayRef<unsigned> factors = {});
  ShardingRuleBuilder &looksUp(unsigned operand);
  ShardingRuleBuilder &dependsOnPosition(llvm::ArrayRef<unsigned> factors);
  ShardingRuleBuilder &groups(FactorGrouping grouping);
  ShardingRuleBuilder &keeps(KeptForBackward kept);
  ShardingRule build();

private:
  TensorFactors withoutUnits(llvm::ArrayRef<DimFactors> dims) const;
  ShardingRule rule;
  bool hasWork = false;
};

/// The rule of an operation that treats every element alone: dimensions of the
/// operands are aligned with the last ones of the result.
ShardingRuleBuilder elementwiseRule(mlir::Operation *op, double flopsPerPoint);

/// Copies `op` with other operands and result types, attributes unchanged: the
/// local form of an operation that does not care where its shard lies.
mlir::Operation *copyWithTypes(mlir::OpBuilder &builder, mlir::Operation *op,
                               mlir::ValueRange operands,
                               mlir::TypeRange resultTypes);

} // namespace tp

#endif // TP_IR_SHARDINGRULE_H
