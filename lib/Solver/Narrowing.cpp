// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Narrowing.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;

Narrowing::Narrowing(const Problem &problem, Domains possibleChoices)
    : problem(problem), possible(std::move(possibleChoices)),
      model(DualModel::get(problem, possible)) {
  if (!model)
    return;
  dual = searchDual(*model);
  slackOf.resize(problem.variables.size());
  for (auto [node, slack] : llvm::zip_equal(model->graph.nodes, dual.slackOf))
    slackOf[node.variable] = slack;
}

Domains Narrowing::getChoices(Ticks margin) const {
  if (!model)
    return possible;
  return Domains::select(problem, [&](unsigned variable, unsigned choice) {
    llvm::ArrayRef<unsigned> kept = possible.getKept(variable);
    auto it = llvm::lower_bound(kept, choice);
    return it != kept.end() && *it == choice &&
           dual.slacks[slackOf[variable]][it - kept.begin()] <= margin;
  });
}
