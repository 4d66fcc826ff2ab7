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

template <class S> static llvm::Error evaluateTranspose(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  result.degree = input.degree;
  SmallVector<int64_t> from = rowMajorStrides(input.shape), strides;
  for (int64_t dim : cast<TransposeOp>(call.op).getPermutation())
    strides.push_back(from[dim]);
  int64_t next = 0;
  walkStrided(result.shape, strides, 0, [&](int64_t position) {
    if (result.isInteger)
      result.integers[next++] = input.integers[position];
    else
      result.values[next++] = input.values[position];
  });
  return llvm::Error::success();
}

template <class S> void tp::addShapeKernels(KernelTable<S> &table) {
  table["tp.reshape"].onRank = evaluateReshape<S>;
  table["tp.transpose"].onRank = evaluateTranspose<S>;
}

template void tp::addShapeKernels(KernelTable<double> &);
template void tp::addShapeKernels(KernelTable<Field> &);
