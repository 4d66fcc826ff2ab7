// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

namespace {

/// Walks the elements that a reduction takes.
class Reduction {
public:
  Reduction(ReduceOp op, ArrayRef<int64_t> shape, int64_t origin)
      : shape(shape), resultStrides(shape.size(), 0) {
    SmallVector<int64_t> strides =
        rowMajorStrides(op.getResult().getType().getShape());
    ArrayRef<int64_t> left = strides;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) {
        resultStrides[dim] = left.front();
        left = left.drop_front();
      }
    if (!op.getCount())
      return;
    counted = op.getDimensions()[0];
    visible = static_cast<int64_t>(*op.getCount()) - origin;
  }

  /// Calls `visit(from, to)` with the positions of an element and of the result
  /// that it belongs to.
  template <class Visit> void walk(Visit visit) const {
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    int64_t from = 0;
    walkStrided(shape, resultStrides, 0, [&](int64_t to) {
      bool isVisible =
          !counted || from / strides[*counted] % shape[*counted] < visible;
      if (isVisible)
        visit(from, to);
      ++from;
    });
  }

private:
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> resultStrides;
  /// The dimension of which only elements below `visible` take part.
  std::optional<unsigned> counted;
  int64_t visible = 0;
};

} // namespace

template <class S>
static void reduceIntegers(RankCall<S> &call, const Reduction &reduction,
                           ReductionKind kind) {
  TensorOf<S> &result = call.result();
  Type type = getElementTypeOrSelf(call.op->getResult(0));
  unsigned width = type.getIntOrFloatBitWidth();
  if (kind == ReductionKind::Max)
    llvm::fill(result.integers, width == 1 ? 0 : llvm::minIntN(width));
  reduction.walk([&](int64_t from, int64_t to) {
    int64_t value = call.operand(0).integers[from];
    int64_t &total = result.integers[to];
    total = kind == ReductionKind::Max
                ? std::max(total, value)
                : wrapAround(type, static_cast<uint64_t>(total) + value);
  });
}

template <class S> static llvm::Error evaluateReduce(RankCall<S> &call) {
  auto op = cast<ReduceOp>(call.op);
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  result.degree = input.degree;
  Reduction reduction(op, input.shape, call.indexOr(1, 0));
  if (result.isInteger) {
    reduceIntegers(call, reduction, op.getKind());
    return llvm::Error::success();
  }
  if (op.getKind() == ReductionKind::Sum) {
    reduction.walk([&](int64_t from, int64_t to) {
      result.values[to] += input.values[from];
    });
    return llvm::Error::success();
  }
  uint64_t key = getOrderKey(call.session.key);
  llvm::fill(result.values, getLowest<S>(key));
  reduction.walk([&](int64_t from, int64_t to) {
    result.values[to] = takeLarger(key, result.values[to], input.values[from]);
  });
  call.session.noteHashes(input.size(), input.degree);
  return llvm::Error::success();
}

/// Exponentials over their sum; in the field hashes over their sum.
template <class S> static llvm::Error evaluateSoftmax(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  unsigned dim = cast<SoftmaxOp>(call.op).getDim();
  int64_t size = input.shape[dim];
  int64_t stride = rowMajorStrides(input.shape)[dim];
  if (input.size() == 0)
    return llvm::Error::success();
  uint64_t expKey = getFunctionKey(call.session.key, "exp");
  std::vector<S> row(size);
  for (int64_t number = 0; number < input.size() / size; ++number) {
    int64_t begin = number / stride * stride * size + number % stride;
    for (int64_t i = 0; i < size; ++i)
      row[i] = input.values[begin + i * stride];
    llvm::Expected<S> factor = invert(call.op, exponentiate(expKey, row));
    if (!factor)
      return factor.takeError();
    for (int64_t i = 0; i < size; ++i)
      result.values[begin + i * stride] = row[i] * *factor;
  }
  Degree weight = call.session.noteHashes(input.size(), input.degree);
  Degree inverse = call.session.noteDivisions(input.size() / size, weight);
  result.degree = degreeOfProduct(weight, inverse);
  return llvm::Error::success();
}

template <class S> void tp::addReductionKernels(KernelTable<S> &table) {
  table["tp.reduce"].onRank = evaluateReduce<S>;
  table["tp.softmax"].onRank = evaluateSoftmax<S>;
}

template void tp::addReductionKernels(KernelTable<double> &);
template void tp::addReductionKernels(KernelTable<Rounded> &);
template void tp::addReductionKernels(KernelTable<Field> &);
