// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Whether a collective fits its operand.

#include "tp/IR/Legality.h"
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
    return llvm::formatv("an operand whose dimension {0} is split over {1} in "
                         "some order",
                         step.dim, axes);
  case LayoutStep::AllSlice:
  case LayoutStep::ToUnreduced:
    return "an operand that is whole over " + axes;
  }
  return "";
}

/// All axes that a layout uses.
static AxisParts usedAxes(const Layout &layout) {
  AxisParts used(layout.unreduced);
  for (const DimLayout &dim : layout.dims)
    llvm::append_range(used, dim.parts);
  return used;
}

// R11: a collective fits its operand, and its result is what it makes.
SmallVector<Violation> tp::checkCollective(CollectiveOpInterface op,
                                           MeshAttr mesh) {
  SmallVector<Violation> violations;
  LayoutStep step = op.getLayoutStep();
  std::string axes = toString(step.parts, mesh);
  std::string name = "'" + op->getName().getStringRef().str() + "'";
  auto add = [&](const Twine &message, StringRef fix) {
    Violation &violation = violations.emplace_back();
    violation.label = "R11";
    violation.message = (name + message).str();
    violation.fixes.push_back(fix.str());
  };
  Layout before = getCheckedLayout(op->getOperand(0));
  Layout after = getCheckedLayout(op->getResult(0));
  ArrayRef<int64_t> shape =
      cast<ShapedType>(op->getOperand(0).getType()).getShape();
  if (step.parts.empty()) {
    add(": its axes are not axes of the mesh", "name axes of the mesh");
    return violations;
  }
  std::optional<Layout> made = apply(step, before);
  bool addsAxes =
      step.kind == LayoutStep::AllSlice || step.kind == LayoutStep::ToUnreduced;
  bool alreadyUsed =
      addsAxes && llvm::any_of(step.parts, [&](const AxisPart &part) {
        return llvm::any_of(usedAxes(before), [&](const AxisPart &used) {
          return part.overlaps(used);
        });
      });
  bool maxToSum = step.kind == LayoutStep::ToUnreduced &&
                  !before.unreduced.empty() && before.kind != after.kind;
  if (!made || alreadyUsed || maxToSum) {
    add(": needs " + describeNeed(step, axes),
        "leave it out, or name the axes that the operand has");
    return violations;
  }
  if (step.kind == LayoutStep::ToUnreduced && before.unreduced.empty())
    made->kind = after.kind;
  for (auto [dim, target] : llvm::zip_equal(made->dims, after.dims))
    dim.unit = target.unit;
  if (!made->means(after, shape))
    add(
        ": its result should be " +
            [&] {
              std::string text;
              llvm::raw_string_ostream(text) << toAttr(
                  *made, mesh, getSharding(op->getOperand(0)).getMesh());
              return text;
            }(),
        "declare the result so");
  return violations;
}
