// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Plan/Solver.h"
#include "Dominance.h"
#include "Elimination.h"
#include "Expansion.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

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

static llvm::Error checkAllHaveChoices(const Problem &problem,
                                       const Domains &domains) {
  for (auto [index, variable] : llvm::enumerate(problem.variables))
    if (domains.getKept(index).empty())
      return llvm::make_error<InfeasibleError>("variable '" + variable.name +
                                               "'");
  return llvm::Error::success();
}

static void countChoices(const Problem &problem, const Domains &domains,
                         SolveStatistics &statistics) {
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    size_t kept = domains.getKept(variable).size();
    statistics.keptChoices += kept;
    statistics.choices +=
        kept + domains.dropped[domains.classOf[variable]].size();
  }
}

/// Writes the steps and the messages that they refer to, each once.
static void writeSteps(const FactorGraph &graph, const Elimination &elimination,
                       Certificate &certificate) {
  llvm::DenseMap<unsigned, unsigned> messageOf;
  for (const EliminationResult &result : elimination.results) {
    auto [it, isNew] =
        messageOf.try_emplace(result.message, certificate.messages.size());
    if (isNew)
      certificate.messages.push_back(graph.tables[result.message].cells);
    certificate.steps.push_back({result.constant, it->second});
  }
  for (const EliminationStep &step : elimination.steps)
    certificate.stepOf.push_back(step.result);
}

llvm::Expected<Solution> tp::solve(const Problem &problem,
                                   const SolveOptions &options) {
  if (llvm::Error error = problem.check())
    return error;
  Solution solution;
  Certificate &certificate = solution.certificate;
  SolveStatistics &statistics = solution.statistics;

  Domains domains = pruneChoices(problem, options.pruneDominated);
  if (llvm::Error error = checkAllHaveChoices(problem, domains))
    return error;
  countChoices(problem, domains, statistics);
  certificate.dropped = domains.dropped;
  certificate.droppedOf = domains.classOf;

  llvm::Expected<FactorGraph> graph =
      expandProblem(problem, domains, options.maxTableEntries, certificate);
  if (!graph)
    return graph.takeError();
  statistics.auxiliaryVariables =
      graph->sizes.size() - problem.variables.size();
  llvm::Expected<std::vector<unsigned>> order =
      findOrder(*graph, options.maxTableEntries);
  if (!order)
    return order.takeError();
  llvm::Expected<Elimination> elimination =
      eliminate(*graph, *order, options, statistics);
  if (!elimination)
    return elimination.takeError();
  certificate.order = std::move(*order);
  writeSteps(*graph, *elimination, certificate);

  std::vector<unsigned> kept = decode(*graph, *elimination);
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable)
    solution.choices.push_back(domains.getKept(variable)[kept[variable]]);
  solution.cost = problem.evaluate(solution.choices);
  solution.lowerBound = elimination->minimum;
  if (solution.cost.isInfinite())
    return llvm::make_error<InfeasibleError>("the end");
  if (solution.cost != solution.lowerBound)
    return llvm::createStringError(
        "internal error of the planner: its plan takes %.9g s, but the minimum "
        "is %.9g s",
        solution.cost.seconds(), solution.lowerBound.seconds());
  return solution;
}
