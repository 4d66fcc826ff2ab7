// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Narrowing.h"
#include "DualMessages.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;

Narrowing::Narrowing(const Problem &problem, Domains possibleChoices,
                     const SolveOptions &options)
    : problem(problem), possible(std::move(possibleChoices)),
      model(DualModel::get(problem, possible)),
      // A price of more ticks is not below it, whatever else it has.
      cutoff(options.cutoff.isFinite() ? Ticks(options.cutoff.getTime())
                                       : infiniteTicks) {
  if (!model)
    return;
  std::optional<DualResult> start;
  if (options.start)
    start = readMessages(problem, *model, *options.start);
  dual = searchDual(*model, start ? &*start : nullptr, cutoff);
  if (isBeyondCutoff())
    return;
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
