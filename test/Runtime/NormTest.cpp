// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// rms_norm against its formula in double, on every instruction set.

#include "Inputs.h"
#include "RunRanks.h"
#include "Runtime/Kernels.h"
#include "tp/Runtime/Abi.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

using namespace tp::runtime;
using namespace tp::test;

namespace {

template <typename T> class NormTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(NormTest, Types);

template <typename T>
void expectNorm(const KernelTable &table, const NormShape &s) {
  auto x = randomValues<T>(s.rows * s.columns, 1);
  auto gain = randomValues<T>(s.columns, 2);
  auto out = unwritten<T>(s.rows * s.columns);
  table.of<T>().rmsNorm(out.data(), x.data(), gain.data(), s);
  double tolerance = 16 * std::numeric_limits<T>::epsilon();
  for (int64_t r = 0; r < s.rows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < s.columns; ++c) {
      auto value =
          static_cast<double>(x[static_cast<size_t>(r * s.columns + c)]);
      squares += value * value;
    }
    double root =
        std::sqrt(squares / static_cast<double>(s.columns) + s.epsilon);
    for (int64_t c = 0; c < s.columns; ++c) {
      auto at = static_cast<size_t>(r * s.columns + c);
      double expected = static_cast<double>(x[at]) / root *
                        static_cast<double>(gain[static_cast<size_t>(c)]);
      ASSERT_NEAR(static_cast<double>(out[at]), expected, tolerance)
          << table.name << " row " << r << " column " << c;
    }
  }
  table.of<T>().rmsNorm(x.data(), x.data(), gain.data(), s);
  EXPECT_EQ(x, out) << "in place";
}

TYPED_TEST(NormTest, RowsOfAnyLength) {
  for (const KernelTable &table : supportedKernels())
    for (auto [rows, columns] : {std::array<int64_t, 2>{3, 5},
                                 {2, 511},
                                 {1, 513},
                                 {5, 4099},
                                 {7, 1},
                                 {0, 9},
                                 {9, 0}})
      for (double epsilon : {1e-5, 0.75})
        expectNorm<TypeParam>(table, {rows, columns, epsilon});
}

template <typename T>
void expectLayerNorm(const KernelTable &table, const NormShape &s,
                     double offset, bool hasBias) {
  auto x = randomValues<T>(s.rows * s.columns, 3);
  for (T &value : x)
    value += static_cast<T>(offset);
  auto gain = randomValues<T>(s.columns, 4);
  auto bias = randomValues<T>(s.columns, 5);
  auto out = unwritten<T>(s.rows * s.columns);
  const T *given = hasBias ? bias.data() : nullptr;
  table.of<T>().layerNorm(out.data(), x.data(), gain.data(), given, s);
  double tolerance = 32 * (std::numeric_limits<T>::epsilon() +
                           offset * std::numeric_limits<double>::epsilon());
  auto columns = static_cast<size_t>(s.columns);
  for (size_t row = 0; row < static_cast<size_t>(s.rows); ++row) {
    long double mean = 0, variance = 0;
    for (size_t c = 0; c < columns; ++c)
      mean += x[row * columns + c];
    mean /= static_cast<long double>(columns);
    for (size_t c = 0; c < columns; ++c) {
      long double deviation = x[row * columns + c] - mean;
      variance += deviation * deviation;
    }
    variance /= static_cast<long double>(columns);
    long double root = std::sqrt(variance + s.epsilon);
    for (size_t c = 0; c < columns; ++c) {
      long double expected = (x[row * columns + c] - mean) / root * gain[c];
      if (hasBias)
        expected += bias[c];
      ASSERT_NEAR(static_cast<double>(out[row * columns + c]),
                  static_cast<double>(expected), tolerance)
          << table.name << " row " << row << " column " << c;
    }
  }
  table.of<T>().layerNorm(x.data(), x.data(), gain.data(), given, s);
  EXPECT_EQ(x, out) << "in place";
}

TYPED_TEST(NormTest, RowsWithMeanAndBias) {
  for (const KernelTable &table : supportedKernels())
    for (auto [rows, columns] :
         {std::array<int64_t, 2>{3, 5}, {2, 513}, {7, 1}, {0, 9}, {9, 0}})
      for (double offset : {0.0, 1000.0})
        for (bool hasBias : {true, false})
          expectLayerNorm<TypeParam>(table, {rows, columns, 1e-5}, offset,
                                     hasBias);
}

TEST(Norm, EntryPointsUseTheirArguments) {
  // Mean of squares 12.5, with epsilon 3.5 a root of 4.
  const float x[] = {3, 4}, gain[] = {8, -2};
  float out[2];
  tp_rms_norm_f32(out, x, gain, 1, 2, 3.5);
  EXPECT_FLOAT_EQ(out[0], 6);
  EXPECT_FLOAT_EQ(out[1], -2);
  const double dx[] = {0, 0}, dgain[] = {8, -2};
  double result[2];
  tp_rms_norm_f64(result, dx, dgain, 1, 2, 1e-6);
  EXPECT_EQ(result[0], 0);
  EXPECT_EQ(errorOf([&] { tp_rms_norm_f64(result, dx, dgain, 1, -2, 0); }),
            "rank 0: tp_rms_norm_f64: size \"columns\" is -2");
}

TEST(Norm, LayerNormReadsTheBiasIfThereIsOne) {
  // Mean 5, variance 4, with epsilon 5 a root of 3.
  const double x[] = {3, 7}, gain[] = {6, 3}, bias[] = {0.5, 0.25};
  double out[2];
  tp_layer_norm_f64(out, x, gain, bias, 1, 2, 5, 1);
  EXPECT_DOUBLE_EQ(out[0], -3.5);
  EXPECT_DOUBLE_EQ(out[1], 2.25);
  tp_layer_norm_f64(out, x, gain, gain, 1, 2, 5, 0);
  EXPECT_DOUBLE_EQ(out[0], -4);
  EXPECT_DOUBLE_EQ(out[1], 2);
  EXPECT_EQ(
      errorOf([&] { tp_layer_norm_f64(out, x, gain, gain, -1, 2, 0, 0); }),
      "rank 0: tp_layer_norm_f64: size \"rows\" is -1");
}

} // namespace
