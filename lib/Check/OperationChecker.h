// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The checks of one operation: of its factors (Legality.cpp) and of its
/// partial sums (PartialSumLegality.cpp).

#ifndef TP_CHECK_OPERATIONCHECKER_H
#define TP_CHECK_OPERATIONCHECKER_H

#include "Findings.h"
#include "tp/IR/FactorSplits.h"

namespace tp {

/// One operation under the rule. Violations are collected, not emitted, so that
/// all of them are reported.
class OperationChecker {
public:
  explicit OperationChecker(const LaidOutOperation &operation)
      : operation(operation), rule(operation.rule), layouts(operation.layouts) {
  }

  Findings check() && {
    dealAll();
    joinFactors();
    checkWholeFactors();
    checkAxesUsedOnce();
    checkPartialSums();
    inferResults();
    if (findings.all.empty())
      checkResults();
    return std::move(findings);
  }

private:
  std::string name() const {
    return "'" + operation.op->getName().getStringRef().str() + "'";
  }
  std::string describe(unsigned tensor) const {
    return operation.describe(tensor);
  }
  std::string text(llvm::ArrayRef<AxisPart> parts) const {
    return toString(parts, operation.mesh);
  }

  Finding &add(Finding::Kind kind, llvm::StringRef label,
               const llvm::Twine &message) {
    Finding &finding = findings.all.emplace_back();
    finding.kind = kind;
    finding.violation.label = label.str();
    finding.violation.message = message.str();
    return finding;
  }

  void addCause(Finding &finding, unsigned tensor, const llvm::Twine &text) {
    finding.violation.causes.push_back(
        {operation.getValue(tensor).getLoc(), text.str()});
  }

  void addMaker(Finding &finding, unsigned tensor) {
    finding.violation.causes.push_back(findCause(
        operation.getValue(tensor), normalizeSet(layouts[tensor].unreduced)));
  }

  bool hasFactor(unsigned tensor, unsigned factor) const {
    return dealt[tensor] && dealt[tensor]->present[factor];
  }

  bool agree(unsigned tensor, unsigned other, unsigned factor) const {
    return dealt[tensor]->splits[factor] == dealt[other]->splits[factor];
  }

  void dealAll();
  void addUndivided(unsigned tensor, const UndividedFactor &undivided);
  std::string describeSplit(unsigned tensor, unsigned factor) const;
  void addDifference(unsigned factor, unsigned first, unsigned other);
  void joinFactors();
  void checkWholeFactors();
  void addUsedTwice(const AxisPart &part, unsigned first, unsigned second);
  void checkAxesUsedOnce();
  bool isLinearIn(unsigned operand) const;
  bool passes(unsigned operand) const;
  void checkPartialSums();
  void checkNonlinear(unsigned operand);
  void checkKinds();
  void checkSet(llvm::ArrayRef<unsigned> set);
  std::string describeAddition(unsigned partial, unsigned other) const;
  void checkProducts(llvm::ArrayRef<unsigned> set);
  void checkProduct(unsigned operand, unsigned other);
  void inferResults();
  void checkResults();
  void addResultCause(Finding &finding);

  const LaidOutOperation &operation;
  const ShardingRule &rule;
  const std::vector<Layout> &layouts;
  /// Nothing for a tensor whose dimensions do not divide.
  std::vector<std::optional<FactorSplits>> dealt;
  /// Whether all tensors that have the factor agree on its axes.
  llvm::SmallVector<bool> agreed;
  /// Whether all operands that have it do.
  llvm::SmallVector<bool> operandsKnow;
  Findings findings;
};

} // namespace tp

#endif // TP_CHECK_OPERATIONCHECKER_H
