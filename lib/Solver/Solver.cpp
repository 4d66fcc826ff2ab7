// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/Solver.h"
#include "Elimination.h"
#include "Expansion.h"
#include "Narrowing.h"
#include "Rounding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tp;

char InfeasibleError::ID = 0;
char ProblemTooLargeError::ID = 0;

void InfeasibleError::log(llvm::raw_ostream &os) const {
  os << "no plan is possible: at " << where
     << " every way is banned or takes more than "
     << static_cast<uint64_t>((uint64_t(1) << Price::timeBits) /
                              Price::ticksPerSecond)
     << " s; relax a pin or a limit there";
}

std::error_code InfeasibleError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

void ProblemTooLargeError::log(llvm::raw_ostream &os) const {
  os << "an exact plan would visit ";
  if (entries == std::numeric_limits<uint64_t>::max())
    os << "more than 2^64";
  else
    os << entries;
  os << " table entries at " << where << ", and " << limit
     << " are allowed; use fewer mesh axes, pin some values or raise the limit";
}

std::error_code ProblemTooLargeError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

namespace {

/// One run of the solver.
class SolverRun {
public:
  SolverRun(const Problem &problem, const SolveOptions &options)
      : problem(problem), options(options) {}

  llvm::Expected<Solution> run();

private:
  llvm::Error checkAllHaveChoices(const Domains &domains) const;
  llvm::Error eliminate(const Domains &left, uint64_t maxEntries);
  llvm::Error passMessages();
  void writeMessages(const DualModel &model, const DualResult &result);
  llvm::Error closeGap(const Narrowing &narrowing);
  void takeRounded(const Narrowing &narrowing);

  const Problem &problem;
  const SolveOptions &options;
  Domains possible;
  Solution solution;
};

} // namespace

llvm::Error SolverRun::checkAllHaveChoices(const Domains &domains) const {
  for (auto [index, variable] : llvm::enumerate(problem.variables))
    if (domains.getKept(index).empty())
      return llvm::make_error<InfeasibleError>("variable '" + variable.name +
                                               "'");
  return llvm::Error::success();
}

/// Messages in the form of the certificate: over all layouts of a map, those of
/// choices that are impossible included.
void SolverRun::writeMessages(const DualModel &model,
                              const DualResult &result) {
  Certificate &certificate = solution.certificate;
  std::map<std::vector<int64_t>, unsigned> known;
  std::map<std::tuple<unsigned, unsigned, unsigned>, unsigned> converted;
  unsigned end = 0;
  auto add = [&](Problem::Use use) {
    unsigned index = result.messageOf[end];
    unsigned layouts = model.graph.ends[end++].layouts;
    auto [it, isNew] =
        converted.try_emplace({index, layouts, use.layoutMap}, 0);
    if (isNew) {
      std::vector<unsigned> all = problem.layoutMaps[use.layoutMap];
      llvm::sort(all);
      all.erase(llvm::unique(all), all.end());
      std::vector<int64_t> message(all.size());
      for (auto [layout, number] :
           llvm::zip_equal(model.ends[layouts].layouts, result.messages[index]))
        message[llvm::lower_bound(all, layout) - all.begin()] = number;
      auto [place, isOther] =
          known.try_emplace(message, certificate.messages.size());
      if (isOther)
        certificate.messages.push_back(std::move(message));
      it->second = place->second;
    }
    certificate.messageOf.push_back(it->second);
  };
  for (const Problem::Value &value : problem.values) {
    if (value.consumers.empty())
      continue;
    add(value.producer);
    llvm::for_each(value.differentUses(), add);
  }
}

/// Finds the cheapest plan of the choices left and proves that there is no
/// cheaper one of them.
llvm::Error SolverRun::eliminate(const Domains &left, uint64_t maxEntries) {
  SolveStatistics &statistics = solution.statistics;
  if (llvm::Error error = checkAllHaveChoices(left))
    return error;
  statistics.keptChoices = 0;
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    statistics.keptChoices += left.getKept(variable).size();
  SolveOptions limited = options;
  limited.maxTableEntries = maxEntries;
  Certificate closing;
  llvm::Expected<FactorGraph> graph =
      expandProblem(problem, left, maxEntries, closing);
  if (!graph)
    return graph.takeError();
  statistics.auxiliaryVariables =
      graph->sizes.size() - problem.variables.size();
  llvm::Expected<Elimination> elimination =
      tp::eliminate(*graph, closing.order, limited, statistics);
  if (!elimination)
    return elimination.takeError();
  std::vector<unsigned> kept = decode(*graph, *elimination);
  solution.choices.clear();
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    solution.choices.push_back(left.getKept(variable)[kept[variable]]);
  solution.cost = problem.evaluate(solution.choices);
  solution.lowerBound = elimination->minimum;
  if (solution.cost.isInfinite())
    return llvm::make_error<InfeasibleError>("the end");
  if (solution.cost != solution.lowerBound)
    return llvm::createStringError(
        "internal error of the planner: its plan takes %.9g s, but the minimum "
        "is %.9g s",
        solution.cost.seconds(), solution.lowerBound.seconds());
  solution.certificate.expansions = std::move(closing.expansions);
  solution.certificate.expansionOf = std::move(closing.expansionOf);
  solution.certificate.order = std::move(closing.order);
  return llvm::Error::success();
}

/// Choices that lift the bound by more than a margin are left out, and the rest
/// is eliminated. If the plan found is within the margin, no plan with another
/// choice is cheaper; if not, the margin grows. It falls where nothing was
/// found yet and too much is left.
llvm::Error SolverRun::closeGap(const Narrowing &narrowing) {
  constexpr Ticks factor = 8;
  Ticks bound = narrowing.getDual().bound;
  Ticks margin = std::max(std::floor(bound / (1 << 14)), 1.0);
  Ticks tooLarge = infiniteTicks;
  while (true) {
    llvm::Error error =
        eliminate(narrowing.getChoices(margin), options.maxTableEntries);
    if (error.isA<InfeasibleError>() && margin < bound &&
        factor * margin < tooLarge) {
      llvm::consumeError(std::move(error));
      margin *= factor;
      continue;
    }
    if (error.isA<ProblemTooLargeError>() && solution.cost.isInfinite() &&
        margin > 1) {
      llvm::consumeError(std::move(error));
      tooLarge = margin;
      margin = std::max(std::floor(margin / factor), 1.0);
      continue;
    }
    if (error)
      return error;
    // The other fields of the price add less than one tick.
    Ticks gap = Ticks(solution.cost.getTime()) + 1 - bound;
    if (gap <= margin)
      return llvm::Error::success();
    margin = std::min(gap, factor * margin);
  }
}

/// Takes the plan that the messages suggest.
void SolverRun::takeRounded(const Narrowing &narrowing) {
  const DualModel &model = narrowing.getModel();
  std::vector<unsigned> rounded = roundMessages(model, narrowing.getDual());
  solution.choices.resize(problem.variables.size());
  for (auto [node, choice] : llvm::zip_equal(model.graph.nodes, rounded))
    solution.choices[node.variable] = possible.getKept(node.variable)[choice];
  solution.cost = problem.evaluate(solution.choices);
}

llvm::Error SolverRun::passMessages() {
  Narrowing narrowing(problem, possible);
  if (!narrowing.hasMessages())
    return eliminate(possible, options.maxTableEntries);
  const DualResult &dual = narrowing.getDual();
  solution.statistics.passes = dual.passes;
  writeMessages(narrowing.getModel(), dual);
  llvm::Error error = closeGap(narrowing);
  if (!error.isA<ProblemTooLargeError>() || !options.acceptGap)
    return error;
  if (solution.cost.isInfinite())
    takeRounded(narrowing);
  if (solution.cost.isInfinite())
    return error;
  llvm::consumeError(std::move(error));
  // The elimination that was possible proves nothing about the choices left
  // out.
  solution.certificate.expansions.clear();
  solution.certificate.expansionOf.clear();
  solution.certificate.order.clear();
  PriceFields proven;
  proven.time = static_cast<uint64_t>(std::max(dual.bound, 0.0));
  solution.lowerBound = *Price::get(proven);
  return llvm::Error::success();
}

llvm::Expected<Solution> SolverRun::run() {
  if (llvm::Error error = problem.checkShape())
    return error;
  solution.cost = Price::infinite();
  possible = Domains::findPossible(problem);
  if (llvm::Error error = checkAllHaveChoices(possible))
    return error;
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    solution.statistics.choices += possible.getKept(variable).size();
  llvm::Error error = eliminate(
      possible, std::min(options.maxTableEntries, options.maxEntriesAtOnce));
  if (error.isA<ProblemTooLargeError>()) {
    llvm::consumeError(std::move(error));
    error = passMessages();
  }
  if (error)
    return error;
  return std::move(solution);
}

llvm::Expected<Solution> tp::solve(const Problem &problem,
                                   const SolveOptions &options) {
  return SolverRun(problem, options).run();
}
