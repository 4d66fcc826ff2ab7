// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks of a rank's arena: alignment, reuse, accounts, misuse.

#include "RunRanks.h"
#include "tp/Runtime/Abi.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace tp::runtime;
using namespace tp::test;

namespace {

bool isAligned(const void *block, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

TEST(Memory, BlocksAreAlignedDistinctAndWritable) {
  EXPECT_EQ(errorOf([] {
              std::vector<std::pair<char *, size_t>> blocks;
              for (int64_t bytes : {0, 1, 63, 64, 65, 4097, 100003, 9000001}) {
                auto *block = static_cast<char *>(tp_alloc(bytes));
                ASSERT_TRUE(isAligned(block, 64));
                std::memset(block, static_cast<int>(blocks.size()),
                            static_cast<size_t>(bytes));
                blocks.emplace_back(block, static_cast<size_t>(bytes));
              }
              for (size_t i = 0; i < blocks.size(); ++i) {
                auto [block, bytes] = blocks[i];
                for (size_t at = 0; at < bytes; ++at)
                  ASSERT_EQ(block[at], static_cast<char>(i));
                tp_free(block);
              }
            }),
            "");
}

TEST(Memory, GenericNamesUseTheSameArena) {
  EXPECT_EQ(
      errorOf([] {
        for (int64_t alignment : {1, 16, 64, 128, 4096}) {
          void *block = _mlir_memref_to_llvm_aligned_alloc(alignment, 100);
          EXPECT_TRUE(isAligned(block, static_cast<uintptr_t>(alignment)));
          tp_free(block);
        }
        _mlir_memref_to_llvm_free(_mlir_memref_to_llvm_alloc(5));
        _mlir_memref_to_llvm_free(tp_alloc(5));
        tp_free(nullptr);
        _mlir_memref_to_llvm_free(nullptr);
      }),
      "");
}

TEST(Memory, FreedBlocksComeBack) {
  ThreadWorld world(1, 60);
  RankScope scope(world.communicator(0));
  EXPECT_EQ(runRank(scope,
                    [&] {
                      void *large = tp_alloc(5 << 20), *small = tp_alloc(100);
                      EXPECT_GE(scope.memoryUse().live, (5 << 20) + 100);
                      tp_free(large);
                      EXPECT_EQ(tp_alloc(5 << 20), large);
                      EXPECT_NE(tp_alloc(100), small);
                      tp_free(small);
                      EXPECT_EQ(tp_alloc(100), small);
                    }),
            std::nullopt);
  MemoryUse use = scope.memoryUse();
  EXPECT_EQ(use.live, use.reserved);
  EXPECT_EQ(use.peak, use.reserved);
  // At most an eighth is lost to rounding.
  EXPECT_LE(use.reserved, ((5 << 20) + 256) / 8 * 9);
}

TEST(Memory, TheNextRunTakesWhatTheLastOneLeft) {
  ThreadWorld world(1, 60);
  RankScope scope(world.communicator(0));
  void *large = nullptr;
  EXPECT_EQ(runRank(scope, [&] { large = tp_alloc(5 << 20); }), std::nullopt);
  scope.freeBlocks();
  EXPECT_EQ(scope.memoryUse().live, 0);
  int64_t reserved = scope.memoryUse().reserved;
  EXPECT_EQ(runRank(scope, [&] { EXPECT_EQ(tp_alloc(5 << 20), large); }),
            std::nullopt);
  EXPECT_EQ(scope.memoryUse().reserved, reserved);
  EXPECT_EQ(scope.memoryUse().peak, reserved);
}

TEST(Memory, MisuseIsAnError) {
  int onStack = 0;
  EXPECT_EQ(
      errorOf([&] { tp_free(&onStack); }),
      "rank 0: tp_free: a pointer was freed that is no live block of this "
      "rank");
  EXPECT_NE(errorOf([] {
              void *block = tp_alloc(8);
              tp_free(block);
              tp_free(block);
            }),
            "");
  EXPECT_EQ(errorOf([] { tp_alloc(-1); }),
            "rank 0: tp_alloc: cannot allocate -1 bytes");
  EXPECT_NE(errorOf([] { tp_alloc(std::numeric_limits<int64_t>::max()); }), "");
  EXPECT_EQ(errorOf([] { _mlir_memref_to_llvm_aligned_alloc(48, 8); }),
            "rank 0: _mlir_memref_to_llvm_aligned_alloc: alignment 48 is no "
            "power of two up to 2097152");
}

TEST(Memory, ShortMemoryIsAnErrorWithNumbers) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer's allocator ends the process instead";
#endif
  // More than any address space has.
  std::string error = errorOf([] {
    tp_alloc(128);
    tp_alloc(int64_t(1) << 60);
  });
  EXPECT_EQ(error, "rank 0: tp_alloc: no memory for 1152921504606846976 bytes; "
                   "this rank holds 128");
}

} // namespace
