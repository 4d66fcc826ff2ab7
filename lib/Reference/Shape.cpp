// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

/// Row-major order stays, so only the shape changes: the result has it already.
template <class S> static llvm::Error evaluateReshape(RankCall<S> &call) {
  TensorOf<S> &result = call.result();
  result.values = call.operand(0).values;
  result.integers = call.operand(0).integers;
  result.degree = call.operand(0).degree;
  return llvm::Error::success();
}

/// Element i of the result is element offset + i * strides of the operand.
template <class S>
static void gather(RankCall<S> &call, ArrayRef<int64_t> strides,
                   int64_t offset) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  result.degree = input.degree;
  int64_t next = 0;
  walkStrided(result.shape, strides, offset, [&](int64_t position) {
    if (result.isInteger)
      result.integers[next++] = input.integers[position];
    else
      result.values[next++] = input.values[position];
  });
}

template <class S> static llvm::Error evaluateTranspose(RankCall<S> &call) {
  SmallVector<int64_t> from = rowMajorStrides(call.operand(0).shape), strides;
  for (int64_t dim : cast<TransposeOp>(call.op).getPermutation())
    strides.push_back(from[dim]);
  gather(call, strides, 0);
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateSlice(RankCall<S> &call) {
  SmallVector<int64_t> strides = rowMajorStrides(call.operand(0).shape);
  int64_t begin = 0;
  for (auto [offset, stride] :
       llvm::zip_equal(cast<SliceOp>(call.op).getOffsets(), strides))
    begin += offset * stride;
  gather(call, strides, begin);
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateBroadcast(RankCall<S> &call) {
  SmallVector<int64_t> strides = rowMajorStrides(call.operand(0).shape);
  for (int64_t dim : cast<BroadcastOp>(call.op).getDimensions())
    strides.insert(strides.begin() + dim, 0);
  gather(call, strides, 0);
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateConcat(RankCall<S> &call) {
  std::vector<TensorOf<S>> pieces;
  for (const TensorOf<S> *operand : call.operands)
    pieces.push_back(*operand);
  call.result() = concatenate<S>(pieces, cast<ConcatOp>(call.op).getDim());
  return llvm::Error::success();
}

template <class S> void tp::addShapeKernels(KernelTable<S> &table) {
  table["tp.reshape"].onRank = evaluateReshape<S>;
  table["tp.transpose"].onRank = evaluateTranspose<S>;
  table["tp.slice"].onRank = evaluateSlice<S>;
  table["tp.broadcast"].onRank = evaluateBroadcast<S>;
  table["tp.concat"].onRank = evaluateConcat<S>;
}

template void tp::addShapeKernels(KernelTable<double> &);
template void tp::addShapeKernels(KernelTable<Rounded> &);
template void tp::addShapeKernels(KernelTable<Field> &);
