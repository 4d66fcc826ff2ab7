// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Explain/Alternatives.h"
#include "Explanation.h"
#include "tp/Plan/Record.h"

using namespace mlir;
using namespace tp;

std::vector<WeightAlternative> Explanation::listWeights() {
  std::vector<WeightAlternative> listed;
  for (const WeightGroup &group : splitGroups()) {
    WeightAlternative &entry = listed.emplace_back();
    entry.name = group.name;
    entry.shape.assign(getShape(group).begin(), getShape(group).end());
    entry.count = static_cast<int64_t>(group.members.size());
    entry.layout = describe(group, getLayout(group.members.front()));
    std::optional<NextBest> next = findNextBest(group);
    if (!next)
      continue;
    entry.otherLayout = describe(group, next->layout);
    entry.more = subtract(next->outcome.figures, plan.figures);
  }
  return listed;
}

std::vector<ConstraintAlternative> Explanation::listConstraints() {
  std::vector<ConstraintAlternative> listed;
  for (const Lifting &lifting : liftings) {
    ConstraintAlternative &entry = listed.emplace_back();
    entry.given = lifting.given;
    entry.instead = lifting.instead;
    if (const Outcome *other = lifting.scenario.getBest())
      entry.more = subtract(other->figures, plan.figures);
  }
  return listed;
}

FailureOr<Alternatives> tp::findAlternatives(ModuleOp planned) {
  std::optional<PlanSettings> settings = readSettings(planned);
  if (!settings)
    return emitError(planned.getLoc()) << "carries no plan, so there are no "
                                          "alternatives to it; run tp-plan "
                                          "first";
  FailureOr<std::unique_ptr<Explanation>> explanation =
      Explanation::create(planned, *settings);
  if (failed(explanation))
    return failure();
  return Alternatives{settings->machine, (*explanation)->getSeconds(),
                      (*explanation)->listWeights(),
                      (*explanation)->listConstraints()};
}
