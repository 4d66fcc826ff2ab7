// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"
#include <cmath>

using namespace mlir;
using namespace tp;

/// Row ids[i] of the table; zeros where another rank has the row.
template <class S> static llvm::Error evaluateEmbedding(RankCall<S> &call) {
  const TensorOf<S> &table = call.operand(0), &ids = call.operand(1);
  TensorOf<S> &result = call.result();
  result.degree = table.degree;
  int64_t rows = table.shape[0], width = table.shape[1];
  int64_t origin = call.indexOr(2, 0);
  std::optional<uint64_t> given = cast<EmbeddingOp>(call.op).getVocabulary();
  int64_t vocabulary = given ? static_cast<int64_t>(*given) : rows;
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t id = ids.integers[i];
    if (id < 0 || id >= vocabulary)
      return makeError(call.op, "id " + Twine(id) + " at position " + Twine(i) +
                                    " is outside the vocabulary of " +
                                    Twine(vocabulary));
    if (id < origin || id - origin >= rows)
      continue;
    for (int64_t j = 0; j < width; ++j)
      result.values[i * width + j] = table.values[(id - origin) * width + j];
  }
  return llvm::Error::success();
}

//===- Targets ------------------------------------------------------------===//

/// Whether target number i counts; an error if it names no class.
template <class S>
static llvm::Expected<bool> counts(RankCall<S> &call, int64_t i,
                                   std::optional<uint64_t> ignored,
                                   int64_t classes) {
  int64_t target = call.operand(1).integers[i];
  if (ignored && target == static_cast<int64_t>(*ignored))
    return false;
  if (target < 0 || target >= classes)
    return makeError(call.op, "target " + Twine(target) + " at position " +
                                  Twine(i) + " is none of the " +
                                  Twine(classes) + " classes");
  return true;
}

/// Element targets[i] of row i; zero where another rank has the column.
template <class S> static llvm::Error evaluateTakeTarget(RankCall<S> &call) {
  auto op = cast<TakeTargetOp>(call.op);
  const TensorOf<S> &logits = call.operand(0), &targets = call.operand(1);
  TensorOf<S> &result = call.result();
  result.degree = logits.degree;
  int64_t columns = logits.shape.back(), origin = call.indexOr(2, 0);
  auto classes = static_cast<int64_t>(op.getVocabulary().value_or(columns));
  for (int64_t i = 0; i < targets.size(); ++i) {
    llvm::Expected<bool> isCounted =
        counts(call, i, op.getIgnoreIndex(), classes);
    if (!isCounted)
      return isCounted.takeError();
    int64_t column = targets.integers[i] - origin;
    if (*isCounted && column >= 0 && column < columns)
      result.values[i] = logits.values[i * columns + column];
  }
  return llvm::Error::success();
}

/// A number as a constant of `type` holds it.
static double asConstant(Type type, double value) {
  return FloatAttr::get(type, value).getValueAsDouble();
}

static const RealFunction logarithm = {[](double x) { return std::log(x); },
                                       [](double x) { return 1 / x; }};

namespace {

/// The loss of one token, by its parts: a maximum, which cancels, the logarithm
/// of the sum of exponentials, and the target's logit.
template <class S> struct TokenLoss {
  TokenLoss(CrossEntropyOp op, uint64_t key)
      : classes(op.getVocabulary().value_or(
            op.getLogits().getType().getShape().back())),
        orderKey(getOrderKey(key)), expKey(getFunctionKey(key, "exp")),
        logKey(getFunctionKey(key, "tp.log")) {
    double smoothing = op.getLabelSmoothing().convertToDouble();
    Type type = op.getLogits().getType().getElementType();
    smooths = smoothing != 0;
    ofTarget = fromDouble<S>(asConstant(type, 1 - smoothing));
    ofAll = fromDouble<S>(
        asConstant(type, smoothing / static_cast<double>(classes)));
  }

  S compute(ArrayRef<S> logits, int64_t target) const {
    S largest = getLowest<S>(orderKey), total = {}, all = {};
    for (S logit : logits.take_front(classes))
      largest = takeLarger(orderKey, largest, logit);
    for (S logit : logits.take_front(classes)) {
      all += logit - largest;
      total += applyFunction(expKey, logit - largest, exponential);
    }
    S normaliser = applyFunction(logKey, total, logarithm);
    S likelihood = logits[target] - largest;
    if (smooths)
      likelihood = likelihood * ofTarget + all * ofAll;
    return normaliser - likelihood;
  }

  int64_t classes;

private:
  uint64_t orderKey, expKey, logKey;
  bool smooths;
  S ofTarget, ofAll;
};

} // namespace

template <class S> static llvm::Error evaluateCrossEntropy(RankCall<S> &call) {
  auto op = cast<CrossEntropyOp>(call.op);
  const TensorOf<S> &logits = call.operand(0), &targets = call.operand(1);
  int64_t columns = logits.shape.back(), number = 0;
  TokenLoss<S> loss(op, call.session.key);
  S total = {};
  for (int64_t i = 0; i < targets.size(); ++i) {
    llvm::Expected<bool> isCounted =
        counts(call, i, op.getIgnoreIndex(), loss.classes);
    if (!isCounted)
      return isCounted.takeError();
    if (!*isCounted)
      continue;
    total += loss.compute(ArrayRef(logits.values).slice(i * columns, columns),
                          targets.integers[i]);
    ++number;
  }
  S divisor = fromInteger<S>(number);
  // A sum of no losses, 0, is divided by 1.
  if (op.getIgnoreIndex() || targets.size() == 0)
    divisor =
        takeLarger(getOrderKey(call.session.key), divisor, fromInteger<S>(1));
  llvm::Expected<S> share = invert(call.op, divisor);
  if (!share)
    return share.takeError();
  call.result().values.front() = total * *share;
  Session &session = call.session;
  Degree weight = session.noteHashes(
      static_cast<double>(targets.size()) * loss.classes, logits.degree);
  Degree normaliser = session.noteHashes(targets.size(), weight);
  call.result().degree = degreeOfProduct(degreeOfSum(normaliser, logits.degree),
                                         session.noteDivisions(1, {0, 0}));
  return llvm::Error::success();
}

/// The lowest finite number from column `valid` on.
template <class S> static llvm::Error evaluateMaskPadding(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  auto op = cast<MaskPaddingOp>(call.op);
  auto type = cast<FloatType>(op.getResult().getType().getElementType());
  double fill = APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true)
                    .convertToDouble();
  S lowest = fromDouble<S>(fill);
  result.degree = input.degree;
  int64_t columns = input.shape.back(), origin = call.indexOr(1, 0);
  auto valid = static_cast<int64_t>(op.getValid());
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = origin + i % columns < valid ? input.values[i] : lowest;
  return llvm::Error::success();
}

template <class S> void tp::addVocabularyKernels(KernelTable<S> &table) {
  table["tp.embedding"].onRank = evaluateEmbedding<S>;
  table["tp.mask_padding"].onRank = evaluateMaskPadding<S>;
  table["tp.take_target"].onRank = evaluateTakeTarget<S>;
  table["tp.cross_entropy"].onRank = evaluateCrossEntropy<S>;
}

template void tp::addVocabularyKernels(KernelTable<double> &);
template void tp::addVocabularyKernels(KernelTable<Rounded> &);
template void tp::addVocabularyKernels(KernelTable<Field> &);
