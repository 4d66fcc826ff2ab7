// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

/// Matrices of `rows` times `columns`, one after the other, each transposed.
template <class S>
static std::vector<S> transposeAll(const std::vector<S> &matrices, int64_t rows,
                                   int64_t columns) {
  std::vector<S> result(matrices.size());
  for (size_t first = 0; first < matrices.size(); first += rows * columns)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result[first + j * rows + i] = matrices[first + i * columns + j];
  return result;
}

/// result[n] = sum of a[k] * b[k][n]. The loop over n is the inner one: it
/// walks rows of b.
static void multiplyRow(const double *a, const double *b, double *result,
                        int64_t contracted, int64_t columns) {
  for (int64_t k = 0; k < contracted; ++k)
    for (int64_t n = 0; n < columns; ++n)
      result[n] += a[k] * b[k * columns + n];
}

/// The same with the errors of ProductSum.
static void multiplyRow(const Rounded *a, const Rounded *b, Rounded *result,
                        int64_t contracted, int64_t columns) {
  std::vector<double> sums(columns, 0), squares(columns, 0);
  for (int64_t k = 0; k < contracted; ++k) {
    double x = a[k].value, terms = static_cast<double>(contracted);
    // What the errors and the roundings of a make of each element of b.
    double ofB = a[k].error * a[k].error + terms * x * x, ofError = x * x;
    for (int64_t n = 0; n < columns; ++n) {
      double y = b[k * columns + n].value, e = b[k * columns + n].error;
      sums[n] += x * y;
      squares[n] += ofB * y * y + ofError * e * e;
    }
  }
  for (int64_t n = 0; n < columns; ++n)
    result[n] = {sums[n],
                 std::sqrt(squares[n] + static_cast<double>(contracted) *
                                            sums[n] * sums[n])};
}

/// The same in the field: products are added up unreduced while they fit.
static void multiplyRow(const Field *a, const Field *b, Field *result,
                        int64_t contracted, int64_t columns) {
  std::vector<Field::Wide> sums(columns, 0);
  for (int64_t k = 0; k < contracted; ++k) {
    if (k % Field::maxProducts == 0)
      for (Field::Wide &sum : sums)
        sum = Field::reduce(sum).residue();
    for (int64_t n = 0; n < columns; ++n)
      sums[n] += a[k].widened(b[k * columns + n]);
  }
  for (int64_t n = 0; n < columns; ++n)
    result[n] = Field::reduce(sums[n]);
}

template <class S> static llvm::Error evaluateMatmul(RankCall<S> &call) {
  auto op = cast<MatmulOp>(call.op);
  const TensorOf<S> &lhs = call.operand(0), &rhs = call.operand(1);
  TensorOf<S> &result = call.result();
  result.degree = degreeOfProduct(lhs.degree, rhs.degree);
  ArrayRef<int64_t> shape(result.shape);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  int64_t contracted =
      lhs.shape[lhs.shape.size() - (op.getTransposeA() ? 2 : 1)];
  std::vector<S> a = op.getTransposeA()
                         ? transposeAll(lhs.values, contracted, rows)
                         : lhs.values;
  std::vector<S> b = op.getTransposeB()
                         ? transposeAll(rhs.values, columns, contracted)
                         : rhs.values;
  bool isShared = rhs.shape.size() == 2;
  int64_t numRows = columns == 0 ? 0 : result.size() / columns;
  for (int64_t row = 0; row < numRows; ++row) {
    int64_t matrix = isShared ? 0 : row / rows;
    multiplyRow(a.data() + row * contracted,
                b.data() + matrix * contracted * columns,
                result.values.data() + row * columns, contracted, columns);
  }
  return llvm::Error::success();
}

template <class S> void tp::addMatmulKernels(KernelTable<S> &table) {
  table["tp.matmul"].onRank = evaluateMatmul<S>;
}

template void tp::addMatmulKernels(KernelTable<double> &);
template void tp::addMatmulKernels(KernelTable<Rounded> &);
template void tp::addMatmulKernels(KernelTable<Field> &);
