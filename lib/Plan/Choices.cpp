// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Choices.h"
#include "tp/IR/Legality.h"
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

AxisParts PlanAxes::modelParts() const {
  AxisParts model;
  for (auto [index, part] : llvm::enumerate(parts))
    if (!isData[index])
      model.push_back(part);
  return model;
}

namespace {

/// What one part does: splits a factor, carries a partial sum through a linear
/// set, or nothing.
struct Role {
  enum Kind { Idle, Splits, Carries } kind;
  unsigned number = 0;
};

class StrategyEnumerator {
public:
  StrategyEnumerator(const ShardingRule &rule, const PlanAxes &axes)
      : rule(rule), axes(axes) {
    roles.push_back({Role::Idle, 0});
    for (auto [index, factor] : llvm::enumerate(rule.factors))
      if (factor.kind != FactorKind::Whole && factor.size != 1)
        roles.push_back({Role::Splits, static_cast<unsigned>(index)});
    for (unsigned set = 0; set < rule.linear.size(); ++set)
      roles.push_back({Role::Carries, set});
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
    if (factor == factorParts.size())
      return add(factorParts);
    AxisParts &parts = factorParts[factor];
    int64_t size = rule.factors[factor].size;
    if (size % numRanks(parts) != 0)
      return;
    llvm::sort(parts);
    do
      order(factor + 1, factorParts);
    while (std::next_permutation(parts.begin(), parts.end()));
  }

  /// A minor factor of a dimension is split only where the major ones are used
  /// up: shards are ranges of the dimension.
  bool isRange(const DimFactors &factors,
               ArrayRef<AxisParts> factorParts) const {
    bool majorIsUsedUp = true;
    for (unsigned factor : factors) {
      if (!majorIsUsedUp && !factorParts[factor].empty())
        return false;
      majorIsUsedUp = majorIsUsedUp && numRanks(factorParts[factor]) ==
                                           rule.factors[factor].size;
    }
    return true;
  }

  void add(ArrayRef<AxisParts> factorParts) {
    Strategy strategy;
    for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
      for (const DimFactors &factors : rule.tensor(tensor))
        if (!isRange(factors, factorParts))
          return;
      strategy.layouts.push_back(layoutFromFactors(rule, tensor, factorParts));
    }
    addPartialSums(strategy, factorParts);
    strategies.push_back(std::move(strategy));
  }

  void addPartialSums(Strategy &strategy,
                      ArrayRef<AxisParts> factorParts) const {
    unsigned numOperands = rule.operands.size();
    auto leaveUnreduced = [&](const AxisPart &part) {
      for (Layout &result :
           MutableArrayRef(strategy.layouts).drop_front(numOperands))
        result.unreduced.push_back(part);
    };
    for (auto [factor, parts] : llvm::zip_equal(rule.factors, factorParts))
      if (factor.kind == FactorKind::Sum)
        llvm::for_each(parts, leaveUnreduced);
    for (auto [index, role] : llvm::enumerate(chosen)) {
      if (role.kind != Role::Carries)
        continue;
      for (unsigned operand : rule.linear[role.number])
        strategy.layouts[operand].unreduced.push_back(axes.parts[index]);
      leaveUnreduced(axes.parts[index]);
    }
  }

  const ShardingRule &rule;
  const PlanAxes &axes;
  SmallVector<Role> roles;
  SmallVector<Role> chosen;
  std::vector<Strategy> strategies;
};

} // namespace

std::vector<Strategy> tp::enumerateStrategies(const ShardingRule &rule,
                                              const PlanAxes &axes) {
  return StrategyEnumerator(rule, axes).run();
}
