// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elimination.h"
#include "Odometer.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tp;

namespace {
/// A factor, or a sum of factors that became one.
struct Operand {
  llvm::SmallVector<unsigned, 6> scope;
  llvm::ArrayRef<unsigned> sizes;
  /// The factor's cells, unless there is a sum.
  llvm::ArrayRef<Price> cells;
  std::vector<Price> sum;

  llvm::ArrayRef<Price> getCells() const {
    return sum.empty() ? cells : llvm::ArrayRef<Price>(sum);
  }
};
} // namespace

static llvm::SmallVector<uint64_t, 6>
stridesOver(const Operand &operand, llvm::ArrayRef<unsigned> scope) {
  return tp::stridesOver(operand.scope, operand.sizes, scope);
}

/// Adds `part`, whose scope lies within that of `whole`.
static void absorb(Operand &whole, const Operand &part) {
  if (whole.sum.empty())
    whole.sum.assign(whole.cells.begin(), whole.cells.end());
  llvm::SmallVector<uint64_t, 6> strides = stridesOver(part, whole.scope);
  Odometer odometer(whole.sizes, strides);
  llvm::ArrayRef<Price> partCells = part.getCells();
  for (Price &cell : whole.sum) {
    cell += partCells[odometer.getOffset(0)];
    odometer.next();
  }
}

/// Adds up factors where that makes no table larger, so that the main loop has
/// fewer of them.
static std::vector<Operand> gatherOperands(const TablePool &tables,
                                           llvm::ArrayRef<CostTerm> bucket) {
  std::vector<Operand> operands(bucket.size());
  for (auto [operand, factor] : llvm::zip_equal(operands, bucket)) {
    operand.scope.assign(factor.scope.begin(), factor.scope.end());
    operand.sizes = tables[factor.table].sizes;
    operand.cells = tables[factor.table].cells;
  }
  llvm::sort(operands, [](const Operand &a, const Operand &b) {
    return a.cells.size() < b.cells.size();
  });
  std::vector<Operand> gathered;
  for (size_t i = 0; i < operands.size(); ++i) {
    auto rest = llvm::MutableArrayRef(operands).drop_front(i + 1);
    auto whole = llvm::find_if(rest, [&](const Operand &other) {
      return llvm::includes(other.scope, operands[i].scope);
    });
    if (whole != rest.end())
      absorb(*whole, operands[i]);
    else
      gathered.push_back(std::move(operands[i]));
  }
  return gathered;
}

namespace {
/// The main loop: rows of the result along the last variable of the scope, for
/// each row the choices of the variable that goes.
class RowMinimiser {
public:
  RowMinimiser(llvm::ArrayRef<Operand> operands, unsigned variable,
               llvm::ArrayRef<unsigned> scope, size_t rowLength)
      : rowLength(rowLength), partial(rowLength) {
    for (const Operand &operand : operands) {
      uint64_t own = stridesOver(operand, variable).front();
      uint64_t row = scope.empty() ? 0 : stridesOver(operand, scope).back();
      (row ? along : across).push_back({operand.getCells().data(), own, row});
      (row ? alongOuter : acrossOuter)
          .push_back(stridesOver(operand, scope.drop_back(!scope.empty())));
    }
  }

  /// The strides of the operands over all but the last variable of the scope:
  /// first of those that do not change along a row.
  std::vector<llvm::SmallVector<uint64_t, 6>> outerStrides() const {
    std::vector<llvm::SmallVector<uint64_t, 6>> strides = acrossOuter;
    llvm::append_range(strides, alongOuter);
    return strides;
  }

  /// Lowers `row` to the sum of the operands at `choice`.
  void lower(Price *row, unsigned choice, const Odometer &odometer) {
    Price base;
    for (auto [index, term] : llvm::enumerate(across))
      base += term.cells[odometer.getOffset(index) + choice * term.own];
    if (base.isInfinite())
      return;
    if (along.empty())
      return lowerTo(row, base);
    auto cellsOf = [&](size_t index) {
      return along[index].cells + odometer.getOffset(across.size() + index) +
             choice * along[index].own;
    };
    if (along.size() == 1)
      return lowerTo(row, base, cellsOf(0), along[0].row);
    llvm::fill(partial, base);
    for (size_t index = 0; index + 1 < along.size(); ++index)
      add(cellsOf(index), along[index].row);
    lowerToPartial(row, cellsOf(along.size() - 1), along.back().row);
  }

private:
  struct Term {
    const Price *cells;
    uint64_t own;
    uint64_t row;
  };

  void lowerTo(Price *row, Price base) const {
    for (size_t i = 0; i < rowLength; ++i)
      row[i] = std::min(row[i], base);
  }

  void lowerTo(Price *row, Price base, const Price *cells,
               uint64_t stride) const {
    for (size_t i = 0; i < rowLength; ++i)
      row[i] = std::min(row[i], base + cells[i * stride]);
  }

  void add(const Price *cells, uint64_t stride) {
    for (size_t i = 0; i < rowLength; ++i)
      partial[i] += cells[i * stride];
  }

  void lowerToPartial(Price *row, const Price *cells, uint64_t stride) const {
    for (size_t i = 0; i < rowLength; ++i)
      row[i] = std::min(row[i], partial[i] + cells[i * stride]);
  }

  size_t rowLength;
  std::vector<Price> partial;
  /// The operands that change along a row, and those that do not.
  llvm::SmallVector<Term, 4> along, across;
  std::vector<llvm::SmallVector<uint64_t, 6>> alongOuter, acrossOuter;
};
} // namespace

FactorTable tp::minimise(const FactorGraph &graph,
                         llvm::ArrayRef<CostTerm> bucket, unsigned variable,
                         llvm::ArrayRef<unsigned> scope) {
  FactorTable result;
  size_t numCells = 1;
  for (unsigned other : scope) {
    result.sizes.push_back(graph.sizes[other]);
    numCells *= graph.sizes[other];
  }
  result.cells.assign(numCells, Price::infinite());

  std::vector<Operand> operands = gatherOperands(graph.tables, bucket);
  size_t rowLength = scope.empty() ? 1 : result.sizes.back();
  RowMinimiser rows(operands, variable, scope, rowLength);
  std::vector<llvm::SmallVector<uint64_t, 6>> strides = rows.outerStrides();
  llvm::ArrayRef<unsigned> outer = result.sizes;
  Odometer odometer(outer.drop_back(!scope.empty()), strides);
  for (size_t begin = 0; begin < numCells; begin += rowLength) {
    for (unsigned choice = 0; choice < graph.sizes[variable]; ++choice)
      rows.lower(&result.cells[begin], choice, odometer);
    odometer.next();
  }
  return result;
}
