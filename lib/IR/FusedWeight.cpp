// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/FusedWeight.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tp;

std::optional<unsigned>
tp::findRowFactor(Operation *op, const ShardingRule &rule, unsigned dim) {
  if (op->getNumResults() != 1 || rule.results.front()[dim].size() != 1)
    return std::nullopt;
  unsigned factor = rule.results.front()[dim].front();
  const Factor &info = rule.factors[factor];
  if (info.kind != FactorKind::Parallel || info.isPositional)
    return std::nullopt;
  return factor;
}

/// Whether an operation hands its one operand on in another layout: nothing
/// else has no rule and operand and result alike.
static bool changesLayoutOnly(Operation *op) {
  if (isa<ShardingRuleOpInterface, CallOpInterface>(op) ||
      op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return from && to && from.getShape() == to.getShape() &&
         from.getElementType() == to.getElementType();
}

bool tp::isWholeParameter(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function && argument.getOwner() == &function.getBody().front() &&
         function.getArgAttr(argument.getArgNumber(), parameterAttrName) &&
         !function.getArgAttr(argument.getArgNumber(), storedAttrName);
}

bool tp::takesPart(Operation *op, unsigned operand, unsigned dim) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || op->getNumResults() != 1 || !ruled.getShardingRule().movesData)
    return false;
  auto from = cast<ShapedType>(op->getOperand(operand).getType());
  auto to = cast<ShapedType>(op->getResult(0).getType());
  return from.getRank() == to.getRank() &&
         from.getDimSize(dim) > to.getDimSize(dim);
}

namespace {

/// A dimension of a value.
struct ValueDim {
  Value value;
  unsigned dim;
};

} // namespace

/// The dimensions of the operands that have the rows of a result's dimension.
static SmallVector<ValueDim> rowsOfOperands(OpResult result, unsigned dim) {
  Operation *op = result.getOwner();
  if (changesLayoutOnly(op))
    return {{op->getOperand(0), dim}};
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return {};
  ShardingRule rule = ruled.getShardingRule();
  std::optional<unsigned> factor = findRowFactor(op, rule, dim);
  SmallVector<ValueDim> rows;
  if (!factor)
    return rows;
  for (auto [operand, dims] : llvm::enumerate(rule.operands))
    for (auto [index, of] : llvm::enumerate(dims))
      if (llvm::is_contained(of, *factor))
        rows.push_back({op->getOperand(operand), static_cast<unsigned>(index)});
  return rows;
}

int64_t tp::countParts(Value value, unsigned dim) {
  return llvm::count_if(value.getUses(), [&](OpOperand &use) {
    return takesPart(use.getOwner(), use.getOperandNumber(), dim);
  });
}

std::optional<std::string> tp::describeFusedWeight(Value value, unsigned dim) {
  SmallVector<ValueDim> worklist = {{value, dim}};
  llvm::DenseSet<std::pair<Value, unsigned>> seen;
  while (!worklist.empty()) {
    ValueDim at = worklist.pop_back_val();
    if (!seen.insert({at.value, at.dim}).second)
      continue;
    if (auto result = dyn_cast<OpResult>(at.value)) {
      // The weight before the bias that is added to its product.
      llvm::append_range(worklist,
                         llvm::reverse(rowsOfOperands(result, at.dim)));
      continue;
    }
    auto argument = cast<BlockArgument>(at.value);
    std::optional<Layout> layout =
        findLayout(argument.getType(), argument.getOwner()->getParentOp());
    if (!isWholeParameter(argument) || !layout ||
        layout->dims[at.dim].parts.empty() ||
        // One slice of a parameter itself reads a table.
        countParts(argument, at.dim) == 1)
      continue;
    std::string text = "argument " + std::to_string(argument.getArgNumber());
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), nameAttrName))
      text += (" (" + name.getValue() + ")").str();
    return text;
  }
  return std::nullopt;
}
