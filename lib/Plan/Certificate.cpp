// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Plan/Certificate.h"
#include "CertificateTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace tp;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Twine;

namespace {
using Indices = std::vector<unsigned>;

/// Follows the steps of a certificate from the sum of all tables to the bound.
class Replay {
public:
  Replay(const Problem &problem, const Certificate &certificate,
         CertificateSum sum)
      : problem(problem), certificate(certificate), sum(std::move(sum)),
        termsOf(this->sum.sizes.size()), choiceOf(this->sum.sizes.size()) {
    for (auto [index, term] : llvm::enumerate(this->sum.terms))
      for (unsigned variable : term.scope)
        termsOf[variable].push_back(index);
  }

  llvm::Expected<Price> run();

private:
  /// The cells of a table for all choices of one variable.
  struct Column {
    const Price *cells;
    uint64_t stride;
  };

  std::vector<CertificateTerm> takeBucket(unsigned variable);
  Error checkStep(size_t position, ArrayRef<CertificateTerm> bucket,
                  const Indices &scope);
  Column columnOf(const CertificateTerm &term, unsigned variable) const;
  Price minimumOf(ArrayRef<Column> columns, unsigned variable) const;
  bool isBelow(const Certificate::Step &step, unsigned variable,
               ArrayRef<CertificateTerm> bucket, const Indices &scope);

  ArrayRef<Price> cellsOf(const CertificateTerm &term) const {
    return term.isMessage ? certificate.messages[term.table]
                          : sum.tables[term.table];
  }

  const Certificate::Step &stepAt(size_t position) const {
    return certificate.steps[certificate.stepOf[position]];
  }

  std::string nameOf(unsigned variable) const {
    return variable < problem.variables.size()
               ? "variable '" + problem.variables[variable].name + "'"
               : "auxiliary variable " + std::to_string(variable);
  }

  const Problem &problem;
  const Certificate &certificate;
  /// A term used up has an empty scope.
  CertificateSum sum;
  /// By variable: indices of terms over it, used up or not.
  std::vector<Indices> termsOf;
  /// By variable: the choice being looked at.
  std::vector<uint64_t> choiceOf;
  /// Steps found right, by all that they depend on.
  std::set<std::vector<Indices>> rightSteps;
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
  column.cells = &cellsOf(term)[offset];
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

/// Whether the constant plus the message is nowhere above the minimum of the
/// bucket over the choices of `variable`.
bool Replay::isBelow(const Certificate::Step &step, unsigned variable,
                     ArrayRef<CertificateTerm> bucket, const Indices &scope) {
  ArrayRef<Price> message = certificate.messages[step.message];
  std::vector<Column> columns(bucket.size());
  choiceOf[variable] = 0;
  for (uint64_t cell = 0; cell < message.size(); ++cell) {
    uint64_t rest = cell;
    for (unsigned other : llvm::reverse(scope)) {
      choiceOf[other] = rest % sum.sizes[other];
      rest /= sum.sizes[other];
    }
    for (auto [column, term] : llvm::zip_equal(columns, bucket))
      column = columnOf(term, variable);
    if (minimumOf(columns, variable) < step.constant + message[cell])
      return false;
  }
  return true;
}

Error Replay::checkStep(size_t position, ArrayRef<CertificateTerm> bucket,
                        const Indices &scope) {
  unsigned variable = certificate.order[position];
  const Certificate::Step &step = stepAt(position);
  uint64_t numCells = 1;
  for (unsigned other : scope)
    numCells = llvm::SaturatingMultiply(numCells, sum.sizes[other]);
  size_t claimed = certificate.messages[step.message].size();
  if (claimed != numCells)
    return createStringError("step " + Twine(position) + " removes " +
                             nameOf(variable) + " and leaves " +
                             Twine(claimed) + " cells instead of " +
                             Twine(numCells));

  // Two steps are alike if the same tables meet in the same way; the sizes are
  // in the key as they tell tables of equal cells but other shapes apart.
  std::vector<Indices> key = {
      {certificate.stepOf[position], unsigned(sum.sizes[variable])}};
  for (const CertificateTerm &term : bucket) {
    Indices &entry = key.emplace_back(Indices{term.isMessage, term.table});
    for (unsigned other : term.scope) {
      auto it = llvm::find(scope, other);
      entry.push_back(it - scope.begin() + (other > variable));
      entry.push_back(other == variable);
      entry.push_back(sum.sizes[other]);
    }
  }
  if (!rightSteps.insert(std::move(key)).second)
    return Error::success();
  if (!isBelow(step, variable, bucket, scope))
    return createStringError("step " + Twine(position) + " removes " +
                             nameOf(variable) +
                             " and claims more than the minimum");
  return Error::success();
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
  Price bound;
  std::vector<char> isGone(sum.sizes.size());
  for (auto [position, variable] : llvm::enumerate(certificate.order)) {
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
    if (Error error = checkStep(position, bucket, scope))
      return error;

    const Certificate::Step &step = stepAt(position);
    bound += step.constant;
    if (scope.empty())
      bound += certificate.messages[step.message].front();
    for (unsigned other : scope)
      termsOf[other].push_back(sum.terms.size());
    sum.terms.push_back({std::move(scope), step.message, /*isMessage=*/true});
  }
  if (certificate.order.size() != isGone.size())
    return createStringError("the certificate removes " +
                             Twine(certificate.order.size()) + " of " +
                             Twine(isGone.size()) + " variables");
  return bound;
}

/// Refuses a certificate whose lists and indices do not fit.
static Error checkSizes(const Problem &problem,
                        const Certificate &certificate) {
  if (certificate.droppedOf.size() != problem.variables.size() ||
      certificate.expansionOf.size() != problem.values.size() ||
      certificate.stepOf.size() != certificate.order.size())
    return createStringError("the certificate is for another problem: its "
                             "lists do not have the problem's lengths");
  auto within = [](ArrayRef<unsigned> indices, size_t size) {
    return llvm::all_of(indices, [=](unsigned index) { return index < size; });
  };
  bool stepsFit = llvm::all_of(certificate.steps, [&](auto step) {
    return step.message < certificate.messages.size();
  });
  if (!within(certificate.droppedOf, certificate.dropped.size()) || !stepsFit ||
      !within(certificate.stepOf, certificate.steps.size()))
    return createStringError("the certificate refers to a list of dropped "
                             "choices, a step or a message that it lacks");
  for (auto [value, index] :
       llvm::zip_equal(problem.values, certificate.expansionOf))
    if (!value.consumers.empty() && index >= certificate.expansions.size())
      return createStringError("value '" + value.name +
                               "' refers to expansion " + Twine(index) +
                               " of " + Twine(certificate.expansions.size()));
  return Error::success();
}

llvm::Expected<Price> tp::checkCertificate(const Problem &problem,
                                           const Certificate &certificate) {
  if (Error error = problem.check())
    return error;
  if (Error error = checkSizes(problem, certificate))
    return error;
  llvm::Expected<CertificateSum> sum = makeCertificateSum(problem, certificate);
  if (!sum)
    return sum.takeError();
  return Replay(problem, certificate, std::move(*sum)).run();
}
