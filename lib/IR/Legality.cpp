// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/Legality.h"
#include "tp/IR/LocalShape.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

//===- Dealing axes to factors --------------------------------------------===//

namespace {

/// Deals the parts of one dimension to its factors, major to minor.
class DimDealer {
public:
  DimDealer(const ShardingRule &rule, const DimFactors &factors,
            const DimLayout &dim, FactorParts &result)
      : rule(rule), factors(factors), dim(dim), result(result) {}

  /// Failure leaves the undivided factor in `undivided`.
  LogicalResult deal(UndividedFactor &undivided) {
    for (const AxisPart &part : dim.parts)
      if (part.size > 1 && failed(dealPart(part, undivided)))
        return failure();
    return success();
  }

private:
  /// A factor may be dealt unevenly if it is alone in its dimension, or if the
  /// sharding says that all minor factors together are its unit.
  bool mayBeUneven() const {
    int64_t minor = 1;
    for (unsigned factor : ArrayRef(factors).drop_front(current + 1))
      minor *= rule.factors[factor].size;
    return minor == 1 || (minor == dim.unit && current == 0);
  }

  LogicalResult dealPart(AxisPart part, UndividedFactor &undivided) {
    while (current < factors.size()) {
      int64_t left = rule.factors[factors[current]].size / dealt;
      AxisParts &parts = result.parts[factors[current]];
      if (left % part.size == 0 || (mayBeUneven() && left != 1)) {
        parts.push_back(part);
        dealt = left % part.size == 0 ? dealt * part.size : dealt;
        return success();
      }
      if (left != 1 && part.size % left != 0)
        break;
      if (left != 1) {
        parts.push_back({part.axis, part.pre, left});
        part = {part.axis, part.pre * left, part.size / left};
      }
      ++current;
      dealt = 1;
    }
    undivided.factor =
        factors.empty() ? ~0u : factors[std::min(current, factors.size() - 1)];
    undivided.ranks = part.size;
    return failure();
  }

  const ShardingRule &rule;
  ArrayRef<unsigned> factors;
  const DimLayout &dim;
  FactorParts &result;
  size_t current = 0;
  int64_t dealt = 1;
};

} // namespace

FailureOr<FactorParts> tp::dealParts(const ShardingRule &rule, unsigned tensor,
                                     const Layout &layout,
                                     UndividedFactor &undivided) {
  FactorParts result;
  result.parts.resize(rule.factors.size());
  result.present.resize(rule.factors.size());
  const TensorFactors &dims = rule.tensor(tensor);
  for (auto [index, factors, dim] : llvm::enumerate(dims, layout.dims)) {
    for (unsigned factor : factors)
      result.present[factor] = true;
    undivided.dim = index;
    if (failed(DimDealer(rule, factors, dim, result).deal(undivided)))
      return failure();
  }
  for (auto [index, parts] : llvm::enumerate(result.parts))
    parts = joinParts(parts, rule.factors[index].size);
  return result;
}

Layout tp::layoutFromFactors(const ShardingRule &rule, unsigned tensor,
                             ArrayRef<AxisParts> factorParts) {
  Layout layout;
  for (const DimFactors &factors : rule.tensor(tensor)) {
    DimLayout &dim = layout.dims.emplace_back();
    for (unsigned factor : factors)
      llvm::append_range(dim.parts, factorParts[factor]);
  }
  return layout;
}

//===- Checking one operation ---------------------------------------------===//

namespace {

/// One operation under the rule. Violations are collected, not emitted, so that
/// all of them are reported.
class OperationChecker {
public:
  OperationChecker(ShardingRuleOpInterface op, MeshAttr mesh)
      : op(op), mesh(mesh), rule(op.getShardingRule()) {}

  SmallVector<Violation> check() && {
    for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor)
      layouts.push_back(getCheckedLayout(value(tensor)));
    if (!dealAll())
      return std::move(violations);
    if (joinFactors()) {
      checkWholeFactors();
      checkAxesUsedOnce();
      checkPartialSums();
    }
    return std::move(violations);
  }

private:
  Value value(unsigned tensor) {
    return tensor < rule.operands.size()
               ? op->getOperand(tensor)
               : op->getResult(tensor - rule.operands.size());
  }

  std::string describe(unsigned tensor) const {
    if (tensor < rule.operands.size())
      return llvm::formatv("operand {0}", tensor);
    return rule.results.size() == 1
               ? std::string("the result")
               : llvm::formatv("result {0}", tensor - rule.operands.size())
                     .str();
  }

  std::string name() { return "'" + op->getName().getStringRef().str() + "'"; }

  Violation &add(StringRef label, const Twine &message) {
    Violation &violation = violations.emplace_back();
    violation.label = label.str();
    violation.message = message.str();
    return violation;
  }

  void setCause(Violation &violation, Value cause, const Twine &text) {
    violation.causeLocation = cause.getLoc();
    violation.cause = text.str();
  }

  std::string text(ArrayRef<AxisPart> parts) const {
    return toString(parts, mesh);
  }

  bool dealAll();
  void addUndivided(unsigned tensor, const UndividedFactor &undivided);
  std::string describeSplit(ArrayRef<AxisPart> parts) const;
  void addDifference(unsigned factor, unsigned first, unsigned other);
  FailureOr<AxisParts> joinFactor(unsigned factor);
  bool joinFactors();
  void checkWholeFactors();
  void checkAxesUsedOnce();
  void checkPartialSums();
  void checkNonlinear(unsigned operand);
  const SmallVector<unsigned, 2> *findLinearSet(unsigned operand) const;
  AxisParts checkSet(ArrayRef<unsigned> set);
  void checkOthersWhole(ArrayRef<unsigned> set, ArrayRef<AxisPart> axes);
  void checkResult(unsigned tensor, AxisParts expected);
  Operation *findMaker(Value value, ArrayRef<AxisPart> axes);

  ShardingRuleOpInterface op;
  MeshAttr mesh;
  ShardingRule rule;
  std::vector<Layout> layouts;
  std::vector<FactorParts> dealt;
  /// The axes of each factor, once all tensors agree.
  SmallVector<AxisParts> factorParts;
  SmallVector<Violation> violations;
};

} // namespace

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
  if (undivided.factor == ~0u) {
    add("R6", llvm::formatv("{0}: dimension {1} of {2} has 1 element and "
                            "cannot be split over {3} ranks",
                            name(), undivided.dim, describe(tensor),
                            undivided.ranks));
    return;
  }
  const Factor &factor = rule.factors[undivided.factor];
  Violation &violation = add(
      "R6", llvm::formatv("{0}: splits '{1}' of {2} ({3}, dimension {4}) over "
                          "{5} ranks, which would cut one in pieces",
                          name(), factor.name, factor.size, describe(tensor),
                          undivided.dim, undivided.ranks));
  setCause(violation, value(tensor), "this value is split so");
  violation.fixes.push_back(
      llvm::formatv("split it over {0} ranks", divisorsOf(factor.size)));
  violation.fixes.push_back("all-gather the dimension before this operation");
}

bool OperationChecker::dealAll() {
  bool good = true;
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
    UndividedFactor undivided{};
    auto parts = dealParts(rule, tensor, layouts[tensor], undivided);
    if (failed(parts)) {
      addUndivided(tensor, undivided);
      good = false;
      continue;
    }
    dealt.push_back(std::move(*parts));
  }
  return good;
}

/// "is split over "tp"" or "is whole".
std::string OperationChecker::describeSplit(ArrayRef<AxisPart> parts) const {
  return parts.empty() ? "is whole" : "is split over " + text(parts);
}

// R4: a factor's axes are the same wherever it appears.
void OperationChecker::addDifference(unsigned factor, unsigned first,
                                     unsigned other) {
  Violation &violation = add(
      "R4", llvm::formatv(
                "{0}: '{1}' of {2} {3} in {4} but {5} in {6}", name(),
                rule.factors[factor].name, rule.factors[factor].size,
                describeSplit(dealt[first].parts[factor]), describe(first),
                describeSplit(dealt[other].parts[factor]), describe(other)));
  setCause(violation, value(other), "the other layout is given here");
  violation.fixes.push_back(llvm::formatv("reshard {0} to the layout of {1}",
                                          describe(other), describe(first)));
}

/// The axes of one factor, from the first tensor that has it; failure if
/// another one differs.
FailureOr<AxisParts> OperationChecker::joinFactor(unsigned factor) {
  std::optional<unsigned> first;
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
    if (!dealt[tensor].present[factor])
      continue;
    if (!first)
      first = tensor;
    if (dealt[tensor].parts[factor] == dealt[*first].parts[factor])
      continue;
    addDifference(factor, *first, tensor);
    return failure();
  }
  return first ? dealt[*first].parts[factor] : AxisParts();
}

bool OperationChecker::joinFactors() {
  bool good = true;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    FailureOr<AxisParts> parts = joinFactor(factor);
    good &= succeeded(parts);
    factorParts.push_back(succeeded(parts) ? *parts : AxisParts());
  }
  return good;
}

// R5: norms, softmax and the like need their dimension whole.
void OperationChecker::checkWholeFactors() {
  for (auto [factor, parts] : llvm::zip_equal(rule.factors, factorParts)) {
    if (factor.kind != FactorKind::Whole || parts.empty())
      continue;
    Violation &violation =
        add("R5", llvm::formatv("{0}: '{1}' of {2} must be whole but is split "
                                "over {3}",
                                name(), factor.name, factor.size, text(parts)));
    setCause(violation, value(0), "this value is split so");
    violation.fixes.push_back("all-gather that dimension over " + text(parts) +
                              " before this operation");
  }
}

// R9: one axis splits one factor.
void OperationChecker::checkAxesUsedOnce() {
  for (unsigned i = 0; i < factorParts.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      for (const AxisPart &part : factorParts[i])
        for (const AxisPart &other : factorParts[j])
          if (part.overlaps(other))
            add("R9",
                llvm::formatv("{0}: axis {1} splits both '{2}' and '{3}': a "
                              "rank would hold only the diagonal",
                              name(), text(part), rule.factors[j].name,
                              rule.factors[i].name))
                .fixes.push_back("all-gather one of them over " + text(part));
}

const SmallVector<unsigned, 2> *
OperationChecker::findLinearSet(unsigned operand) const {
  for (const auto &set : rule.linear)
    if (llvm::is_contained(set, operand))
      return &set;
  return nullptr;
}

/// The operation that left `value` unreduced over `axes`: the last one whose
/// operands are not.
Operation *OperationChecker::findMaker(Value value, ArrayRef<AxisPart> axes) {
  Operation *maker = value.getDefiningOp();
  while (maker) {
    Operation *before = nullptr;
    for (Value operand : maker->getOperands()) {
      if (!getSharding(operand))
        continue;
      Layout layout = getCheckedLayout(operand);
      if (subtractParts(axes, layout.unreduced).empty())
        before = operand.getDefiningOp();
    }
    if (!before)
      return maker;
    maker = before;
  }
  return nullptr;
}

// R1: only a linear operation takes a partial value. R8: narrowing rounds.
void OperationChecker::checkNonlinear(unsigned operand) {
  const Layout &layout = layouts[operand];
  std::string why;
  bool keeps = op.keepsPartialSums(why);
  StringRef kind = layout.kind == ReductionKind::Sum ? "sum" : "maximum";
  Violation &violation =
      add(keeps ? "R1" : "R8",
          llvm::formatv("{0} is applied to a {1} that is not finished: {2} is "
                        "unreduced over {3}{4}",
                        name(), kind, describe(operand), text(layout.unreduced),
                        why.empty() ? "" : "; " + why));
  Value source = value(operand);
  if (Operation *maker = findMaker(source, layout.unreduced))
    setCause(violation, maker->getResult(0),
             "'" + maker->getName().getStringRef() + "' left it unreduced");
  else
    setCause(violation, source, "it comes in unreduced");
  violation.fixes.push_back("all-reduce it over " + text(layout.unreduced) +
                            " before this operation");
  violation.fixes.push_back("reduce-scatter it over " + text(layout.unreduced) +
                            " along a dimension that this operation may split");
}

/// Operands of a set are unreduced over the same axes. Returns those axes.
// R2: partial plus whole.
AxisParts OperationChecker::checkSet(ArrayRef<unsigned> set) {
  AxisParts axes = normalizeSet(layouts[set.front()].unreduced);
  for (unsigned operand : set.drop_front()) {
    AxisParts others = normalizeSet(layouts[operand].unreduced);
    if (others == axes)
      continue;
    bool firstIsPartial = others.empty() || !axes.empty();
    unsigned partial = firstIsPartial ? set.front() : operand;
    unsigned whole = firstIsPartial ? operand : set.front();
    AxisParts wanted = normalizeSet(layouts[partial].unreduced);
    auto state = [&](unsigned number) {
      AxisParts parts = normalizeSet(layouts[number].unreduced);
      return parts.empty() ? std::string("finished")
                           : "unreduced over " + text(parts);
    };
    Violation &violation = add(
        "R2", llvm::formatv("{0}: {1} is {2} but {3} is {4}; every rank would "
                            "add the finished value, {5} times in all",
                            name(), describe(partial), state(partial),
                            describe(whole), state(whole), numRanks(wanted)));
    if (Operation *maker = findMaker(value(partial), wanted))
      setCause(violation, maker->getResult(0),
               "'" + maker->getName().getStringRef() + "' left it unreduced");
    violation.fixes.push_back(llvm::formatv("all-reduce {0} over {1} first",
                                            describe(partial), text(wanted)));
    violation.fixes.push_back(
        llvm::formatv("make {0} unreduced with tp.to_unreduced over {1}",
                      describe(whole), text(wanted)));
  }
  return axes;
}

// R3: the other operands are whole on the axes of a partial one.
void OperationChecker::checkOthersWhole(ArrayRef<unsigned> set,
                                        ArrayRef<AxisPart> axes) {
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand) {
    if (llvm::is_contained(set, operand))
      continue;
    AxisParts used(layouts[operand].unreduced);
    for (const DimLayout &dim : layouts[operand].dims)
      llvm::append_range(used, dim.parts);
    for (const AxisPart &part : used)
      for (const AxisPart &axis : axes)
        if (part.overlaps(axis))
          add("R3", llvm::formatv("{0}: {1} is unreduced over {2}, so {3} must "
                                  "be whole there; a product of sums is not "
                                  "the sum of products",
                                  name(), describe(set.front()), text(axis),
                                  describe(operand)))
              .fixes.push_back(llvm::formatv("all-reduce {0} over {1} first",
                                             describe(set.front()),
                                             text(axis)));
  }
}

void OperationChecker::checkPartialSums() {
  AxisParts expected;
  for (unsigned operand = 0; operand < rule.operands.size(); ++operand) {
    const Layout &layout = layouts[operand];
    if (layout.unreduced.empty())
      continue;
    bool passes = layout.kind == ReductionKind::Sum
                      ? findLinearSet(operand) != nullptr
                      : rule.movesData || rule.takesMaximum;
    if (!passes)
      return checkNonlinear(operand);
  }
  for (const auto &set : rule.linear) {
    AxisParts axes = checkSet(set);
    checkOthersWhole(set, axes);
    llvm::append_range(expected, axes);
  }
  if (rule.takesMaximum)
    for (unsigned operand = 0; operand < rule.operands.size(); ++operand)
      llvm::append_range(expected, layouts[operand].unreduced);
  llvm::sort(expected);
  expected.erase(llvm::unique(expected), expected.end());
  for (auto [factor, parts] : llvm::zip_equal(rule.factors, factorParts))
    if (factor.kind == FactorKind::Sum || factor.kind == FactorKind::Max)
      llvm::append_range(expected, parts);
  if (!violations.empty())
    return;
  for (unsigned tensor = rule.operands.size(); tensor < rule.numTensors();
       ++tensor)
    checkResult(tensor, normalizeSet(expected));
}

// R7: the result is unreduced over exactly what the operands make it.
void OperationChecker::checkResult(unsigned tensor, AxisParts expected) {
  AxisParts declared = normalizeSet(layouts[tensor].unreduced);
  if (declared == expected)
    return;
  auto state = [&](const AxisParts &parts) {
    return parts.empty() ? std::string("finished")
                         : "unreduced over " + text(parts);
  };
  Violation &violation =
      add("R7", llvm::formatv("{0}: {1} is declared {2}, but its operands make "
                              "it {3}",
                              name(), describe(tensor), state(declared),
                              state(expected)));
  violation.fixes.push_back(
      llvm::formatv("declare {0} {1}", describe(tensor), state(expected)));
  if (!expected.empty() && declared.empty())
    violation.fixes.push_back("all-reduce it over " + text(expected) +
                              " after this operation");
}

SmallVector<Violation> tp::checkOperation(ShardingRuleOpInterface op,
                                          MeshAttr mesh) {
  return OperationChecker(op, mesh).check();
}
