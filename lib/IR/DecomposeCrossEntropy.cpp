// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-decompose-cross-entropy: the loss by its parts, so that the classes
/// may be split.

#include "tp/IR/DecomposeCrossEntropy.h"
#include "tp/IR/TP.h"
#include "tp/Passes.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_DECOMPOSECROSSENTROPY
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Writes one loss. Every value over the classes is summed or looked up at
/// once, so only numbers per token are left to reduce over split classes.
class LossWriter {
public:
  explicit LossWriter(CrossEntropyOp op)
      : op(op), builder(op), loc(op.getLoc()),
        element(op.getLogits().getType().getElementType()),
        logits(RankedTensorType::get(op.getLogits().getType().getShape(),
                                     element)),
        tokens(RankedTensorType::get(logits.getShape().drop_back(), element)) {}

  Value write() {
    // The maximum only keeps the exponentials in range: it has no derivative.
    Value largest = overClasses(ReductionKind::Max, op.getLogits());
    Value centred = SubOp::create(builder, loc, logits, op.getLogits(),
                                  forEachClass(largest));
    Value exponentials = ExpOp::create(builder, loc, logits, centred);
    Value normaliser = LogOp::create(
        builder, loc, tokens, overClasses(ReductionKind::Sum, exponentials));
    Value loss =
        SubOp::create(builder, loc, tokens, normaliser, getLikelihood(centred));
    return takeMean(loss);
  }

private:
  /// The centred logit of the target, mixed with the mean of all of them.
  Value getLikelihood(Value centred) {
    Value target = TakeTargetOp::create(
        builder, loc, tokens, centred, op.getTargets(), Value(),
        op.getVocabularyAttr(), op.getIgnoreIndexAttr());
    double smoothing = op.getLabelSmoothing().convertToDouble();
    if (smoothing == 0)
      return target;
    auto classes = static_cast<double>(
        op.getVocabulary().value_or(logits.getShape().back()));
    Value all = overClasses(ReductionKind::Sum, centred);
    return AddOp::create(builder, loc, tokens, scale(target, 1 - smoothing),
                         scale(all, smoothing / classes));
  }

  /// The mean over the tokens that count.
  Value takeMean(Value loss) {
    Value counts = getCounts();
    if (op.getIgnoreIndex())
      loss = MulOp::create(builder, loc, tokens, loss, counts);
    return DivOp::create(builder, loc, op.getResult().getType(),
                         overTokens(loss), atLeastOne(overTokens(counts)));
  }

  /// A sum of no losses, 0, is divided by 1.
  Value atLeastOne(Value number) {
    if (!op.getIgnoreIndex() && tokens.getNumElements() != 0)
      return number;
    auto scalar = cast<RankedTensorType>(number.getType());
    Value one = ConstantOp::create(
        builder, loc, scalar,
        DenseElementsAttr::get(scalar, builder.getFloatAttr(element, 1)));
    return MaximumOp::create(builder, loc, scalar, number, one);
  }

  /// 1 for a token that counts, 0 for the others.
  Value getCounts() {
    if (!op.getIgnoreIndex())
      return ConstantOp::create(
          builder, loc, tokens,
          DenseElementsAttr::get(tokens, builder.getFloatAttr(element, 1)));
    auto integer =
        RankedTensorType::get({}, op.getTargets().getType().getElementType());
    auto mask = RankedTensorType::get(tokens.getShape(), builder.getI1Type());
    Value ignored = ConstantOp::create(
        builder, loc, integer,
        DenseElementsAttr::get(
            integer, builder.getIntegerAttr(
                         integer.getElementType(),
                         static_cast<int64_t>(*op.getIgnoreIndex()))));
    Value counts = CompareOp::create(builder, loc, mask, Comparison::ne,
                                     op.getTargets(), ignored);
    return CastOp::create(builder, loc, tokens, counts);
  }

  Value overClasses(ReductionKind kind, Value values) {
    IntegerAttr count;
    if (op.getVocabulary() &&
        static_cast<int64_t>(*op.getVocabulary()) != logits.getShape().back())
      count = op.getVocabularyAttr();
    return ReduceOp::create(builder, loc, tokens, values, Value(), kind,
                            ArrayRef<int64_t>{logits.getRank() - 1}, count);
  }

  Value overTokens(Value values) {
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, tokens.getRank()));
    return ReduceOp::create(builder, loc, RankedTensorType::get({}, element),
                            values, Value(), ReductionKind::Sum, all,
                            IntegerAttr());
  }

  Value forEachClass(Value perToken) {
    return BroadcastOp::create(builder, loc, logits, perToken,
                               ArrayRef<int64_t>{logits.getRank() - 1});
  }

  Value scale(Value values, double factor) {
    auto scalar = RankedTensorType::get({}, element);
    Value constant = ConstantOp::create(
        builder, loc, scalar,
        DenseElementsAttr::get(scalar, builder.getFloatAttr(element, factor)));
    return MulOp::create(builder, loc, tokens, values, constant);
  }

  CrossEntropyOp op;
  OpBuilder builder;
  Location loc;
  Type element;
  RankedTensorType logits, tokens;
};

struct DecomposeCrossEntropyPass
    : tp::impl::DecomposeCrossEntropyBase<DecomposeCrossEntropyPass> {
  void runOnOperation() final {
    WalkResult result = getOperation().walk([](CrossEntropyOp op) {
      bool isTyped = getSharding(op.getLogits()) && getSharding(op.getResult());
      if (!isTyped)
        return WalkResult::advance();
      op.emitOpError() << "is laid out already; decompose it before planning";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    decomposeCrossEntropy(getOperation());
  }
};

} // namespace

void tp::decomposeCrossEntropy(Operation *root) {
  root->walk([](CrossEntropyOp op) {
    op.replaceAllUsesWith(LossWriter(op).write());
    op.erase();
  });
}
