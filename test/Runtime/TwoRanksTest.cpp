// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The textbook example: R0 = [1, 2, 3, 4] and R1 = [10, 20, 30, 40].

#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <array>
#include <gtest/gtest.h>

using namespace tp::test;

namespace {

using Row = std::vector<float>;

constexpr std::array<int64_t, 2> both = {0, 1};

const std::array<Row, 2> inputs = {Row{1, 2, 3, 4}, Row{10, 20, 30, 40}};

/// What `body(out, in)` leaves in `size` elements on each rank.
std::array<Row, 2> onBoth(size_t size,
                          const std::function<void(float *, float *)> &body) {
  std::array<Row, 2> results;
  Errors errors = runRanks(2, 60, [&](int64_t rank) {
    auto number = static_cast<size_t>(rank);
    Row in = inputs[number], out(size, -1);
    body(out.data(), in.data());
    results[number] = out;
  });
  EXPECT_EQ(errors[0], std::nullopt);
  EXPECT_EQ(errors[1], std::nullopt);
  return results;
}

TEST(TwoRanks, AllReduce) {
  auto results = onBoth(4, [](float *out, float *in) {
    tp_all_reduce(out, in, 4, TP_F32, TP_SUM, both.data(), 1, 2, 1);
  });
  EXPECT_EQ(results[0], (Row{11, 22, 33, 44}));
  EXPECT_EQ(results[1], (Row{11, 22, 33, 44}));
}

TEST(TwoRanks, ReduceScatter) {
  auto results = onBoth(2, [](float *out, float *in) {
    tp_reduce_scatter(out, in, 1, 2, TP_F32, TP_SUM, both.data(), 1, 2, 1);
  });
  EXPECT_EQ(results[0], (Row{11, 22}));
  EXPECT_EQ(results[1], (Row{33, 44}));
}

TEST(TwoRanks, AllGather) {
  auto results = onBoth(8, [](float *out, float *in) {
    tp_all_gather(out, in, 1, 4, TP_F32, both.data(), 1, 2, 1);
  });
  EXPECT_EQ(results[0], (Row{1, 2, 3, 4, 10, 20, 30, 40}));
  EXPECT_EQ(results[1], (Row{1, 2, 3, 4, 10, 20, 30, 40}));
}

/// A tensor [2, 4] whose rows lie on the ranks becomes one whose columns do;
/// each rank's piece, row-major, is what its peer had for it.
TEST(TwoRanks, AllToAll) {
  auto results = onBoth(4, [](float *out, float *in) {
    tp_all_to_all(out, in, 1, 1, 1, 4, 1, 1, TP_F32, both.data(), 1, 2, 1);
  });
  EXPECT_EQ(results[0], (Row{1, 2, 10, 20}));
  EXPECT_EQ(results[1], (Row{3, 4, 30, 40}));
}

TEST(TwoRanks, ReduceScatterThenAllGatherIsAllReduce) {
  auto results = onBoth(4, [](float *out, float *in) {
    std::array<float, 2> part = {};
    tp_reduce_scatter(part.data(), in, 1, 2, TP_F32, TP_SUM, both.data(), 1, 2,
                      1);
    tp_all_gather(out, part.data(), 1, 2, TP_F32, both.data(), 1, 2, 2);
  });
  EXPECT_EQ(results[0], (Row{11, 22, 33, 44}));
  EXPECT_EQ(results[1], results[0]);
}

} // namespace
