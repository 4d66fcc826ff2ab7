// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperationChecker.h"
#include "tp/IR/LocalShape.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

//===- An operation and its tensors ---------------------------------------===//

Value LaidOutOperation::getValue(unsigned tensor) const {
  return isOperand(tensor) ? op->getOperand(tensor)
                           : op->getResult(tensor - rule.operands.size());
}

bool LaidOutOperation::areAlike(unsigned tensor, unsigned other) const {
  return isOperand(tensor) && isOperand(other) &&
         getValue(tensor) == getValue(other) &&
         layouts[tensor] == layouts[other] &&
         rule.operands[tensor] == rule.operands[other];
}

RankedTensorType LaidOutOperation::getType(unsigned tensor) const {
  return cast<RankedTensorType>(getValue(tensor).getType());
}

FlatSymbolRefAttr LaidOutOperation::getMeshName() const {
  return getSharding(getValue(0)).getMesh();
}

std::string LaidOutOperation::describe(unsigned tensor) const {
  if (isOperand(tensor))
    return llvm::formatv("operand {0}", tensor);
  return rule.results.size() == 1
             ? std::string("the result")
             : llvm::formatv("result {0}", tensor - rule.operands.size()).str();
}

std::string LaidOutOperation::toText(const Layout &layout) const {
  std::string text;
  llvm::raw_string_ostream(text) << toAttr(layout, mesh, getMeshName());
  return text;
}

//===- Checking one operation ---------------------------------------------===//

//===- Factors ------------------------------------------------------------===//

/// "1, 2, 4": the numbers of ranks that divide `size`, up to a handful.
static std::string divisorsOf(int64_t size) {
  std::string text;
  int64_t listed = 0;
  for (int64_t degree = 1; degree <= size && degree <= 4096 && listed < 24;
       ++degree) {
    if (size % degree != 0)
      continue;
    text += (listed++ ? ", " : "") + std::to_string(degree);
  }
  return text;
}

// R6: half a head. A factor of a dimension must be divided as a whole.
void OperationChecker::addUndivided(unsigned tensor,
                                    const UndividedFactor &undivided) {
  auto addHere = [&](const Twine &message) -> Finding & {
    Finding &finding = add(Finding::Undivided, "R6", name() + message);
    finding.tensor = tensor;
    finding.dim = undivided.dim;
    addCause(finding, tensor, "this value is split so");
    return finding;
  };
  if (undivided.factor == ~0u) {
    addHere(llvm::formatv(": dimension {0} of {1} has 1 element and cannot be "
                          "split over {2} ranks",
                          undivided.dim, describe(tensor), undivided.ranks)
                .str());
    return;
  }
  // The same factor of an operand and of the result is one mistake.
  for (const Finding &finding : findings.all)
    if (llvm::is_contained(finding.factors, undivided.factor))
      return;
  const Factor &factor = rule.factors[undivided.factor];
  Finding &finding = addHere(
      llvm::formatv(": splits '{0}' of {1} ({2}, dimension {3}) over {4} "
                    "ranks, which would cut one in pieces",
                    factor.name, factor.size, describe(tensor), undivided.dim,
                    undivided.ranks)
          .str());
  finding.factors.push_back(undivided.factor);
  finding.violation.fixes.push_back(
      {"split it over " + divisorsOf(factor.size) + " ranks", {}});
}

void OperationChecker::dealAll() {
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
    UndividedFactor undivided{};
    auto parts = dealParts(rule, tensor, layouts[tensor], undivided);
    if (failed(parts)) {
      addUndivided(tensor, undivided);
      dealt.emplace_back();
      continue;
    }
    dealt.push_back(std::move(*parts));
  }
}

/// "is split over "tp"" or "is whole".
std::string OperationChecker::describeSplit(unsigned tensor,
                                            unsigned factor) const {
  const DimLayout &split = dealt[tensor]->splits[factor];
  if (split.parts.empty())
    return "is whole";
  return "is split over " + text(split.parts) +
         (split.unit == 1 ? "" : " in units of " + std::to_string(split.unit));
}

// R4: a factor's axes are the same wherever it appears. The factors in which
// two tensors differ are one violation.
void OperationChecker::addDifference(unsigned factor, unsigned first,
                                     unsigned other) {
  std::string difference = llvm::formatv(
      "'{0}' of {1} {2} in {3} but {4} in {5}", rule.factors[factor].name,
      rule.factors[factor].size, describeSplit(first, factor), describe(first),
      describeSplit(other, factor), describe(other));
  for (Finding &finding : findings.all)
    if (finding.kind == Finding::Differs && finding.tensor == first &&
        finding.other == other) {
      finding.violation.message += "; " + difference;
      finding.factors.push_back(factor);
      return;
    }
  // One value that is read twice is one mistake.
  for (const Finding &finding : findings.all)
    if (finding.kind == Finding::Differs && finding.tensor == first &&
        operation.areAlike(finding.other, other))
      return;
  Finding &finding = add(Finding::Differs, "R4", name() + ": " + difference);
  finding.tensor = first;
  finding.other = other;
  finding.factors.push_back(factor);
  addCause(finding, operation.isOperand(other) ? other : first,
           operation.isOperand(other) ? "the other layout is given here"
                                      : "the operand is laid out here");
}

/// The axes of each factor, from the first tensor that has it. Results that
/// differ do not change what the operands say.
void OperationChecker::joinFactors() {
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    std::optional<unsigned> first;
    bool operandsAgree = true, allAgree = true;
    for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
      if (!hasFactor(tensor, factor))
        continue;
      if (!first)
        first = tensor;
      if (agree(tensor, *first, factor))
        continue;
      operandsAgree &= !operation.isOperand(tensor);
      allAgree = false;
      // What must be whole is reported as such.
      if (rule.factors[factor].kind != FactorKind::Whole)
        addDifference(factor, *first, tensor);
    }
    // Results are whole where they must be, whatever they are declared.
    bool known = first && operandsAgree &&
                 rule.factors[factor].kind != FactorKind::Whole;
    operandsKnow.push_back(operandsAgree);
    findings.splits.push_back(known ? dealt[*first]->splits[factor]
                                    : DimLayout());
    agreed.push_back(allAgree);
  }
}

// R5: norms, softmax and the like need their dimension whole.
void OperationChecker::checkWholeFactors() {
  auto isSplit = [&](unsigned tensor, unsigned factor) {
    return rule.factors[factor].kind == FactorKind::Whole &&
           hasFactor(tensor, factor) &&
           !dealt[tensor]->splits[factor].parts.empty();
  };
  bool operandIsSplit = false;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
    for (unsigned tensor = 0; tensor < rule.operands.size(); ++tensor)
      operandIsSplit |= isSplit(tensor, factor);
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
      if (!isSplit(tensor, factor))
        continue;
      // Once the operands are whole, so are the results that they make.
      if (operandIsSplit && !operation.isOperand(tensor))
        continue;
      std::string axes = text(dealt[tensor]->splits[factor].parts);
      Finding &finding =
          add(Finding::NotWhole, "R5",
              llvm::formatv("{0}: '{1}' of {2} must be whole but is split over "
                            "{3}{4}",
                            name(), rule.factors[factor].name,
                            rule.factors[factor].size, axes,
                            operation.isOperand(tensor) ? "" : " in the result")
                  .str());
      finding.tensor = tensor;
      finding.factors.push_back(factor);
      finding.axes = dealt[tensor]->splits[factor].parts;
      addCause(finding, tensor, "this value is split so");
      break;
    }
  }
}

void OperationChecker::addUsedTwice(const AxisPart &part, unsigned first,
                                    unsigned second) {
  Finding &finding =
      add(Finding::UsedTwice, "R9",
          llvm::formatv("{0}: axis {1} splits both '{2}' and '{3}': a rank "
                        "would hold only the diagonal",
                        name(), text(part), rule.factors[first].name,
                        rule.factors[second].name)
              .str());
  finding.factors = {first, second};
  finding.axes = {part};
  for (unsigned factor : finding.factors) {
    auto operands = llvm::seq<unsigned>(0, rule.operands.size());
    auto owner = llvm::find_if(
        operands, [&](unsigned operand) { return hasFactor(operand, factor); });
    if (owner != operands.end())
      addCause(finding, *owner,
               "'" + rule.factors[factor].name + "' is split here");
  }
}

// R9: one axis splits one factor.
void OperationChecker::checkAxesUsedOnce() {
  ArrayRef<DimLayout> splits = findings.splits;
  for (unsigned second = 0; second < splits.size(); ++second)
    for (unsigned first = 0; first < second; ++first) {
      if (!agreed[first] || !agreed[second])
        continue;
      for (const AxisPart &part : splits[second].parts)
        if (overlapsAny(part, splits[first].parts))
          addUsedTwice(part, first, second);
    }
}

//===- Results ------------------------------------------------------------===//

/// The results are split as their factors are, and unreduced over exactly what
/// the operands and the split sums make it.
void OperationChecker::inferResults() {
  AxisParts unreduced;
  ReductionKind kind = ReductionKind::Sum;
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand) {
    if (layouts[operand].unreduced.empty() || !passes(operand))
      continue;
    llvm::append_range(unreduced, layouts[operand].unreduced);
    kind = layouts[operand].kind;
  }
  for (auto [factor, split] : llvm::zip_equal(rule.factors, findings.splits)) {
    bool reduces =
        factor.kind == FactorKind::Sum || factor.kind == FactorKind::Max;
    if (!reduces || split.parts.empty())
      continue;
    llvm::append_range(unreduced, split.parts);
    if (factor.kind == FactorKind::Max)
      kind = ReductionKind::Max;
  }
  llvm::sort(unreduced);
  unreduced.erase(llvm::unique(unreduced), unreduced.end());
  for (unsigned tensor = rule.operands.size(); tensor < rule.numTensors();
       ++tensor) {
    bool known = llvm::all_of(rule.tensor(tensor), [&](const auto &factors) {
      return llvm::all_of(
          factors, [&](unsigned factor) { return operandsKnow[factor]; });
    });
    if (!known) {
      findings.results.push_back(layouts[tensor]);
      continue;
    }
    Layout layout = layoutFromFactors(rule, tensor, findings.splits);
    bool keeps = rule.isZero && layouts[tensor].unreduced.size() > 0;
    layout.unreduced =
        keeps ? layouts[tensor].unreduced : normalizeSet(unreduced);
    layout.kind = keeps ? layouts[tensor].kind : kind;
    findings.results.push_back(
        layout.canonical(operation.getType(tensor).getShape()));
  }
}

/// The operand or factor because of which the results are unreduced.
void OperationChecker::addResultCause(Finding &finding) {
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand)
    if (!layouts[operand].unreduced.empty())
      return addMaker(finding, operand);
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    FactorKind kind = rule.factors[factor].kind;
    bool reduces = kind == FactorKind::Sum || kind == FactorKind::Max;
    if (!reduces || findings.splits[factor].parts.empty())
      continue;
    for (unsigned operand = 0; operand < rule.operands.size(); ++operand)
      if (hasFactor(operand, factor))
        return addCause(finding, operand,
                        "'" + rule.factors[factor].name + "' is split over " +
                            text(findings.splits[factor].parts) + " here");
  }
  if (!rule.operands.empty())
    addCause(finding, 0, "operand 0 is finished");
}

// R7: the result is unreduced over exactly what the operands make it.
void OperationChecker::checkResults() {
  for (auto [index, expected] : llvm::enumerate(findings.results)) {
    unsigned tensor = rule.operands.size() + index;
    const Layout &declared = layouts[tensor];
    AxisParts axes = normalizeSet(declared.unreduced);
    bool sameKind = axes.empty() || declared.kind == expected.kind;
    if (axes == expected.unreduced && sameKind)
      continue;
    auto state = [&](ArrayRef<AxisPart> parts, ReductionKind kind) {
      if (parts.empty())
        return std::string("finished");
      bool saysKind = !sameKind || kind == ReductionKind::Max;
      return (saysKind ? "an unfinished " + (kind == ReductionKind::Max
                                                 ? std::string("maximum over ")
                                                 : std::string("sum over "))
                       : std::string("unreduced over ")) +
             text(parts);
    };
    Finding &finding = add(
        Finding::WrongResult, "R7",
        llvm::formatv("{0}: {1} is declared {2}, but {3} {4}", name(),
                      describe(tensor), state(axes, declared.kind),
                      rule.operands.empty() ? "it is" : "its operands make it",
                      state(expected.unreduced, expected.kind))
            .str());
    finding.tensor = tensor;
    addResultCause(finding);
  }
}

Findings tp::findViolations(const LaidOutOperation &operation) {
  return OperationChecker(operation).check();
}

std::vector<Violation> tp::checkOperation(ShardingRuleOpInterface op,
                                          MeshAttr mesh) {
  LaidOutOperation operation{op, mesh, op.getShardingRule(), {}};
  for (unsigned tensor = 0; tensor < operation.rule.numTensors(); ++tensor)
    operation.layouts.push_back(getCheckedLayout(operation.getValue(tensor)));
  Findings findings = findViolations(operation);
  std::vector<Violation> violations;
  for (Finding &finding : findings.all) {
    addFixes(operation, findings, finding);
    violations.push_back(std::move(finding.violation));
  }
  return violations;
}
