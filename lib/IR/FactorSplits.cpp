// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/FactorSplits.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tp;

namespace {

/// Deals the parts of one dimension to its factors, major to minor.
class DimDealer {
public:
  DimDealer(const ShardingRule &rule, ArrayRef<unsigned> factors,
            const DimLayout &dim, FactorSplits &result)
      : rule(rule), factors(factors), dim(dim.canonical(product(0))),
        numDealt(factors.size()), result(result) {}

  LogicalResult deal(UndividedFactor &undivided) {
    if (numRanks(dim.parts) == 1)
      return success();
    undivided.ranks = numRanks(dim.parts);
    undivided.factor = ~0u;
    if (factors.empty() || failed(dealUnit(undivided)))
      return failure();
    left = numUnits(0);
    for (const AxisPart &part : dim.parts)
      if (failed(dealPart(part, undivided)))
        return failure();
    return success();
  }

private:
  int64_t sizeOf(size_t place) const {
    return rule.factors[factors[place]].size;
  }
  DimLayout &splitOf(size_t place) { return result.splits[factors[place]]; }
  /// Number of elements of the factors from `place` on.
  int64_t product(size_t place) const {
    int64_t elements = 1;
    for (unsigned factor : factors.drop_front(place))
      elements *= rule.factors[factor].size;
    return elements;
  }
  int64_t numUnits(size_t place) { return sizeOf(place) / splitOf(place).unit; }

  /// The factors that lie inside the unit are not dealt; the last one before
  /// them is dealt in what is left of the unit.
  LogicalResult dealUnit(UndividedFactor &undivided) {
    int64_t unit = dim.unit;
    while (unit > 1 && numDealt > 1 && unit % sizeOf(numDealt - 1) == 0)
      unit /= sizeOf(--numDealt);
    undivided.factor = factors[numDealt - 1];
    splitOf(numDealt - 1).unit = unit;
    return success(sizeOf(numDealt - 1) % unit == 0);
  }

  LogicalResult dealPart(AxisPart part, UndividedFactor &undivided) {
    while (part.size > 1) {
      while (left == 1 && current + 1 < numDealt)
        left = numUnits(++current);
      bool isLast = current + 1 == numDealt;
      if (isLast || left % part.size == 0) {
        splitOf(current).parts.push_back(part);
        left /= part.size;
        return success();
      }
      if (!mayCut(part)) {
        undivided.factor = factors[current];
        undivided.ranks = part.size;
        return failure();
      }
      splitOf(current).parts.push_back({part.axis, part.pre, left});
      part = {part.axis, part.pre * left, part.size / left};
      left = 1;
    }
    return success();
  }

  /// Whether `part` uses up the current factor and goes on with the next.
  bool mayCut(const AxisPart &part) {
    if (part.size % left != 0)
      return false;
    int64_t units = left;
    for (size_t place = current + 1; place < numDealt; ++place)
      units *= numUnits(place);
    return nestsFlat({units, units}, left, part.size / left);
  }

  const ShardingRule &rule;
  ArrayRef<unsigned> factors;
  DimLayout dim;
  /// Factors outside the unit.
  size_t numDealt;
  FactorSplits &result;
  size_t current = 0;
  /// Units of the current factor that a rank has so far; of the last factor,
  /// which may be uneven, it is not used.
  int64_t left = 1;
};

} // namespace

FailureOr<FactorSplits> tp::dealParts(const ShardingRule &rule, unsigned tensor,
                                      const Layout &layout,
                                      UndividedFactor &undivided) {
  FactorSplits result;
  result.splits.resize(rule.factors.size());
  result.present.resize(rule.factors.size());
  const TensorFactors &dims = rule.tensor(tensor);
  for (auto [index, factors, dim] : llvm::enumerate(dims, layout.dims)) {
    for (unsigned factor : factors)
      result.present[factor] = true;
    undivided.dim = index;
    if (failed(DimDealer(rule, factors, dim, result).deal(undivided)))
      return failure();
  }
  for (auto [factor, split] : llvm::zip_equal(rule.factors, result.splits))
    split = split.canonical(factor.size);
  return result;
}

Layout tp::layoutFromFactors(const ShardingRule &rule, unsigned tensor,
                             ArrayRef<DimLayout> splits) {
  Layout layout;
  for (const DimFactors &factors : rule.tensor(tensor)) {
    DimLayout &dim = layout.dims.emplace_back();
    int64_t size = 1;
    for (unsigned factor : llvm::reverse(factors)) {
      if (dim.parts.empty())
        dim.unit = splits[factor].unit * size;
      size *= rule.factors[factor].size;
      dim.parts.insert(dim.parts.begin(), splits[factor].parts.begin(),
                       splits[factor].parts.end());
    }
    // Parts stay apart, as their owner named them.
    dim.unit = dim.canonical(size).unit;
  }
  return layout;
}
