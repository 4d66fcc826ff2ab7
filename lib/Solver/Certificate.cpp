// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/Certificate.h"
#include "CertificateBounds.h"
#include "CertificateTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace tp;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Twine;

/// The most cells of one table that the checker is ready to visit.
static constexpr uint64_t maxVisitedCells = uint64_t(1) << 30;

uint64_t Certificate::getSize() const {
  uint64_t size = 0;
  for (const std::vector<int64_t> &message : messages)
    size += message.size() * sizeof(int64_t);
  uint64_t numIndices = messageOf.size() + expansionOf.size() + order.size();
  for (const Expansion &expansion : expansions) {
    numIndices += expansion.slotLayouts.size();
    for (const std::vector<unsigned> &set : expansion.layoutSets)
      numIndices += set.size();
  }
  return size + numIndices * sizeof(unsigned);
}

namespace {
using Indices = std::vector<unsigned>;

/// Eliminates the variables of a sum in the order of a certificate.
class Replay {
public:
  Replay(const Problem &problem, ArrayRef<unsigned> order, CertificateSum sum)
      : problem(problem), order(order), sum(std::move(sum)),
        termsOf(this->sum.sizes.size()), choiceOf(this->sum.sizes.size()) {
    for (auto [index, term] : llvm::enumerate(this->sum.terms))
      for (unsigned variable : term.scope)
        termsOf[variable].push_back(index);
    for (auto [index, table] : llvm::enumerate(this->sum.tables))
      tableIndices.try_emplace(wordsOf(table), index);
  }

  /// The minimum of the sum.
  llvm::Expected<Price> run();

private:
  /// The cells of a table for all choices of one variable.
  struct Column {
    const Price *cells;
    uint64_t stride;
  };
  /// What is left of a variable: its minimum, and a table above it.
  struct Rest {
    Price constant;
    unsigned table = 0;
  };

  static std::vector<Price::Word> wordsOf(ArrayRef<Price> cells) {
    std::vector<Price::Word> words;
    for (Price cell : cells)
      words.push_back(cell.getWord());
    return words;
  }

  std::vector<CertificateTerm> takeBucket(unsigned variable);
  llvm::Expected<Rest> removeVariable(unsigned variable,
                                      ArrayRef<CertificateTerm> bucket,
                                      const Indices &scope);
  Column columnOf(const CertificateTerm &term, unsigned variable) const;
  Price minimumOf(ArrayRef<Column> columns, unsigned variable) const;
  std::vector<Price> minima(unsigned variable, ArrayRef<CertificateTerm> bucket,
                            const Indices &scope, uint64_t numCells);
  unsigned addTable(std::vector<Price> table);

  std::string nameOf(unsigned variable) const {
    return variable < problem.variables.size()
               ? "variable '" + problem.variables[variable].name + "'"
               : "auxiliary variable " + std::to_string(variable);
  }

  const Problem &problem;
  ArrayRef<unsigned> order;
  /// A term used up has an empty scope.
  CertificateSum sum;
  /// By variable: indices of terms over it, used up or not.
  std::vector<Indices> termsOf;
  /// By variable: the choice being looked at.
  std::vector<uint64_t> choiceOf;
  std::map<std::vector<Price::Word>, unsigned> tableIndices;
  /// From all that the rest of a variable depends on.
  std::map<std::vector<Indices>, Rest> knownRests;
};
} // namespace

/// Where in the table of `term` the choices looked at lead, and how far apart
/// the choices of `variable` are there.
Replay::Column Replay::columnOf(const CertificateTerm &term,
                                unsigned variable) const {
  Column column{nullptr, 0};
  uint64_t stride = 1, offset = 0;
  for (unsigned other : llvm::reverse(term.scope)) {
    if (other == variable)
      column.stride = stride;
    offset += choiceOf[other] * stride;
    stride *= sum.sizes[other];
  }
  column.cells = &sum.tables[term.table][offset];
  return column;
}

/// The minimum over the choices of `variable` of the sum of `columns`.
Price Replay::minimumOf(ArrayRef<Column> columns, unsigned variable) const {
  Price minimum = Price::infinite();
  for (uint64_t choice = 0; choice < sum.sizes[variable]; ++choice) {
    Price total;
    for (Column column : columns)
      total += column.cells[choice * column.stride];
    minimum = std::min(minimum, total);
  }
  return minimum;
}

std::vector<Price> Replay::minima(unsigned variable,
                                  ArrayRef<CertificateTerm> bucket,
                                  const Indices &scope, uint64_t numCells) {
  std::vector<Price> cells;
  std::vector<Column> columns(bucket.size());
  choiceOf[variable] = 0;
  for (uint64_t cell = 0; cell < numCells; ++cell) {
    uint64_t rest = cell;
    for (unsigned other : llvm::reverse(scope)) {
      choiceOf[other] = rest % sum.sizes[other];
      rest /= sum.sizes[other];
    }
    for (auto [column, term] : llvm::zip_equal(columns, bucket))
      column = columnOf(term, variable);
    cells.push_back(minimumOf(columns, variable));
  }
  return cells;
}

unsigned Replay::addTable(std::vector<Price> table) {
  auto [it, isNew] =
      tableIndices.try_emplace(wordsOf(table), sum.tables.size());
  if (isNew)
    sum.tables.push_back(std::move(table));
  return it->second;
}

llvm::Expected<Replay::Rest>
Replay::removeVariable(unsigned variable, ArrayRef<CertificateTerm> bucket,
                       const Indices &scope) {
  // Two steps are alike if the same tables meet in the same way; the sizes are
  // in the key as they tell tables of equal cells but other shapes apart.
  std::vector<Indices> key = {{unsigned(sum.sizes[variable])}};
  for (const CertificateTerm &term : bucket) {
    Indices &entry = key.emplace_back(Indices{term.table});
    for (unsigned other : term.scope) {
      auto it = llvm::find(scope, other);
      entry.push_back(it - scope.begin() + (other > variable));
      entry.push_back(other == variable);
      entry.push_back(sum.sizes[other]);
    }
  }
  auto [it, isNew] = knownRests.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  uint64_t numCells = 1;
  for (unsigned other : scope)
    numCells = llvm::SaturatingMultiply(numCells, sum.sizes[other]);
  if (numCells > maxVisitedCells)
    return createStringError("the elimination of " + nameOf(variable) +
                             " leaves " + Twine(numCells) +
                             " cells, which are too many to check");
  std::vector<Price> cells = minima(variable, bucket, scope, numCells);
  Rest rest{*llvm::min_element(cells), 0};
  for (Price &cell : cells)
    cell = rest.constant.isInfinite() ? Price() : cell.above(rest.constant);
  rest.table = addTable(std::move(cells));
  it->second = rest;
  return rest;
}

std::vector<CertificateTerm> Replay::takeBucket(unsigned variable) {
  std::vector<CertificateTerm> bucket;
  for (unsigned index : termsOf[variable])
    if (!sum.terms[index].scope.empty()) {
      bucket.push_back(sum.terms[index]);
      sum.terms[index].scope.clear();
    }
  return bucket;
}

llvm::Expected<Price> Replay::run() {
  Price minimum;
  std::vector<char> isGone(sum.sizes.size());
  for (auto [position, variable] : llvm::enumerate(order)) {
    if (variable >= isGone.size() || isGone[variable])
      return createStringError("step " + Twine(position) +
                               " removes variable " + Twine(variable) +
                               ", which does not exist or is gone");
    isGone[variable] = true;
    std::vector<CertificateTerm> bucket = takeBucket(variable);
    std::set<unsigned> others;
    for (const CertificateTerm &term : bucket)
      others.insert(term.scope.begin(), term.scope.end());
    others.erase(variable);
    Indices scope(others.begin(), others.end());
    llvm::Expected<Rest> rest = removeVariable(variable, bucket, scope);
    if (!rest)
      return rest.takeError();
    minimum += rest->constant;
    for (unsigned other : scope)
      termsOf[other].push_back(sum.terms.size());
    sum.terms.push_back({std::move(scope), rest->table});
  }
  if (order.size() != isGone.size())
    return createStringError("the certificate removes " + Twine(order.size()) +
                             " of " + Twine(isGone.size()) + " variables");
  return minimum;
}

/// Refuses expansions whose lists and indices do not fit.
static Error checkExpansions(const Problem &problem,
                             const Certificate &certificate) {
  if (certificate.expansionOf.size() != problem.values.size())
    return createStringError("the certificate is for another problem: it "
                             "expands " +
                             Twine(certificate.expansionOf.size()) + " of " +
                             Twine(problem.values.size()) + " values");
  for (auto [value, index] :
       llvm::zip_equal(problem.values, certificate.expansionOf))
    if (!value.consumers.empty() && index >= certificate.expansions.size())
      return createStringError("value '" + value.name +
                               "' refers to expansion " + Twine(index) +
                               " of " + Twine(certificate.expansions.size()));
  return Error::success();
}

llvm::Expected<Price> tp::checkCertificate(const Problem &problem, Price cost,
                                           const Certificate &certificate) {
  if (Error error = problem.checkShape())
    return error;
  CertificateBounds bounds(problem, certificate);
  if (Error error = bounds.run())
    return error;
  Price bound = std::min(cost, bounds.getBound());
  if (certificate.order.empty())
    return bound;
  if (Error error = checkExpansions(problem, certificate))
    return error;
  auto choices = bounds.findChoices(cost);
  if (!choices)
    return choices.takeError();
  // No other plan is cheaper if a variable has no choice left for it.
  if (llvm::any_of(*choices,
                   [](const auto &choicesLeft) { return choicesLeft.empty(); }))
    return cost;
  auto sum = makeCertificateSum(problem, certificate, *choices);
  if (!sum)
    return sum.takeError();
  llvm::Expected<Price> minimum =
      Replay(problem, certificate.order, std::move(*sum)).run();
  if (!minimum)
    return minimum.takeError();
  return std::min(cost, *minimum);
}
