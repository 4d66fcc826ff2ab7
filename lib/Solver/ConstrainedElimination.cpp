// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConstrainedElimination.h"
#include "Odometer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <compare>
#include <map>
#include <tuple>

using namespace tp;
using llvm::ArrayRef;

using Strides = llvm::SmallVector<uint64_t, 6>;

Price MemoryConstraint::getPenalty(uint64_t working) const {
  if (working <= leastWorking)
    return {};
  // What must be paid back is the toll for the whole budget, rounded down.
  uint64_t most = getToll(limit - leastWorking, multiplier);
  return Price::fromWord(
      ticksToWord(most - getToll(limit - working, multiplier)));
}

namespace {
/// What a part of the graph may amount to.
struct Label {
  /// Price with tolls, above the least in the same cell.
  Price excess;
  uint64_t toll = 0;
  Problem::Memory memory;

  /// Compares prices without tolls, which means something within a cell only.
  /// Tolls are added across, as a difference might be negative; the sums fit,
  /// as all tolls and the price of a plan together do.
  std::strong_ordering comparePrice(const Label &other) const {
    return excess.getWord() + ticksToWord(other.toll) <=>
           other.excess.getWord() + ticksToWord(toll);
  }
};

/// A label under construction.
struct Partial {
  Label label;
  /// Index into the trail of whoever builds it; grows from one to the next.
  unsigned origin = 0;
};

/// The labels of one message.
struct LabelTable {
  /// By cell the index of its first label; and the end of the last cell. In a
  /// cell, labels ascend by excess.
  std::vector<unsigned> begin;
  std::vector<Label> labels;
  /// For each label the choice of the bucket's variable, then for each child
  /// the index of a label in its table.
  std::vector<unsigned> origins;

  ArrayRef<Label> getCell(uint64_t cell) const {
    return ArrayRef(labels).slice(begin[cell], begin[cell + 1] - begin[cell]);
  }
};

/// The pairs of persistent and working memory seen so far of which none is
/// beaten in both.
class Staircase {
public:
  /// False if an earlier pair is nowhere more.
  bool insert(const Problem::Memory &memory) {
    auto after = stairs.upper_bound(memory.persistent);
    if (after != stairs.begin() && std::prev(after)->second <= memory.working)
      return false;
    auto it = stairs.insert_or_assign(memory.persistent, memory.working).first;
    for (++it; it != stairs.end() && it->second >= memory.working;)
      it = stairs.erase(it);
    return true;
  }

private:
  /// Working memory descends.
  std::map<uint64_t, uint64_t> stairs;
};
} // namespace

/// Leaves out labels that another one beats in price and both kinds of memory.
static void keepUnbeaten(std::vector<Partial> &partials) {
  llvm::sort(partials, [](const Partial &a, const Partial &b) {
    std::strong_ordering byPrice = a.label.comparePrice(b.label);
    if (byPrice != 0)
      return byPrice < 0;
    const Problem::Memory &left = a.label.memory, &right = b.label.memory;
    return std::tie(left.persistent, left.working, a.origin) <
           std::tie(right.persistent, right.working, b.origin);
  });
  Staircase staircase;
  llvm::erase_if(partials, [&](const Partial &partial) {
    return !staircase.insert(partial.label.memory);
  });
}

/// Divides the range of persistent memory into so many parts, and leaves the
/// label with the least price with tolls of each.
static void thinOut(std::vector<Partial> &partials, unsigned numParts) {
  if (partials.size() <= numParts)
    return;
  auto [least, most] = std::minmax_element(
      partials.begin(), partials.end(), [](const Partial &a, const Partial &b) {
        return a.label.memory.persistent < b.label.memory.persistent;
      });
  uint64_t start = least->label.memory.persistent;
  uint64_t width = (most->label.memory.persistent - start) / numParts + 1;
  auto partOf = [&](const Partial &partial) {
    return (partial.label.memory.persistent - start) / width;
  };
  std::vector<size_t> cheapest(numParts, partials.size());
  for (auto [index, partial] : llvm::enumerate(partials)) {
    size_t &best = cheapest[partOf(partial)];
    if (best == partials.size() ||
        partial.label.excess < partials[best].label.excess)
      best = index;
  }
  llvm::erase(cheapest, partials.size());
  llvm::sort(cheapest);
  for (auto [place, index] : llvm::enumerate(cheapest))
    partials[place] = partials[index];
  partials.resize(cheapest.size());
}

namespace {
/// Adds up labels, and remembers of which they were made.
class LabelJoiner {
public:
  LabelJoiner(const MemoryConstraint &constraint, const LabelLimits &limits)
      : constraint(constraint), limits(limits) {}

  void clearTrail() { trail.clear(); }

  /// The label of a choice alone, if it fits.
  std::vector<Partial> start(Price excess, const MemoryLoad &load,
                             unsigned choice, Price room) {
    Label label{excess, load.toll, load.memory};
    label.memory.working =
        std::max(label.memory.working, constraint.floorWorking);
    if (!fits(label, room))
      return {};
    trail.push_back({~0u, choice});
    return {{label, static_cast<unsigned>(trail.size() - 1)}};
  }

  /// All sums of one of `partials` and one of a child's `labels`, the first of
  /// which has number `first`, that fit.
  std::vector<Partial> join(ArrayRef<Partial> partials, ArrayRef<Label> labels,
                            unsigned first, Price room) {
    std::vector<Partial> sums;
    // Most sums take the same memory as another one.
    llvm::DenseMap<std::pair<uint64_t, uint64_t>, unsigned> cheapest;
    for (const Partial &partial : partials)
      for (auto [number, label] : llvm::enumerate(labels)) {
        Label sum = partial.label;
        sum.excess += label.excess;
        if (sum.excess > room || isExhausted())
          break;
        ++numSums;
        sum.toll += label.toll;
        sum.memory.persistent += label.memory.persistent;
        sum.memory.working = std::max(sum.memory.working, label.memory.working);
        if (!fits(sum, room))
          continue;
        auto [it, isNew] = cheapest.try_emplace(
            {sum.memory.persistent, sum.memory.working}, sums.size());
        if (isNew)
          sums.emplace_back();
        else if (sum.comparePrice(sums[it->second].label) >= 0)
          continue;
        trail.push_back(
            {partial.origin, first + static_cast<unsigned>(number)});
        sums[it->second] = {sum, static_cast<unsigned>(trail.size() - 1)};
      }
    reduce(sums);
    return sums;
  }

  /// Leaves out what is beaten, and what there is no room for.
  void reduce(std::vector<Partial> &partials) const {
    keepUnbeaten(partials);
    thinOut(partials, limits.labels);
  }

  /// A choice and the numbers of the children's labels.
  llvm::SmallVector<unsigned, 4> getOrigin(unsigned origin) const {
    llvm::SmallVector<unsigned, 4> numbers;
    for (; origin != ~0u; origin = trail[origin].previous)
      numbers.push_back(trail[origin].number);
    std::reverse(numbers.begin(), numbers.end());
    return numbers;
  }

  uint64_t getNumSums() const { return numSums; }
  bool isExhausted() const { return numSums > limits.sums; }

private:
  struct Mark {
    unsigned previous;
    unsigned number;
  };

  bool fits(const Label &label, Price room) const {
    return constraint.fixedPersistent + label.memory.getTotal() <=
               constraint.limit &&
           label.excess + constraint.getPenalty(label.memory.working) <= room;
  }

  const MemoryConstraint &constraint;
  LabelLimits limits;
  uint64_t numSums = 0;
  std::vector<Mark> trail;
};

class ConstrainedEliminator {
public:
  ConstrainedEliminator(const FactorGraph &graph, const BucketTree &tree,
                        const BucketTree::Completions &completions,
                        const MemoryConstraint &constraint, Price slack,
                        LabelJoiner &joiner)
      : graph(graph), tree(tree), completions(completions),
        constraint(constraint), slack(slack), joiner(joiner) {}

  /// Makes the labels of all buckets. Gives up when the joiner is exhausted.
  void run();

  /// The best label of the whole, decoded.
  std::vector<unsigned> decode();

private:
  LabelTable makeTable(unsigned index);
  /// `odometers` stand at the cell.
  void addCell(unsigned index, uint64_t cell, const Odometer &odometer,
               Price room, LabelTable &table);

  const FactorGraph &graph;
  const BucketTree &tree;
  const BucketTree::Completions &completions;
  const MemoryConstraint &constraint;
  Price slack;
  LabelJoiner &joiner;

  std::vector<LabelTable> tables;
  /// By bucket: index into `tables`.
  std::vector<unsigned> tableOf;
};
} // namespace

void ConstrainedEliminator::addCell(unsigned index, uint64_t cell,
                                    const Odometer &odometer, Price room,
                                    LabelTable &table) {
  const Bucket &bucket = tree.getBuckets()[index];
  const EliminationResult &result = tree.getResult(bucket);
  Price least = graph.tables[result.message].cells[cell] + result.constant;
  joiner.clearTrail();
  std::vector<Partial> partials;
  size_t firstMessage = bucket.getFactors().size();
  for (unsigned choice = 0; choice < graph.sizes[bucket.variable]; ++choice) {
    auto offsetOf = [&](size_t number) {
      const CostTerm &term = bucket.terms[number];
      uint64_t own = stridesOver(term.scope, graph.tables[term.table].sizes,
                                 bucket.variable)
                         .front();
      return odometer.getOffset(number) + choice * own;
    };
    Price total;
    for (auto [number, term] : llvm::enumerate(bucket.terms))
      total += graph.tables[term.table].cells[offsetOf(number)];
    if (total.isInfinite() || total.above(least) > room)
      continue;
    std::vector<Partial> own =
        joiner.start(total.above(least),
                     constraint.getLoad(bucket.variable, choice), choice, room);
    for (auto [number, child] : llvm::enumerate(bucket.children)) {
      const LabelTable &labels = tables[tableOf[child]];
      uint64_t childCell = offsetOf(firstMessage + number);
      own = joiner.join(own, labels.getCell(childCell), labels.begin[childCell],
                        room);
    }
    llvm::append_range(partials, own);
  }
  joiner.reduce(partials);
  llvm::sort(partials, [](const Partial &a, const Partial &b) {
    return std::tie(a.label.excess, a.origin) <
           std::tie(b.label.excess, b.origin);
  });
  for (const Partial &partial : partials) {
    table.labels.push_back(partial.label);
    llvm::append_range(table.origins, joiner.getOrigin(partial.origin));
  }
}

LabelTable ConstrainedEliminator::makeTable(unsigned index) {
  const Bucket &bucket = tree.getBuckets()[index];
  const EliminationResult &result = tree.getResult(bucket);
  const BucketCompletion &completion =
      completions.distinct[completions.of[index]];
  ArrayRef<Price> inside = graph.tables[result.message].cells;
  ArrayRef<Price> outside = graph.tables[completion.outside].cells;
  std::vector<Strides> strides;
  for (const CostTerm &term : bucket.terms)
    strides.push_back(
        stridesOver(term.scope, graph.tables[term.table].sizes, bucket.scope));
  llvm::SmallVector<unsigned, 6> sizes;
  for (unsigned variable : bucket.scope)
    sizes.push_back(graph.sizes[variable]);

  LabelTable table;
  Odometer odometer(sizes, strides);
  for (size_t cell = 0; cell < inside.size(); ++cell, odometer.next()) {
    table.begin.push_back(table.labels.size());
    Price total = inside[cell] + outside[cell] + result.constant;
    if (total.isInfinite() || joiner.isExhausted())
      continue;
    Price above = total.above(completion.minimum);
    if (above <= slack)
      addCell(index, cell, odometer, slack.above(above), table);
  }
  table.begin.push_back(table.labels.size());
  return table;
}

void ConstrainedEliminator::run() {
  std::map<std::vector<unsigned>, unsigned> known;
  for (auto [index, bucket] : llvm::enumerate(tree.getBuckets())) {
    std::vector<unsigned> key = tree.getShape(bucket);
    key.push_back(completions.distinct[completions.of[index]].outside);
    key.push_back(bucket.variable < constraint.loadsOf.size()
                      ? constraint.loadsOf[bucket.variable]
                      : Problem::noMemory);
    for (unsigned child : bucket.children)
      key.push_back(tableOf[child]);
    auto [it, isNew] = known.try_emplace(std::move(key), tables.size());
    if (isNew)
      tables.push_back(makeTable(index));
    tableOf.push_back(it->second);
    if (joiner.isExhausted())
      return;
  }
}

std::vector<unsigned> ConstrainedEliminator::decode() {
  // All roots together.
  std::vector<unsigned> roots;
  joiner.clearTrail();
  std::vector<Partial> partials = joiner.start({}, {}, 0, slack);
  for (auto [index, bucket] : llvm::enumerate(tree.getBuckets())) {
    if (bucket.scope.empty())
      roots.push_back(index);
  }
  // Variables without a choice first, while there are few sums.
  auto getRootLabels = [&](unsigned root) {
    return tables[tableOf[root]].getCell(0);
  };
  llvm::sort(roots, [&](unsigned a, unsigned b) {
    return std::pair(getRootLabels(a).size(), a) <
           std::pair(getRootLabels(b).size(), b);
  });
  for (unsigned root : roots)
    partials = joiner.join(partials, getRootLabels(root), 0, slack);
  // The cheapest comes first.
  if (partials.empty())
    return {};
  std::vector<unsigned> labelOf(tableOf.size());
  llvm::SmallVector<unsigned, 4> best =
      joiner.getOrigin(partials.front().origin);
  for (auto [root, label] : llvm::zip_equal(roots, llvm::drop_begin(best)))
    labelOf[root] = label;

  std::vector<unsigned> choices(graph.sizes.size());
  for (size_t index = tableOf.size(); index-- > 0;) {
    const Bucket &bucket = tree.getBuckets()[index];
    size_t stride = 1 + bucket.children.size();
    ArrayRef<unsigned> origin = ArrayRef(tables[tableOf[index]].origins)
                                    .slice(labelOf[index] * stride, stride);
    choices[bucket.variable] = origin.front();
    for (auto [child, label] :
         llvm::zip_equal(bucket.children, origin.drop_front()))
      labelOf[child] = label;
  }
  return choices;
}

ConstrainedResult
tp::eliminateWithin(const FactorGraph &graph, const BucketTree &tree,
                    const BucketTree::Completions &completions,
                    const MemoryConstraint &constraint, Price slack,
                    const LabelLimits &limits) {
  LabelJoiner joiner(constraint, limits);
  ConstrainedEliminator eliminator(graph, tree, completions, constraint, slack,
                                   joiner);
  eliminator.run();
  ConstrainedResult result;
  if (!joiner.isExhausted())
    result.choices = eliminator.decode();
  result.gaveUp = joiner.isExhausted();
  result.sums = joiner.getNumSums();
  return result;
}
