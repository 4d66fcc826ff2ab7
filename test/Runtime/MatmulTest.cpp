// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products against three nested loops in double, on every instruction set.

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

template <typename T> class MatmulTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MatmulTest, Types);

/// One element of the product, and the sum of absolute products that bounds its
/// rounding error (Higham 2002, section 3.1).
struct Element {
  double value = 0, magnitude = 0;
};

template <typename T>
Element product(const std::vector<T> &a, const std::vector<T> &b,
                const MatmulShape &s, int64_t batch, int64_t i, int64_t j) {
  Element sum;
  for (int64_t l = 0; l < s.k; ++l) {
    int64_t at = s.transposeA ? (batch * s.k + l) * s.m + i
                              : (batch * s.m + i) * s.k + l;
    int64_t base = s.bBatched ? batch * s.k * s.n : 0;
    int64_t bt = base + (s.transposeB ? j * s.k + l : l * s.n + j);
    double term = static_cast<double>(a[static_cast<size_t>(at)]) *
                  static_cast<double>(b[static_cast<size_t>(bt)]);
    sum.value += term;
    sum.magnitude += std::abs(term);
  }
  return sum;
}

/// Compares the product on every instruction set.
template <typename T> void expectProduct(const MatmulShape &s) {
  auto a = randomValues<T>(s.batch * s.m * s.k, 1);
  auto b = randomValues<T>((s.bBatched ? s.batch : 1) * s.k * s.n, 2);
  std::vector<Element> expected;
  for (int64_t batch = 0; batch < s.batch; ++batch)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j)
        expected.push_back(product(a, b, s, batch, i, j));
  // Twice the bound: in f64 the sums above round too.
  double bound =
      static_cast<double>(s.k + 1) * std::numeric_limits<T>::epsilon();
  for (const KernelTable &table : supportedKernels()) {
    SCOPED_TRACE(testing::Message()
                 << table.name << " batch " << s.batch
                 << (s.bBatched ? "b" : "") << " m " << s.m << " n " << s.n
                 << " k " << s.k << " " << s.transposeA << s.transposeB);
    auto out = unwritten<T>(s.batch * s.m * s.n);
    table.of<T>().matmul(out.data(), a.data(), b.data(), s);
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_LE(std::abs(static_cast<double>(out[i]) - expected[i].value),
                bound * expected[i].magnitude)
          << i;
  }
}

TYPED_TEST(MatmulTest, EveryTranspositionAndBatching) {
  for (int bits = 0; bits < 8; ++bits)
    for (auto [batch, m, n, k] : {std::array<int64_t, 4>{3, 5, 7, 11},
                                  {1, 1, 37, 19},
                                  {2, 41, 1, 13},
                                  {2, 65, 35, 131},
                                  {1, 9, 3, 1},
                                  {5, 1, 1, 17}})
      expectProduct<TypeParam>(
          {batch, m, n, k, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
}

/// Beyond one block of rows, columns and depth, with a remainder of each.
TYPED_TEST(MatmulTest, SeveralBlocks) {
  for (int bits = 0; bits < 4; ++bits)
    for (auto [m, n, k] : {std::array<int64_t, 3>{487, 67, 35},
                           {29, 1103, 23},
                           {25, 77, 1045},
                           {51, 131, 517},
                           {24, 64, 16}})
      expectProduct<TypeParam>(
          {1, m, n, k, false, (bits & 1) != 0, (bits & 2) != 0});
}

TYPED_TEST(MatmulTest, EmptySizesAndEmptySums) {
  for (auto [batch, m, n, k] : {std::array<int64_t, 4>{0, 3, 5, 7},
                                {2, 0, 5, 7},
                                {2, 3, 0, 7},
                                {2, 3, 5, 0}})
    for (bool transposed : {false, true})
      expectProduct<TypeParam>({batch, m, n, k, false, transposed, transposed});
}

TEST(Matmul, EntryPointUsesItsArguments) {
  // [[1,2],[3,4]] [[5,7],[6,8]]^T, and the same with a transposed.
  const float a[] = {1, 2, 3, 4}, b[] = {5, 7, 6, 8};
  float out[4];
  tp_matmul_f32(out, a, b, 1, 2, 2, 2, 0, 0, 1);
  EXPECT_EQ(std::vector<float>(out, out + 4),
            (std::vector<float>{19, 22, 43, 50}));
  tp_matmul_f32(out, a, b, 1, 2, 2, 2, 0, 1, 1);
  EXPECT_EQ(std::vector<float>(out, out + 4),
            (std::vector<float>{26, 30, 38, 44}));
  // Two batches of 1x1, each with a factor of its own.
  const double c[] = {2, 3}, d[] = {10, 100};
  double result[2];
  tp_matmul_f64(result, c, d, 2, 1, 1, 1, 1, 0, 0);
  EXPECT_EQ(result[0], 20);
  EXPECT_EQ(result[1], 300);
}

TEST(Matmul, SizesThatCannotBeAreErrors) {
  EXPECT_EQ(errorOf([] {
              tp_matmul_f32(nullptr, nullptr, nullptr, 1, -3, 2, 2, 0, 0, 0);
            }),
            "rank 0: tp_matmul_f32: size \"m\" is -3");
  int64_t huge = int64_t(1) << 31;
  EXPECT_EQ(errorOf([huge] {
              tp_matmul_f64(nullptr, nullptr, nullptr, 0, huge, huge, 1, 0, 0,
                            0);
            }),
            "rank 0: tp_matmul_f64: a buffer of batch 0 x m 2147483648 x n "
            "2147483648 elements is larger than memory can be");
}

} // namespace
