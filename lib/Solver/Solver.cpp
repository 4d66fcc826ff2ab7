// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/Solver.h"
#include "DualMessages.h"
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
     << " s or " << (uint64_t(1) << (Price::memoryBits - 30))
     << " TiB; relax a pin or a limit there";
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

/// By which a margin grows or falls.
static constexpr Ticks marginFactor = 8;

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
  /// The same for the choices within a margin above the bound.
  llvm::Error eliminateWithin(const Narrowing &narrowing, Ticks margin) {
    return eliminate(narrowing.getChoices(margin), options.maxTableEntries);
  }
  llvm::Error passMessages();
  llvm::Error findPlan(const Narrowing &narrowing, Ticks &margin);
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

/// Eliminates what lies within a margin above the bound, in which there is a
/// plan and not too much besides: wider if there is none, narrower if there is
/// too much.
llvm::Error SolverRun::findPlan(const Narrowing &narrowing, Ticks &margin) {
  constexpr Ticks closest = 1.25, widest = 2.0 * largestTicks;
  Ticks empty = 0;
  std::optional<Ticks> tooLarge;
  while (true) {
    llvm::Error error = eliminateWithin(narrowing, margin);
    if (error.isA<InfeasibleError>() && margin < infiniteTicks)
      empty = margin;
    else if (error.isA<ProblemTooLargeError>())
      tooLarge = std::min(margin, widest);
    else
      return error;
    if (!tooLarge)
      margin = margin > largestTicks ? infiniteTicks : marginFactor * margin;
    else if (empty == 0)
      margin = std::floor(*tooLarge / marginFactor);
    else
      margin = std::floor(std::sqrt(empty * *tooLarge));
    bool isLast = tooLarge && (margin < 1 || *tooLarge <= closest * empty);
    if (isLast && error.isA<ProblemTooLargeError>())
      return error;
    llvm::consumeError(std::move(error));
    if (isLast)
      return eliminateWithin(narrowing, *tooLarge);
  }
}

/// Choices that lift the bound by more than a margin are left out, and the rest
/// is eliminated. If the plan found is within the margin, no plan with another
/// choice is cheaper; if not, the margin grows.
llvm::Error SolverRun::closeGap(const Narrowing &narrowing) {
  Ticks bound = narrowing.getDual().bound;
  // What the bounds of decoders fall short by, as a rule: a wider margin is too
  // much to eliminate, a narrower one is eliminated in vain.
  Ticks margin = std::max(std::floor(bound / 14000), 1.0);
  llvm::Error error = findPlan(narrowing, margin);
  while (!error) {
    // The other fields of the price add less than one tick.
    Ticks gap = Ticks(solution.cost.getTime()) + 1 - bound;
    if (gap <= margin)
      break;
    margin = std::min(gap, marginFactor * margin);
    error = eliminateWithin(narrowing, margin);
  }
  return error;
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
  Narrowing narrowing(problem, possible, options);
  if (!narrowing.hasMessages())
    return eliminate(possible, options.maxTableEntries);
  const DualResult &dual = narrowing.getDual();
  solution.statistics.passes = dual.passes;
  if (narrowing.isBeyondCutoff())
    return llvm::make_error<InfeasibleError>("the cutoff");
  writeMessages(problem, narrowing.getModel(), dual, solution.certificate);
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
