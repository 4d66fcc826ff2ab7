// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tp;

namespace {

struct EmbeddingModel : KernelModel<EmbeddingModel, EmbeddingOp> {
  LogicalResult write(EmbeddingOp op, KernelCall &call) const {
    RankedTensorType table = op.getTable().getType();
    RankedTensorType ids = op.getIds().getType();
    std::string suffix = kernelSuffix(table.getElementType());
    call.tensor(op.getTable());
    call.tensor(op.getIds());
    call.integer(ids.getNumElements());
    call.integer(table.getDimSize(0));
    call.integer(table.getDimSize(1));
    call.index(op.getOrigin());
    call.integer(op.getVocabulary() ? static_cast<int64_t>(*op.getVocabulary())
                                    : table.getDimSize(0));
    bool isWide = ids.getElementType().isInteger(64);
    return call.finish("tp_embedding" + suffix + (isWide ? "_i64" : "_i32"));
  }
};

struct TakeTargetModel : KernelModel<TakeTargetModel, TakeTargetOp> {
  LogicalResult write(TakeTargetOp op, KernelCall &call) const {
    RankedTensorType logits = op.getLogits().getType();
    RankedTensorType targets = op.getTargets().getType();
    std::string suffix = kernelSuffix(logits.getElementType());
    int64_t columns = logits.getShape().back();
    call.tensor(op.getLogits());
    call.tensor(op.getTargets());
    call.integer(targets.getNumElements());
    call.integer(columns);
    call.index(op.getOrigin());
    call.integer(static_cast<int64_t>(op.getVocabulary().value_or(columns)));
    call.integer(op.getIgnoreIndex().has_value());
    call.integer(static_cast<int64_t>(op.getIgnoreIndex().value_or(0)));
    bool isWide = targets.getElementType().isInteger(64);
    return call.finish("tp_take_target" + suffix + (isWide ? "_i64" : "_i32"));
  }
};

} // namespace

void tp::replaceMaskPadding(PatternRewriter &rewriter, MaskPaddingOp op,
                            FloatAttr lowest) {
  auto body = [&](OpBuilder &builder, Location loc, ValueRange x) -> Value {
    Value column = linalg::IndexOp::create(
        builder, loc, op.getInput().getType().getRank() - 1);
    if (op.getOrigin())
      column = arith::AddIOp::create(builder, loc, column, op.getOrigin());
    Value limit = arith::ConstantIndexOp::create(builder, loc, op.getValid());
    Value isValid = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, column, limit);
    Value fill = arith::ConstantOp::create(builder, loc, lowest);
    return arith::SelectOp::create(builder, loc, isValid, x[0], fill);
  };
  replaceByElementwise(rewriter, op, op.getInput(), body);
}

namespace {

struct LowerMaskPadding : OpRewritePattern<MaskPaddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskPaddingOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<FloatType>(op.getInput().getType().getElementType());
    replaceMaskPadding(rewriter, op,
                       rewriter.getFloatAttr(
                           type, APFloat::getLargest(type.getFloatSemantics(),
                                                     /*Negative=*/true)));
    return success();
  }
};

} // namespace

void tp::addVocabularyPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMaskPadding>(patterns.getContext());
}

void tp::addVocabularyModels(MLIRContext &context) {
  TakeTargetOp::attachInterface<TakeTargetModel>(context);
  EmbeddingOp::attachInterface<EmbeddingModel>(context);
}
