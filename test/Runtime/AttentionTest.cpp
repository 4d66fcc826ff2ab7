// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention and rotary embedding against the definition, in double, on every
// instruction set.

#include "Inputs.h"
#include "RunRanks.h"
#include "Runtime/Kernels.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>

using namespace tp::runtime;
using namespace tp::test;

namespace {

template <typename T> class AttentionTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionTest, Types);
template <typename T> class RopeTest : public testing::Test {};
TYPED_TEST_SUITE(RopeTest, Types);

template <typename T> struct Operands {
  std::vector<T> q, k, v;

  Operands(const AttentionShape &s, double size)
      : q(randomValues<T>(s.batch * s.queries * s.heads * s.headDim, 1)),
        k(randomValues<T>(s.batch * s.keys * s.kvHeads * s.headDim, 2)),
        v(randomValues<T>(s.batch * s.keys * s.kvHeads * s.headDim, 3)) {
    for (T &value : q)
      value *= static_cast<T>(size);
  }
};

/// Row of one query and head, by the definition.
template <typename T>
std::vector<double> attend(const Operands<T> &x, const AttentionShape &s,
                           int64_t batch, int64_t query, int64_t head) {
  int64_t kvHead = head / (s.heads / s.kvHeads);
  auto at = [&](int64_t j, int64_t d) {
    return static_cast<size_t>(
        ((batch * s.keys + j) * s.kvHeads + kvHead) * s.headDim + d);
  };
  std::vector<double> scores;
  for (int64_t j = 0; j < s.keys && (!s.causal || j - query <= s.origin); ++j) {
    double score = 0;
    for (int64_t d = 0; d < s.headDim; ++d)
      score += static_cast<double>(x.q[static_cast<size_t>(
                   ((batch * s.queries + query) * s.heads + head) * s.headDim +
                   d)]) *
               static_cast<double>(x.k[at(j, d)]);
    scores.push_back(score * s.scale);
  }
  std::vector<double> row(static_cast<size_t>(s.headDim), 0.0);
  if (scores.empty())
    return row;
  double top = *std::ranges::max_element(scores), total = 0;
  for (size_t j = 0; j < scores.size(); ++j) {
    double weight = std::exp(scores[j] - top);
    total += weight;
    for (size_t d = 0; d < row.size(); ++d)
      row[d] += weight *
                static_cast<double>(
                    x.v[at(static_cast<int64_t>(j), static_cast<int64_t>(d))]);
  }
  for (double &value : row)
    value /= total;
  return row;
}

/// `size` is that of the queries' elements: the error of the scores, and so of
/// the weights, grows with it.
template <typename T>
void expectAttention(const KernelTable &table, const AttentionShape &s,
                     double size = 1) {
  SCOPED_TRACE(testing::Message()
               << table.name << " b " << s.batch << " queries " << s.queries
               << " keys " << s.keys << " heads " << s.heads << "/" << s.kvHeads
               << " d " << s.headDim << " causal " << s.causal << " from "
               << s.origin);
  Operands<T> x(s, size);
  auto out = unwritten<T>(static_cast<int64_t>(x.q.size()));
  table.of<T>().attention(out.data(), x.q.data(), x.k.data(), x.v.data(), s);
  double tolerance = std::numeric_limits<T>::epsilon() * 24 *
                     (1 + size * s.scale * std::sqrt(s.headDim));
  size_t at = 0;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t i = 0; i < s.queries; ++i)
      for (int64_t h = 0; h < s.heads; ++h)
        for (double expected : attend(x, s, b, i, h))
          ASSERT_NEAR(static_cast<double>(out[at++]), expected, tolerance)
              << b << " " << i << " " << h;
}

TYPED_TEST(AttentionTest, GroupedQueriesOfOddSizes) {
  for (const KernelTable &table : supportedKernels())
    for (auto [batch, queries, keys, heads, kvHeads, headDim] :
         {std::array<int64_t, 6>{2, 7, 5, 6, 3, 11},
          {1, 67, 301, 5, 1, 9},
          {3, 1, 13, 4, 2, 8},
          {1, 130, 3, 2, 2, 33},
          {1, 2, 5, 70, 1, 3},
          {2, 1, 515, 1, 1, 17},
          {2, 1, 389, 6, 2, 32},
          {1, 2, 131, 3, 1, 16},
          {1, 21, 40, 4, 4, 24},
          {1, 3, 4, 2, 1, 1}})
      expectAttention<TypeParam>(table, {batch, queries, keys, heads, kvHeads,
                                         headDim, 0.4, false, 0});
}

TYPED_TEST(AttentionTest, CausalFromAnyOrigin) {
  // Square, a rank's later queries, a cache, and queries in front of all keys.
  for (const KernelTable &table : supportedKernels())
    for (auto [queries, keys, origin] : {std::array<int64_t, 3>{129, 129, 0},
                                         {65, 331, 266},
                                         {31, 93, 17},
                                         {37, 19, -11},
                                         {7, 5, -7},
                                         {7, 5, -100},
                                         {9, 14, 1000},
                                         {1, 271, 270},
                                         {3, 260, 257},
                                         {2, 150, 100},
                                         {1, 5, 0},
                                         {3, 300, 254}})
      for (int64_t headDim : {13, 16})
        expectAttention<TypeParam>(
            table, {2, queries, keys, 6, 2, headDim, 0.7, true, origin});
  for (const KernelTable &table : supportedKernels()) {
    int64_t least = std::numeric_limits<int64_t>::min();
    expectAttention<TypeParam>(table, {1, 3, 5, 2, 1, 4, 1, true, least});
    expectAttention<TypeParam>(table,
                               {1, 3, 5, 2, 1, 4, 1, true, -(least + 1)});
  }
}

TYPED_TEST(AttentionTest, LargeScoresNeitherOverflowNorLoseTheRest) {
  // Scores reach thousands: exp of them is out of range in f32 and f64 alike.
  for (const KernelTable &table : supportedKernels())
    for (bool causal : {false, true})
      expectAttention<TypeParam>(table, {1, 19, 533, 3, 1, 7, 1, causal, 514},
                                 1500);
}

TYPED_TEST(AttentionTest, EmptySizes) {
  for (const KernelTable &table : supportedKernels())
    for (auto [batch, queries, keys, heads, kvHeads, headDim] :
         {std::array<int64_t, 6>{0, 3, 5, 2, 1, 7},
          {2, 0, 5, 2, 1, 7},
          {2, 3, 0, 2, 1, 7},
          {2, 3, 5, 0, 1, 7},
          {2, 3, 5, 2, 1, 0}})
      for (bool causal : {false, true})
        expectAttention<TypeParam>(table, {batch, queries, keys, heads, kvHeads,
                                           headDim, 1, causal, 2});
}

TEST(Attention, EntryPointsUseTheirArguments) {
  // One key a query sees: its value. Two heads, each with a KV head of its own.
  const float q[] = {1, 1}, k[] = {1, 1, 2, 2}, v[] = {3, 4, 50, 60};
  float out[2];
  tp_attention_f32(out, q, k, v, 1, 1, 2, 2, 2, 1, 1.0, 1, 0);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 4);
  const double dq[] = {0, 0}, dk[] = {1, 2}, dv[] = {3, 5};
  double result[2];
  tp_attention_f64(result, dq, dk, dv, 1, 1, 2, 2, 1, 1, 1.0, 0, 0);
  EXPECT_DOUBLE_EQ(result[0], 4);
  EXPECT_DOUBLE_EQ(result[1], 4);
}

TEST(Attention, HeadsThatDoNotShareEvenlyAreAnError) {
  EXPECT_EQ(errorOf([] {
              tp_attention_f32(nullptr, nullptr, nullptr, nullptr, 1, 2, 2, 7,
                               3, 4, 1, 0, 0);
            }),
            "rank 0: tp_attention_f32: 7 query heads are no multiple of 3 KV "
            "heads");
  EXPECT_EQ(errorOf([] {
              tp_attention_f64(nullptr, nullptr, nullptr, nullptr, 1, 2, 2, 7,
                               0, 4, 1, 0, 0);
            }),
            "rank 0: tp_attention_f64: 7 query heads are no multiple of 0 KV "
            "heads");
}

template <typename T>
void expectRope(const KernelTable &table, const RopeShape &s) {
  auto x = randomValues<T>(s.batch * s.sequence * s.heads * s.headDim, 5);
  auto out = unwritten<T>(static_cast<int64_t>(x.size()));
  table.of<T>().rope(out.data(), x.data(), s);
  int64_t half = s.headDim / 2;
  double tolerance = 4 * std::numeric_limits<T>::epsilon() +
                     4e-16 * static_cast<double>(s.origin + s.sequence);
  for (size_t at = 0; at < x.size(); ++at) {
    auto index = static_cast<int64_t>(at);
    int64_t d = index % s.headDim;
    int64_t position = index / (s.headDim * s.heads) % s.sequence + s.origin;
    double angle = static_cast<double>(position) *
                   std::pow(s.theta, -2.0 * static_cast<double>(d % half) /
                                         static_cast<double>(s.headDim));
    // rotate_half: (x, y) -> (x cos - y sin, y cos + x sin).
    double other =
        static_cast<double>(d < half ? -x[at + static_cast<size_t>(half)]
                                     : x[at - static_cast<size_t>(half)]);
    double expected =
        static_cast<double>(x[at]) * std::cos(angle) + other * std::sin(angle);
    ASSERT_NEAR(static_cast<double>(out[at]), expected, tolerance)
        << table.name << " " << at;
  }
  // In place gives the same.
  table.of<T>().rope(x.data(), x.data(), s);
  EXPECT_EQ(x, out);
}

TYPED_TEST(RopeTest, HalvesTurnByPosition) {
  for (const KernelTable &table : supportedKernels()) {
    expectRope<TypeParam>(table, {2, 7, 3, 10, 0, 1e4, 0, 0, 0, 0});
    expectRope<TypeParam>(table, {1, 197, 2, 6, 1021, 5e5, 0, 0, 0, 0});
    expectRope<TypeParam>(table, {1, 1, 5, 2, 8191, 1e4, 0, 0, 0, 0});
    for (auto [batch, sequence, heads, headDim] :
         {std::array<int64_t, 4>{0, 3, 5, 2},
          {3, 0, 5, 2},
          {3, 5, 0, 2},
          {3, 5, 2, 0}})
      expectRope<TypeParam>(
          table, {batch, sequence, heads, headDim, 0, 1e4, 0, 0, 0, 0});
  }
}

TEST(Rope, FrequenciesOfLlama31) {
  // Frequencies that were computed with 40 digits: unchanged, in between (29 to
  // 34), divided by 8. At position 1 the vector (1, 0) turns to (cos f, sin f).
  std::vector<double> x(128, 0.0), out(128);
  std::fill_n(x.begin(), 64, 1.0);
  tp_rope_f64(out.data(), x.data(), 1, 1, 1, 128, 1, 5e5, 8, 1, 4, 8192);
  for (auto [pair, frequency] :
       {std::pair<size_t, double>{1, 0.81461723385654470410},
        {28, 0.00321144599475259101},
        {29, 0.00216657076350335860},
        {31, 0.00085675141291963208},
        {34, 0.00017850781276799641},
        {35, 0.00009556212353964683},
        {63, 3.06892598891451108e-7}})
    EXPECT_NEAR(std::atan2(out[pair + 64], out[pair]) / frequency, 1, 1e-12)
        << pair;
  EXPECT_DOUBLE_EQ(std::atan2(out[64], out[0]), 1);
  // Without a factor the others do not matter.
  std::vector<float> y(128, 1.0f), plain(128), ignored(128);
  tp_rope_f32(plain.data(), y.data(), 1, 1, 1, 128, 77, 5e5, 0, 0, 0, 0);
  tp_rope_f32(ignored.data(), y.data(), 1, 1, 1, 128, 77, 5e5, 0, 1, 4, 8192);
  EXPECT_EQ(plain, ignored);
}

TEST(Rope, OddWidthsAndNegativeOriginsAreErrors) {
  EXPECT_EQ(errorOf([] {
              tp_rope_f32(nullptr, nullptr, 1, 2, 3, 5, 0, 1e4, 0, 0, 0, 0);
            }),
            "rank 0: tp_rope_f32: headDim 5 is odd; elements turn in pairs");
  EXPECT_EQ(errorOf([] {
              tp_rope_f64(nullptr, nullptr, 1, 2, 3, 4, -1, 1e4, 0, 0, 0, 0);
            }),
            "rank 0: tp_rope_f64: origin -1 is no position of a sequence");
}

} // namespace
