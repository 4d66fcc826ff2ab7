// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Whether a collective fits its operand.

#include "tp/Check/Legality.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

/// What the step wants of its operand.
static std::string describeNeed(const LayoutStep &step,
                                const std::string &axes) {
  switch (step.kind) {
  case LayoutStep::AllReduce:
  case LayoutStep::ReduceScatter:
    return "an operand that is unreduced over " + axes;
  case LayoutStep::AllGather:
    return llvm::formatv("an operand whose dimension {0} is split, minor-most, "
                         "over {1}",
                         step.dim, axes);
  case LayoutStep::AllToAll:
    return llvm::formatv("an operand whose dimension {0} is split, minor-most, "
                         "over {1}, and another target dimension",
                         step.dim, axes);
  case LayoutStep::Permute:
    return llvm::formatv("an operand whose dimension {0} is split evenly over "
                         "{1} in some order",
                         step.dim, axes);
  case LayoutStep::AllSlice:
    return "an operand that is whole over " + axes;
  case LayoutStep::ToUnreduced:
    return "an operand that is whole over " + axes +
           ", and makes a sum, never a maximum";
  }
  return "";
}

/// Whether collectives lead from one layout to the other: nothing becomes an
/// unfinished maximum that was none.
static bool isReachable(const Layout &before, const Layout &after) {
  if (after.unreduced.empty() || after.kind == ReductionKind::Sum)
    return true;
  return before.kind == ReductionKind::Max &&
         containsParts(before.unreduced, after.unreduced);
}

namespace {

/// One operation that changes only the layout, from one that it gets to one
/// that it declares.
class ConversionChecker {
public:
  ConversionChecker(Operation *op, MeshAttr mesh)
      : op(op), mesh(mesh), before(getCheckedLayout(op->getOperand(0))),
        after(getCheckedLayout(op->getResult(0))),
        type(cast<RankedTensorType>(op->getResult(0).getType())) {}

  std::vector<Violation> checkStep(const LayoutStep &step);
  std::vector<Violation> checkReshard();

private:
  std::string name() const {
    return "'" + op->getName().getStringRef().str() + "'";
  }
  std::string toText(const Layout &layout) const {
    std::string text;
    llvm::raw_string_ostream(text)
        << toAttr(layout, mesh, getSharding(type).getMesh());
    return text;
  }

  bool isAlreadyUsed(const LayoutStep &step) const;
  std::vector<Violation> violate(const Twine &message, StringRef fix = "",
                                 const Layout *made = nullptr);

  Operation *op;
  MeshAttr mesh;
  Layout before, after;
  RankedTensorType type;
};

} // namespace

/// Whether the step adds axes that the operand uses.
bool ConversionChecker::isAlreadyUsed(const LayoutStep &step) const {
  if (step.kind != LayoutStep::AllSlice && step.kind != LayoutStep::ToUnreduced)
    return false;
  AxisParts used = before.getUsedParts();
  return llvm::any_of(step.parts, [&](const AxisPart &part) {
    return overlapsAny(part, used);
  });
}

/// One violation, with what the operand is for a cause. `made` is what the
/// operation makes, if that is a fix.
std::vector<Violation> ConversionChecker::violate(const Twine &message,
                                                  StringRef fix,
                                                  const Layout *made) {
  Violation violation;
  violation.label = "R11";
  violation.message = (name() + message).str();
  Value operand = op->getOperand(0);
  if (before.unreduced.empty())
    violation.causes.push_back(
        {operand.getLoc(), "the operand is laid out here: " + toText(before)});
  else
    violation.causes.push_back(findCause(operand, before.unreduced));
  if (made)
    violation.fixes.push_back({fix.str(), {before, *made}});
  if (before.means(after, type.getShape()))
    violation.fixes.push_back({"leave it out", {before, after}});
  else if (isReachable(before, after))
    violation.fixes.push_back(
        {"instead " + describeConversion(before, after, type, mesh,
                                         getSharding(type).getMesh(), "it"),
         {before, after}});
  else
    violation.fixes.push_back(
        {"leave it out; the result is then " + toText(before),
         {before, before}});
  return {violation};
}

std::vector<Violation> ConversionChecker::checkStep(const LayoutStep &step) {
  if (step.parts.empty())
    return violate(": its axes are not axes of the mesh");
  std::optional<Layout> made =
      applyTowards(step, before, after, type.getShape());
  if (!made || isAlreadyUsed(step))
    return violate(": needs " + describeNeed(step, toString(step.parts, mesh)));
  if (made->means(after, type.getShape()))
    return {};
  return violate(": its result should be " + toText(*made),
                 "declare the result so", &*made);
}

std::vector<Violation> ConversionChecker::checkReshard() {
  if (isReachable(before, after))
    return {};
  return violate(": its result is an unfinished maximum over " +
                 toString(after.unreduced, mesh) +
                 ", which neither a sum nor a finished value becomes");
}

// R11: a collective fits its operand, and its result is what it makes.
std::vector<Violation> tp::checkCollective(CollectiveOpInterface op,
                                           MeshAttr mesh) {
  return ConversionChecker(op, mesh).checkStep(op.getLayoutStep());
}

std::vector<Violation> tp::checkReshard(ReshardOp op, MeshAttr mesh) {
  return ConversionChecker(op, mesh).checkReshard();
}
