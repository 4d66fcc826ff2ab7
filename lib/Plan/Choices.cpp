// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/Choices.h"
#include "tp/IR/FactorSplits.h"
#include "tp/IR/LocalShape.h"

using namespace mlir;
using namespace tp;

StringRef tp::toString(Constraint constraint) {
  switch (constraint) {
  case StationaryWeights:
    return "weights=stationary";
  case DataAxes:
    return "data axes carry the batch";
  case Sequence:
    return "sequence-parallel";
  case Pin:
    return "the pinned layouts";
  }
  return "";
}

namespace {

/// What one part does: splits a factor, carries a partial sum through a linear
/// set or a maximum through some operands, or nothing.
struct Role {
  enum Kind { Idle, Splits, Carries, CarriesMaximum } kind;
  unsigned number = 0;
};

class StrategyEnumerator {
public:
  StrategyEnumerator(const ShardingRule &rule, const PlanAxes &axes,
                     ArrayRef<unsigned> maxima, const FactorUnits *uneven)
      : rule(rule), axes(axes), uneven(uneven) {
    roles.push_back({Role::Idle, 0});
    for (auto [index, factor] : llvm::enumerate(rule.factors))
      if (factor.kind != FactorKind::Whole && factor.size != 1)
        roles.push_back({Role::Splits, static_cast<unsigned>(index)});
    for (unsigned set = 0; set < rule.linear.size(); ++set)
      roles.push_back({Role::Carries, set});
    for (unsigned operand : maxima)
      maximaSets.push_back({operand});
    if (maxima.size() > 1)
      maximaSets.emplace_back(maxima);
    for (unsigned set = 0; set < maximaSets.size(); ++set)
      roles.push_back({Role::CarriesMaximum, set});
  }

  std::vector<Strategy> run() && {
    chosen.resize(axes.parts.size());
    choose(0);
    return std::move(strategies);
  }

private:
  void choose(unsigned part) {
    if (part == axes.parts.size()) {
      SmallVector<AxisParts> factorParts(rule.factors.size());
      for (auto [index, role] : llvm::enumerate(chosen))
        if (role.kind == Role::Splits)
          factorParts[role.number].push_back(axes.parts[index]);
      order(0, factorParts);
      return;
    }
    for (const Role &role : roles) {
      chosen[part] = role;
      choose(part + 1);
    }
  }

  /// Every order of the parts on factors `factor` and up.
  void order(unsigned factor, SmallVectorImpl<AxisParts> &factorParts) {
    if (factor == factorParts.size()) {
      SmallVector<DimLayout> splits;
      return deal(factorParts, splits);
    }
    AxisParts &parts = factorParts[factor];
    if (!uneven && rule.factors[factor].size % numRanks(parts) != 0)
      return;
    llvm::sort(parts);
    do
      order(factor + 1, factorParts);
    while (std::next_permutation(parts.begin(), parts.end()));
  }

  /// Every unit of the factors that are not in `splits` yet.
  void deal(ArrayRef<AxisParts> factorParts,
            SmallVectorImpl<DimLayout> &splits) {
    unsigned factor = splits.size();
    if (factor == factorParts.size())
      return add(splits);
    // A size that the ranks divide may be dealt in units that they do not.
    static constexpr int64_t single[] = {1};
    ArrayRef<int64_t> units =
        uneven ? ArrayRef<int64_t>((*uneven)[factor]) : ArrayRef(single);
    int64_t size = rule.factors[factor].size;
    for (int64_t unit : units) {
      DimLayout split{factorParts[factor], unit};
      if (split.canonical(size).unit != unit)
        continue;
      splits.push_back(std::move(split));
      deal(factorParts, splits);
      splits.pop_back();
    }
  }

  /// Shards are ranges of a dimension: a minor factor is split only where the
  /// major ones are used up, and nothing after a factor that is split unevenly:
  /// as many ranks as a size use it up unless it is dealt in larger units.
  bool isRange(const DimFactors &factors, ArrayRef<DimLayout> splits) const {
    bool majorIsUsedUp = true;
    for (unsigned factor : factors) {
      const auto &[parts, unit] = splits[factor];
      if (!majorIsUsedUp && !parts.empty())
        return false;
      majorIsUsedUp &=
          numRanks(parts) == rule.factors[factor].size && unit == 1;
    }
    return true;
  }

  void add(ArrayRef<DimLayout> splits) {
    Strategy strategy;
    for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
      for (const DimFactors &factors : rule.tensor(tensor))
        if (!isRange(factors, splits))
          return;
      strategy.layouts.push_back(layoutFromFactors(rule, tensor, splits));
    }
    if (addPartialValues(strategy, splits))
      strategies.push_back(std::move(strategy));
  }

  /// Marks `layouts` unreduced over `part`; false if one is of another kind.
  static bool leaveUnreduced(MutableArrayRef<Layout> layouts,
                             const AxisPart &part, ReductionKind kind) {
    for (Layout &layout : layouts) {
      if (!layout.unreduced.empty() && layout.kind != kind)
        return false;
      layout.unreduced.push_back(part);
      layout.kind = kind;
    }
    return true;
  }

  /// False if a value would be a sum over some parts and a maximum over others.
  bool addPartialValues(Strategy &strategy, ArrayRef<DimLayout> splits) const {
    MutableArrayRef<Layout> layouts(strategy.layouts);
    MutableArrayRef<Layout> results = layouts.drop_front(rule.operands.size());
    bool fits = true;
    for (auto [factor, split] : llvm::zip_equal(rule.factors, splits)) {
      bool isMax = factor.kind == FactorKind::Max;
      if (!isMax && factor.kind != FactorKind::Sum)
        continue;
      for (const AxisPart &part : split.parts)
        fits &= leaveUnreduced(results, part,
                               isMax ? ReductionKind::Max : ReductionKind::Sum);
    }
    for (auto [index, role] : llvm::enumerate(chosen)) {
      bool isMax = role.kind == Role::CarriesMaximum;
      if (!isMax && role.kind != Role::Carries)
        continue;
      ReductionKind kind = isMax ? ReductionKind::Max : ReductionKind::Sum;
      for (unsigned operand :
           isMax ? maximaSets[role.number] : rule.linear[role.number])
        fits &= leaveUnreduced(layouts[operand], axes.parts[index], kind);
      fits &= leaveUnreduced(results, axes.parts[index], kind);
    }
    return fits;
  }

  const ShardingRule &rule;
  const PlanAxes &axes;
  const FactorUnits *uneven;
  /// Operands through which maxima are carried at once.
  SmallVector<SmallVector<unsigned, 2>> maximaSets;
  SmallVector<Role> roles;
  SmallVector<Role> chosen;
  std::vector<Strategy> strategies;
};

} // namespace

std::vector<Strategy> tp::enumerateStrategies(const ShardingRule &rule,
                                              const PlanAxes &axes,
                                              ArrayRef<unsigned> maxima,
                                              const FactorUnits *uneven) {
  return StrategyEnumerator(rule, axes, maxima, uneven).run();
}
