// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/Patterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace tp;

/// All dimensions of a tensor in one group; none for a scalar.
static SmallVector<ReassociationIndices> oneGroup(RankedTensorType type) {
  if (type.getRank() == 0)
    return {};
  ReassociationIndices all;
  llvm::append_range(all, llvm::seq<int64_t>(type.getRank()));
  return {all};
}

/// Replaces `op` by a loop nest over its result that reads element `read(i)` of
/// operand 0.
static void replaceByGather(PatternRewriter &rewriter, Operation *op,
                            AffineMap read) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                        type.getElementType());
  AffineMap write =
      AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange(type), op->getOperand(0), empty,
      ArrayRef<AffineMap>{read, write}, loops,
      [](OpBuilder &builder, Location loc, ValueRange scalars) {
        linalg::YieldOp::create(builder, loc, scalars[0]);
      });
}

/// What has no elements is not computed: slices must begin inside a tensor, and
/// an empty one has no inside.
static bool replaceIfEmpty(PatternRewriter &rewriter, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getNumElements() != 0)
    return false;
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type.getShape(),
                                               type.getElementType());
  return true;
}

namespace {

struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType from = op.getInput().getType();
    RankedTensorType to = op.getResult().getType();
    if (from == to) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    // Sizes of 0 fit any grouping.
    if (replaceIfEmpty(rewriter, op))
      return success();
    std::optional<SmallVector<ReassociationIndices>> groups;
    if (from.getRank() != to.getRank())
      groups = getReassociationIndicesForReshape(from, to);
    if (groups && from.getRank() > to.getRank()) {
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
          op, to, op.getInput(), *groups);
      return success();
    }
    if (groups) {
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, to, op.getInput(),
                                                         *groups);
      return success();
    }
    throughOneDimension(op, rewriter);
    return success();
  }

private:
  /// Where no grouping of dimensions leads from one shape to the other.
  static void throughOneDimension(ReshapeOp op, PatternRewriter &rewriter) {
    RankedTensorType from = op.getInput().getType();
    RankedTensorType to = op.getResult().getType();
    RankedTensorType flat = from.clone({from.getNumElements()});
    Value line = op.getInput();
    if (from.getRank() == 0)
      line = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), flat, line,
                                           oneGroup(from));
    else if (from.getRank() > 1)
      line = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), flat, line,
                                             oneGroup(from));
    if (to.getRank() == 0)
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, to, line,
                                                           oneGroup(to));
    else if (to.getRank() > 1)
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, to, line,
                                                         oneGroup(to));
    else
      rewriter.replaceOp(op, line);
  }
};

struct LowerTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<unsigned> permutation(op.getPermutation());
    replaceByGather(rewriter, op,
                    inversePermutation(AffineMap::getPermutationMap(
                        permutation, op.getContext())));
    return success();
  }
};

struct LowerBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<AffineExpr> read;
    unsigned rank = op.getResult().getType().getRank();
    for (unsigned dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)))
        read.push_back(rewriter.getAffineDimExpr(dim));
    replaceByGather(rewriter, op,
                    AffineMap::get(rank, 0, read, op.getContext()));
    return success();
  }
};

struct LowerSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResult().getType();
    if (replaceIfEmpty(rewriter, op))
      return success();
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, type, op.getInput(),
        getAsIndexOpFoldResult(op.getContext(), op.getOffsets()),
        getAsIndexOpFoldResult(op.getContext(), type.getShape()), strides);
    return success();
  }
};

struct LowerConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    if (replaceIfEmpty(rewriter, op))
      return success();
    RankedTensorType type = op.getResult().getType();
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    Value joined = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    int64_t begin = 0;
    for (Value input : op.getInputs()) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(input.getType()).getShape();
      if (shape[op.getDim()] == 0)
        continue;
      offsets[op.getDim()] = rewriter.getIndexAttr(begin);
      begin += shape[op.getDim()];
      joined = tensor::InsertSliceOp::create(
          rewriter, op.getLoc(), input, joined, offsets,
          getAsIndexOpFoldResult(op.getContext(), shape), strides);
    }
    rewriter.replaceOp(op, joined);
    return success();
  }
};

struct LowerLocalSlice : OpRewritePattern<LocalSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LocalSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (replaceIfEmpty(rewriter, op))
      return success();
    RankedTensorType type = op.getResult().getType();
    OpFoldResult zero = rewriter.getIndexAttr(0);
    OpFoldResult one = rewriter.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets(type.getRank(), zero);
    SmallVector<OpFoldResult> strides(type.getRank(), one);
    offsets[op.getDim()] = op.getOrigin();
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, type, op.getInput(), offsets,
        getAsIndexOpFoldResult(op.getContext(), type.getShape()), strides);
    return success();
  }
};

struct LowerMask : OpRewritePattern<LocalMaskOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LocalMaskOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value isFirst = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, op.getCoordinate(), zero);
    replaceByElementwise(
        rewriter, op, op.getInput(),
        [&](OpBuilder &builder, Location loc, ValueRange x) -> Value {
          Value nothing = arith::ConstantOp::create(
              builder, loc, builder.getZeroAttr(x[0].getType()));
          return arith::SelectOp::create(builder, loc, isFirst, x[0], nothing);
        });
    return success();
  }
};

} // namespace

void tp::addShapePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerConcat, LowerReshape, LowerTranspose, LowerBroadcast,
               LowerSlice, LowerLocalSlice, LowerMask>(patterns.getContext());
}
