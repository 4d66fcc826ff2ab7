// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explanation.h"
#include "tp/Plan/ReadPlan.h"
#include "tp/Plan/Record.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

FailureOr<std::unique_ptr<Explanation>>
Explanation::create(ModuleOp module, const PlanSettings &settings) {
  std::unique_ptr<Explanation> made(new Explanation(module, settings));
  const Scenario &scenario = made->scenario;
  if (!scenario.getBest())
    return mlir::emitError(module.getLoc())
           << "was planned, but not by this program: its recorded settings "
              "give no plan";
  FailureOr<Solution> written =
      readSolution(module, scenario.getModule(), *scenario.getPlanner());
  if (failed(written))
    return failure();
  PlanFigures figures = scenario.getPlanner()->getFigures(*written);
  made->plan = {std::move(*written), std::move(figures)};
  made->liftings = liftConstraints(module, settings);
  const Solution &solution = made->plan.solution;
  made->reasons = std::make_unique<Reasons>(made->getPlanner(), solution);
  made->groups = groupWeights(made->getPlanner().getParameters(solution));
  return made;
}

static void printFigures(const PlanFigures &figures, llvm::raw_ostream &os) {
  os << "  " << toMicroseconds(figures.seconds) << " a step, "
     << toBytes(figures.sentBytes) << " sent a rank";
  for (auto &[name, count] : figures.collectives)
    os << ", " << count << " " << name;
  os << "\n";
}

void Explanation::printHead(llvm::raw_ostream &os) {
  Price lowerBound = getCheapest().solution.lowerBound;
  os << "plan for " << getPlanner().getMesh() << ", machine "
     << settings.machine << ", weights=" << settings.weights
     << ", sequence-parallel=" << settings.sequenceParallel << ", model axes "
     << getPlanner().getModelAxes() << "\n";
  printFigures(plan.figures, os);
  os << llvm::formatv(
      "  {0} of parameters a rank; lower bound {1}, gap {2}\n",
      toBytes(plan.figures.parameterBytes),
      toMicroseconds(lowerBound.seconds()),
      toMicroseconds(plan.solution.cost.seconds() - lowerBound.seconds()));
  if (!isCheapest())
    os << "  not the cheapest plan, which takes "
       << describeDifference(getCheapest().figures, plan.figures) << "\n";
}

//===- Weights ------------------------------------------------------------===//

Layout Explanation::getLayout(const ParameterChoice &parameter) {
  // The planner wrote it.
  return *resolve(parameter.sharding, getPlanner().getMesh(),
                  [&] { return emitError(module.getLoc()); });
}

ArrayRef<int64_t> Explanation::getShape(const WeightGroup &group) {
  return group.members.front().type.getShape();
}

/// "column, dimension 0 of 4096 over "tp", 512 a rank".
std::string Explanation::describe(const WeightGroup &group,
                                  const Layout &layout) {
  std::vector<WeightUse> uses =
      findWeightUses(getPlanner().getGraph(), group.members.front().argument);
  std::string name = nameLayout(findProduct(uses), layout);
  std::string text =
      describeLayout(getShape(group), layout, getPlanner().getMesh());
  return name.empty() || name == text ? text : name + ", " + text;
}

/// Where the cheapest plan puts the weight, if elsewhere.
std::optional<Layout>
Explanation::findCheapestLayout(const WeightGroup &group) {
  const ParameterChoice &first = group.members.front();
  for (const ParameterChoice &parameter :
       getPlanner().getParameters(getCheapest().solution))
    if (parameter.argument == first.argument &&
        !getLayout(parameter).means(getLayout(first), getShape(group)))
      return getLayout(parameter);
  return std::nullopt;
}

/// The constraint without which the plan puts the weight elsewhere, if any.
void Explanation::printDecision(const WeightGroup &group,
                                llvm::raw_ostream &os) {
  const ParameterChoice &first = group.members.front();
  Layout chosen = getLayout(first);
  if (std::optional<Layout> cheapest = findCheapestLayout(group)) {
    os << "  neither forced nor the cheapest: in the cheapest plan it is "
       << describe(group, *cheapest) << "\n";
    return;
  }
  bool isForced = false;
  for (const Lifting &lifting : liftings) {
    const Outcome *other = lifting.scenario.getBest();
    if (!other)
      continue;
    for (const ParameterChoice &parameter :
         lifting.scenario.getPlanner()->getParameters(other->solution)) {
      if (parameter.argument != first.argument)
        continue;
      Layout moved = getLayout(parameter);
      if (moved.means(chosen, getShape(group)))
        continue;
      isForced = true;
      os << "  forced by " << lifting.given << ": with " << lifting.instead
         << " it is " << describe(group, moved) << "\n";
    }
  }
  if (!isForced)
    os << "  decided by its price: no constraint that is given up moves it\n";
}

/// How many ranks hold the same KV heads, where there are more ranks than
/// heads.
void Explanation::printReplicas(const WeightGroup &group,
                                llvm::raw_ostream &os) {
  const Graph &graph = getPlanner().getGraph();
  const ParameterChoice &first = group.members.front();
  auto projections = findGroupProjections(graph, findHeadGroupings(graph));
  for (const WeightUse &use : findWeightUses(graph, first.argument)) {
    auto found = projections.find({use.node, use.operand});
    if (found == projections.end())
      continue;
    int64_t ranks = numRanks(getPlanner().getModelParts());
    int64_t split = numRanks(getLayout(first).getSplitParts());
    if (split < ranks && ranks > found->second)
      os << "  " << found->second << " KV heads on " << ranks
         << " ranks: each is on " << ranks / split << "\n";
    return;
  }
}

/// The plain layouts, one dimension over all model axes or whole, that are not
/// to be had.
void Explanation::printExcluded(const WeightGroup &group,
                                llvm::raw_ostream &os) {
  const ParameterChoice &first = group.members.front();
  ArrayRef<int64_t> shape = getShape(group);
  AxisParts model = getPlanner().getModelParts();
  std::vector<Layout> homes = getPlanner().getHomes(first.argument);
  std::vector<Layout> plain = {Layout::whole(shape.size())};
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    plain.push_back(Layout::whole(shape.size()));
    plain.back().dims[dim].parts = model;
  }
  int64_t ranks = numRanks(model);
  bool isPinned = !getPlanner().getGraph().values[first.argument].pins.empty();
  for (auto [index, layout] : llvm::enumerate(plain)) {
    if (ranks == 1 || llvm::any_of(homes, [&](const Layout &home) {
          return home.means(layout, shape);
        }))
      continue;
    os << "  not " << describe(group, layout) << ": ";
    if (index != 0 && shape[index - 1] % ranks != 0)
      os << shape[index - 1] << " is not a multiple of " << ranks << "\n";
    else if (isPinned)
      os << "the source pins it otherwise\n";
    else
      os << "weights=" << settings.weights << "\n";
  }
}

/// The cheapest of the plans in which the weight lies otherwise: all its layers
/// are moved at once, as they are one decision.
std::optional<Explanation::NextBest>
Explanation::findNextBest(const WeightGroup &group) {
  const ParameterChoice &first = group.members.front();
  Layout chosen = getLayout(first);
  std::optional<NextBest> next;
  for (const Layout &home : getPlanner().getHomes(first.argument)) {
    if (home.means(chosen, getShape(group)))
      continue;
    Changes changes;
    for (const ParameterChoice &member : group.members)
      changes.pins.push_back({member.argument, home});
    if (next)
      changes.cutoff = next->outcome.solution.cost;
    std::optional<Outcome> other = scenario.solve(changes);
    if (!other || (next && next->outcome.solution.cost <= other->solution.cost))
      continue;
    next = {home, std::move(*other)};
  }
  return next;
}

void Explanation::printNextBest(const WeightGroup &group,
                                llvm::raw_ostream &os) {
  std::optional<NextBest> next = findNextBest(group);
  if (!next) {
    os << "  no other layout meets weights=" << settings.weights
       << " and the pins\n";
    return;
  }
  os << "  next best: " << describe(group, next->layout) << ": "
     << describeDifference(next->outcome.figures, getPlan().figures) << "\n";
}

void Explanation::printWeight(const WeightGroup &group, llvm::raw_ostream &os) {
  os << group.name << " [";
  llvm::interleaveComma(getShape(group), os);
  os << "]";
  if (group.members.size() > 1)
    os << " x " << group.members.size();
  const ParameterChoice &first = group.members.front();
  os << "\n  " << describe(group, getLayout(first)) << "\n";
  SmallVector<std::string> told;
  for (const WeightUse &use :
       findWeightUses(getPlanner().getGraph(), first.argument)) {
    std::string text = reasons->describeUse(use);
    if (llvm::is_contained(told, text))
      continue;
    os << "  why: " << text << "\n";
    told.push_back(std::move(text));
  }
  printReplicas(group, os);
  printDecision(group, os);
  printExcluded(group, os);
  printNextBest(group, os);
}

/// The members of a weight that lie alike: layers may differ. One alone keeps
/// its number.
static std::vector<WeightGroup> splitByLayout(const WeightGroup &group) {
  llvm::MapVector<Attribute, WeightGroup> parts;
  for (const ParameterChoice &member : group.members)
    parts[member.sharding].members.push_back(member);
  std::vector<WeightGroup> split;
  for (auto &[sharding, part] : parts) {
    bool isAlone = part.members.size() == 1 && group.members.size() > 1;
    part.name = isAlone ? part.members.front().name : group.name;
    split.push_back(std::move(part));
  }
  return split;
}

std::vector<WeightGroup> Explanation::splitGroups() {
  std::vector<WeightGroup> parts;
  for (const WeightGroup &group : groups)
    llvm::append_range(parts, splitByLayout(group));
  return parts;
}

void Explanation::printWeights(llvm::raw_ostream &os) {
  for (const WeightGroup &group : splitGroups())
    printWeight(group, os);
}

/// Which weights another plan puts elsewhere.
void Explanation::printChangedWeights(const Planner &planner,
                                      const Outcome &other,
                                      llvm::raw_ostream &os) {
  std::vector<WeightGroup> changed =
      groupWeights(planner.getParameters(other.solution));
  for (auto [before, after] : llvm::zip_equal(groups, changed)) {
    WeightGroup moved{before.name, {}};
    for (auto [from, to] : llvm::zip_equal(before.members, after.members))
      if (!getLayout(from).means(getLayout(to), getShape(before)))
        moved.members.push_back(to);
    for (const WeightGroup &part : splitByLayout(moved)) {
      size_t count = part.members.size(), all = before.members.size();
      bool isOne = count == 1 && all > 1;
      os << "  " << (isOne ? part.members.front().name : before.name);
      if (count < all && !isOne)
        os << ", " << count << " of " << all << ",";
      os << " is then " << describe(before, getLayout(part.members.front()))
         << "\n";
    }
  }
}

//===- Collectives --------------------------------------------------------===//

/// The constraint that excludes something: the first without which `retry`
/// finds a plan.
void Explanation::printImpossible(
    llvm::function_ref<std::optional<Outcome>(const Scenario &)> retry,
    llvm::raw_ostream &os) {
  for (const Lifting &lifting : liftings) {
    std::optional<Outcome> other = retry(lifting.scenario);
    if (!other)
      continue;
    os << "no plan, forced by " << lifting.given << ": with " << lifting.instead
       << " there is one, "
       << describeDifference(other->figures, getPlan().figures) << "\n";
    return;
  }
  os << "no plan, whichever constraint is given up\n";
}

/// The best plan in which the ranks of these groups do not talk about these
/// values, nor about what they are called before and after calls.
void Explanation::printWithout(ArrayRef<const PlanStep *> alike,
                               llvm::raw_ostream &os) {
  const Graph &graph = getPlanner().getGraph();
  Changes changes;
  SmallVector<unsigned> todo;
  llvm::DenseSet<unsigned> seen;
  for (const PlanStep *step : alike)
    todo.push_back(step->value);
  while (!todo.empty()) {
    unsigned value = todo.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    changes.silentValues.push_back({value, alike.front()->step.parts});
    const GraphNode &maker = graph.nodes[graph.values[value].producer];
    if (maker.kind == GraphNode::Passage)
      todo.push_back(maker.operands[0]);
    for (auto [node, operand] : graph.values[value].consumers)
      if (graph.nodes[node].kind == GraphNode::Passage)
        llvm::append_range(todo, graph.nodes[node].results);
  }
  llvm::sort(changes.silentValues);
  os << "  without it: ";
  std::optional<Outcome> other = scenario.solve(changes);
  if (!other)
    return printImpossible(
        [&](const Scenario &scenario) { return scenario.solve(changes); }, os);
  os << describeDifference(other->figures, getPlan().figures) << "\n";
  printChangedWeights(getPlanner(), *other, os);
  printNewCollectives(*other, os);
}

void Explanation::printCollective(ArrayRef<const PlanStep *> alike,
                                  llvm::raw_ostream &os) {
  const PlanStep &step = *alike.front();
  os << reasons->describePlace(step);
  if (alike.size() > 1)
    os << " x " << alike.size();
  MeshAttr mesh = getPlanner().getMesh();
  os << "\n  over " << toString(step.step.parts, mesh) << ", "
     << describeGroups(step.step.parts, mesh) << "; "
     << toBytes(step.cost.sentBytes) << " sent a rank, "
     << toMicroseconds(step.cost.seconds) << (alike.size() > 1 ? " each" : "")
     << "\n  why: " << reasons->describeCause(step) << "\n";
  printWithout(alike, os);
}

/// The collectives of another plan that this one does not have.
void Explanation::printNewCollectives(const Outcome &other,
                                      llvm::raw_ostream &os) {
  llvm::StringMap<int64_t> known;
  for (const PlanStep &step : reasons->getSteps())
    ++known[reasons->describePlace(step)];
  Reasons others(getPlanner(), other.solution);
  llvm::StringMap<int64_t> counts;
  SmallVector<std::string> order;
  for (const PlanStep &step : others.getSteps()) {
    if (!step.cost.communicates)
      continue;
    std::string place = others.describePlace(step);
    if (++counts[place] == 1)
      order.push_back(place);
  }
  for (const std::string &place : order) {
    int64_t more = counts[place] - known.lookup(place);
    if (more > 0)
      os << "  then instead " << place << " x " << more << "\n";
  }
}

void Explanation::printCollectives(llvm::raw_ostream &os) {
  std::vector<SmallVector<const PlanStep *>> groups =
      reasons->groupCollectives();
  os << (groups.empty() ? "no collectives\n" : "collectives\n");
  for (ArrayRef<const PlanStep *> alike : groups)
    printCollective(alike, os);
}

//===- Settings -----------------------------------------------------------===//

void Explanation::printConstraints(llvm::raw_ostream &os) {
  os << "each constraint given up alone\n";
  for (const Lifting &lifting : liftings) {
    const Outcome *other = lifting.scenario.getBest();
    bool isLeftOut = StringRef(lifting.instead).starts_with("no ");
    os << "  "
       << (isLeftOut ? "without " + lifting.given
                     : lifting.instead + " in place of " + lifting.given)
       << ": "
       << (other ? describeDifference(other->figures, getPlan().figures)
                 : "no plan")
       << "\n";
  }
}

void Explanation::printPins(llvm::raw_ostream &os) {
  const PlanFigures &best = getCheapest().figures;
  for (const Lifting &lifting : liftings) {
    if (lifting.given != "the pins")
      continue;
    os << "without the pins\n";
    const Outcome *other = lifting.scenario.getBest();
    if (!other) {
      os << "  no plan\n";
      return;
    }
    printFigures(other->figures, os);
    double sent = other->figures.sentBytes;
    os << llvm::formatv("  the pins cost {0} a step and {1}",
                        toMicroseconds(best.seconds - other->figures.seconds),
                        toBytes(best.sentBytes - sent));
    if (sent > 0)
      os << llvm::formatv(", {0:f2} times the bytes", best.sentBytes / sent);
    os << "\n";
  }
}

void Explanation::printSequence(llvm::raw_ostream &os) {
  bool hasStream = false;
  module.walk([&](Operation *op) { hasStream |= op->hasAttr(streamAttrName); });
  if (!hasStream)
    return;
  double best = plan.figures.seconds;
  for (StringRef setting : {"off", "on", "auto"}) {
    if (setting == settings.sequenceParallel)
      continue;
    os << "with sequence-parallel=" << setting << "\n";
    PlanSettings changed = settings;
    changed.sequenceParallel = setting.str();
    Scenario scenario(module, changed);
    if (!scenario.getBest()) {
      os << "  no plan: the sequence or another size does not divide\n";
      continue;
    }
    const PlanFigures &figures = scenario.getBest()->figures;
    printFigures(figures, os);
    double difference = figures.seconds - best;
    if (std::abs(difference) < leastDifference)
      os << "  as fast as the plan\n";
    else
      os << "  " << toMicroseconds(std::abs(difference))
         << (difference > 0 ? " slower" : " faster") << " than the plan\n";
  }
}
