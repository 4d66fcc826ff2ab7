// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Verifiers of the local phase's own operations.

#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tp;

namespace {

/// A table of ranks, read for checking.
struct RankTable {
  int64_t rows = 0, columns = 0;
  SmallVector<int64_t> ranks;
};

} // namespace

static FailureOr<RankTable> readTable(Operation *op, DenseIntElementsAttr table,
                                      StringRef name, int64_t entriesPerRank) {
  auto type = cast<ShapedType>(table.getType());
  if (type.getRank() != 2)
    return op->emitOpError() << "'" << name << "' is a table of rank "
                             << type.getRank() << "; rows of ranks are wanted";
  // A splat of any size is a few bytes of text.
  std::optional<int64_t> entries = numElements(type.getShape());
  if (!entries || *entries > entriesPerRank * maxTableRanks)
    return op->emitOpError()
           << "'" << name << "' of shape [" << type.getShape()
           << "] is for more than " << maxTableRanks << " ranks";
  RankTable result{type.getDimSize(0), type.getDimSize(1), {}};
  for (const APInt &rank : table.getValues<APInt>())
    result.ranks.push_back(rank.getSExtValue());
  return result;
}

/// A table names the ranks that the program is for, where it says.
static LogicalResult checkNumRanks(Operation *op, StringRef table,
                                   int64_t numRanks) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function)
    return success();
  auto ranks = function->getAttrOfType<IntegerAttr>(ranksAttrName);
  if (!ranks || ranks.getInt() == numRanks)
    return success();
  return op->emitOpError() << "'" << table << "' is for " << numRanks
                           << " ranks, the program for " << ranks.getInt();
}

/// Every rank of 0 .. n-1 exactly once, so that all take part.
static LogicalResult checkGroups(Operation *op, DenseIntElementsAttr attr,
                                 int64_t &groupSize) {
  FailureOr<RankTable> table = readTable(op, attr, "groups", 1);
  if (failed(table))
    return failure();
  groupSize = table->columns;
  int64_t numRanks = table->ranks.size();
  llvm::DenseSet<int64_t> seen;
  for (int64_t rank : table->ranks) {
    if (rank < 0 || rank >= numRanks)
      return op->emitOpError() << "'groups' names rank " << rank << " of "
                               << numRanks << " ranks";
    if (!seen.insert(rank).second)
      return op->emitOpError() << "'groups' names rank " << rank << " twice";
  }
  if (groupSize < 1)
    return op->emitOpError() << "'groups' is empty";
  return checkNumRanks(op, "groups", numRanks);
}

/// The result is the operand with some dimensions replaced.
static LogicalResult
checkShape(Operation *op, ArrayRef<std::pair<uint64_t, int64_t>> changes) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (getSharding(input) || getSharding(result))
    return op->emitOpError()
           << "is of the local phase; its tensors carry no sharding";
  SmallVector<int64_t> expected(input.getShape());
  for (auto [dim, size] : changes) {
    if (dim >= expected.size())
      return op->emitOpError() << "dimension " << static_cast<int64_t>(dim)
                               << " of a tensor of rank " << input.getRank();
    expected[dim] = size;
  }
  if (result.getShape() == ArrayRef(expected) &&
      result.getElementType() == input.getElementType())
    return success();
  return op->emitOpError() << "result " << result << " should be "
                           << input.clone(expected);
}

static int64_t dimOr0(Value tensor, uint64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return dim < static_cast<uint64_t>(type.getRank()) ? type.getDimSize(dim) : 0;
}

LogicalResult LocalAllReduceOp::verify() {
  int64_t groupSize = 0;
  if (failed(checkGroups(*this, getGroups(), groupSize)))
    return failure();
  return checkShape(*this, {});
}

/// Sum of a row of sizes; nothing if it does not fit 63 bits.
static std::optional<int64_t> sumOf(ArrayRef<int64_t> row) {
  std::optional<int64_t> sum = 0;
  for (int64_t size : row)
    sum = sum ? llvm::checkedAdd(*sum, size) : sum;
  return sum;
}

/// `own` elements of `whole` are one member's piece of a dimension.
static LogicalResult checkPieces(Operation *op, DenseIntElementsAttr groups,
                                 DenseIntElementsAttr pieces, StringRef name,
                                 int64_t own, int64_t whole) {
  int64_t groupSize = cast<ShapedType>(groups.getType()).getDimSize(1);
  if (!pieces) {
    if (own >= 0 && llvm::checkedMul(own, groupSize) == whole)
      return success();
    return op->emitOpError() << whole << " elements are not " << groupSize
                             << " pieces of " << own;
  }
  FailureOr<RankTable> table = readTable(op, pieces, name, 1);
  if (failed(table))
    return failure();
  auto shape = cast<ShapedType>(groups.getType()).getShape();
  if (cast<ShapedType>(pieces.getType()).getShape() != shape)
    return op->emitOpError() << "'" << name << "' is a table of " << table->rows
                             << " x " << table->columns << ", 'groups' of "
                             << shape[0] << " x " << shape[1];
  for (int64_t size : table->ranks)
    if (size < 0)
      return op->emitOpError()
             << "'" << name << "' has a piece of " << size << " elements";
  bool found = false;
  for (int64_t first = 0; first < table->rows * groupSize; first += groupSize) {
    ArrayRef<int64_t> row = ArrayRef(table->ranks).slice(first, groupSize);
    std::optional<int64_t> sum = sumOf(row);
    if (!sum)
      return op->emitOpError()
             << "'" << name << "' has a row of more than 2^63 - 1 elements";
    found |= sum == whole && llvm::is_contained(row, own);
  }
  if (found)
    return success();
  return op->emitOpError() << "'" << name << "' has no row with a piece of "
                           << own << " elements and " << whole << " in all";
}

LogicalResult LocalAllGatherOp::verify() {
  int64_t groupSize = 0;
  if (failed(checkGroups(*this, getGroups(), groupSize)))
    return failure();
  int64_t whole = dimOr0(getResult(), getDim());
  return success(
      succeeded(checkShape(*this, {{getDim(), whole}})) &&
      succeeded(checkPieces(*this, getGroups(), getPiecesAttr(), "pieces",
                            dimOr0(getInput(), getDim()), whole)));
}

LogicalResult LocalReduceScatterOp::verify() {
  int64_t groupSize = 0;
  if (failed(checkGroups(*this, getGroups(), groupSize)))
    return failure();
  int64_t own = dimOr0(getResult(), getDim());
  return success(
      succeeded(checkShape(*this, {{getDim(), own}})) &&
      succeeded(checkPieces(*this, getGroups(), getPiecesAttr(), "pieces", own,
                            dimOr0(getInput(), getDim()))));
}

LogicalResult LocalAllToAllOp::verify() {
  int64_t groupSize = 0;
  if (failed(checkGroups(*this, getGroups(), groupSize)))
    return failure();
  if (getSource() == getTarget())
    return emitOpError() << "source and target are both dimension "
                         << getSource();
  int64_t gathered = dimOr0(getResult(), getSource());
  int64_t kept = dimOr0(getResult(), getTarget());
  return success(succeeded(checkShape(
                     *this, {{getSource(), gathered}, {getTarget(), kept}})) &&
                 succeeded(checkPieces(
                     *this, getGroups(), getSourcePiecesAttr(), "source_pieces",
                     dimOr0(getInput(), getSource()), gathered)) &&
                 succeeded(checkPieces(*this, getGroups(),
                                       getTargetPiecesAttr(), "target_pieces",
                                       kept, dimOr0(getInput(), getTarget()))));
}

LogicalResult LocalPermuteOp::verify() {
  FailureOr<RankTable> table = readTable(*this, getPairs(), "pairs", 2);
  if (failed(table))
    return failure();
  if (table->columns != 2)
    return emitOpError() << "'pairs' has " << table->columns
                         << " columns; (source, target) are wanted";
  llvm::DenseSet<int64_t> seen[2];
  for (auto [index, rank] : llvm::enumerate(table->ranks))
    if (rank < 0 || rank >= table->rows || !seen[index % 2].insert(rank).second)
      return emitOpError() << "'pairs' must name each of " << table->rows
                           << " ranks once as source and once as target; rank "
                           << rank << " breaks that";
  if (failed(checkNumRanks(*this, "pairs", table->rows)))
    return failure();
  std::optional<ArrayRef<int64_t>> counts = getCounts();
  int64_t own = getInput().getType().getNumElements();
  if (counts && (static_cast<int64_t>(counts->size()) != table->rows ||
                 llvm::any_of(*counts, [](int64_t n) { return n < 0; }) ||
                 !llvm::is_contained(*counts, own)))
    return emitOpError() << "'counts' must have one number of elements a pair, "
                         << table->rows << " in all, among them the operand's "
                         << own;
  return checkShape(*this, {});
}

LogicalResult LocalSliceOp::verify() {
  int64_t wanted = dimOr0(getResult(), getDim());
  if (wanted > dimOr0(getInput(), getDim()))
    return emitOpError() << "takes " << wanted << " of "
                         << dimOr0(getInput(), getDim()) << " elements";
  return checkShape(*this, {{getDim(), wanted}});
}

LogicalResult LocalMaskOp::verify() { return checkShape(*this, {}); }

LogicalResult ShardOriginOp::verify() {
  int64_t size = getSize();
  if (size < 0 || size % getSplit().getUnit() != 0)
    return emitOpError() << "a dimension of " << size
                         << " elements with unit = " << getSplit().getUnit();
  return success();
}
