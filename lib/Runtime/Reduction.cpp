// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Variant.h"

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace tp::runtime::TP_VARIANT {

namespace {

/// Columns that are reduced side by side: a few vectors, and little stack.
constexpr int64_t mostColumns = 256;
/// Independent results of a row, so that it is reduced in vectors.
constexpr int64_t numLanes = 64;

/// Sums in double: the error does not grow with the number of terms.
template <typename T> struct SumOf {
  using Total = double;
  static constexpr Total start = 0;
  static void add(Total &total, Total value) { total += value; }
};

/// A comparison with a NaN is false, so that the first NaN stays.
template <typename T> struct MaxOf {
  using Total = T;
  static constexpr Total start = -std::numeric_limits<T>::infinity();
  static void add(Total &total, Total value) {
    total = value > total || value != value ? value : total;
  }
};

/// Adds `rows` rows of `columns` elements to `totals`, element by element.
template <typename Kind, typename T>
void foldRows(typename Kind::Total *totals, const T *x, int64_t rows,
              int64_t stride, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      Kind::add(totals[c],
                static_cast<typename Kind::Total>(x[r * stride + c]));
}

/// All elements of one row.
template <typename Kind, typename T>
typename Kind::Total foldRow(const T *x, int64_t count) {
  typename Kind::Total totals[numLanes];
  for (auto &total : totals)
    total = Kind::start;
  int64_t inLanes = count / numLanes * numLanes;
  foldRows<Kind>(totals, x, count / numLanes, numLanes, numLanes);
  foldRows<Kind>(totals, x + inLanes, 1, 0, count - inLanes);
  for (int64_t lane = 1; lane < numLanes; ++lane)
    Kind::add(totals[0], totals[lane]);
  return totals[0];
}

int64_t widthAt(int64_t begin, int64_t inner) {
  return inner - begin < mostColumns ? inner - begin : mostColumns;
}

template <typename Kind, typename T>
void reduceColumns(T *out, const T *x, const ReduceShape &s) {
  for (int64_t begin = 0; begin < s.inner; begin += mostColumns) {
    int64_t columns = widthAt(begin, s.inner);
    typename Kind::Total totals[mostColumns];
    for (int64_t c = 0; c < columns; ++c)
      totals[c] = Kind::start;
    foldRows<Kind>(totals, x + begin, s.visible, s.inner, columns);
    for (int64_t c = 0; c < columns; ++c)
      out[begin + c] = static_cast<T>(totals[c]);
  }
}

template <typename Kind, typename T>
void reduce(T *out, const T *x, const ReduceShape &s) {
  for (int64_t o = 0; o < s.outer; ++o) {
    const T *block = x + o * s.size * s.inner;
    if (s.inner == 1)
      out[o] = static_cast<T>(foldRow<Kind>(block, s.visible));
    else
      reduceColumns<Kind>(out + o * s.inner, block, s);
  }
}

template <typename T>
using Row = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstRow = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <typename T> void softmaxRow(T *out, const T *x, int64_t count) {
  T largest = foldRow<MaxOf<T>>(x, count);
  Row<T> result(out, count);
  result = (ConstRow<T>(x, count) - largest).exp();
  result *= static_cast<T>(1 / foldRow<SumOf<T>>(out, count));
}

/// The same along columns, `columns` of them side by side.
template <typename T>
void softmaxColumns(T *out, const T *x, const ReduceShape &s, int64_t columns) {
  T largest[mostColumns];
  double totals[mostColumns];
  for (int64_t c = 0; c < columns; ++c) {
    largest[c] = MaxOf<T>::start;
    totals[c] = 0;
  }
  foldRows<MaxOf<T>>(largest, x, s.size, s.inner, columns);
  for (int64_t r = 0; r < s.size; ++r)
    Row<T>(out + r * s.inner, columns) =
        (ConstRow<T>(x + r * s.inner, columns) - ConstRow<T>(largest, columns))
            .exp();
  foldRows<SumOf<T>>(totals, out, s.size, s.inner, columns);
  for (int64_t r = 0; r < s.size; ++r)
    for (int64_t c = 0; c < columns; ++c)
      out[r * s.inner + c] /= static_cast<T>(totals[c]);
}

} // namespace

template <typename T>
void reduceSum(T *out, const T *x, const ReduceShape &shape) {
  reduce<SumOf<T>>(out, x, shape);
}

template <typename T>
void reduceMax(T *out, const T *x, const ReduceShape &shape) {
  reduce<MaxOf<T>>(out, x, shape);
}

template <typename T> void softmax(T *out, const T *x, const ReduceShape &s) {
  for (int64_t o = 0; o < s.outer; ++o) {
    int64_t block = o * s.size * s.inner;
    if (s.inner == 1) {
      softmaxRow(out + block, x + block, s.size);
      continue;
    }
    for (int64_t begin = 0; begin < s.inner; begin += mostColumns)
      softmaxColumns(out + block + begin, x + block + begin, s,
                     widthAt(begin, s.inner));
  }
}

template void reduceSum(float *, const float *, const ReduceShape &);
template void reduceSum(double *, const double *, const ReduceShape &);
template void reduceMax(float *, const float *, const ReduceShape &);
template void reduceMax(double *, const double *, const ReduceShape &);
template void softmax(float *, const float *, const ReduceShape &);
template void softmax(double *, const double *, const ReduceShape &);

} // namespace tp::runtime::TP_VARIANT
