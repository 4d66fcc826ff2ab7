// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The results of the kernels do not depend on the threads of a rank.

#include "Inputs.h"
#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <gtest/gtest.h>

using namespace tp::runtime;
using namespace tp::test;

namespace {

/// Runs `program` on a rank of `numThreads` threads.
void runWith(int64_t numThreads, const std::function<void()> &program) {
  ThreadWorld world(1, 60);
  RankScope scope(world.communicator(0), numThreads);
  EXPECT_EQ(runRank(scope, program), std::nullopt);
}

/// The results of `fill` on ranks of 1, 2, 3 and 8 threads are the same bits.
void expectSame(int64_t count, const std::function<void(float *)> &fill) {
  std::vector<float> expected = unwritten<float>(count);
  runWith(1, [&] { fill(expected.data()); });
  for (int64_t threads : {2, 3, 8}) {
    std::vector<float> result = unwritten<float>(count);
    runWith(threads, [&] { fill(result.data()); });
    EXPECT_EQ(result, expected) << threads << " threads";
  }
}

struct Product {
  int64_t batch, m, n, k;
  bool bBatched, transposeA, transposeB;
};

class SplitMatmul : public testing::TestWithParam<Product> {};

TEST_P(SplitMatmul, SameBitsOnAnyNumberOfThreads) {
  Product p = GetParam();
  std::vector<float> a = randomValues<float>(p.batch * p.m * p.k, 1);
  std::vector<float> b =
      randomValues<float>((p.bBatched ? p.batch : 1) * p.k * p.n, 2);
  expectSame(p.batch * p.m * p.n, [&](float *out) {
    tp_matmul_f32(out, a.data(), b.data(), p.batch, p.m, p.n, p.k, p.bBatched,
                  p.transposeA, p.transposeB);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SplitMatmul,
    testing::Values(Product{1, 389, 131, 67, false, false, true},
                    Product{3, 101, 257, 33, false, false, false},
                    Product{5, 97, 61, 53, true, false, true},
                    Product{7, 53, 49, 71, true, true, false},
                    Product{1, 193, 301, 77, false, true, false},
                    Product{1, 1, 2049, 515, false, false, true}));

struct Heads {
  int64_t batch, queries, keys, origin;
};

class SplitAttention : public testing::TestWithParam<Heads> {};

TEST_P(SplitAttention, SameBitsOnAnyNumberOfThreads) {
  Heads s = GetParam();
  constexpr int64_t heads = 6, kvHeads = 2, dim = 24;
  std::vector<float> q =
      randomValues<float>(s.batch * s.queries * heads * dim, 3);
  std::vector<float> k =
      randomValues<float>(s.batch * s.keys * kvHeads * dim, 4);
  std::vector<float> v =
      randomValues<float>(s.batch * s.keys * kvHeads * dim, 5);
  expectSame(s.batch * s.queries * heads * dim, [&](float *out) {
    tp_attention_f32(out, q.data(), k.data(), v.data(), s.batch, s.queries,
                     s.keys, heads, kvHeads, dim, 0.2, 1, s.origin);
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, SplitAttention,
                         testing::Values(Heads{1, 331, 331, 0},
                                         Heads{1, 200, 263, 63},
                                         Heads{5, 79, 79, 0},
                                         Heads{2, 150, 149, -3}));

TEST(Split, FailureOfAThreadIsTheRanks) {
  ThreadWorld world(1, 60);
  RankScope scope(world.communicator(0), 0);
  EXPECT_EQ(runRank(scope, [] {}),
            "rank 0: threads: the number of threads of a rank, 0, is not "
            "between 1 and 1024");
}

} // namespace
