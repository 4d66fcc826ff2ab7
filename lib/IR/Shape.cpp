// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "tp/IR/TP.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <numeric>

using namespace mlir;
using namespace tp;

//===- Verifiers ----------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  std::optional<int64_t> before = numElements(input.getShape());
  std::optional<int64_t> after = numElements(result.getShape());
  if (!before || !after)
    return emitOpError() << "has more than 2^63 - 1 elements";
  if (*before != *after)
    return emitOpError() << "from " << *before << " elements to " << *after;
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  ArrayRef<int64_t> permutation = getPermutation();
  if (static_cast<int64_t>(permutation.size()) != input.getRank() ||
      !isPermutationVector(permutation))
    return emitOpError() << "[" << permutation
                         << "] is not a permutation of the " << input.getRank()
                         << " dimensions";
  SmallVector<int64_t> expected;
  for (int64_t dim : permutation)
    expected.push_back(input.getDimSize(dim));
  if (result.getShape() != ArrayRef(expected))
    return emitOpError() << "result shape [" << result.getShape()
                         << "] should be [" << ArrayRef(expected) << "]";
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  ArrayRef<int64_t> offsets = getOffsets();
  if (input.getRank() != result.getRank() ||
      input.getRank() != static_cast<int64_t>(offsets.size()))
    return emitOpError() << "operand of rank " << input.getRank()
                         << ", result of rank " << result.getRank() << " and "
                         << offsets.size() << " offsets must agree";
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    int64_t from = input.getDimSize(dim), size = result.getDimSize(dim);
    if (offset < 0 || offset > from || size > from - offset)
      return emitOpError() << "takes " << size << " elements from " << offset
                           << " of dimension " << dim << ", which has " << from;
  }
  return success();
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  ArrayRef<int64_t> added = getDimensions();
  int64_t last = -1;
  for (int64_t dim : added) {
    if (dim <= last || dim >= result.getRank())
      return emitOpError() << "new dimensions [" << added
                           << "] must ascend and lie below the result's rank, "
                           << result.getRank();
    last = dim;
  }
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(result.getShape()))
    if (!llvm::is_contained(added, static_cast<int64_t>(dim)))
      kept.push_back(size);
  if (input.getShape() != ArrayRef(kept))
    return emitOpError() << "operand shape [" << input.getShape()
                         << "] differs from the result's other dimensions ["
                         << ArrayRef(kept) << "]";
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "has no operand";
  RankedTensorType result = getResult().getType();
  int64_t dim = getDim();
  if (dim < 0 || dim >= result.getRank())
    return emitOpError() << "dimension " << dim << " of a tensor of rank "
                         << result.getRank();
  int64_t total = 0;
  for (auto [index, value] : llvm::enumerate(getInputs())) {
    auto input = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> expected(result.getShape());
    if (input.getRank() == result.getRank())
      expected[dim] = input.getDimSize(dim);
    if (input.getShape() != ArrayRef(expected) ||
        input.getElementType() != result.getElementType())
      return emitOpError() << "operand " << index << " of type " << input
                           << " differs from the result, " << result
                           << ", in more than dimension " << dim;
    std::optional<int64_t> sum = llvm::checkedAdd(total, input.getDimSize(dim));
    if (!sum)
      return emitOpError() << "has more than 2^63 - 1 elements in dimension "
                           << dim;
    total = *sum;
  }
  if (total != result.getDimSize(dim))
    return emitOpError() << "operands have " << total
                         << " elements in dimension " << dim << ", the result "
                         << result.getDimSize(dim);
  return success();
}

//===- Sharding rules -----------------------------------------------------===//

namespace {

/// Finds the factors that two row-major shapes of equally many elements share.
/// Walks both from the major end; the greatest common divisor of what is left
/// of the current dimensions is the next shared factor. Where it is 1 the
/// shapes interleave until their products meet: those dimensions stay whole.
class ReshapeFactors {
public:
  ReshapeFactors(ArrayRef<int64_t> input, ArrayRef<int64_t> result)
      : shapes{input, result} {
    for (unsigned side : {0, 1})
      dims[side].resize(shapes[side].size());
  }

  ShardingRule build() && {
    if (llvm::is_contained(shapes[0], 0))
      matchEmpty();
    else
      match();
    return builder.operand(dims[0])
        .result(dims[1])
        .linearIn({0})
        .movesData()
        .build();
  }

private:
  /// Moves to the next dimension once the current one is used up.
  bool advance(unsigned side) {
    while (left[side] == 1 && next[side] < shapes[side].size())
      left[side] = shapes[side][next[side]++];
    return left[side] != 1;
  }

  void addFactor(unsigned side, unsigned factor) {
    dims[side][next[side] - 1].push_back(factor);
  }

  unsigned newFactor(int64_t size, FactorKind kind) {
    return builder.factor("f" + std::to_string(numFactors++), size, kind);
  }

  void match() {
    while (advance(0) && advance(1)) {
      int64_t shared = std::gcd(left[0], left[1]);
      if (shared == 1) {
        skipInterleaved();
        continue;
      }
      unsigned factor = newFactor(shared, FactorKind::Parallel);
      for (unsigned side : {0, 1}) {
        addFactor(side, factor);
        left[side] /= shared;
      }
    }
  }

  void takeWhole(unsigned side, int64_t &product) {
    product *= left[side];
    addFactor(side, newFactor(left[side], FactorKind::Whole));
    left[side] = 1;
  }

  void skipInterleaved() {
    int64_t product[2] = {1, 1};
    for (unsigned side : {0, 1})
      takeWhole(side, product[side]);
    while (product[0] != product[1]) {
      unsigned smaller = product[0] < product[1] ? 0 : 1;
      advance(smaller);
      takeWhole(smaller, product[smaller]);
    }
  }

  /// Without elements only equal leading dimensions correspond.
  void matchEmpty() {
    unsigned same = 0;
    unsigned shorter = std::min(shapes[0].size(), shapes[1].size());
    for (; same < shorter && shapes[0][same] == shapes[1][same]; ++same) {
      unsigned factor = newFactor(shapes[0][same], FactorKind::Parallel);
      dims[0][same].push_back(factor);
      dims[1][same].push_back(factor);
    }
    for (unsigned side : {0, 1})
      for (unsigned dim = same; dim < shapes[side].size(); ++dim)
        dims[side][dim].push_back(
            newFactor(shapes[side][dim], FactorKind::Whole));
  }

  ArrayRef<int64_t> shapes[2];
  SmallVector<DimFactors> dims[2];
  int64_t left[2] = {1, 1};
  size_t next[2] = {0, 0};
  unsigned numFactors = 0;
  ShardingRuleBuilder builder;
};

} // namespace

ShardingRule ReshapeOp::getShardingRule() {
  return ReshapeFactors(getInput().getType().getShape(),
                        getResult().getType().getShape())
      .build();
}

/// The rule of an operation that moves the elements of its one operand.
static ShardingRule buildMove(ShardingRuleBuilder &builder,
                              ArrayRef<DimFactors> input,
                              ArrayRef<DimFactors> result) {
  return builder.operand(input)
      .result(result)
      .linearIn({0})
      .movesData()
      .build();
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> input, result;
  for (auto [index, size] : llvm::enumerate(getInput().getType().getShape()))
    input.push_back({builder.factor("d" + std::to_string(index), size)});
  for (int64_t dim : getPermutation())
    result.push_back(input[dim]);
  return buildMove(builder, input, result);
}

ShardingRule SliceOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> input, result;
  for (auto [index, from, to] : llvm::enumerate(
           getInput().getType().getShape(), getResult().getType().getShape())) {
    std::string name = "d" + std::to_string(index);
    bool isCut = from != to;
    input.push_back({builder.factor(
        name, from, isCut ? FactorKind::Whole : FactorKind::Parallel)});
    result.push_back(
        isCut ? DimFactors{builder.factor("cut" + std::to_string(index), to,
                                          FactorKind::Whole)}
              : input.back());
  }
  return buildMove(builder, input, result);
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> input, result;
  for (auto [index, size] : llvm::enumerate(getResult().getType().getShape())) {
    result.push_back({builder.factor("d" + std::to_string(index), size)});
    if (!llvm::is_contained(getDimensions(), static_cast<int64_t>(index)))
      input.push_back(result.back());
  }
  return buildMove(builder, input, result);
}

ShardingRule ConcatOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> result;
  for (auto [index, size] : llvm::enumerate(getResult().getType().getShape())) {
    bool isJoined = index == getDim();
    result.push_back(
        {builder.factor(isJoined ? "joined" : "d" + std::to_string(index), size,
                        isJoined ? FactorKind::Whole : FactorKind::Parallel)});
  }
  for (auto [number, value] : llvm::enumerate(getInputs())) {
    SmallVector<DimFactors> input = result;
    input[getDim()] = {builder.factor(
        "part" + std::to_string(number),
        cast<RankedTensorType>(value.getType()).getDimSize(getDim()),
        FactorKind::Whole)};
    builder.operand(input);
  }
  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(0, getInputs().size()));
  return builder.result(result).linearIn(all).movesData().build();
}

//===- Work ---------------------------------------------------------------===//

// They only move elements.
Work ReshapeOp::getWork() { return {}; }
Work TransposeOp::getWork() { return {}; }
Work SliceOp::getWork() { return {}; }
Work BroadcastOp::getWork() { return {}; }
Work ConcatOp::getWork() { return {}; }
