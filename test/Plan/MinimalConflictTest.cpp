// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Conflicts against all subsets of the demands, on random families of sets
/// that cannot be met.

#include "tp/Plan/MinimalConflict.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace tp;

namespace {

unsigned maskOf(ArrayRef<unsigned> demands) {
  unsigned mask = 0;
  for (unsigned demand : demands)
    mask |= 1u << demand;
  return mask;
}

/// What cannot be met: every set that holds one of `cores`.
bool canBeMet(unsigned mask, ArrayRef<unsigned> cores) {
  return none_of(cores, [&](unsigned core) { return (mask & core) == core; });
}

TEST(MinimalConflict, LeavesOutWhatIsNotNeeded) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    unsigned count = 1 + random() % 11;
    unsigned all = (1u << count) - 1;
    SmallVector<unsigned> cores;
    for (unsigned i = 0; i < 1 + random() % 4; ++i)
      cores.push_back(1 + random() % all);
    unsigned questions = 0;
    SmallVector<unsigned> found =
        findMinimalConflict(count, [&](ArrayRef<unsigned> demands) {
          ++questions;
          return canBeMet(maskOf(demands), cores);
        });
    unsigned mask = maskOf(found);
    EXPECT_EQ(popcount(mask), static_cast<int>(found.size()));
    EXPECT_TRUE(is_sorted(found));
    EXPECT_FALSE(canBeMet(mask, cores));
    for (unsigned demand : found)
      EXPECT_TRUE(canBeMet(mask & ~(1u << demand), cores)) << demand;
    EXPECT_LE(questions, 4 * count);
  }
}

TEST(MinimalConflict, AsksLittleOfManyDemands) {
  unsigned questions = 0;
  SmallVector<unsigned> found =
      findMinimalConflict(1000, [&](ArrayRef<unsigned> demands) {
        ++questions;
        return !(is_contained(demands, 17u) && is_contained(demands, 803u));
      });
  EXPECT_EQ(found, SmallVector<unsigned>({17, 803}));
  // 2 * 2 * log2(1000 / 2) + 2 * 2
  EXPECT_LE(questions, 40u);
}

TEST(MinimalConflict, OneDemandNeedsNoQuestion) {
  auto never = [](ArrayRef<unsigned>) -> bool {
    ADD_FAILURE();
    return true;
  };
  EXPECT_EQ(findMinimalConflict(1, never), SmallVector<unsigned>({0}));
}

} // namespace
