// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions and softmax against loops in long double, on every instruction
// set.

#include "Inputs.h"
#include "RunRanks.h"
#include "Runtime/Kernels.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace tp::runtime;
using namespace tp::test;

namespace {

template <typename T> class ReductionTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ReductionTest, Types);

const ReduceShape shapes[] = {
    {3, 5, 1, 5}, {2, 511, 1, 511}, {1, 4099, 1, 64}, {5, 7, 1, 0},
    {2, 9, 3, 7}, {3, 4, 257, 4},   {1, 3, 513, 2},   {4, 0, 5, 0},
    {0, 3, 5, 3}, {2, 3, 0, 3}};

template <typename T> struct Case {
  explicit Case(const ReduceShape &s)
      : s(s), x(randomValues<T>(s.outer * s.size * s.inner, 7)) {}

  /// Element r of the reduction that gives result `number`.
  T at(int64_t number, int64_t r) const {
    int64_t o = number / s.inner, i = number % s.inner;
    return x[static_cast<size_t>((o * s.size + r) * s.inner + i)];
  }

  ReduceShape s;
  std::vector<T> x;
};

TYPED_TEST(ReductionTest, SumsAndMaxima) {
  for (const KernelTable &table : supportedKernels())
    for (const ReduceShape &s : shapes) {
      Case<TypeParam> c(s);
      auto sums = unwritten<TypeParam>(s.outer * s.inner), maxima = sums;
      table.of<TypeParam>().reduceSum(sums.data(), c.x.data(), s);
      table.of<TypeParam>().reduceMax(maxima.data(), c.x.data(), s);
      for (int64_t n = 0; n < s.outer * s.inner; ++n) {
        long double sum = 0;
        auto largest = -std::numeric_limits<TypeParam>::infinity();
        for (int64_t r = 0; r < s.visible; ++r) {
          sum += c.at(n, r);
          largest = std::max(largest, c.at(n, r));
        }
        auto at = static_cast<size_t>(n);
        EXPECT_NEAR(static_cast<double>(sums[at]), static_cast<double>(sum),
                    100 * std::numeric_limits<TypeParam>::epsilon())
            << table.name << " result " << n << " of size " << s.size;
        EXPECT_EQ(maxima[at], largest) << table.name << " result " << n;
      }
    }
}

// One NaN among the elements, wherever it is, is the maximum.
TYPED_TEST(ReductionTest, MaximumOfANaN) {
  auto nan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const KernelTable &table : supportedKernels())
    for (size_t place : {0u, 64u, 65u, 130u}) {
      std::vector<TypeParam> x(131, 1);
      x[place] = nan;
      TypeParam out = 0;
      table.of<TypeParam>().reduceMax(&out, x.data(), {1, 131, 1, 131});
      EXPECT_TRUE(std::isnan(out)) << table.name << " at " << place;
    }
}

TYPED_TEST(ReductionTest, Softmax) {
  for (const KernelTable &table : supportedKernels())
    for (const ReduceShape &s : shapes) {
      Case<TypeParam> c(s);
      // Far from 0: only the differences count.
      for (TypeParam &value : c.x)
        value = value * 16 + 1000;
      auto out = unwritten<TypeParam>(s.outer * s.size * s.inner);
      table.of<TypeParam>().softmax(out.data(), c.x.data(), s);
      for (int64_t n = 0; n < s.outer * s.inner; ++n) {
        long double total = 0;
        for (int64_t r = 0; r < s.size; ++r)
          total += std::exp(static_cast<long double>(c.at(n, r)) - 1000);
        for (int64_t r = 0; r < s.size; ++r) {
          int64_t o = n / s.inner, i = n % s.inner;
          auto at = static_cast<size_t>((o * s.size + r) * s.inner + i);
          auto expected = static_cast<double>(
              std::exp(static_cast<long double>(c.at(n, r)) - 1000) / total);
          ASSERT_NEAR(static_cast<double>(out[at]), expected,
                      64 * std::numeric_limits<TypeParam>::epsilon() * expected)
              << table.name << " element " << at << " of size " << s.size;
        }
      }
      // Where vectors begin depends on the alignment, and exp of a vector is
      // not that of a number to the last bit.
      table.of<TypeParam>().softmax(c.x.data(), c.x.data(), s);
      for (size_t at = 0; at < out.size(); ++at)
        ASSERT_NEAR(c.x[at], out[at],
                    8 * std::numeric_limits<TypeParam>::epsilon() * out[at])
            << table.name << " in place";
    }
}

TEST(Reduction, EntryPointsCountFromTheOrigin) {
  const double x[] = {1, 2, 4, 8, 16, 32};
  double out[2];
  // Elements 3, 4 and 5 of a dimension of which 5 count.
  tp_reduce_sum_f64(out, x, 1, 3, 2, 3, 5);
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(out[1], 10);
  tp_reduce_max_f64(out, x, 2, 3, 1, 0, 3);
  EXPECT_EQ(out[0], 4);
  EXPECT_EQ(out[1], 32);
  tp_reduce_max_f64(out, x, 2, 3, 1, 7, 3);
  EXPECT_EQ(out[0], -std::numeric_limits<double>::infinity());
  const float y[] = {0, std::log(3.0f)};
  float share[2];
  tp_softmax_f32(share, y, 1, 2, 1);
  EXPECT_FLOAT_EQ(share[0], .25);
  EXPECT_FLOAT_EQ(share[1], .75);
  EXPECT_EQ(errorOf([&] { tp_softmax_f32(share, y, 1, -2, 1); }),
            "rank 0: tp_softmax_f32: size \"size\" is -2");
  EXPECT_EQ(errorOf([&] { tp_reduce_sum_f64(out, x, 1, 3, 2, -1, 5); }),
            "rank 0: tp_reduce_sum_f64: size \"origin\" is -1");
}

} // namespace
