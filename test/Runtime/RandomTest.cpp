// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The generator against its published answers; dropout as a function of the
// place in the whole tensor.

#include "Runtime/Random.h"
#include "Inputs.h"
#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tp::runtime;
using namespace tp::test;

// philox4x32 10 in kat_vectors of Random123.
TEST(Random, PublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (RandomWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                   {0xffffffff, 0xffffffff}),
            (RandomWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (RandomWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

namespace {

/// Dropout of a whole [rows, columns].
std::vector<double> drop(const std::vector<double> &x, int64_t rows,
                         int64_t columns, double rate, int64_t seed,
                         int64_t site) {
  const int64_t dims[] = {rows, columns, columns, 1};
  auto out = unwritten<double>(rows * columns);
  tp_dropout_f64(out.data(), x.data(), &seed, dims, 2, 0, rate, site);
  return out;
}

} // namespace

TEST(Random, DropsByWordsBelowTheRate) {
  std::vector<double> x(21, 3);
  std::vector<double> out = drop(x, 3, 7, .25, 0x299f31d0a4093822, 77);
  for (uint32_t i = 0; i < 21; ++i) {
    RandomWords words = philox({i / 4, 0, 77, 0}, {0xa4093822, 0x299f31d0});
    EXPECT_DOUBLE_EQ(out[i], words[i % 4] < 0x40000000 ? 0 : 4) << i;
  }
}

TEST(Random, ShareOfDroppedElements) {
  int64_t count = 100000;
  std::vector<double> x(static_cast<size_t>(count), 1);
  for (double rate : {0.1, 0.5, 0.9}) {
    std::vector<double> out = drop(x, 1, count, rate, 5, 0);
    auto dropped = static_cast<double>(std::ranges::count(out, 0.0));
    // Five standard deviations.
    EXPECT_NEAR(dropped, rate * 1e5, 5 * std::sqrt(1e5 * rate * (1 - rate)));
  }
  EXPECT_EQ(drop(x, 1, count, 0, 5, 0), x);
  EXPECT_EQ(drop(x, 1, count, 1, 5, 0), std::vector<double>(x.size(), 0));
  EXPECT_NE(drop(x, 1, count, .5, 5, 0), drop(x, 1, count, .5, 6, 0));
  EXPECT_NE(drop(x, 1, count, .5, 5, 0), drop(x, 1, count, .5, 5, 1));
}

// Columns [3, 8) of rows [2, 4) of a [5, 9], where indices are 9 row + column.
TEST(Random, APartIsAPartOfTheWhole) {
  auto x = randomValues<double>(45, 1);
  std::vector<double> whole = drop(x, 5, 9, .5, 11, 2);
  std::vector<double> part, expected;
  for (size_t row : {2u, 3u})
    for (size_t column = 3; column < 8; ++column) {
      part.push_back(x[row * 9 + column]);
      expected.push_back(whole[row * 9 + column]);
    }
  const int64_t dims[] = {2, 9, 5, 1}, seed = 11;
  tp_dropout_f64(part.data(), part.data(), &seed, dims, 2, 21, .5, 2);
  EXPECT_EQ(part, expected);
  EXPECT_GT(std::ranges::count(expected, 0.0), 0);
}

TEST(Random, ArgumentsAreChecked) {
  float value = 1;
  const int64_t seed = 0, dims[] = {1, 1}, strided[] = {1, 2};
  EXPECT_EQ(errorOf([&] {
              tp_dropout_f32(&value, &value, &seed, dims, 1, 0, 1.5, 0);
            }),
            "rank 0: tp_dropout_f32: rate 1.500000 is not from 0 to 1");
  EXPECT_EQ(errorOf([&] {
              tp_dropout_f32(&value, &value, &seed, strided, 1, 0, .5, 0);
            }),
            "rank 0: tp_dropout_f32: the last of 1 dimensions has no stride of "
            "1");
  EXPECT_EQ(errorOf([&] {
              tp_dropout_f32(&value, &value, &seed, dims, 1, -1, .5, 0);
            }),
            "rank 0: tp_dropout_f32: size \"origin\" is -1");
}
