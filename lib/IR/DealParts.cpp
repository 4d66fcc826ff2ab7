// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From the axes that split dimensions to those that split factors, and back.

#include "tp/IR/Legality.h"
#include "tp/IR/LocalShape.h"

using namespace mlir;
using namespace tp;

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
    return dealUnits(undivided);
  }

private:
  /// Number of elements of the dimension for one of factor number `index`.
  int64_t getMinorSize(size_t index) const {
    int64_t minor = 1;
    for (unsigned factor : factors.drop_front(index + 1))
      minor *= rule.factors[factor].size;
    return minor;
  }

  /// A factor may be dealt unevenly if it is alone in its dimension, or if the
  /// sharding says that all minor factors together are its unit.
  bool mayBeUneven() const {
    int64_t minor = getMinorSize(current);
    return minor == 1 || (minor == dim.unit && current == 0);
  }

  LogicalResult dealPart(AxisPart part, UndividedFactor &undivided) {
    bool isCut = false;
    while (current < factors.size()) {
      int64_t left = rule.factors[factors[current]].size / dealt;
      AxisParts &parts = result.parts[factors[current]];
      // What is left of a part that a factor has cut is dealt inside each of
      // that factor's elements; array_split of the whole is not.
      bool uneven = !isCut && mayBeUneven() && left != 1;
      if (left % part.size == 0 || uneven) {
        parts.push_back(part);
        dealt = left % part.size == 0 ? dealt * part.size : dealt;
        return success();
      }
      if (left != 1 && part.size % left != 0)
        break;
      if (left != 1) {
        parts.push_back({part.axis, part.pre, left});
        part = {part.axis, part.pre * left, part.size / left};
        isCut = true;
      }
      ++current;
      dealt = 1;
    }
    return refuse(part.size, undivided);
  }

  LogicalResult refuse(int64_t ranks, UndividedFactor &undivided) {
    undivided.factor =
        factors.empty() ? ~0u : factors[std::min(current, factors.size() - 1)];
    undivided.ranks = ranks;
    return failure();
  }

  int64_t getSize(size_t index) const {
    return rule.factors[factors[index]].size;
  }

  /// Where the dimension is dealt unevenly, the last factor that is split is
  /// dealt in units of its own, and those before it one by one.
  LogicalResult dealUnits(UndividedFactor &undivided) {
    size_t last = factors.size();
    while (last > 0 && result.parts[factors[last - 1]].empty())
      --last;
    if (last-- == 0 || isEven(getSize(0) * getMinorSize(0), dim))
      return success();
    bool onesBefore = true;
    for (size_t index = 0; index < last; ++index)
      onesBefore &= numRanks(result.parts[factors[index]]) == getSize(index);
    int64_t minor = getMinorSize(last);
    bool wholeUnits =
        dim.unit % minor == 0 && getSize(last) * minor % dim.unit == 0;
    if (!onesBefore || !wholeUnits)
      return refuse(numRanks(dim.parts), undivided);
    result.units[factors[last]] = dim.unit / minor;
    return success();
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
  result.units.assign(rule.factors.size(), 1);
  const TensorFactors &dims = rule.tensor(tensor);
  for (auto [index, factors, dim] : llvm::enumerate(dims, layout.dims)) {
    for (unsigned factor : factors)
      result.present[factor] = true;
    undivided.dim = index;
    if (failed(DimDealer(rule, factors, dim, result).deal(undivided)))
      return failure();
  }
  for (auto [index, parts] : llvm::enumerate(result.parts))
    parts = joinParts(parts, rule.factors[index].size / result.units[index]);
  return result;
}

Layout tp::layoutFromFactors(const ShardingRule &rule, unsigned tensor,
                             ArrayRef<AxisParts> factorParts,
                             ArrayRef<int64_t> units) {
  Layout layout;
  for (const DimFactors &factors : rule.tensor(tensor)) {
    DimLayout &dim = layout.dims.emplace_back();
    int64_t size = 1;
    for (unsigned factor : factors) {
      size *= rule.factors[factor].size;
      // Elements of a factor stay together, and so do its units.
      if (!factorParts[factor].empty())
        dim.unit = units.empty() ? 1 : units[factor];
      else
        dim.unit *= rule.factors[factor].size;
      llvm::append_range(dim.parts, factorParts[factor]);
    }
    if (dim.parts.empty() || dim.unit == 0 || isEven(size, dim))
      dim.unit = 1;
  }
  return layout;
}
