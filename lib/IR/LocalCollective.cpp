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

LogicalResult LocalAllGatherOp::verify() {
  int64_t groupSize = 0;
  if (failed(checkGroups(*this, getGroups(), groupSize)))
    return failure();
  std::optional<int64_t> gathered =
      llvm::checkedMul(dimOr0(getInput(), getDim()), groupSize);
  return checkShape(*this, {{getDim(), gathered.value_or(-1)}});
}

static LogicalResult checkDivides(Operation *op, int64_t size,
                                  int64_t groupSize) {
  if (size % groupSize == 0)
    return success();
  return op->emitOpError() << size << " elements do not divide into "
                           << groupSize << " equal pieces";
}

LogicalResult LocalReduceScatterOp::verify() {
  int64_t groupSize = 0, size = dimOr0(getInput(), getDim());
  if (failed(checkGroups(*this, getGroups(), groupSize)) ||
      failed(checkDivides(*this, size, groupSize)))
    return failure();
  return checkShape(*this, {{getDim(), size / groupSize}});
}

LogicalResult LocalAllToAllOp::verify() {
  int64_t groupSize = 0, size = dimOr0(getInput(), getTarget());
  if (failed(checkGroups(*this, getGroups(), groupSize)) ||
      failed(checkDivides(*this, size, groupSize)))
    return failure();
  if (getSource() == getTarget())
    return emitOpError() << "source and target are both dimension "
                         << getSource();
  return checkShape(
      *this, {{getSource(),
               llvm::checkedMul(dimOr0(getInput(), getSource()), groupSize)
                   .value_or(-1)},
              {getTarget(), size / groupSize}});
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
