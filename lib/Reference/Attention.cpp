// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"
#include <cmath>

using namespace mlir;
using namespace tp;

//===- Rope ---------------------------------------------------------------===//

/// Turn of pair `pair` a position, in radians: theta^(-2 pair / width), scaled
/// as Llama 3.1 does if `llama3` is not empty.
static double getFrequency(double theta, ArrayRef<double> llama3, int64_t pair,
                           int64_t width) {
  double frequency = std::pow(theta, -2.0 * pair / width);
  if (llama3.empty())
    return frequency;
  double factor = llama3[0], low = llama3[1], high = llama3[2],
         original = llama3[3];
  double waveLength = 2 * M_PI / frequency;
  if (waveLength > original / low)
    return frequency / factor;
  if (waveLength < original / high)
    return frequency;
  double share = (original / waveLength - low) / (high - low);
  return (1 - share) * frequency / factor + share * frequency;
}

namespace {

/// Cosine and sine of a position and a pair.
template <class S> struct Turns {
  Turns(RopeOp op, uint64_t key, int64_t width)
      : theta(op.getTheta().convertToDouble()), width(width) {
    if (op.getLlama3())
      llama3.assign(op.getLlama3()->begin(), op.getLlama3()->end());
    SmallVector<double> attributes = {theta, static_cast<double>(width)};
    attributes.append(llama3);
    cosineKey = getFunctionKey(key, "tp.rope cos", attributes);
    sineKey = getFunctionKey(key, "tp.rope sin", attributes);
  }

  S cosine(int64_t position, int64_t pair) const {
    return turn(cosineKey, position, pair,
                [](double angle) { return std::cos(angle); });
  }
  S sine(int64_t position, int64_t pair) const {
    return turn(sineKey, position, pair,
                [](double angle) { return std::sin(angle); });
  }

private:
  template <class Real>
  S turn(uint64_t key, int64_t position, int64_t pair, Real real) const {
    if constexpr (isField<S>)
      return Field::reduce(hashWord(hashWord(key, position), pair));
    else if constexpr (isRounded<S>)
      // Angles are computed in f64, a turn is rounded once.
      return {real(position * getFrequency(theta, llama3, pair, width)), 1};
    else
      return real(position * getFrequency(theta, llama3, pair, width));
  }

  double theta;
  SmallVector<double> llama3;
  int64_t width;
  uint64_t cosineKey, sineKey;
};

} // namespace

/// Elements i and i + d/2 of a head turn together.
template <class S> static llvm::Error evaluateRope(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  int64_t sequence = input.shape[1], heads = input.shape[2];
  int64_t width = input.shape[3], half = width / 2;
  int64_t origin = call.indexOr(1, cast<RopeOp>(call.op).getOffset());
  Turns<S> turns(cast<RopeOp>(call.op), call.session.key, width);
  int64_t numRows = width == 0 ? 0 : input.size() / width;
  for (int64_t row = 0; row < numRows; ++row) {
    int64_t position = origin + row / heads % sequence;
    const S *x = input.values.data() + row * width;
    S *y = result.values.data() + row * width;
    for (int64_t i = 0; i < half; ++i) {
      S cosine = turns.cosine(position, i), sine = turns.sine(position, i);
      y[i] = x[i] * cosine - x[i + half] * sine;
      y[i + half] = x[i + half] * cosine + x[i] * sine;
    }
  }
  // The arguments are integers: unknowns, but no equation between them.
  Degree turn = call.session.noteHashes(sequence * width, {0, 0});
  result.degree = degreeOfProduct(input.degree, turn);
  return llvm::Error::success();
}

//===- Attention ----------------------------------------------------------===//

namespace {

/// Attention of one query with one head.
template <class S> struct AttentionRow {
  const TensorOf<S> &key, &value;
  int64_t batch, kvHead;

  /// Element 0 of a key's or value's head.
  const S *at(const TensorOf<S> &tensor, int64_t j) const {
    int64_t row = (batch * tensor.shape[1] + j) * tensor.shape[2] + kvHead;
    return tensor.values.data() + row * tensor.shape[3];
  }

  void score(const S *query, S scale, MutableArrayRef<S> scores) const {
    for (auto [j, score] : llvm::enumerate(scores)) {
      ProductSum<S> sum;
      for (int64_t d = 0; d < key.shape[3]; ++d)
        sum.add(query[d], at(key, j)[d]);
      score = scale * sum.get();
    }
  }

  void weigh(ArrayRef<S> weights, S factor, S *result) const {
    for (int64_t d = 0; d < value.shape[3]; ++d) {
      ProductSum<S> sum;
      for (auto [j, weight] : llvm::enumerate(weights))
        sum.add(weight, at(value, j)[d]);
      result[d] = sum.get() * factor;
    }
  }
};

} // namespace

/// Keys that query `query` sees: a causal one those up to query + origin.
static int64_t countVisible(AttentionOp op, int64_t query, int64_t origin,
                            int64_t keys) {
  if (!op.getCausal())
    return keys;
  return std::clamp<int64_t>(query + origin + 1, 0, keys);
}

template <class S> static llvm::Error evaluateAttention(RankCall<S> &call) {
  auto op = cast<AttentionOp>(call.op);
  const TensorOf<S> &query = call.operand(0), &key = call.operand(1);
  const TensorOf<S> &value = call.operand(2);
  int64_t queries = query.shape[1], heads = query.shape[2];
  int64_t keys = key.shape[1], kvHeads = key.shape[2], width = query.shape[3];
  int64_t origin = call.indexOr(3, keys - queries);
  S scale = fromDouble<S>(op.getScale().convertToDouble());
  uint64_t expKey = getFunctionKey(call.session.key, "exp");
  int64_t numRows = query.shape[0] * queries * heads, numScores = 0;
  std::vector<S> weights;
  for (int64_t row = 0; row < numRows; ++row) {
    int64_t i = row / heads % queries, head = row % heads;
    // A query that sees no key is a sum over nothing: 0.
    int64_t visible = countVisible(op, i, origin, keys);
    if (visible == 0)
      continue;
    weights.resize(visible);
    numScores += visible;
    AttentionRow<S> attention{key, value, row / heads / queries,
                              head / (heads / kvHeads)};
    attention.score(query.values.data() + row * width, scale, weights);
    llvm::Expected<S> factor = invert(op, exponentiate(expKey, weights));
    if (!factor)
      return factor.takeError();
    attention.weigh(weights, *factor,
                    call.result().values.data() + row * width);
  }
  Session &session = call.session;
  Degree weight =
      session.noteHashes(numScores, degreeOfProduct(query.degree, key.degree));
  Degree inverse = session.noteDivisions(numRows, weight);
  call.result().degree =
      degreeOfProduct(degreeOfProduct(weight, inverse), value.degree);
  return llvm::Error::success();
}

template <class S> void tp::addAttentionKernels(KernelTable<S> &table) {
  table["tp.rope"].onRank = evaluateRope<S>;
  table["tp.attention"].onRank = evaluateAttention<S>;
}

template void tp::addAttentionKernels(KernelTable<double> &);
template void tp::addAttentionKernels(KernelTable<Rounded> &);
template void tp::addAttentionKernels(KernelTable<Field> &);
