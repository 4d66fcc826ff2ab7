// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Tensors of the reference evaluator.

#ifndef TP_REFERENCE_TENSOR_H
#define TP_REFERENCE_TENSOR_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <cassert>
#include <cstdint>
#include <vector>

namespace tp {

/// Indices [offset, offset + size) of one dimension.
struct Span {
  int64_t offset = 0;
  int64_t size = 0;
  bool operator==(const Span &) const = default;
};

/// Degree of a value as a polynomial in the inputs, the values of hashed
/// functions and the inverses of denominators; and its degree in the inverses
/// alone. Upper bounds, kept for a whole tensor.
struct Degree {
  double polynomial = 0;
  double inverses = 0;
};

/// Degree of a sum: the larger one.
inline Degree degreeOfSum(Degree a, Degree b) {
  return {std::max(a.polynomial, b.polynomial),
          std::max(a.inverses, b.inverses)};
}

/// Degree of a product.
inline Degree degreeOfProduct(Degree a, Degree b) {
  return {a.polynomial + b.polynomial, a.inverses + b.inverses};
}

/// A tensor, row-major. A value of type `index` is an integer tensor of rank 0.
template <class S> struct TensorOf {
  llvm::SmallVector<int64_t> shape;
  /// Whether the elements are in `integers` (i1 as 0 and 1) or in `values`.
  bool isInteger = false;
  std::vector<S> values;
  std::vector<int64_t> integers;
  /// Of an input: 1.
  Degree degree = {1, 0};

  int64_t size() const { return isInteger ? integers.size() : values.size(); }
  /// Same shape and elements; the degree is bookkeeping and does not count.
  bool operator==(const TensorOf &other) const {
    return shape == other.shape && isInteger == other.isInteger &&
           values == other.values && integers == other.integers;
  }
};

/// Elements between neighbours along each dimension of a row-major tensor.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Calls `visit(offset + sum of index[d] * strides[d])` for every index of
/// `shape` in row-major order.
template <class Visit>
void walkStrided(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                 int64_t offset, Visit visit) {
  if (shape.empty())
    return visit(offset);
  for (int64_t i = 0; i < shape.front(); ++i)
    walkStrided(shape.drop_front(), strides.drop_front(),
                offset + i * strides.front(), visit);
}

/// The part of `tensor` in `ranges`, one a dimension, which lie inside it.
template <class S>
TensorOf<S> slice(const TensorOf<S> &tensor, llvm::ArrayRef<Span> ranges) {
  assert(ranges.size() == tensor.shape.size() && "one range a dimension");
  llvm::SmallVector<int64_t> strides = rowMajorStrides(tensor.shape);
  TensorOf<S> part;
  part.isInteger = tensor.isInteger;
  part.degree = tensor.degree;
  int64_t offset = 0;
  for (unsigned dim = 0; dim < ranges.size(); ++dim) {
    assert(ranges[dim].offset >= 0 && ranges[dim].size >= 0 &&
           ranges[dim].offset + ranges[dim].size <= tensor.shape[dim]);
    part.shape.push_back(ranges[dim].size);
    offset += ranges[dim].offset * strides[dim];
  }
  walkStrided(part.shape, strides, offset, [&](int64_t position) {
    if (tensor.isInteger)
      part.integers.push_back(tensor.integers[position]);
    else
      part.values.push_back(tensor.values[position]);
  });
  return part;
}

/// The part of one dimension; the others stay whole.
template <class S>
TensorOf<S> slice(const TensorOf<S> &tensor, unsigned dim, Span range) {
  llvm::SmallVector<Span> ranges;
  for (int64_t size : tensor.shape)
    ranges.push_back({0, size});
  ranges[dim] = range;
  return slice<S>(tensor, ranges);
}

/// The pieces, at least one, after one another along `dim`. Their other
/// dimensions agree.
template <class S>
TensorOf<S> concatenate(llvm::ArrayRef<TensorOf<S>> pieces, unsigned dim) {
  TensorOf<S> whole;
  whole.shape = pieces.front().shape;
  whole.isInteger = pieces.front().isInteger;
  whole.degree = {0, 0};
  whole.shape[dim] = 0;
  int64_t total = 0;
  for (const TensorOf<S> &piece : pieces) {
    whole.shape[dim] += piece.shape[dim];
    whole.degree = degreeOfSum(whole.degree, piece.degree);
    total += piece.size();
  }
  whole.integers.resize(whole.isInteger ? total : 0);
  whole.values.resize(whole.isInteger ? 0 : total);
  llvm::SmallVector<int64_t> strides = rowMajorStrides(whole.shape);
  int64_t begin = 0;
  for (const TensorOf<S> &piece : pieces) {
    int64_t next = 0;
    walkStrided(piece.shape, strides, begin * strides[dim],
                [&](int64_t position) {
                  if (whole.isInteger)
                    whole.integers[position] = piece.integers[next++];
                  else
                    whole.values[position] = piece.values[next++];
                });
    begin += piece.shape[dim];
  }
  return whole;
}

} // namespace tp

#endif // TP_REFERENCE_TENSOR_H
