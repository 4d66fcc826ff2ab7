// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BucketTree.h"
#include "Odometer.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace tp;
using llvm::ArrayRef;

using Strides = llvm::SmallVector<uint64_t, 6>;

BucketTree::BucketTree(FactorGraph &graph, const Elimination &elimination)
    : graph(graph), elimination(elimination) {
  std::vector<unsigned> stepOf(graph.sizes.size());
  for (auto [index, step] : llvm::enumerate(elimination.steps))
    stepOf[step.variable] = index;
  for (const EliminationStep &step : elimination.steps)
    buckets.push_back({step.variable,
                       getScope(step.bucket, step.variable),
                       step.bucket,
                       {},
                       step.result});
  for (auto [index, bucket] : llvm::enumerate(buckets)) {
    unsigned parent = ~0u;
    for (unsigned variable : bucket.scope)
      parent = std::min(parent, stepOf[variable]);
    if (!bucket.scope.empty())
      buckets[parent].children.push_back(index);
  }
}

std::vector<unsigned> BucketTree::getShape(const Bucket &bucket) const {
  std::vector<unsigned> shape = {static_cast<unsigned>(bucket.children.size())};
  for (const CostTerm &term : bucket.terms) {
    shape.push_back(term.table);
    for (unsigned variable : term.scope)
      shape.push_back(variable == bucket.variable
                          ? bucket.scope.size()
                          : llvm::lower_bound(bucket.scope, variable) -
                                bucket.scope.begin());
  }
  return shape;
}

std::vector<std::vector<Price>>
BucketTree::getSlacks(const Completions &completions) const {
  std::vector<std::vector<Price>> slacks(graph.sizes.size());
  for (auto [bucket, completion] : llvm::zip_equal(buckets, completions.of))
    slacks[bucket.variable] = completions.distinct[completion].slacks;
  return slacks;
}

namespace {
/// Adds up the terms of a bucket, row by row, and lowers what the sums bound.
class CompletionWalk {
public:
  /// The variable of the bucket comes first in `joint`, so that its choices are
  /// the outermost loop.
  CompletionWalk(const FactorGraph &graph, ArrayRef<CostTerm> terms,
                 ArrayRef<unsigned> joint)
      : joint(joint) {
    for (unsigned variable : joint)
      sizes.push_back(graph.sizes[variable]);
    for (const CostTerm &term : terms) {
      Strides outer =
          stridesOver(term.scope, graph.tables[term.table].sizes, joint);
      rowStrides.push_back(outer.pop_back_val());
      strides.push_back(std::move(outer));
      cells.push_back(graph.tables[term.table].cells.data());
    }
    totals.resize(sizes.back());
  }

  /// Lowers `slacks`, by choice, to the least total, and `outside`, one table
  /// for each term from `firstMessage` on, to the totals less that term.
  void run(llvm::MutableArrayRef<Price> slacks, size_t firstMessage,
           llvm::MutableArrayRef<FactorTable> outside) {
    ArrayRef<unsigned> outerSizes = ArrayRef(sizes).drop_back();
    Odometer odometer(outerSizes, strides);
    uint64_t rows = 1;
    for (unsigned size : outerSizes)
      rows *= size;
    // A bucket without other variables has one row, of its own choices.
    bool isAlone = joint.size() == 1;
    uint64_t rowsPerChoice = isAlone ? 1 : rows / sizes.front();
    for (uint64_t row = 0; row < rows; ++row, odometer.next()) {
      if (!addRow(odometer))
        continue;
      Price least = *llvm::min_element(totals);
      if (isAlone)
        llvm::copy(totals, slacks.begin());
      else
        slacks[row / rowsPerChoice] =
            std::min(slacks[row / rowsPerChoice], least);
      for (size_t child = 0; child < outside.size(); ++child)
        lower(firstMessage + child, odometer, least, outside[child]);
    }
    // A term is the same in all totals that bound one cell.
    for (size_t child = 0; child < outside.size(); ++child)
      subtract(cells[firstMessage + child], outside[child]);
  }

private:
  /// False if every total of the row is infinite.
  bool addRow(const Odometer &odometer) {
    Price base;
    for (size_t term = 0; term < cells.size(); ++term)
      if (rowStrides[term] == 0)
        base += cells[term][odometer.getOffset(term)];
    if (base.isInfinite())
      return false;
    llvm::fill(totals, base);
    for (size_t term = 0; term < cells.size(); ++term) {
      if (rowStrides[term] == 0)
        continue;
      const Price *cell = cells[term] + odometer.getOffset(term);
      for (size_t i = 0; i < totals.size(); ++i)
        totals[i] += cell[i * rowStrides[term]];
    }
    return true;
  }

  void lower(size_t term, const Odometer &odometer, Price least,
             FactorTable &table) const {
    Price *place = &table.cells[odometer.getOffset(term)];
    if (rowStrides[term] == 0) {
      *place = std::min(*place, least);
      return;
    }
    for (size_t i = 0; i < totals.size(); ++i, place += rowStrides[term])
      *place = std::min(*place, totals[i]);
  }

  static void subtract(const Price *term, FactorTable &table) {
    for (Price &cell : table.cells) {
      if (cell.isFinite())
        cell = cell.above(*term);
      ++term;
    }
  }

  ArrayRef<unsigned> joint;
  llvm::SmallVector<unsigned, 6> sizes;
  std::vector<Strides> strides;
  llvm::SmallVector<uint64_t, 6> rowStrides;
  std::vector<const Price *> cells;
  /// Of the row at hand.
  std::vector<Price> totals;
};
} // namespace

std::vector<unsigned> BucketTree::completeOne(const Bucket &bucket,
                                              BucketCompletion &completion) {
  llvm::SmallVector<unsigned, 6> joint = {bucket.variable};
  llvm::append_range(joint, bucket.scope);
  std::vector<CostTerm> terms(bucket.terms);
  terms.push_back({bucket.scope, completion.outside});
  std::vector<FactorTable> outside;
  for (const CostTerm &message : bucket.getMessages()) {
    const FactorTable &inside = graph.tables[message.table];
    outside.push_back({inside.sizes, std::vector<Price>(inside.cells.size(),
                                                        Price::infinite())});
  }
  completion.slacks.assign(graph.sizes[bucket.variable], Price::infinite());
  CompletionWalk(graph, terms, joint)
      .run(completion.slacks, bucket.getFactors().size(), outside);

  completion.minimum = *llvm::min_element(completion.slacks);
  for (Price &slack : completion.slacks)
    slack = slack.above(completion.minimum);
  std::vector<unsigned> indices;
  for (FactorTable &table : outside) {
    Price floor = *llvm::min_element(table.cells);
    for (Price &cell : table.cells)
      cell = cell.above(floor);
    indices.push_back(graph.tables.intern(std::move(table)));
  }
  return indices;
}

BucketTree::Completions BucketTree::complete() {
  Completions completions;
  completions.of.resize(buckets.size());
  std::vector<unsigned> outsideOf(buckets.size());
  unsigned nothing = graph.tables.intern({{}, {Price()}});
  struct Known {
    unsigned completion;
    std::vector<unsigned> outside;
  };
  std::map<std::vector<unsigned>, Known> known;
  for (size_t index = buckets.size(); index-- > 0;) {
    const Bucket &bucket = buckets[index];
    unsigned outside = bucket.scope.empty() ? nothing : outsideOf[index];
    std::vector<unsigned> key = getShape(bucket);
    key.push_back(outside);
    auto [it, isNew] = known.try_emplace(std::move(key));
    if (isNew) {
      BucketCompletion completion;
      completion.outside = outside;
      it->second.outside = completeOne(bucket, completion);
      it->second.completion = completions.distinct.size();
      completions.distinct.push_back(std::move(completion));
    }
    completions.of[index] = it->second.completion;
    for (auto [child, table] :
         llvm::zip_equal(bucket.children, it->second.outside))
      outsideOf[child] = table;
  }
  return completions;
}

namespace {
/// Slices tables, equal slices once.
class Restrictor {
public:
  Restrictor(const FactorGraph &graph,
             ArrayRef<llvm::SmallVector<unsigned, 16>> kept)
      : graph(graph), kept(kept) {
    std::map<llvm::SmallVector<unsigned, 16>, unsigned> lists;
    for (const llvm::SmallVector<unsigned, 16> &list : kept)
      listOf.push_back(lists.try_emplace(list, lists.size()).first->second);
  }

  FactorGraph run() {
    FactorGraph restricted;
    for (const llvm::SmallVector<unsigned, 16> &list : kept)
      restricted.sizes.push_back(list.size());
    restricted.positions = graph.positions;
    restricted.nameOf = graph.nameOf;
    for (const CostTerm &factor : graph.factors)
      restricted.factors.push_back(
          {getScope(factor), slice(factor, restricted.tables)});
    return restricted;
  }

private:
  /// The variables that still have a choice, or the first one. Those without
  /// would only join their neighbours.
  llvm::SmallVector<unsigned, 4> getScope(const CostTerm &factor) const {
    llvm::SmallVector<unsigned, 4> scope;
    for (unsigned variable : factor.scope)
      if (kept[variable].size() > 1)
        scope.push_back(variable);
    if (scope.empty())
      scope.push_back(factor.scope.front());
    return scope;
  }

  unsigned slice(const CostTerm &factor, TablePool &tables) {
    std::vector<unsigned> key = {factor.table};
    for (unsigned variable : factor.scope)
      key.push_back(listOf[variable]);
    auto [it, isNew] = known.try_emplace(std::move(key));
    if (isNew)
      it->second = tables.intern(makeSlice(factor));
    return it->second;
  }

  FactorTable makeSlice(const CostTerm &factor) const {
    const FactorTable &whole = graph.tables[factor.table];
    FactorTable table;
    for (unsigned variable : getScope(factor))
      table.sizes.push_back(kept[variable].size());
    uint64_t numCells = 1;
    for (unsigned variable : factor.scope)
      numCells *= kept[variable].size();
    table.cells.reserve(numCells);
    llvm::SmallVector<unsigned, 4> digits(factor.scope.size());
    for (uint64_t cell = 0; cell < numCells; ++cell) {
      uint64_t rest = cell;
      for (size_t dim = digits.size(); dim-- > 0;) {
        size_t size = kept[factor.scope[dim]].size();
        digits[dim] = rest % size;
        rest /= size;
      }
      uint64_t offset = 0;
      for (size_t dim = 0; dim < digits.size(); ++dim)
        offset =
            offset * whole.sizes[dim] + kept[factor.scope[dim]][digits[dim]];
      table.cells.push_back(whole.cells[offset]);
    }
    return table;
  }

  const FactorGraph &graph;
  ArrayRef<llvm::SmallVector<unsigned, 16>> kept;
  /// By variable: the number of its list.
  std::vector<unsigned> listOf;
  std::map<std::vector<unsigned>, unsigned> known;
};
} // namespace

FactorGraph tp::restrictGraph(const FactorGraph &graph,
                              ArrayRef<llvm::SmallVector<unsigned, 16>> kept) {
  return Restrictor(graph, kept).run();
}
