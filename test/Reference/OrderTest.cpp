// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Order.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>

using namespace tp;

namespace {

Field of(int64_t value) { return Field::fromInteger(value); }

} // namespace

TEST(RandomOrder, PlacesAreAPermutation) {
  std::mt19937_64 random(3);
  for (uint64_t key = 0; key < 50; ++key) {
    RandomOrder order(key);
    for (int i = 0; i < 200; ++i) {
      uint64_t place = random() % Field::prime;
      EXPECT_EQ(order.placeOf(order.at(place)), place);
      Field x = Field::reduce(random());
      EXPECT_LT(order.placeOf(x), Field::prime);
      EXPECT_EQ(order.at(order.placeOf(x)), x);
    }
    EXPECT_EQ(order.placeOf(order.at(Field::prime - 1)), Field::prime - 1);
    EXPECT_LT(order.placeOf(of(0)), order.placeOf(of(1)));
  }
}

// Half of the keys: 0 is not the least as a residue is. With 0 before 1 it is
// the lower of two, and a third place lies below it once in three.
TEST(RandomOrder, DependsOnTheKey) {
  int below = 0, ascending = 0;
  for (uint64_t key = 0; key < 3000; ++key) {
    RandomOrder order(key);
    below += order.placeOf(of(12345)) < order.placeOf(of(0));
    ascending += order.placeOf(of(12345)) < order.placeOf(of(12346));
  }
  EXPECT_NEAR(below, 1000, 130);
  EXPECT_NEAR(ascending, 1500, 140);
}

TEST(RandomOrder, CastsKeepTheOrder) {
  std::mt19937_64 random(4);
  for (uint64_t key = 0; key < 100; ++key) {
    RandomOrder order(key);
    for (int i = 0; i < 100; ++i) {
      Field x = Field::reduce(random()), y = Field::reduce(random());
      EXPECT_EQ(order.placeOf(x) < order.placeOf(y),
                order.placeOf(order.castTo(7, x)) <
                    order.placeOf(order.castTo(7, y)));
      EXPECT_NE(order.castTo(7, x), x);
      EXPECT_NE(order.castTo(7, x), order.castTo(8, x));
      // No sum of casts is the cast of the sum.
      EXPECT_NE(order.castTo(7, x) + order.castTo(7, y),
                order.castTo(7, x + y));
    }
  }
}

TEST(RandomOrder, CastsOfIntegersKeepTheirOrder) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  // Ascending; the images of neighbours differ but at either end.
  const int64_t values[] = {least,
                            -(int64_t(1) << 53),
                            1 - (int64_t(1) << 53),
                            -2147483648,
                            -2049,
                            -2,
                            -1,
                            0,
                            1,
                            2,
                            3,
                            2147483647,
                            (int64_t(1) << 53) - 1,
                            int64_t(1) << 53,
                            largest - 1024};
  for (uint64_t key = 0; key < 50; ++key) {
    RandomOrder order(key);
    std::set<uint64_t> images;
    for (size_t i = 0; i + 1 < std::size(values); ++i) {
      uint64_t place = order.placeOf(order.castTo(key, values[i]));
      EXPECT_LT(place, order.placeOf(order.castTo(key, values[i + 1]))) << i;
      images.insert(place);
    }
    EXPECT_EQ(images.size(), std::size(values) - 1);
    EXPECT_EQ(order.castTo(key, largest), order.castTo(key, largest - 1));
    EXPECT_NE(order.castTo(key, int64_t(2)) + order.castTo(key, int64_t(3)),
              order.castTo(key, int64_t(5)));
  }
}
