// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Compare.h"
#include "tp/IR/DecomposeCrossEntropy.h"
#include "tp/IR/ElementTypes.h"
#include "tp/IR/TP.h"
#include "tp/Run/Inputs.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tp;

bool tp::isMasked(double value) {
  // The lowest of bf16 is above that of f32.
  constexpr double lowest = -0x1.fep127;
  return value <= lowest;
}

static void account(Difference &difference, int64_t at, double actual,
                    double expected) {
  if (isMasked(expected) && isMasked(actual) && std::isfinite(actual))
    return;
  // A mask on one side only is no number on the other.
  if (isMasked(expected) || isMasked(actual) || !std::isfinite(actual) ||
      !std::isfinite(expected)) {
    if (!difference.notFinite)
      difference.at = at;
    difference.notFinite = true;
    return;
  }
  difference.magnitude = std::max(difference.magnitude, std::fabs(expected));
  double distance = std::fabs(actual - expected);
  if (distance > difference.absolute) {
    difference.absolute = distance;
    if (!difference.notFinite)
      difference.at = at;
  }
}

Difference tp::compare(const Array &actual, const TensorOf<double> &expected) {
  return compare(toReference(actual), expected);
}

Difference tp::compare(const TensorOf<double> &own,
                       const TensorOf<double> &expected) {
  Difference difference;
  if (own.shape != expected.shape || own.isInteger != expected.isInteger) {
    difference.notFinite = true;
    return difference;
  }
  for (auto [at, value] : llvm::enumerate(own.values))
    account(difference, at, value, expected.values[at]);
  for (auto [at, value] : llvm::enumerate(own.integers))
    if (value != expected.integers[at]) {
      account(difference, at, static_cast<double>(value),
              static_cast<double>(expected.integers[at]));
      difference.notFinite = true;
    }
  return difference;
}

Difference tp::compare(const TensorOf<double> &actual,
                       const TensorOf<double> &expected,
                       const TensorOf<Rounded> &errors, double unit) {
  Difference difference = compare(actual, expected);
  if (difference.notFinite)
    return difference;
  for (auto [at, value] : llvm::enumerate(actual.values)) {
    double distance = std::fabs(value - expected.values[at]);
    double allowed = unit * errors.values[at].error;
    if (distance == 0 || isMasked(value))
      continue;
    // What cannot be off may not be.
    double share = allowed > 0 ? distance / allowed
                               : std::numeric_limits<double>::infinity();
    if (share > difference.share) {
      difference.share = share;
      difference.shareAt = at;
    }
  }
  return difference;
}

void tp::merge(Difference &total, const Difference &other) {
  if (other.share > total.share) {
    total.share = other.share;
    total.shareAt = other.shareAt;
  }
  if (other.notFinite && !total.notFinite)
    total.at = other.at;
  if (other.absolute > total.absolute) {
    total.absolute = other.absolute;
    if (!total.notFinite)
      total.at = other.at;
  }
  total.magnitude = std::max(total.magnitude, other.magnitude);
  total.notFinite |= other.notFinite;
}

//===- Tolerance ----------------------------------------------------------===//

/// Whether `op` sums over `factor` although it must be whole, as norms and
/// attention do. What only linear operands have is moved (rope, slice).
static bool sumsWhole(const ShardingRule &rule, unsigned factor) {
  auto isLinear = [&](unsigned operand) {
    return rule.movesData || llvm::any_of(rule.linear, [&](const auto &set) {
             return llvm::is_contained(set, operand);
           });
  };
  for (auto [operand, dims] : llvm::enumerate(rule.operands))
    for (const DimFactors &factors : dims)
      if (llvm::is_contained(factors, factor) && !isLinear(operand))
        return true;
  return false;
}

/// Number of terms summed on the way to one element of a result of `op`: the
/// product of what its rule sums over at once, and what it sums over first
/// where that must be whole. A maximum does not round.
static double reductionLength(Operation *op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return 0;
  // A lookup adds zeros: no rounding.
  if (cast<WorkOpInterface>(op).getWork().lookedUp)
    return 1;
  ShardingRule rule = ruled.getShardingRule();
  double summed = 1, wholes = 0;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    double size = std::max<double>(1, static_cast<double>(factor.size));
    if (factor.kind == FactorKind::Sum)
      summed *= size;
    if (factor.kind == FactorKind::Whole && sumsWhole(rule, index))
      wholes += size;
  }
  return std::max(summed, wholes);
}

/// Roundoff of the floating-point arithmetic that results of `type` are
/// computed in: 16-bit types run as f32.
static double roundoffOf(Type type) {
  return type.isF64() ? std::numeric_limits<double>::epsilon() / 2
                      : std::numeric_limits<float>::epsilon() / 2;
}

/// A cast that rounds to a 16-bit type is off by its roundoff at once: as many
/// terms as would be off by that much in f32.
static double roundingLength(Operation *op) {
  auto conversion = dyn_cast<CastOp>(op);
  if (!conversion)
    return 0;
  auto to =
      dyn_cast<FloatType>(conversion.getResult().getType().getElementType());
  Type from = conversion.getInput().getType().getElementType();
  if (!to || to.getWidth() != 16 || holdsEveryValue(to, from))
    return 0;
  int digits = APFloat::semanticsPrecision(to.getFloatSemantics());
  double ratio = std::ldexp(1.0, -digits) / roundoffOf(to);
  return ratio * ratio;
}

namespace {

/// Longest path, in terms summed, from the arguments to each value.
struct PathLength {
  DenseMap<Value, double> length;

  double run(func::FuncOp function, ArrayRef<double> arguments);

private:
  double step(Operation &op);
};

} // namespace

double PathLength::step(Operation &op) {
  SmallVector<double> operands;
  double longest = 0;
  for (Value operand : op.getOperands()) {
    operands.push_back(length.lookup(operand));
    longest = std::max(longest, operands.back());
  }
  auto call = dyn_cast<func::CallOp>(op);
  auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                           call, call.getCalleeAttr())
                     : nullptr;
  if (callee && !callee.isDeclaration())
    return PathLength().run(callee, operands);
  return longest + reductionLength(&op) + roundingLength(&op);
}

double PathLength::run(func::FuncOp function, ArrayRef<double> arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(function.getArguments(), arguments))
    length[argument] = value;
  double longest = 0;
  for (Operation &op : function.getBody().front()) {
    double here = step(op);
    for (Value result : op.getResults())
      length[result] = here;
    longest = std::max(longest, here);
  }
  return longest;
}

double tp::unitRoundoff(func::FuncOp entry) {
  double result = std::numeric_limits<double>::epsilon() / 2;
  entry->getParentOfType<ModuleOp>().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        if (isa<FloatType>(tensor.getElementType()))
          result = std::max(result, roundoffOf(tensor.getElementType()));
  });
  return result;
}

double tp::tolerance(func::FuncOp entry) {
  // As it runs: a loss by its parts, each of which sums over less.
  OwningOpRef<ModuleOp> module = entry->getParentOfType<ModuleOp>().clone();
  decomposeCrossEntropy(*module);
  auto parts = module->lookupSymbol<func::FuncOp>(entry.getSymName());
  SmallVector<double> start(entry.getNumArguments(), 0);
  double terms = std::max(1.0, PathLength().run(parts, start));
  return 8 * unitRoundoff(entry) * std::sqrt(terms);
}
