// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CertificateTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace tp;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Twine;

/// The most cells in all tables that the checker itself makes; a certificate
/// that asks for more is refused rather than followed.
static constexpr uint64_t maxMadeCells = uint64_t(1) << 28;

namespace {
using Indices = std::vector<unsigned>;
using Kind = Certificate::Expansion::Kind;

/// A variable and what its choices stand for, by index into `labels`.
struct Reader {
  unsigned variable = 0;
  unsigned labels = 0;
};

class TermMaker {
public:
  TermMaker(const Problem &problem, const Certificate &certificate,
            ArrayRef<Indices> domains)
      : problem(problem), certificate(certificate), domains(domains) {
    for (const Indices &choices : domains)
      sum.sizes.push_back(choices.size());
  }

  llvm::Expected<CertificateSum> run();

private:
  using LabelFunction = llvm::function_ref<Price(ArrayRef<unsigned>)>;

  Error addCosts();
  Error addValue(const Problem::Value &value,
                 const Certificate::Expansion &expansion, unsigned index);
  Error checkSlots(const Problem::Value &value, const Indices &slots) const;
  Error checkSets(const Problem::Value &value,
                  ArrayRef<Indices> layoutSets) const;
  Error addSlots(const Problem::Value &value, ArrayRef<Reader> consumers,
                 const Indices &slots);
  Error addCover(const Problem::Value &value, ArrayRef<Reader> consumers,
                 ArrayRef<Indices> layoutSets, unsigned index);
  Error addReach(unsigned table, ArrayRef<Reader> sources, Reader target);
  Error addTerm(Indices key, ArrayRef<Reader> readers, LabelFunction function);
  llvm::Expected<unsigned> makeTable(ArrayRef<Reader> readers,
                                     ArrayRef<unsigned> scope,
                                     LabelFunction function);
  unsigned addLabels(Indices list);
  Reader read(Problem::Use use);
  std::set<unsigned> layoutsOf(Problem::Use use) const;

  const Problem &problem;
  const Certificate &certificate;
  CertificateSum sum;

  /// By variable: the choices left.
  ArrayRef<Indices> domains;
  std::vector<Indices> labels;
  std::map<Indices, unsigned> labelIndices;
  std::map<Indices, unsigned> tableIndices;
  uint64_t madeCells = 0;
  /// Expansions found right, by all that they depend on.
  std::set<Indices> rightExpansions;
};
} // namespace

unsigned TermMaker::addLabels(Indices list) {
  auto [it, isNew] = labelIndices.try_emplace(std::move(list), labels.size());
  if (isNew)
    labels.push_back(it->first);
  return it->second;
}

Reader TermMaker::read(Problem::Use use) {
  Indices list;
  for (unsigned choice : domains[use.variable])
    list.push_back(problem.getLayout(use, choice));
  return {use.variable, addLabels(std::move(list))};
}

std::set<unsigned> TermMaker::layoutsOf(Problem::Use use) const {
  std::set<unsigned> layouts;
  for (unsigned choice : domains[use.variable])
    layouts.insert(problem.getLayout(use, choice));
  return layouts;
}

llvm::Expected<unsigned> TermMaker::makeTable(ArrayRef<Reader> readers,
                                              ArrayRef<unsigned> scope,
                                              LabelFunction function) {
  uint64_t numCells = 1;
  for (unsigned variable : scope)
    numCells = llvm::SaturatingMultiply(numCells, sum.sizes[variable]);
  madeCells = llvm::SaturatingAdd(madeCells, numCells);
  if (madeCells > maxMadeCells)
    return createStringError("the certificate needs tables of more than " +
                             Twine(maxMadeCells) + " cells");
  std::vector<Price> cells;
  cells.reserve(numCells);
  std::vector<uint64_t> choiceOf(sum.sizes.size());
  for (uint64_t cell = 0; cell < numCells; ++cell) {
    uint64_t rest = cell;
    for (unsigned variable : llvm::reverse(scope)) {
      choiceOf[variable] = rest % sum.sizes[variable];
      rest /= sum.sizes[variable];
    }
    llvm::SmallVector<unsigned, 4> values;
    for (Reader reader : readers)
      values.push_back(labels[reader.labels][choiceOf[reader.variable]]);
    cells.push_back(function(values));
  }
  sum.tables.push_back(std::move(cells));
  return sum.tables.size() - 1;
}

/// Adds the table of `function` of what `readers` read. Equal keys mean equal
/// functions.
Error TermMaker::addTerm(Indices key, ArrayRef<Reader> readers,
                         LabelFunction function) {
  std::set<unsigned> scope;
  for (Reader reader : readers)
    scope.insert(reader.variable);
  CertificateTerm term{Indices(scope.begin(), scope.end())};
  for (Reader reader : readers) {
    key.push_back(reader.labels);
    key.push_back(llvm::find(term.scope, reader.variable) - term.scope.begin());
  }
  auto [it, isNew] = tableIndices.try_emplace(std::move(key), 0);
  if (isNew) {
    llvm::Expected<unsigned> table = makeTable(readers, term.scope, function);
    if (!table)
      return table.takeError();
    it->second = *table;
  }
  term.table = it->second;
  sum.terms.push_back(std::move(term));
  return Error::success();
}

/// A layout may be missing among the slots if no way leads over it, or if
/// another one stands for it.
Error TermMaker::checkSlots(const Problem::Value &value,
                            const Indices &slots) const {
  const DistanceTable &table = problem.tables[value.table];
  if (slots.empty() || llvm::any_of(slots, [&](unsigned layout) {
        return layout >= table.numLayouts;
      }))
    return createStringError(
        "value '" + value.name +
        "' has slots without layouts or with unknown ones");
  std::set<unsigned> from = layoutsOf(value.producer), to;
  for (Problem::Use use : value.consumers)
    to.merge(layoutsOf(use));
  for (unsigned layout = 0; layout < table.numLayouts; ++layout) {
    bool isOnWay = llvm::any_of(from,
                                [&](unsigned root) {
                                  return table.at(root, layout).isFinite();
                                }) &&
                   llvm::any_of(to, [&](unsigned target) {
                     return table.at(layout, target).isFinite();
                   });
    bool hasStandIn = llvm::any_of(slots, [&](unsigned slot) {
      return table.at(slot, layout) == Price() &&
             table.at(layout, slot) == Price();
    });
    if (isOnWay && !hasStandIn)
      return createStringError("value '" + value.name +
                               "' has slots that leave out layout " +
                               Twine(layout) + ", over which a way leads");
  }
  return Error::success();
}

/// Every set of layouts that the consumers can want together must be there.
Error TermMaker::checkSets(const Problem::Value &value,
                           ArrayRef<Indices> layoutSets) const {
  const DistanceTable &table = problem.tables[value.table];
  std::set<std::set<unsigned>> listed;
  for (const Indices &layouts : layoutSets) {
    std::set<unsigned> set(layouts.begin(), layouts.end());
    bool isValid = set.size() == layouts.size() && !set.empty() &&
                   set.size() <= maxTreeTargets &&
                   *set.rbegin() < table.numLayouts && llvm::is_sorted(layouts);
    if (!isValid)
      return createStringError("value '" + value.name +
                               "' is covered by something that is not a set");
    listed.insert(std::move(set));
  }
  std::set<std::set<unsigned>> wanted = {{}};
  for (Problem::Use use : value.differentUses()) {
    std::set<std::set<unsigned>> grown;
    for (unsigned layout : layoutsOf(use))
      for (std::set<unsigned> set : wanted) {
        set.insert(layout);
        grown.insert(std::move(set));
      }
    wanted = std::move(grown);
    // Whatever is wanted in part must lie within one of the sets.
    if (wanted.size() >> maxTreeTargets > listed.size())
      break;
  }
  if (!llvm::all_of(wanted, [&](const std::set<unsigned> &set) {
        return listed.count(set) != 0;
      }))
    return createStringError("value '" + value.name +
                             "' may be wanted in layouts that no set covers");
  return Error::success();
}

Error TermMaker::addReach(unsigned table, ArrayRef<Reader> sources,
                          Reader target) {
  llvm::SmallVector<Reader, 4> readers(sources);
  readers.push_back(target);
  return addTerm({0, table}, readers, [&](ArrayRef<unsigned> layouts) {
    Price nearest = Price::infinite();
    for (unsigned source : layouts.drop_back())
      nearest =
          std::min(nearest, problem.tables[table].at(source, layouts.back()));
    return nearest;
  });
}

Error TermMaker::addSlots(const Problem::Value &value,
                          ArrayRef<Reader> consumers, const Indices &slots) {
  llvm::SmallVector<Reader, 4> earlier;
  for (size_t slot = 1; slot < consumers.size(); ++slot) {
    Reader reader{unsigned(sum.sizes.size()), addLabels(slots)};
    sum.sizes.push_back(slots.size());
    llvm::SmallVector<Reader, 4> sources(earlier);
    if (slot == 1)
      sources = {read(value.producer)};
    if (Error error = addReach(value.table, sources, reader))
      return error;
    earlier.push_back(reader);
  }
  for (Reader consumer : consumers)
    if (Error error = addReach(value.table, earlier, consumer))
      return error;
  return Error::success();
}

Error TermMaker::addCover(const Problem::Value &value,
                          ArrayRef<Reader> consumers,
                          ArrayRef<Indices> layoutSets, unsigned index) {
  Indices numbers;
  for (size_t number = 0; number < layoutSets.size(); ++number)
    numbers.push_back(number);
  Reader set{unsigned(sum.sizes.size()), addLabels(std::move(numbers))};
  sum.sizes.push_back(layoutSets.size());

  TreePrices prices(problem.tables[value.table]);
  auto cost = [&](ArrayRef<unsigned> read) {
    return prices.get(read[0], layoutSets[read[1]]);
  };
  auto membership = [&](ArrayRef<unsigned> read) {
    bool isMember = llvm::is_contained(layoutSets[read[1]], read[0]);
    return isMember ? Price() : Price::infinite();
  };
  if (Error error =
          addTerm({1, value.table, index}, {read(value.producer), set}, cost))
    return error;
  for (Reader consumer : consumers)
    if (Error error = addTerm({2, index}, {consumer, set}, membership))
      return error;
  return Error::success();
}

Error TermMaker::addValue(const Problem::Value &value,
                          const Certificate::Expansion &expansion,
                          unsigned index) {
  llvm::SmallVector<Problem::Use, 2> uses = value.differentUses();
  llvm::SmallVector<Reader, 4> consumers;
  Indices key = {index, value.table, read(value.producer).labels};
  for (Problem::Use use : uses) {
    consumers.push_back(read(use));
    key.push_back(consumers.back().labels);
  }
  if ((expansion.kind == Kind::Direct) != (uses.size() == 1))
    return createStringError("value '" + value.name + "' with " +
                             Twine(uses.size()) +
                             " different uses has the wrong kind of expansion");
  bool isNew = rightExpansions.insert(std::move(key)).second;
  switch (expansion.kind) {
  case Kind::Direct:
    return addReach(value.table, read(value.producer), consumers.front());
  case Kind::Slots:
    if (isNew)
      if (Error error = checkSlots(value, expansion.slotLayouts))
        return error;
    return addSlots(value, consumers, expansion.slotLayouts);
  case Kind::Cover:
    if (isNew)
      if (Error error = checkSets(value, expansion.layoutSets))
        return error;
    return addCover(value, consumers, expansion.layoutSets, index);
  }
  return createStringError("value '" + value.name +
                           "' has an unknown kind of expansion");
}

Error TermMaker::addCosts() {
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    Reader reader{variable, addLabels(domains[variable])};
    unsigned costVector = problem.variables[variable].costVector;
    auto cost = [&](ArrayRef<unsigned> choice) {
      return problem.getCost(variable, choice[0]);
    };
    if (Error error = addTerm({3, costVector}, reader, cost))
      return error;
  }
  return Error::success();
}

llvm::Expected<CertificateSum> TermMaker::run() {
  if (Error error = addCosts())
    return error;
  for (auto [value, index] :
       llvm::zip_equal(problem.values, certificate.expansionOf))
    if (!value.consumers.empty())
      if (Error error = addValue(value, certificate.expansions[index], index))
        return error;
  return std::move(sum);
}

llvm::Expected<CertificateSum>
tp::makeCertificateSum(const Problem &problem, const Certificate &certificate,
                       ArrayRef<std::vector<unsigned>> choices) {
  return TermMaker(problem, certificate, choices).run();
}
