// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Variant.h"

#include <Eigen/Core>
#include <cmath>

namespace tp::runtime::TP_VARIANT {

namespace {

/// Short sums in T, which are vectorised, then a long one in double: the error
/// does not grow with the length of the row.
template <typename T> double sumOfSquares(const T *x, int64_t count) {
  constexpr int64_t block = 512;
  double sum = 0;
  for (int64_t begin = 0; begin < count; begin += block) {
    int64_t length = count - begin < block ? count - begin : block;
    Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> part(x + begin,
                                                              length);
    sum += static_cast<double>(part.square().sum());
  }
  return sum;
}

} // namespace

template <typename T>
void rmsNorm(T *out, const T *x, const T *gain, const NormShape &shape) {
  for (int64_t r = 0; r < shape.rows; ++r) {
    const T *row = x + r * shape.columns;
    T *result = out + r * shape.columns;
    double mean =
        sumOfSquares(row, shape.columns) / static_cast<double>(shape.columns);
    T factor = static_cast<T>(1 / std::sqrt(mean + shape.epsilon));
    for (int64_t c = 0; c < shape.columns; ++c)
      result[c] = row[c] * factor * gain[c];
  }
}

/// In double: a row whose mean is large against its deviations loses nothing.
template <typename T>
void layerNorm(T *out, const T *x, const T *gain, const T *bias,
               const NormShape &shape) {
  using Row = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
  auto columns = static_cast<double>(shape.columns);
  for (int64_t r = 0; r < shape.rows; ++r) {
    const T *row = x + r * shape.columns;
    T *result = out + r * shape.columns;
    auto values = Row(row, shape.columns).template cast<double>();
    double mean = values.sum() / columns;
    double variance = (values - mean).square().sum() / columns;
    double factor = 1 / std::sqrt(variance + shape.epsilon);
    for (int64_t c = 0; c < shape.columns; ++c) {
      T centred = static_cast<T>((static_cast<double>(row[c]) - mean) * factor);
      result[c] = centred * gain[c];
      if (bias)
        result[c] += bias[c];
    }
  }
}

template void layerNorm(float *, const float *, const float *, const float *,
                        const NormShape &);
template void layerNorm(double *, const double *, const double *,
                        const double *, const NormShape &);
template void rmsNorm(float *, const float *, const float *, const NormShape &);
template void rmsNorm(double *, const double *, const double *,
                      const NormShape &);

} // namespace tp::runtime::TP_VARIANT
