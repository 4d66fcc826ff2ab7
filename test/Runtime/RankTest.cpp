// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a scope changes on its thread and puts back, and how a failing function
// leaves a program.

#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tp::runtime;
using namespace tp::test;

namespace {

/// True if the smallest normal number halves to a denormal one.
bool keepsDenormals() {
  volatile float small = std::numeric_limits<float>::min();
  volatile float half = small / 2;
  return half != 0;
}

/// True if a denormal operand counts as zero.
bool readsDenormals() {
  volatile float small = std::numeric_limits<float>::denorm_min();
  return small * 1e30f != 0;
}

TEST(Rank, DenormalsAreFlushedInAScopeOnly) {
#if !defined(__SSE__)
  GTEST_SKIP() << "this processor's state is left alone";
#endif
  ThreadWorld world(2, 60);
  EXPECT_TRUE(keepsDenormals());
  {
    RankScope scope(world.communicator(0));
    EXPECT_FALSE(keepsDenormals());
    EXPECT_FALSE(readsDenormals());
    {
      RankScope inner(world.communicator(1));
      EXPECT_FALSE(keepsDenormals());
    }
    EXPECT_FALSE(keepsDenormals());
  }
  EXPECT_TRUE(keepsDenormals());
  EXPECT_TRUE(readsDenormals());
}

TEST(Rank, ScopesNest) {
  ThreadWorld world(3, 60);
  RankScope outer(world.communicator(1));
  EXPECT_EQ(tp_rank(), 1);
  {
    RankScope inner(world.communicator(2));
    EXPECT_EQ(tp_rank(), 2);
    EXPECT_EQ(runRank(outer, [] {}),
              "the scope is not the innermost one of this thread");
  }
  EXPECT_EQ(tp_rank(), 1);
}

/// Stands for generated code: it has no way to look at an error, and goes on.
__attribute__((noinline)) void fail(int depth, int *progress) {
  if (depth > 0) {
    fail(depth - 1, progress);
    ++*progress;
    return;
  }
  tp_free(progress);
  ++*progress;
}

TEST(Rank, FailureLeavesAllFramesAtOnce) {
  ThreadWorld world(1, 60);
  RankScope scope(world.communicator(0));
  int progress = 0;
  auto error = runRank(scope, [&] {
    tp_alloc(1000);
    fail(50, &progress);
    ++progress;
  });
  EXPECT_EQ(progress, 0);
  EXPECT_EQ(error.value_or("").substr(0, 17), "rank 0: tp_free: ");
  // The block is still the rank's; the scope frees it.
  EXPECT_GE(scope.memoryUse().live, 1000);
  // Local work is possible after a failure, and the old error is gone.
  EXPECT_EQ(runRank(scope, [&] { progress = 1; }), std::nullopt);
  EXPECT_EQ(progress, 1);
}

TEST(Rank, ProgramsDoNotNest) {
  ThreadWorld world(1, 60);
  RankScope scope(world.communicator(0));
  std::optional<std::string> inner;
  EXPECT_EQ(runRank(scope, [&] { inner = runRank(scope, [] {}); }),
            std::nullopt);
  EXPECT_EQ(inner, "a rank's program cannot start another run");
}

TEST(Rank, OtherExceptionsAreErrorsToo) {
  EXPECT_EQ(errorOf([] { throw std::runtime_error("no such file"); }),
            "rank 0: program: no such file");
  EXPECT_EQ(errorOf([] { throw 1; }), "rank 0: program: unknown exception");
}

TEST(RankDeathTest, FailureWithNowhereToGoEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(tp_rank(), testing::ExitedWithCode(1),
              "tp_rank: this thread is no rank: there is no RankScope");
  EXPECT_EXIT(
      {
        ThreadWorld world(1, 60);
        RankScope scope(world.communicator(0));
        tp_alloc(-1);
      },
      testing::ExitedWithCode(1), "cannot allocate -1 bytes");
}

} // namespace
