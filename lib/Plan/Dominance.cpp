// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dominance.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace tp;

namespace {
/// A value at which a variable has an end.
struct Port {
  unsigned table;
  unsigned layoutMap;
  bool isProducer;
  auto operator<=>(const Port &) const = default;
};

/// All that the pruning of a variable depends on.
struct Signature {
  unsigned costVector = 0;
  std::vector<Port> ports;
  auto operator<=>(const Signature &) const = default;
};

/// Decides which choices of the variables of one signature to keep.
class Pruner {
public:
  Pruner(const Problem &problem, const Signature &signature)
      : problem(problem), signature(signature),
        costs(problem.costVectors[signature.costVector]), alive(costs.size()) {
    for (size_t choice = 0; choice < costs.size(); ++choice)
      alive[choice] = costs[choice].isFinite();
  }

  /// Later choices fall first, so that of two equally good ones the first
  /// stays. As dominators must be alive, two choices never drop each other.
  std::vector<Certificate::Dropped> prune() {
    std::vector<Certificate::Dropped> dropped;
    for (unsigned choice = costs.size(); choice-- > 0;)
      if (std::optional<unsigned> dominator = findDominator(choice)) {
        alive[choice] = false;
        dropped.push_back({choice, *dominator});
      }
    return dropped;
  }

  llvm::SmallVector<unsigned, 16> getKept() const {
    llvm::SmallVector<unsigned, 16> kept;
    for (unsigned choice = 0; choice < alive.size(); ++choice)
      if (alive[choice])
        kept.push_back(choice);
    return kept;
  }

private:
  std::optional<unsigned> findDominator(unsigned choice) const {
    if (!alive[choice])
      return std::nullopt;
    for (unsigned other = 0; other < alive.size(); ++other)
      if (other != choice && alive[other] && dominates(other, choice))
        return other;
    return std::nullopt;
  }

  bool dominates(unsigned better, unsigned worse) const {
    Price cost = costs[better];
    for (const Port &port : signature.ports) {
      if (cost > costs[worse])
        return false;
      llvm::ArrayRef<unsigned> layouts = problem.layoutMaps[port.layoutMap];
      unsigned from = layouts[port.isProducer ? better : worse];
      unsigned to = layouts[port.isProducer ? worse : better];
      cost += problem.tables[port.table].at(from, to);
    }
    return cost <= costs[worse];
  }

  const Problem &problem;
  const Signature &signature;
  llvm::ArrayRef<Price> costs;
  std::vector<char> alive;
};
} // namespace

static std::vector<Signature> getSignatures(const Problem &problem) {
  std::vector<Signature> signatures(problem.variables.size());
  for (auto [index, variable] : llvm::enumerate(problem.variables))
    signatures[index].costVector = variable.costVector;
  for (const Problem::Value &value : problem.values) {
    Problem::Use producer = value.producer;
    signatures[producer.variable].ports.push_back(
        {value.table, producer.layoutMap, /*isProducer=*/true});
    for (Problem::Use use : value.consumers)
      signatures[use.variable].ports.push_back(
          {value.table, use.layoutMap, /*isProducer=*/false});
  }
  return signatures;
}

Domains tp::pruneChoices(const Problem &problem, bool dominance) {
  Domains domains;
  std::map<Signature, unsigned> classes;
  for (Signature &signature : getSignatures(problem)) {
    auto [it, isNew] =
        classes.try_emplace(std::move(signature), domains.kept.size());
    domains.classOf.push_back(it->second);
    if (!isNew)
      continue;
    Pruner pruner(problem, it->first);
    domains.dropped.emplace_back();
    if (dominance)
      domains.dropped.back() = pruner.prune();
    domains.kept.push_back(pruner.getKept());
  }
  return domains;
}
