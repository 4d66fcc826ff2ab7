// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elimination.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <queue>

using namespace tp;

namespace {
/// The variables not yet eliminated, joined if a factor or a message has both.
class InteractionGraph {
public:
  using Neighbours = llvm::SmallVector<unsigned, 8>;

  explicit InteractionGraph(const FactorGraph &graph)
      : graph(graph), neighbours(graph.sizes.size()) {
    for (const CostTerm &factor : graph.factors)
      for (unsigned variable : factor.scope)
        join(variable, factor.scope);
  }

  /// How many table entries the elimination of `variable` visits; saturates.
  uint64_t getWeight(unsigned variable) const {
    uint64_t weight = graph.sizes[variable];
    for (unsigned other : neighbours[variable])
      weight = llvm::SaturatingMultiply<uint64_t>(weight, graph.sizes[other]);
    return weight;
  }

  /// Takes `variable` out, joins its neighbours and returns them.
  Neighbours eliminate(unsigned variable) {
    Neighbours around = std::move(neighbours[variable]);
    for (unsigned other : around) {
      llvm::erase(neighbours[other], variable);
      join(other, around);
    }
    return around;
  }

private:
  void join(unsigned variable, llvm::ArrayRef<unsigned> others) {
    Neighbours &own = neighbours[variable];
    Neighbours merged;
    merged.reserve(own.size() + others.size());
    std::set_union(own.begin(), own.end(), others.begin(), others.end(),
                   std::back_inserter(merged));
    llvm::erase(merged, variable);
    own = std::move(merged);
  }

  const FactorGraph &graph;
  /// Ascending.
  std::vector<Neighbours> neighbours;
};

/// A variable that may go next; out of date once its weight has changed.
struct Candidate {
  uint64_t weight;
  unsigned position;
  unsigned variable;
  auto operator<=>(const Candidate &) const = default;
};
} // namespace

llvm::Expected<std::vector<unsigned>> tp::findOrder(const FactorGraph &graph,
                                                    uint64_t maxEntries) {
  size_t numVariables = graph.sizes.size();
  InteractionGraph interactions(graph);
  std::vector<uint64_t> weights(numVariables);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  auto enqueue = [&](unsigned variable) {
    weights[variable] = interactions.getWeight(variable);
    queue.push({weights[variable], graph.positions[variable], variable});
  };
  for (unsigned variable = 0; variable < numVariables; ++variable)
    enqueue(variable);

  std::vector<unsigned> order;
  std::vector<char> gone(numVariables);
  while (!queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    if (gone[next.variable] || weights[next.variable] != next.weight)
      continue;
    if (next.weight > maxEntries)
      return llvm::make_error<ProblemTooLargeError>(graph.nameOf(next.variable),
                                                    next.weight, maxEntries);
    gone[next.variable] = true;
    order.push_back(next.variable);
    for (unsigned other : interactions.eliminate(next.variable))
      if (interactions.getWeight(other) != weights[other])
        enqueue(other);
  }
  return order;
}
