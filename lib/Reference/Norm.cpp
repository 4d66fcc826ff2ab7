// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"
#include <cmath>

using namespace mlir;
using namespace tp;

/// Key of the hashed function 1 / sqrt(. + epsilon).
static uint64_t inverseRootKey(uint64_t key, double epsilon) {
  return getFunctionKey(key, "1/sqrt", {epsilon});
}

/// 1 / sqrt(mean + epsilon).
template <class S>
static S takeInverseRoot(uint64_t key, S mean, double epsilon) {
  if constexpr (isField<S>) {
    return Field::reduce(hashWord(key, mean.residue()));
  } else if constexpr (isRounded<S>) {
    // The derivative is -y^3 / 2; the sum, the root and the quotient round.
    double y = 1 / std::sqrt(mean.value + epsilon);
    return {y, mean.error * y * y * y / 2 + 3 * y};
  } else {
    return 1 / std::sqrt(mean + epsilon);
  }
}

/// x / sqrt(mean(x^2) + epsilon) * gain. The hashed function is
/// 1 / sqrt(. + epsilon); the mean is exact.
template <class S> static llvm::Error evaluateRMSNorm(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0), &gain = call.operand(1);
  TensorOf<S> &result = call.result();
  double epsilon = cast<RMSNormOp>(call.op).getEpsilon().convertToDouble();
  uint64_t key = inverseRootKey(call.session.key, epsilon);
  int64_t width = input.shape.back();
  if (width == 0)
    return llvm::Error::success();
  llvm::Expected<S> share = invert(call.op, fromInteger<S>(width));
  if (!share)
    return share.takeError();
  for (int64_t row = 0; row < input.size() / width; ++row) {
    const S *x = input.values.data() + row * width;
    ProductSum<S> squares;
    for (int64_t i = 0; i < width; ++i)
      squares.add(x[i], x[i]);
    S factor = takeInverseRoot(key, squares.get() * *share, epsilon);
    for (int64_t i = 0; i < width; ++i)
      result.values[row * width + i] = x[i] * factor * gain.values[i];
  }
  Degree factorDegree = call.session.noteHashes(
      input.size() / width, degreeOfProduct(input.degree, input.degree));
  result.degree =
      degreeOfProduct(degreeOfProduct(input.degree, factorDegree), gain.degree);
  return llvm::Error::success();
}

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * gain + bias, hashed
/// as above.
template <class S> static llvm::Error evaluateLayerNorm(RankCall<S> &call) {
  auto op = cast<LayerNormOp>(call.op);
  const TensorOf<S> &input = call.operand(0), &gain = call.operand(1);
  const TensorOf<S> *bias = op.getBias() ? &call.operand(2) : nullptr;
  double epsilon = op.getEpsilon().convertToDouble();
  uint64_t key = inverseRootKey(call.session.key, epsilon);
  int64_t width = input.shape.back();
  if (width == 0)
    return llvm::Error::success();
  llvm::Expected<S> share = invert(call.op, fromInteger<S>(width));
  if (!share)
    return share.takeError();
  for (int64_t row = 0; row < input.size() / width; ++row) {
    const S *x = input.values.data() + row * width;
    S sum = {};
    for (int64_t i = 0; i < width; ++i)
      sum += x[i];
    S mean = sum * *share;
    ProductSum<S> squares;
    for (int64_t i = 0; i < width; ++i)
      squares.add(x[i] - mean, x[i] - mean);
    S factor = takeInverseRoot(key, squares.get() * *share, epsilon);
    for (int64_t i = 0; i < width; ++i) {
      S &y = call.result().values[row * width + i];
      y = (x[i] - mean) * factor * gain.values[i];
      if (bias)
        y = y + bias->values[i];
    }
  }
  Degree factor = call.session.noteHashes(
      input.size() / width, degreeOfProduct(input.degree, input.degree));
  Degree degree =
      degreeOfProduct(degreeOfProduct(input.degree, factor), gain.degree);
  call.result().degree = bias ? degreeOfSum(degree, bias->degree) : degree;
  return llvm::Error::success();
}

template <class S> void tp::addNormKernels(KernelTable<S> &table) {
  table["tp.rms_norm"].onRank = evaluateRMSNorm<S>;
  table["tp.layer_norm"].onRank = evaluateLayerNorm<S>;
}

template void tp::addNormKernels(KernelTable<double> &);
template void tp::addNormKernels(KernelTable<Rounded> &);
template void tp::addNormKernels(KernelTable<Field> &);
