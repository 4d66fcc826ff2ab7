// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Ways out of a violation. Each is tried on the operation's layouts before it
/// is offered.

#include "Findings.h"
#include "tp/IR/FactorSplits.h"
#include "tp/IR/FusedWeight.h"
#include "tp/IR/LocalShape.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

//===- Words --------------------------------------------------------------===//

static std::string describeStep(const LayoutStep &step, MeshAttr mesh,
                                const Twine &it) {
  std::string axes = toString(step.parts, mesh), what = it.str();
  switch (step.kind) {
  case LayoutStep::AllReduce:
    return "all-reduce " + what + " over " + axes;
  case LayoutStep::AllGather:
    return llvm::formatv("all-gather dimension {0} of {1} over {2}", step.dim,
                         what, axes);
  case LayoutStep::ReduceScatter:
    return llvm::formatv("reduce-scatter {0} over {1} along dimension {2}",
                         what, axes, step.dim);
  case LayoutStep::AllToAll:
    return llvm::formatv("move {0} from dimension {1} to dimension {2} of {3} "
                         "with an all-to-all",
                         axes, step.dim, step.target, what);
  case LayoutStep::AllSlice:
    return llvm::formatv("slice dimension {0} of {1} over {2}", step.dim, what,
                         axes);
  case LayoutStep::ToUnreduced:
    return "make " + what + " unreduced with tp.to_unreduced over " + axes;
  case LayoutStep::Permute:
    return llvm::formatv("reorder the axes of dimension {0} of {1} to {2}",
                         step.dim, what, axes);
  }
  return "";
}

std::string tp::describeConversion(const Layout &before, const Layout &after,
                                   RankedTensorType type, MeshAttr mesh,
                                   FlatSymbolRefAttr meshName,
                                   const Twine &it) {
  if (auto step = findStep(before, after, type.getShape()))
    return describeStep(*step, mesh, it);
  std::string text;
  llvm::raw_string_ostream(text)
      << "reshard " << it << " to " << toAttr(after, mesh, meshName);
  return text;
}

//===- The search ---------------------------------------------------------===//

namespace {

/// What becomes of results that the fix changes: the text says so already, it
/// has to be said, or they are brought back.
enum class Results { Said, ToSay, Restored };

/// Proposes layouts for one finding and keeps those that type-check.
class FixFinder {
public:
  FixFinder(const LaidOutOperation &operation, const Findings &findings,
            Finding &finding)
      : operation(operation), rule(operation.rule), findings(findings),
        finding(finding) {}

  void find();

private:
  void findBlocks();
  void findGathersOfDim();
  void findAgreement();
  void findGathersOfFactor(unsigned factor, const Twine &text);
  void findReductions();
  void findSums();
  void findProducts();
  void findResult();
  void findLastResort();

  std::vector<Layout> current() const { return operation.layouts; }
  void change(std::vector<Layout> &layouts, unsigned tensor,
              const Layout &after) const;
  std::string describeChange(unsigned tensor, const Layout &after,
                             const Twine &it) const;
  bool isNewLayout(unsigned tensor, const Layout &after) const;
  std::optional<std::vector<Layout>>
  complete(std::vector<Layout> layouts) const;
  bool removes(const std::vector<Layout> &layouts) const;
  bool offer(std::vector<Layout> layouts, const Twine &text,
             Results results = Results::ToSay);
  void offerOneByOne(ArrayRef<unsigned> tensors,
                     llvm::function_ref<void(Layout &)> change,
                     const Twine &suffix);

  const LaidOutOperation &operation;
  const ShardingRule &rule;
  const Findings &findings;
  Finding &finding;
};

} // namespace

/// Gives `after` to an operand and to all that are like it.
void FixFinder::change(std::vector<Layout> &layouts, unsigned tensor,
                       const Layout &after) const {
  for (unsigned other = 0; other < rule.operands.size(); ++other)
    if (other != tensor && operation.areAlike(tensor, other))
      layouts[other] = after;
  layouts[tensor] = after;
}

bool FixFinder::isNewLayout(unsigned tensor, const Layout &after) const {
  return !operation.layouts[tensor].means(after,
                                          operation.getType(tensor).getShape());
}

std::string FixFinder::describeChange(unsigned tensor, const Layout &after,
                                      const Twine &it) const {
  return describeConversion(operation.layouts[tensor], after,
                            operation.getType(tensor), operation.mesh,
                            operation.getMeshName(), it);
}

/// Whether no axis is used twice.
static bool isDisjoint(const Layout &layout) {
  AxisParts all = layout.getUsedParts();
  for (auto [i, part] : llvm::enumerate(all))
    if (overlapsAny(part, ArrayRef(all).take_front(i)))
      return false;
  return true;
}

/// Gives the results what the rule makes of the operands. Nothing if the
/// operands do not go together.
std::optional<std::vector<Layout>>
FixFinder::complete(std::vector<Layout> layouts) const {
  LaidOutOperation tried = operation;
  tried.layouts = std::move(layouts);
  if (!llvm::all_of(tried.layouts, isDisjoint))
    return std::nullopt;
  unsigned numOperands = rule.operands.size();
  llvm::copy(findViolations(tried).results,
             tried.layouts.begin() + numOperands);
  for (unsigned tensor = numOperands; tensor < rule.numTensors(); ++tensor) {
    if (!isDisjoint(tried.layouts[tensor]))
      return std::nullopt;
    // What means the same is left as it is written.
    if (!isNewLayout(tensor, tried.layouts[tensor]))
      tried.layouts[tensor] = operation.layouts[tensor];
  }
  return tried.layouts;
}

/// Whether `layouts` rid the operation of the finding and bring no new one.
bool FixFinder::removes(const std::vector<Layout> &layouts) const {
  LaidOutOperation tried = operation;
  tried.layouts = layouts;
  Findings left = findViolations(tried);
  return llvm::all_of(left.all, [&](const Finding &remaining) {
    return !remaining.isSameAs(finding) &&
           llvm::any_of(findings.all, [&](const Finding &known) {
             return known.isSameAs(remaining);
           });
  });
}

/// Offers the change of operands that `layouts` is, if it type-checks.
bool FixFinder::offer(std::vector<Layout> layouts, const Twine &text,
                      Results results) {
  std::optional<std::vector<Layout>> completed = complete(std::move(layouts));
  if (!completed || !removes(*completed))
    return false;
  std::string all = text.str();
  for (unsigned tensor = rule.operands.size();
       tensor < rule.numTensors() && results == Results::ToSay; ++tensor)
    if (isNewLayout(tensor, (*completed)[tensor]))
      all += "; " + operation.describe(tensor) + " is then " +
             operation.toText((*completed)[tensor]);
  finding.violation.fixes.push_back(
      {std::move(all), std::move(*completed), results == Results::Restored});
  return true;
}

void FixFinder::offerOneByOne(ArrayRef<unsigned> tensors,
                              llvm::function_ref<void(Layout &)> change,
                              const Twine &suffix) {
  for (unsigned tensor : tensors) {
    std::vector<Layout> layouts = current();
    change(layouts[tensor]);
    if (isNewLayout(tensor, layouts[tensor]))
      offer(layouts, describeChange(tensor, layouts[tensor],
                                    operation.describe(tensor)) +
                         suffix);
  }
}

//===- What to try for which finding --------------------------------------===//

/// Whether a slice takes a part of a result along what was `factor`.
static bool isCutBehind(const LaidOutOperation &operation, unsigned factor) {
  for (auto [result, dims] : llvm::enumerate(operation.rule.results))
    for (auto [dim, factors] : llvm::enumerate(dims))
      for (OpOperand &use : operation.op->getResult(result).getUses())
        if (llvm::is_contained(factors, factor) &&
            takesPart(use.getOwner(), use.getOperandNumber(), dim))
          return true;
  return false;
}

/// A parameter that holds several weights is split into them while the program
/// is open. The operation cuts it, or comes before the slice that does.
void FixFinder::findBlocks() {
  if (!operation.isOperand(finding.tensor) || finding.factors.empty())
    return;
  unsigned factor = finding.factors[0];
  for (auto [dim, factors] : llvm::enumerate(rule.tensor(finding.tensor))) {
    if (!llvm::is_contained(factors, factor) ||
        (!takesPart(operation.op, finding.tensor, dim) &&
         !isCutBehind(operation, factor)))
      continue;
    Value value = operation.getValue(finding.tensor);
    if (std::optional<std::string> weight = describeFusedWeight(value, dim))
      finding.violation.fixes.insert(
          finding.violation.fixes.begin(),
          {*weight + " holds several weights: run tp-split-fused-weights "
                     "before it is laid out",
           {}});
  }
}

void FixFinder::findGathersOfDim() {
  if (!operation.isOperand(finding.tensor))
    return findResult();
  std::vector<Layout> layouts = current();
  layouts[finding.tensor].dims[finding.dim] = {};
  offer(layouts, "all-gather the dimension before this operation");
}

/// Each of the two tensors may take the axes of the other.
void FixFinder::findAgreement() {
  auto tryToFollow = [&](unsigned tensor, unsigned leader) {
    UndividedFactor undivided{};
    auto own = dealParts(rule, tensor, operation.layouts[tensor], undivided);
    auto wanted = dealParts(rule, leader, operation.layouts[leader], undivided);
    if (failed(own) || failed(wanted) || !operation.isOperand(tensor))
      return;
    for (unsigned factor : finding.factors)
      own->splits[factor] = wanted->splits[factor];
    std::vector<Layout> layouts = current();
    Layout layout = layouts[tensor];
    layout.dims = layoutFromFactors(rule, tensor, own->splits).dims;
    change(layouts, tensor, layout);
    std::string change =
        findStep(operation.layouts[tensor], layout,
                 operation.getType(tensor).getShape())
            ? describeChange(tensor, layout, operation.describe(tensor))
            : "reshard " + operation.describe(tensor) + " to the layout of " +
                  operation.describe(leader) + ": " + operation.toText(layout);
    offer(layouts, change);
  };
  tryToFollow(finding.other, finding.tensor);
  tryToFollow(finding.tensor, finding.other);
  if (!operation.isOperand(finding.other))
    findResult();
}

/// Makes a factor whole in all operands that have it.
void FixFinder::findGathersOfFactor(unsigned factor, const Twine &text) {
  std::vector<Layout> layouts = current();
  SmallVector<std::string> changed;
  for (unsigned tensor = 0; tensor < rule.operands.size(); ++tensor)
    for (auto [factors, dim] :
         llvm::zip_equal(rule.tensor(tensor), layouts[tensor].dims)) {
      if (!llvm::is_contained(factors, factor) || dim.parts.empty())
        continue;
      dim = {};
      changed.push_back(operation.describe(tensor));
    }
  if (changed.empty())
    return findResult();
  offer(layouts, text + " (" + llvm::join(changed, ", ") + ")");
}

void FixFinder::findReductions() {
  const Layout &layout = operation.layouts[finding.tensor];
  std::string axes = toString(layout.unreduced, operation.mesh);
  std::vector<Layout> layouts = current();
  Layout reduced = layout;
  reduced.unreduced.clear();
  reduced.kind = ReductionKind::Sum;
  change(layouts, finding.tensor, reduced);
  offer(layouts, "all-reduce it over " + axes + " before this operation");
  ArrayRef<int64_t> shape = operation.getType(finding.tensor).getShape();
  for (auto [index, dim] : llvm::enumerate(layout.dims)) {
    std::vector<Layout> scattered = current();
    Layout after = reduced;
    llvm::append_range(after.dims[index].parts, layout.unreduced);
    if (shape[index] == 0 || !isEven(shape[index], after.dims[index]))
      continue;
    change(scattered, finding.tensor, after);
    if (offer(scattered, "reduce-scatter it over " + axes +
                             " along a dimension that this operation may "
                             "split, as dimension " +
                             Twine(index)))
      return;
  }
}

/// Terms of one sum: finish what the other does not have, or make the other
/// unreduced too.
void FixFinder::findSums() {
  unsigned pair[] = {finding.tensor, finding.other};
  AxisParts unreduced[2];
  for (unsigned i : {0, 1})
    unreduced[i] = normalizeSet(operation.layouts[pair[i]].unreduced);
  bool sameKind =
      operation.layouts[pair[0]].kind == operation.layouts[pair[1]].kind;
  AxisParts shared =
      sameKind ? subtractParts(unreduced[0],
                               subtractParts(unreduced[0], unreduced[1]))
               : AxisParts();
  std::vector<Layout> reduced = current(), widened = current();
  std::string first, second;
  for (unsigned i : {0, 1}) {
    AxisParts extra = subtractParts(unreduced[i], shared);
    AxisParts missing = subtractParts(unreduced[1 - i], unreduced[i]);
    std::string name = operation.describe(pair[i]);
    if (!extra.empty()) {
      reduced[pair[i]].unreduced = shared;
      first += (first.empty() ? "all-reduce " : " and ") + name + " over " +
               toString(extra, operation.mesh);
    }
    if (missing.empty())
      continue;
    llvm::append_range(widened[pair[i]].unreduced, missing);
    second += (second.empty() ? "make " : " and ") + name +
              " unreduced with tp.to_unreduced over " +
              toString(missing, operation.mesh);
  }
  for (unsigned tensor : pair)
    if (reduced[tensor].unreduced.empty())
      reduced[tensor].kind = ReductionKind::Sum;
  offer(reduced, first + " first");
  if (sameKind)
    offer(widened, second);
}

void FixFinder::findProducts() {
  auto reduce = [&](Layout &layout) {
    layout.unreduced =
        subtractParts(normalizeSet(layout.unreduced), finding.axes);
  };
  offerOneByOne({finding.tensor, finding.other}, reduce, " first");
  auto gather = [&](Layout &layout) {
    for (DimLayout &dim : layout.dims)
      dim.parts = subtractParts(dim.parts, finding.axes);
  };
  offerOneByOne({finding.other}, gather, " first");
}

/// What the operands make of the result, and from there to what it is declared.
void FixFinder::findResult() {
  std::optional<std::vector<Layout>> made = complete(current());
  if (!made)
    return;
  unsigned tensor = rule.operands.size();
  for (unsigned result = tensor; result < rule.numTensors(); ++result)
    if (isNewLayout(result, (*made)[result]))
      tensor = result;
  const Layout &inferred = (*made)[tensor],
               &declared = operation.layouts[tensor];
  bool saysAll = inferred.unreduced.empty() == declared.unreduced.empty();
  std::string state =
      saysAll ? operation.toText(inferred)
      : inferred.unreduced.empty()
          ? "finished"
          : "unreduced over " + toString(inferred.unreduced, operation.mesh);
  offer(current(), "declare " + operation.describe(tensor) + " " + state,
        Results::Said);
  // An unfinished value is not made one of another kind.
  if (!declared.unreduced.empty())
    return;
  offer(current(),
        describeConversion(inferred, declared, operation.getType(tensor),
                           operation.mesh, operation.getMeshName(), "it") +
            " after this operation",
        Results::Restored);
}

/// Every rank computes everything: right for any operation.
void FixFinder::findLastResort() {
  std::vector<Layout> layouts = current();
  for (unsigned tensor = 0; tensor < rule.operands.size(); ++tensor)
    layouts[tensor] = Layout::whole(rule.tensor(tensor).size());
  std::optional<std::vector<Layout>> completed = complete(std::move(layouts));
  if (completed)
    finding.violation.fixes.push_back(
        {"make all operands whole before this operation, and bring the "
         "results back to their layout after it",
         std::move(*completed),
         /*restoresResults=*/true});
}

void FixFinder::find() {
  std::string axes = toString(finding.axes, operation.mesh);
  switch (finding.kind) {
  case Finding::Undivided:
    findBlocks();
    findGathersOfDim();
    break;
  case Finding::Differs:
    findAgreement();
    break;
  case Finding::NotWhole:
    findBlocks();
    findGathersOfFactor(finding.factors[0], "all-gather that dimension over " +
                                                axes +
                                                " before this operation");
    break;
  case Finding::UsedTwice:
    for (unsigned factor : finding.factors)
      findGathersOfFactor(factor, "all-gather '" + rule.factors[factor].name +
                                      "' over " + axes);
    break;
  case Finding::Nonlinear:
    findReductions();
    break;
  case Finding::AddedToOther:
    findSums();
    break;
  case Finding::Multiplied:
    findProducts();
    break;
  case Finding::WrongResult:
    findResult();
    break;
  }
  bool hasOne = llvm::any_of(finding.violation.fixes, [](const Fix &fix) {
    return !fix.layouts.empty();
  });
  if (!hasOne)
    findLastResort();
}

void tp::addFixes(const LaidOutOperation &operation, const Findings &findings,
                  Finding &finding) {
  FixFinder(operation, findings, finding).find();
}
