// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Questions of tp-explain: what a layout would cost that was not chosen.

#include "Explanation.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tp;

/// The most combinations of layouts that one question may leave open.
static constexpr size_t maxCombinations = 256;

/// Splits at `separator` where no bracket or quote is open.
static SmallVector<StringRef> splitOutside(StringRef text, char separator) {
  SmallVector<StringRef> parts;
  int depth = 0;
  bool isQuoted = false;
  size_t start = 0;
  for (auto [place, c] : llvm::enumerate(text)) {
    if (c == '"')
      isQuoted = !isQuoted;
    if (isQuoted)
      continue;
    depth += c == '[' || c == '{' || c == '(';
    depth -= c == ']' || c == '}' || c == ')';
    if (c != separator || depth != 0)
      continue;
    parts.push_back(text.slice(start, place).trim());
    start = place + 1;
  }
  parts.push_back(text.drop_front(start).trim());
  return parts;
}

/// The product of the numbers of options; saturates.
static size_t
countCombinations(const std::vector<std::vector<Layout>> &options) {
  size_t count = 1;
  for (const std::vector<Layout> &layouts : options)
    count = llvm::SaturatingMultiply(count, layouts.size());
  return count;
}

//===- Reading ------------------------------------------------------------===//

/// How well a name that a user gave fits: 0 is best.
static std::optional<unsigned> rankMatch(StringRef group, StringRef given) {
  if (group == given)
    return 0;
  StringRef stem = group;
  stem.consume_back(".weight");
  std::string end = "." + given.str();
  if (group.ends_with(end) || stem.ends_with(end) || stem == given)
    return 1;
  return group.contains(given) ? std::optional<unsigned>(2) : std::nullopt;
}

FailureOr<const WeightGroup *> Explanation::findGroup(StringRef name) {
  std::string given = withoutNumbers(name);
  SmallVector<const WeightGroup *> found;
  unsigned best = ~0u;
  for (const WeightGroup &group : groups) {
    std::optional<unsigned> rank = rankMatch(group.name, given);
    if (!rank || *rank > best)
      continue;
    if (*rank < best)
      found.clear();
    best = *rank;
    found.push_back(&group);
  }
  if (found.size() == 1 && !given.empty())
    return found.front();
  bool isUnknown = found.empty() || given.empty();
  InFlightDiagnostic diag = emitError(module.getLoc());
  diag << "why-not: '" << name << "' is "
       << (isUnknown ? "not a weight" : "more than one weight");
  std::string list;
  for (const WeightGroup &group : groups)
    if (isUnknown || llvm::is_contained(found, &group))
      list += (list.empty() ? "" : ", ") + group.name;
  diag.attachNote() << (list.empty() ? "there are no weights"
                        : isUnknown  ? "the weights are "
                                     : "it may be ")
                    << list;
  return diag;
}

/// Reads `[{}, {"tp"}]`; says in `reason` why it cannot.
FailureOr<Layout> Explanation::parseLayout(StringRef text,
                                           const WeightGroup &group,
                                           std::string &reason) {
  MLIRContext *context = module.getContext();
  ScopedDiagnosticHandler keep(context, [&](Diagnostic &diag) {
    if (reason.empty())
      reason = diag.str();
    return success();
  });
  FlatSymbolRefAttr mesh = group.members.front().sharding.getMesh();
  std::string written =
      "#tp.sharding<@" + mesh.getValue().str() + ", " + text.str() + ">";
  auto sharding =
      dyn_cast_or_null<ShardingAttr>(parseAttribute(written, context));
  if (!sharding)
    return failure();
  FailureOr<Layout> layout = resolve(sharding, getPlanner().getMesh(), [&] {
    return emitError(module.getLoc());
  });
  if (failed(layout) || layout->dims.size() == getShape(group).size())
    return layout;
  reason = llvm::formatv("it has {0} dimensions, the weight has {1}",
                         layout->dims.size(), getShape(group).size());
  return failure();
}

FailureOr<Explanation::Wish> Explanation::readWish(StringRef text) {
  SmallVector<StringRef> parts = splitOutside(text, ':');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty())
    return emitError(module.getLoc())
           << "why-not: '" << text
           << "' is not a question; one is written weight:layout, as "
              "q_proj:row";
  FailureOr<const WeightGroup *> group = findGroup(parts[0]);
  if (failed(group))
    return failure();
  Wish wish{*group, parts[1].str(), {}};
  bool isNamed = wish.word == "row" || wish.word == "column";
  std::vector<WeightUse> uses = findWeightUses(
      getPlanner().getGraph(), (*group)->members.front().argument);
  if (isNamed && !findProduct(uses))
    return emitError(module.getLoc())
           << "why-not: no product sums over a dimension of '" << (*group)->name
           << "', so row and column mean nothing for it; write its layout, as "
              "[{\"tp\"}]";
  if (isNamed || wish.word == "whole")
    return wish;
  std::string reason;
  FailureOr<Layout> layout = parseLayout(parts[1], **group, reason);
  if (failed(layout))
    return emitError(module.getLoc())
           << "why-not: '" << parts[1]
           << "' is neither row, column or whole nor a layout of '"
           << (*group)->name << "' such as [{}, {\"tp\"}]: " << reason;
  wish.layouts.push_back(std::move(*layout));
  return wish;
}

/// All layouts over the model axes that the word of a wish names, in a
/// scenario.
std::vector<Layout> Explanation::findLayouts(const Scenario &scenario,
                                             const Wish &wish) {
  if (!wish.layouts.empty() || !scenario.getPlanner())
    return wish.layouts;
  const Planner &planner = *scenario.getPlanner();
  unsigned argument = wish.group->members.front().argument;
  std::vector<WeightUse> uses = findWeightUses(planner.getGraph(), argument);
  const WeightUse *product = findProduct(uses);
  AxisParts model = planner.getModelParts();
  const LayoutSpace &space = planner.getBuilder().getSpace(
      planner.getGraph().nodes[argument].results[0]);
  std::vector<Layout> layouts;
  for (unsigned number = 0; number < space.size(); ++number) {
    const Layout &layout = space[number];
    bool isMeant = wish.word == "whole"
                       ? layout.isWhole()
                       : nameLayout(product, layout) == wish.word;
    if (isMeant && layout.unreduced.empty() &&
        containsParts(model, layout.getUsedParts()))
      layouts.push_back(layout);
  }
  return layouts;
}

//===- Answering ----------------------------------------------------------===//

/// The cheapest plan of a scenario that grants all wishes, and how.
std::optional<Outcome> Explanation::solveWishes(const Scenario &scenario,
                                                ArrayRef<Wish> wishes,
                                                std::vector<Layout> *granted) {
  std::vector<std::vector<Layout>> layouts;
  for (const Wish &wish : wishes)
    layouts.push_back(findLayouts(scenario, wish));
  if (countCombinations(layouts) > maxCombinations)
    return std::nullopt;
  std::optional<Outcome> best;
  for (size_t number = 0; number < countCombinations(layouts); ++number) {
    Changes changes;
    std::vector<Layout> chosen;
    size_t rest = number;
    for (auto [wish, options] : llvm::zip_equal(wishes, layouts)) {
      chosen.push_back(options[rest % options.size()]);
      rest /= options.size();
      for (const ParameterChoice &member : wish.group->members)
        changes.pins.push_back({member.argument, chosen.back()});
    }
    std::optional<Outcome> outcome = scenario.solve(changes);
    if (!outcome || (best && best->solution.cost <= outcome->solution.cost))
      continue;
    best = std::move(outcome);
    if (granted)
      *granted = std::move(chosen);
  }
  return best;
}

LogicalResult Explanation::answer(StringRef question, llvm::raw_ostream &os) {
  std::vector<Wish> wishes;
  for (StringRef text : splitOutside(question, ',')) {
    FailureOr<Wish> wish = readWish(text);
    if (failed(wish))
      return failure();
    if (llvm::any_of(wishes, [&](const Wish &other) {
          return other.group == wish->group;
        }))
      return emitError(module.getLoc())
             << "why-not: '" << question << "' asks for '" << wish->group->name
             << "' twice, which lies in one way only; ask a question for each "
                "with ';' in place of ','";
    wishes.push_back(std::move(*wish));
  }
  std::vector<std::vector<Layout>> layouts;
  for (const Wish &wish : wishes)
    layouts.push_back(findLayouts(scenario, wish));
  size_t combinations = countCombinations(layouts);
  if (combinations > maxCombinations)
    return emitError(module.getLoc())
           << "why-not: '" << question << "' leaves " << combinations
           << " combinations of layouts open, more than " << maxCombinations
           << "; write the layouts in full";
  os << "why not ";
  llvm::interleaveComma(wishes, os, [&](const Wish &wish) {
    os << wish.group->name << " " << wish.word;
  });
  os << "\n  ";
  std::vector<Layout> granted;
  std::optional<Outcome> other = solveWishes(scenario, wishes, &granted);
  if (!other) {
    if (combinations == 0)
      os << "no even split of it over the ranks is that; ";
    printImpossible(
        [&](const Scenario &scenario) {
          return solveWishes(scenario, wishes, nullptr);
        },
        os);
    return success();
  }
  const PlanFigures &figures = other->figures, &best = getPlan().figures;
  os << describeDifference(figures, best) << "; " << toBytes(figures.sentBytes)
     << " in all";
  if (best.sentBytes > 0 && figures.sentBytes != best.sentBytes)
    os << llvm::formatv(", {0:f2} times the plan's",
                        figures.sentBytes / best.sentBytes);
  os << "\n";
  for (auto [wish, layout] : llvm::zip_equal(wishes, granted))
    if (llvm::all_of(wish.group->members, [&](const ParameterChoice &member) {
          return layout.means(getLayout(member), getShape(*wish.group));
        }))
      os << "  " << wish.group->name << " is so in the plan\n";
  printChangedWeights(getPlanner(), *other, os);
  return success();
}

LogicalResult Explanation::printWhyNot(StringRef questions,
                                       llvm::raw_ostream &os) {
  for (StringRef question : splitOutside(questions, ';'))
    if (failed(answer(question, os)))
      return failure();
  return success();
}
