// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CertificateBounds.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Twine;
using Number = CertificateBounds::Number;

/// What is forbidden; it absorbs whatever is added to it.
static constexpr Number forbidden = ~(Number(1) << 127);

static constexpr Number wordsPerTick = Number(1) << (128 - Price::timeBits);

/// A price as a number, rounded down where it does not fit.
static Number numberOf(Price price) {
  constexpr Number largest = Number(1) << 126;
  if (price.isInfinite())
    return forbidden;
  return price.getWord() >> 126 ? largest : Number(price.getWord());
}

CertificateBounds::CertificateBounds(const Problem &problem,
                                     const Certificate &certificate)
    : problem(problem), certificate(certificate) {}

/// Ticks in words. A time that has no word is too large to be added up.
Number CertificateBounds::wordsOf(int64_t ticks) {
  Number words = 0;
  hasOverflowed |= __builtin_mul_overflow(Number(ticks), wordsPerTick, &words);
  return words;
}

Number CertificateBounds::add(Number a, Number b) {
  if (a == forbidden || b == forbidden)
    return forbidden;
  Number sum = 0;
  hasOverflowed |= __builtin_add_overflow(a, b, &sum);
  return sum;
}

Number CertificateBounds::subtract(Number a, Number b) {
  if (a == forbidden || b == forbidden)
    return a;
  Number difference = 0;
  hasOverflowed |= __builtin_sub_overflow(a, b, &difference);
  return difference;
}

Error CertificateBounds::addedUp() const {
  if (hasOverflowed)
    return createStringError("the certificate's numbers are too large to be "
                             "added up");
  return Error::success();
}

//===- Reading ------------------------------------------------------------===//

Error CertificateBounds::readEnd(const Problem::Value &value, Problem::Use use,
                                 size_t &position, Tree &tree) {
  endsOf[use.variable].emplace_back(trees.size(), tree.ends.size());
  if (certificate.messageOf.empty()) {
    tree.ends.push_back({use, ~0u});
    return Error::success();
  }
  if (position == certificate.messageOf.size())
    return createStringError("the certificate is for another problem: it ends "
                             "before value '" +
                             value.name + "'");
  unsigned message = certificate.messageOf[position++];
  if (message >= certificate.messages.size())
    return createStringError("value '" + value.name + "' refers to message " +
                             Twine(message) + " of " +
                             Twine(certificate.messages.size()));
  size_t given = certificate.messages[message].size();
  size_t wanted = layoutsOf[use.layoutMap].size();
  if (given != wanted)
    return createStringError("value '" + value.name + "' has a message of " +
                             Twine(given) + " numbers for " + Twine(wanted) +
                             " layouts");
  tree.ends.push_back({use, message});
  return Error::success();
}

Error CertificateBounds::readEnds() {
  for (const std::vector<unsigned> &map : problem.layoutMaps) {
    std::vector<unsigned> &layouts = layoutsOf.emplace_back(map);
    llvm::sort(layouts);
    layouts.erase(llvm::unique(layouts), layouts.end());
  }
  endsOf.resize(problem.variables.size());
  size_t position = 0;
  for (const Problem::Value &value : problem.values) {
    if (value.consumers.empty())
      continue;
    Tree tree;
    tree.table = value.table;
    if (Error error = readEnd(value, value.producer, position, tree))
      return error;
    for (Problem::Use use : value.differentUses())
      if (Error error = readEnd(value, use, position, tree))
        return error;
    trees.push_back(std::move(tree));
  }
  if (position != certificate.messageOf.size())
    return createStringError("the certificate is for another problem: it has " +
                             Twine(certificate.messageOf.size()) +
                             " messages for " + Twine(position) +
                             " ends of values");
  return Error::success();
}

//===- Possible choices ---------------------------------------------------===//

bool CertificateBounds::keepOnly(Problem::Use use,
                                 const std::vector<char> &isAllowed) {
  bool changed = false;
  for (auto [choice, flag] : llvm::enumerate(isPossible[use.variable]))
    if (flag && !isAllowed[problem.getLayout(use, choice)]) {
      flag = false;
      changed = true;
    }
  return changed;
}

/// Takes out choices at the ends of a value that have no way to one left at
/// another end; whether there were any.
bool CertificateBounds::narrow(const Problem::Value &value) {
  const DistanceTable &table = problem.tables[value.table];
  auto layoutsLeft = [&](Problem::Use use) {
    std::vector<char> layouts(table.numLayouts);
    for (auto [choice, flag] : llvm::enumerate(isPossible[use.variable]))
      if (flag)
        layouts[problem.getLayout(use, choice)] = true;
    return layouts;
  };
  bool changed = false;
  for (Problem::Use use : value.consumers) {
    std::vector<char> made = layoutsLeft(value.producer);
    std::vector<char> wanted = layoutsLeft(use);
    std::vector<char> leads(table.numLayouts), isReached(table.numLayouts);
    for (unsigned from = 0; from < table.numLayouts; ++from)
      for (unsigned to = 0; to < table.numLayouts; ++to)
        if (made[from] && wanted[to] && table.at(from, to).isFinite())
          leads[from] = isReached[to] = true;
    changed |= keepOnly(value.producer, leads);
    changed |= keepOnly(use, isReached);
  }
  return changed;
}

/// What has no direct way has no way at all, if the table is closed.
Error CertificateBounds::findPossible() {
  std::vector<char> isOpen;
  for (auto [index, table] : llvm::enumerate(problem.tables)) {
    isOpen.push_back(llvm::all_of(
        table.entries, [](Price price) { return price.isFinite(); }));
    if (isOpen.back())
      continue;
    if (Error error = table.check())
      return createStringError("distance table " + Twine(index) + ": " +
                               llvm::toString(std::move(error)));
  }
  for (unsigned v = 0; v < problem.variables.size(); ++v) {
    std::vector<char> &flags = isPossible.emplace_back();
    for (unsigned c = 0; c < problem.getNumChoices(v); ++c)
      flags.push_back(problem.getCost(v, c).isFinite());
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Problem::Value &value : problem.values)
      if (!isOpen[value.table])
        changed |= narrow(value);
  }
  std::map<std::pair<unsigned, std::vector<char>>, unsigned> kinds;
  for (auto [index, variable] : llvm::enumerate(problem.variables))
    kindOf.push_back(
        kinds
            .try_emplace({variable.costVector, isPossible[index]}, kinds.size())
            .first->second);
  return Error::success();
}

//===- Bounds -------------------------------------------------------------===//

/// By choice: the price less the messages at the variable's ends.
std::vector<Number> CertificateBounds::reducedCosts(unsigned variable) {
  std::vector<Number> costs;
  for (auto [choice, flag] : llvm::enumerate(isPossible[variable]))
    costs.push_back(flag ? numberOf(problem.getCost(variable, choice))
                         : forbidden);
  for (auto [tree, place] : endsOf[variable]) {
    const End &end = trees[tree].ends[place];
    if (end.message == ~0u)
      continue;
    ArrayRef<unsigned> layouts = layoutsOf[end.use.layoutMap];
    ArrayRef<int64_t> message = certificate.messages[end.message];
    for (auto [choice, cost] : llvm::enumerate(costs)) {
      unsigned layout = problem.getLayout(end.use, choice);
      cost = subtract(
          cost,
          wordsOf(
              message[llvm::lower_bound(layouts, layout) - layouts.begin()]));
    }
  }
  return costs;
}

/// By layout of the table: the message where a possible choice has the layout,
/// forbidden elsewhere.
std::vector<Number> CertificateBounds::leafOf(const Tree &tree,
                                              const End &end) {
  std::vector<Number> leaf(problem.tables[tree.table].numLayouts, forbidden);
  ArrayRef<unsigned> layouts = layoutsOf[end.use.layoutMap];
  for (auto [choice, flag] : llvm::enumerate(isPossible[end.use.variable])) {
    unsigned layout = problem.getLayout(end.use, choice);
    if (flag)
      leaf[layout] =
          end.message == ~0u
              ? 0
              : wordsOf(certificate.messages[end.message][llvm::lower_bound(
                                                              layouts, layout) -
                                                          layouts.begin()]);
  }
  return leaf;
}

/// The least price of a tree whose root pays `leaves[0]` for its layout and
/// each target its own leaf. By the recursion of Dreyfus and Wagner: a tree for
/// a set of targets leads to a layout, where it serves its only target or falls
/// into trees for two parts of the set.
///
/// `led` gets, by set and layout, the price of the tree for the set that leads
/// from the layout.
Number CertificateBounds::treeMinimum(const Distances &distances,
                                      ArrayRef<Leaf> leaves,
                                      std::vector<Leaf> &led) {
  unsigned n = distances.size();
  unsigned full = (1u << (leaves.size() - 1)) - 1;
  led.assign(full + 1, Leaf(n, forbidden));
  for (unsigned set = 1; set <= full; ++set) {
    Leaf arrived(n, forbidden);
    if ((set & (set - 1)) == 0)
      arrived = leaves[1 + llvm::countr_zero(set)];
    for (unsigned part = (set - 1) & set; part > (set ^ part);
         part = (part - 1) & set)
      for (unsigned i = 0; i < n; ++i)
        arrived[i] =
            std::min(arrived[i], add(led[part][i], led[set ^ part][i]));
    for (unsigned i = 0; i < n; ++i) {
      // Only the root leads to everything.
      if (set == full && leaves[0][i] == forbidden)
        continue;
      for (unsigned j = 0; j < n; ++j)
        if (arrived[j] != forbidden)
          led[set][i] = std::min(led[set][i], add(distances[i][j], arrived[j]));
    }
  }
  Number least = forbidden;
  for (unsigned i = 0; i < n; ++i)
    least = std::min(least, add(leaves[0][i], led[full][i]));
  return least;
}

/// By layout: the least price of a tree in which the target of the set `own`
/// arrives there, without what it pays for it. A tree for a larger set arrives
/// somewhere and falls into one for a set that has the target and one for the
/// rest.
CertificateBounds::Leaf CertificateBounds::arrivals(const Distances &distances,
                                                    const Leaf &root,
                                                    ArrayRef<Leaf> led,
                                                    unsigned own) {
  unsigned n = distances.size(), full = led.size() - 1;
  std::vector<Leaf> leads(full + 1, Leaf(n, forbidden)), arrived = leads;
  leads[full] = root;
  for (unsigned set = full; set >= own; --set) {
    if (!(set & own))
      continue;
    for (unsigned i = 0; i < n; ++i)
      if (leads[set][i] != forbidden)
        for (unsigned j = 0; j < n; ++j)
          arrived[set][j] =
              std::min(arrived[set][j], add(leads[set][i], distances[i][j]));
    for (unsigned rest = set ^ own; rest; rest = (rest - 1) & (set ^ own))
      for (unsigned i = 0; i < n; ++i)
        leads[set ^ rest][i] =
            std::min(leads[set ^ rest][i], add(arrived[set][i], led[rest][i]));
  }
  return arrived[own];
}

const CertificateBounds::Distances &
CertificateBounds::distancesOf(unsigned index) {
  Distances &made = distances[index];
  const DistanceTable &table = problem.tables[index];
  if (made.empty())
    for (unsigned from = 0; from < table.numLayouts; ++from) {
      made.emplace_back();
      for (unsigned to = 0; to < table.numLayouts; ++to)
        made.back().push_back(numberOf(table.at(from, to)));
    }
  return made;
}

Number CertificateBounds::boundOf(const Tree &tree) {
  std::vector<Leaf> leaves, led;
  for (const End &end : tree.ends)
    leaves.push_back(leafOf(tree, end));
  return treeMinimum(distancesOf(tree.table), leaves, led);
}

std::vector<unsigned> CertificateBounds::keyOf(const Tree &tree) const {
  std::vector<unsigned> key = {tree.table};
  for (const End &end : tree.ends)
    llvm::append_values(key, kindOf[end.use.variable], end.use.layoutMap,
                        end.message);
  return key;
}

Error CertificateBounds::run() {
  if (Error error = readEnds())
    return error;
  if (Error error = findPossible())
    return error;
  if (certificate.messageOf.empty())
    return Error::success();
  for (const Tree &tree : trees)
    if (tree.ends.size() > maxTreeTargets + 1)
      return createStringError("messages are for values of at most " +
                               Twine(maxTreeTargets) + " different uses");
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    std::vector<unsigned> key = {kindOf[variable]};
    for (auto [tree, place] : endsOf[variable]) {
      const End &end = trees[tree].ends[place];
      llvm::append_values(key, end.use.layoutMap, end.message);
    }
    auto [it, isNew] = variableBounds.try_emplace(std::move(key));
    if (isNew)
      it->second = *llvm::min_element(reducedCosts(variable));
    bound = add(bound, it->second);
  }
  for (const Tree &tree : trees) {
    auto [it, isNew] = treeBounds.try_emplace(keyOf(tree));
    if (isNew)
      it->second = boundOf(tree);
    bound = add(bound, it->second);
  }
  return addedUp();
}

Price CertificateBounds::getBound() const {
  if (bound == forbidden)
    return Price::infinite();
  return Price::fromWord(bound < 0 ? 0 : bound);
}

//===- Choices left -------------------------------------------------------===//

/// By layout of the table: the least price of a tree that has it at one end.
const std::vector<Number> &CertificateBounds::marginals(const Tree &tree,
                                                        size_t place) {
  std::vector<unsigned> key = keyOf(tree);
  key.push_back(place);
  auto [it, isNew] = knownMarginals.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  const Distances &ways = distancesOf(tree.table);
  std::vector<Leaf> leaves, led;
  for (const End &end : tree.ends)
    leaves.push_back(leafOf(tree, end));
  treeMinimum(ways, leaves, led);
  Leaf &with = it->second;
  with = place == 0 ? led.back()
                    : arrivals(ways, leaves[0], led, 1u << (place - 1));
  for (auto [price, own] : llvm::zip_equal(with, leaves[place]))
    price = add(price, own);
  return with;
}

/// By choice of a variable: a bound of all plans with it, banned and impossible
/// choices included.
std::vector<Number> CertificateBounds::choiceBounds(unsigned variable) {
  std::vector<Number> bounds = reducedCosts(variable);
  Number floor = *llvm::min_element(bounds);
  for (Number &other : bounds)
    other = add(other, subtract(bound, floor));
  for (auto [index, place] : endsOf[variable]) {
    const Tree &tree = trees[index];
    // Of two ends at one tree only one may be counted.
    bool isSecond = llvm::any_of(
        ArrayRef(tree.ends).take_front(place),
        [&](const End &end) { return end.use.variable == variable; });
    if (isSecond)
      continue;
    const std::vector<Number> &with = marginals(tree, place);
    Number least = *llvm::min_element(with);
    for (auto [choice, other] : llvm::enumerate(bounds)) {
      unsigned layout = problem.getLayout(tree.ends[place].use, choice);
      other = add(other, subtract(with[layout], least));
    }
  }
  return bounds;
}

llvm::Expected<std::vector<std::vector<unsigned>>>
CertificateBounds::findChoices(Price cost) {
  Number limit = numberOf(cost);
  std::vector<std::vector<unsigned>> choices;
  for (unsigned variable = 0; variable < problem.variables.size(); ++variable) {
    // Without messages nothing is gained by looking at trees.
    std::vector<Number> bounds(isPossible[variable].size());
    if (!certificate.messageOf.empty())
      bounds = choiceBounds(variable);
    std::vector<unsigned> &left = choices.emplace_back();
    for (auto [choice, flag] : llvm::enumerate(isPossible[variable]))
      if (flag && bounds[choice] < limit)
        left.push_back(choice);
  }
  if (Error error = addedUp())
    return std::move(error);
  return std::move(choices);
}
