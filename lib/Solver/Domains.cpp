// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Domains.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;

Domains Domains::select(const Problem &problem,
                        llvm::function_ref<bool(unsigned, unsigned)> isKept) {
  Domains domains;
  std::map<std::pair<unsigned, std::vector<unsigned>>, unsigned> known;
  for (auto [index, variable] : llvm::enumerate(problem.variables)) {
    std::vector<unsigned> kept;
    for (unsigned choice = 0; choice < problem.getNumChoices(index); ++choice)
      if (isKept(index, choice))
        kept.push_back(choice);
    auto [it, isNew] = known.try_emplace({variable.costVector, std::move(kept)},
                                         domains.kept.size());
    if (isNew)
      domains.kept.push_back(it->first.second);
    domains.classes.push_back(it->second);
  }
  return domains;
}

namespace {
/// Takes out choices until every one left has a way at each of its ends.
class Propagation {
public:
  explicit Propagation(const Problem &problem) : problem(problem) {
    for (unsigned v = 0; v < problem.variables.size(); ++v) {
      llvm::BitVector &bits = possible.emplace_back(problem.getNumChoices(v));
      for (unsigned choice = 0; choice < bits.size(); ++choice)
        bits[choice] = problem.getCost(v, choice).isFinite();
    }
    for (const DistanceTable &table : problem.tables)
      isOpen.push_back(llvm::all_of(
          table.entries, [](Price price) { return price.isFinite(); }));
  }

  void run() {
    do {
      changed = false;
      for (const Problem::Value &value : problem.values)
        if (!isOpen[value.table])
          visit(value);
    } while (changed);
  }

  bool isPossible(unsigned variable, unsigned choice) const {
    return possible[variable][choice];
  }

private:
  llvm::BitVector layoutsOf(Problem::Use use, unsigned numLayouts) const {
    llvm::BitVector layouts(numLayouts);
    for (unsigned choice : possible[use.variable].set_bits())
      layouts.set(problem.getLayout(use, choice));
    return layouts;
  }

  void restrict(Problem::Use use, const llvm::BitVector &layouts) {
    for (unsigned choice : possible[use.variable].set_bits())
      if (!layouts[problem.getLayout(use, choice)]) {
        possible[use.variable].reset(choice);
        changed = true;
      }
  }

  /// A tree is possible if every target can be reached from the root.
  void visit(const Problem::Value &value) {
    const DistanceTable &table = problem.tables[value.table];
    llvm::BitVector roots = layoutsOf(value.producer, table.numLayouts);
    for (Problem::Use use : value.consumers) {
      llvm::BitVector targets = layoutsOf(use, table.numLayouts);
      for (unsigned root : roots.set_bits())
        if (llvm::none_of(targets.set_bits(), [&](unsigned target) {
              return table.at(root, target).isFinite();
            }))
          roots.reset(root);
    }
    restrict(value.producer, roots);
    for (Problem::Use use : value.consumers) {
      llvm::BitVector targets = layoutsOf(use, table.numLayouts);
      for (unsigned target : targets.set_bits())
        if (llvm::none_of(roots.set_bits(), [&](unsigned root) {
              return table.at(root, target).isFinite();
            }))
          targets.reset(target);
      restrict(use, targets);
    }
  }

  const Problem &problem;
  /// By variable.
  std::vector<llvm::BitVector> possible;
  /// By table: whether every way is possible.
  std::vector<char> isOpen;
  bool changed = false;
};
} // namespace

Domains Domains::findPossible(const Problem &problem) {
  Propagation propagation(problem);
  propagation.run();
  return select(problem, [&](unsigned variable, unsigned choice) {
    return propagation.isPossible(variable, choice);
  });
}
