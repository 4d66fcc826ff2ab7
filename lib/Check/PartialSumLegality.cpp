// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which operations take a value that is not finished.

#include "OperationChecker.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

/// The operation that left `value` unreduced over `axes`: the last one whose
/// operands are not.
static Operation *findMaker(Value value, ArrayRef<AxisPart> axes) {
  Operation *maker = value.getDefiningOp();
  while (maker) {
    Operation *before = nullptr;
    for (Value operand : maker->getOperands()) {
      std::optional<Layout> layout = findLayout(operand.getType(), maker);
      if (layout && containsParts(layout->unreduced, axes))
        before = operand.getDefiningOp();
    }
    if (!before)
      return maker;
    maker = before;
  }
  return nullptr;
}

Cause tp::findCause(Value value, ArrayRef<AxisPart> axes) {
  if (Operation *maker = findMaker(value, axes))
    return {
        maker->getLoc(),
        ("'" + maker->getName().getStringRef() + "' left it unreduced").str()};
  return {value.getLoc(), "it comes in unreduced"};
}

bool OperationChecker::isLinearIn(unsigned operand) const {
  return llvm::any_of(rule.linear, [&](const auto &set) {
    return llvm::is_contained(set, operand);
  });
}

bool OperationChecker::passes(unsigned operand) const {
  return layouts[operand].kind == ReductionKind::Sum
             ? isLinearIn(operand)
             : rule.movesData || rule.takesMaximum;
}

// R1: only a linear operation takes a partial value. R8: narrowing rounds.
void OperationChecker::checkNonlinear(unsigned operand) {
  for (const Finding &finding : findings.all)
    if (finding.kind == Finding::Nonlinear &&
        operation.areAlike(finding.tensor, operand))
      return;
  const Layout &layout = layouts[operand];
  std::string why;
  bool keeps = ShardingRuleOpInterface(operation.op).keepsPartialSums(why);
  StringRef kind = layout.kind == ReductionKind::Sum ? "sum" : "maximum";
  Finding &finding =
      add(Finding::Nonlinear, keeps ? "R1" : "R8",
          llvm::formatv("{0} is applied to a {1} that is not finished: {2} is "
                        "unreduced over {3}{4}",
                        name(), kind, describe(operand), text(layout.unreduced),
                        why.empty() ? "" : "; " + why)
              .str());
  finding.tensor = operand;
  addMaker(finding, operand);
}

std::string OperationChecker::describeAddition(unsigned partial,
                                               unsigned other) const {
  std::string first = text(normalizeSet(layouts[partial].unreduced));
  std::string second = text(normalizeSet(layouts[other].unreduced));
  if (!second.empty())
    return llvm::formatv("{0}: {1} is unreduced over {2} but {3} over {4}; "
                         "their terms do not pair up",
                         name(), describe(partial), first, describe(other),
                         second);
  return llvm::formatv("{0}: {1} is unreduced over {2} but {3} is finished; "
                       "every rank would add the finished value, {4} times in "
                       "all",
                       name(), describe(partial), first, describe(other),
                       numRanks(layouts[partial].unreduced));
}

/// Operands of a set are unreduced over the same axes.
// R2: partial plus whole.
void OperationChecker::checkSet(ArrayRef<unsigned> set) {
  for (unsigned operand : set.drop_front()) {
    AxisParts axes = normalizeSet(layouts[set.front()].unreduced);
    AxisParts others = normalizeSet(layouts[operand].unreduced);
    bool sums = layouts[set.front()].kind == ReductionKind::Sum &&
                layouts[operand].kind == ReductionKind::Sum;
    if (!sums || others == axes)
      continue;
    bool firstIsPartial = others.empty() || !axes.empty();
    unsigned partial = firstIsPartial ? set.front() : operand;
    unsigned other = firstIsPartial ? operand : set.front();
    Finding &finding =
        add(Finding::AddedToOther, "R2", describeAddition(partial, other));
    finding.tensor = set.front();
    finding.other = operand;
    addMaker(finding, partial);
    if (!axes.empty() && !others.empty())
      addMaker(finding, other);
  }
}

// R2 again: a sum and a maximum that are both unfinished.
void OperationChecker::checkKinds() {
  std::optional<unsigned> seen[2];
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand)
    if (!layouts[operand].unreduced.empty() && passes(operand))
      seen[layouts[operand].kind == ReductionKind::Max] = operand;
  if (!seen[0] || !seen[1])
    return;
  Finding &finding =
      add(Finding::AddedToOther, "R2",
          llvm::formatv("{0}: {1} is an unfinished sum over {2} but {3} an "
                        "unfinished maximum over {4}",
                        name(), describe(*seen[0]),
                        text(layouts[*seen[0]].unreduced), describe(*seen[1]),
                        text(layouts[*seen[1]].unreduced))
              .str());
  finding.tensor = *seen[0];
  finding.other = *seen[1];
  addMaker(finding, *seen[0]);
  addMaker(finding, *seen[1]);
}

// R3: the other operands are whole on the axes of a partial one.
void OperationChecker::checkProduct(unsigned operand, unsigned other) {
  AxisParts used = layouts[other].getUsedParts();
  AxisParts shared;
  for (const AxisPart &axis : normalizeSet(layouts[operand].unreduced))
    if (overlapsAny(axis, used))
      shared.push_back(axis);
  // A pair that is reported already, from the other side or as R4.
  bool known = llvm::any_of(findings.all, [&](const Finding &finding) {
    bool samePair = std::minmax(finding.tensor, finding.other) ==
                    std::minmax(operand, other);
    return samePair && (finding.kind == Finding::Multiplied ||
                        finding.kind == Finding::Differs);
  });
  if (shared.empty() || known)
    return;
  Finding &finding = add(
      Finding::Multiplied, "R3",
      llvm::formatv("{0}: {1} is unreduced over {2}, so {3} must be whole "
                    "there; a product of sums is not the sum of products",
                    name(), describe(operand), text(shared), describe(other))
          .str());
  finding.tensor = operand;
  finding.other = other;
  finding.axes = shared;
  addMaker(finding, operand);
}

void OperationChecker::checkProducts(ArrayRef<unsigned> set) {
  for (unsigned operand : set)
    for (unsigned other = 0; other < rule.operands.size(); ++other)
      if (!llvm::is_contained(set, other) &&
          layouts[operand].kind == ReductionKind::Sum)
        checkProduct(operand, other);
}

void OperationChecker::checkPartialSums() {
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand)
    if (!layouts[operand].unreduced.empty() && !passes(operand))
      checkNonlinear(operand);
  checkKinds();
  for (const auto &set : rule.linear) {
    checkSet(set);
    checkProducts(set);
  }
}
