// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tp;

/// Number of elements in dimensions [begin, end).
static int64_t countElements(RankedTensorType type, int64_t begin,
                             int64_t end) {
  int64_t count = 1;
  for (int64_t size : type.getShape().slice(begin, end - begin))
    count *= size;
  return count;
}

static bool isFloat(ReduceOp op) {
  return isa<FloatType>(op.getInput().getType().getElementType());
}

//===- Loops --------------------------------------------------------------===//

static Value makeIdentity(OpBuilder &builder, Location loc, ReduceOp op) {
  auto type = cast<IntegerType>(op.getInput().getType().getElementType());
  bool isLowest = op.getKind() == ReductionKind::Max && type.getWidth() > 1;
  APInt value = isLowest ? APInt::getSignedMinValue(type.getWidth())
                         : APInt::getZero(type.getWidth());
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

/// `value`, or the identity for an element from the count on.
static Value dropUncounted(OpBuilder &builder, Location loc, ReduceOp op,
                           Value value) {
  if (!op.getCount())
    return value;
  Value index = linalg::IndexOp::create(builder, loc, op.getDimensions()[0]);
  if (op.getOrigin())
    index = arith::AddIOp::create(builder, loc, index, op.getOrigin());
  Value counts = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, index,
      arith::ConstantIndexOp::create(builder, loc, *op.getCount()));
  return arith::SelectOp::create(builder, loc, counts, value,
                                 makeIdentity(builder, loc, op));
}

namespace {

struct LowerIntegerReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (isFloat(op))
      return failure();
    Location loc = op.getLoc();
    RankedTensorType type = op.getResult().getType();
    unsigned rank = op.getInput().getType().getRank();
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    SmallVector<AffineExpr> kept;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)))
        loops[dim] = utils::IteratorType::reduction;
      else
        kept.push_back(rewriter.getAffineDimExpr(dim));
    SmallVector<AffineMap> maps = {
        rewriter.getMultiDimIdentityMap(rank),
        AffineMap::get(rank, 0, kept, op.getContext())};
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    Value start = linalg::FillOp::create(rewriter, loc,
                                         makeIdentity(rewriter, loc, op), empty)
                      .getResult(0);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange(type), op.getInput(), start, maps, loops,
        [&](OpBuilder &builder, Location loc, ValueRange x) {
          Value value = dropUncounted(builder, loc, op, x[0]);
          bool isMax = op.getKind() == ReductionKind::Max;
          Value total =
              isMax ? takeLarger(builder, loc, x[1], value)
                    : Value(arith::AddIOp::create(builder, loc, x[1], value));
          linalg::YieldOp::create(builder, loc, total);
        });
    return success();
  }
};

/// The kernel reduces neighbouring dimensions: the last ones go first.
struct SplitFloatReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> dims = op.getDimensions();
    if (!isFloat(op))
      return failure();
    if (dims.empty()) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    size_t first = dims.size() - 1;
    while (first > 0 && dims[first - 1] + 1 == dims[first])
      --first;
    if (first == 0)
      return failure();
    ArrayRef<int64_t> last = dims.drop_front(first);
    RankedTensorType input = op.getInput().getType();
    SmallVector<int64_t> shape(input.getShape());
    shape.erase(shape.begin() + last.front(), shape.begin() + last.back() + 1);
    Value half = ReduceOp::create(
        rewriter, op.getLoc(), input.clone(shape), op.getInput(), Value(),
        op.getKindAttr(), rewriter.getDenseI64ArrayAttr(last), IntegerAttr());
    rewriter.replaceOpWithNewOp<ReduceOp>(
        op, op.getResult().getType(), half, Value(), op.getKindAttr(),
        rewriter.getDenseI64ArrayAttr(dims.take_front(first)), IntegerAttr());
    return success();
  }
};

//===- Calls --------------------------------------------------------------===//

struct ReduceModel : KernelModel<ReduceModel, ReduceOp> {
  LogicalResult write(ReduceOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    std::string suffix = kernelSuffix(type.getElementType());
    int64_t begin = op.getDimensions().front();
    int64_t end = op.getDimensions().back() + 1;
    int64_t size = countElements(type, begin, end);
    call.tensor(op.getInput());
    call.integer(countElements(type, 0, begin));
    call.integer(size);
    call.integer(countElements(type, end, type.getRank()));
    call.index(op.getOrigin());
    call.integer(op.getCount() ? static_cast<int64_t>(*op.getCount()) : size);
    bool isMax = op.getKind() == ReductionKind::Max;
    return call.finish((isMax ? "tp_reduce_max" : "tp_reduce_sum") + suffix);
  }
};

struct SoftmaxModel : KernelModel<SoftmaxModel, SoftmaxOp> {
  LogicalResult write(SoftmaxOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    std::string suffix = kernelSuffix(type.getElementType());
    auto dim = static_cast<int64_t>(op.getDim());
    call.tensor(op.getInput());
    call.integer(countElements(type, 0, dim));
    call.integer(type.getDimSize(dim));
    call.integer(countElements(type, dim + 1, type.getRank()));
    return call.finish("tp_softmax" + suffix);
  }
};

} // namespace

void tp::addReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerIntegerReduce, SplitFloatReduce>(patterns.getContext());
}

void tp::addReductionModels(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceModel>(context);
  SoftmaxOp::attachInterface<SoftmaxModel>(context);
}
