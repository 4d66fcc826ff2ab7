// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lookups in a shard of a table: rows, zeros and ids that do not exist.

#include "Inputs.h"
#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <gtest/gtest.h>
#include <tuple>

using namespace tp::test;

namespace {

auto lookUp(float *out, const float *table, const int32_t *ids) {
  return
      [=](int64_t n, int64_t rows, int64_t width, int64_t origin, int64_t v) {
        tp_embedding_f32_i32(out, table, ids, n, rows, width, origin, v);
      };
}
auto lookUp(float *out, const float *table, const int64_t *ids) {
  return
      [=](int64_t n, int64_t rows, int64_t width, int64_t origin, int64_t v) {
        tp_embedding_f32_i64(out, table, ids, n, rows, width, origin, v);
      };
}
auto lookUp(double *out, const double *table, const int32_t *ids) {
  return
      [=](int64_t n, int64_t rows, int64_t width, int64_t origin, int64_t v) {
        tp_embedding_f64_i32(out, table, ids, n, rows, width, origin, v);
      };
}
auto lookUp(double *out, const double *table, const int64_t *ids) {
  return
      [=](int64_t n, int64_t rows, int64_t width, int64_t origin, int64_t v) {
        tp_embedding_f64_i64(out, table, ids, n, rows, width, origin, v);
      };
}

template <typename Pair> class VocabularyTest : public testing::Test {};
using Pairs =
    testing::Types<std::tuple<float, int32_t>, std::tuple<float, int64_t>,
                   std::tuple<double, int32_t>, std::tuple<double, int64_t>>;
TYPED_TEST_SUITE(VocabularyTest, Pairs);

TYPED_TEST(VocabularyTest, ShardsAddUpToTheTable) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Id = std::tuple_element_t<1, TypeParam>;
  // 11 rows of 3 as 4, 4, 3 and an empty shard.
  const int64_t width = 3, vocabulary = 11;
  auto table = randomValues<T>(vocabulary * width, 1);
  const std::vector<Id> ids = {0, 10, 4, 3, 7, 8, 4};
  auto tokens = static_cast<int64_t>(ids.size());
  std::vector<T> sum(ids.size() * 3, T(0));
  for (auto [origin, rows] :
       {std::pair<int64_t, int64_t>{0, 4}, {4, 4}, {8, 3}, {11, 0}}) {
    auto out = unwritten<T>(tokens * width);
    lookUp(out.data(), table.data() + origin * width,
           ids.data())(tokens, rows, width, origin, vocabulary);
    for (size_t i = 0; i < out.size(); ++i) {
      int64_t id = ids[i / 3];
      if (id < origin || id >= origin + rows) {
        EXPECT_EQ(out[i], T(0));
      }
      sum[i] += out[i];
    }
  }
  for (size_t i = 0; i < sum.size(); ++i)
    EXPECT_EQ(sum[i], table[static_cast<size_t>(ids[i / 3]) * 3 + i % 3]);
}

TYPED_TEST(VocabularyTest, IdsOutsideTheVocabularyAreNamed) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Id = std::tuple_element_t<1, TypeParam>;
  std::vector<T> table(8), out(6);
  for (Id wrong : {Id(-1), Id(11)}) {
    const Id ids[] = {2, 9, wrong};
    auto call = lookUp(out.data(), table.data(), ids);
    std::string error = errorOf([&] { call(3, 4, 2, 0, 11); });
    EXPECT_NE(error.find("token 2 has id " + std::to_string(wrong) +
                         ", outside a vocabulary of 11"),
              std::string::npos)
        << error;
  }
}

TEST(Vocabulary, RowsBeyondTheVocabularyArePadding) {
  const float table[] = {1, 2, 3, 4};
  float out[2] = {7, 7};
  const int64_t real[] = {9, 10}, padded[] = {11};
  tp_embedding_f32_i64(out, table, real, 2, 4, 1, 8, 11);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 3);
  EXPECT_EQ(
      errorOf(
          [&] { tp_embedding_f32_i64(out, table, padded, 1, 4, 1, 8, 11); }),
      "rank 0: tp_embedding_f32_i64: token 0 has id 11, outside a vocabulary "
      "of 11");
}

TEST(Vocabulary, ImpossibleShardsAndEmptySizes) {
  const int64_t ids[] = {0};
  float out[1] = {7};
  tp_embedding_f32_i64(out, out, ids, 0, 0, 1, 0, 0);
  tp_embedding_f32_i64(out, out, ids, 1, 5, 0, 0, 5);
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(
      errorOf([&] { tp_embedding_f32_i64(out, out, ids, 1, 4, 1, -8, 11); }),
      "rank 0: tp_embedding_f32_i64: there is no shard of 4 rows from row -8");
  EXPECT_EQ(
      errorOf([&] {
        tp_embedding_f32_i64(out, out, ids, 1, 4, 1,
                             std::numeric_limits<int64_t>::max() - 3, 11);
      }),
      "rank 0: tp_embedding_f32_i64: there is no shard of 4 rows from row "
      "9223372036854775804");
}

TEST(TakeTarget, ColumnsOfAShard) {
  // Columns 4, 5 and 6 of 9 classes, for five tokens.
  const float logits[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const int64_t targets[] = {4, 3, 6, 7, -100};
  float out[5];
  tp_take_target_f32_i64(out, logits, targets, 5, 3, 4, 9, 1, -100);
  EXPECT_EQ(std::vector<float>(out, out + 5),
            (std::vector<float>{1, 0, 9, 0, 0}));
  // A shard that lies in the padding has the target of none.
  tp_take_target_f32_i64(out, logits, targets, 4, 3, 9, 9, 0, 0);
  EXPECT_EQ(std::vector<float>(out, out + 4), std::vector<float>(4, 0));
}

TEST(TakeTarget, TargetsOutsideTheVocabulary) {
  const double logits[] = {1, 2, 3, 4};
  double out[2];
  for (int32_t target : {-1, 2}) {
    const int32_t targets[] = {0, target};
    EXPECT_EQ(errorOf([&] {
                tp_take_target_f64_i32(out, logits, targets, 2, 2, 0, 2, 0, 0);
              }),
              "rank 0: tp_take_target_f64_i32: token 1 has target " +
                  std::to_string(target) + ", none of 2 classes");
  }
}

} // namespace
