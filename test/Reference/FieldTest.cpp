// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Reference/Field.h"
#include "Reference/Kernel.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tp;

namespace {

constexpr int64_t p = Field::prime;

Field of(int64_t value) { return Field::fromInteger(value); }

} // namespace

// Expected values: Python integers, (a + b) % p, pow(a, -1, p) and so on.
TEST(Field, AgreesWithBigIntegers) {
  struct {
    int64_t a, b;
    uint64_t sum, difference, product, inverseOfA;
  } cases[] = {
      {2185628714235507768, 910400992860572983, 790186697882386800,
       1275227721374934785, 2106060834803572765, 1447969350346191648},
      {111340922501047376, 1893729575939813171, 2005070498440860547,
       523454355774928156, 2052074281062152454, 1130313688267974118},
      {217049103772651563, 1343817662724950520, 1560866766497602083,
       1179074450261394994, 1555617454570651287, 1121949245552640287},
      {2097634754573173877, 495060305201024757, 286852050560504683,
       1602574449372149120, 30346635795756693, 1696969702637935244},
      {p - 1, p - 1, uint64_t(p - 2), 0, 1, uint64_t(p - 1)},
  };
  for (const auto &c : cases) {
    EXPECT_EQ((of(c.a) + of(c.b)).residue(), c.sum);
    EXPECT_EQ((of(c.a) - of(c.b)).residue(), c.difference);
    EXPECT_EQ((of(c.a) * of(c.b)).residue(), c.product);
    EXPECT_EQ(of(c.a).inverse().residue(), c.inverseOfA);
  }
}

TEST(Field, IntegersAreTakenModuloThePrime) {
  EXPECT_EQ(of(p), Field());
  EXPECT_EQ(of(-1).residue(), uint64_t(p - 1));
  EXPECT_EQ(of(-p), Field());
  // -2^63 = -4 * 2^61 = -4.
  EXPECT_EQ(of(std::numeric_limits<int64_t>::min()), of(-4));
  EXPECT_EQ(of(std::numeric_limits<int64_t>::max()), of(3));
}

// Expected values: Python's Fraction, numerator * pow(denominator, -1, p) % p.
TEST(Field, FloatsAreExactFractions) {
  EXPECT_EQ(Field::fromDouble(0.1).residue(), 230584300921369408u);
  EXPECT_EQ(Field::fromDouble(-0.75).residue(), 576460752303423487u);
  EXPECT_EQ(Field::fromDouble(1e-300).residue(), 482449582752280463u);
  EXPECT_EQ(Field::fromDouble(1.7976931348623157e308).residue(),
            2234066890152476671u);
  EXPECT_EQ(Field::fromDouble(5e-324).residue(), 16777216u);
  EXPECT_EQ(Field::fromDouble(-3).residue(), 2305843009213693948u);
  EXPECT_EQ(Field::fromDouble(0.35355339059327373).residue(),
            815238614083298816u);
  EXPECT_EQ(Field::fromDouble(0), Field());
  EXPECT_EQ(Field::fromDouble(0.5) * of(2), of(1));
  EXPECT_NE(Field::fromDouble(0.1) * of(10), of(1));
}

TEST(Field, Axioms) {
  std::mt19937_64 random(11);
  auto draw = [&] { return Field::reduce(random()); };
  for (int i = 0; i < 2000; ++i) {
    Field a = draw(), b = draw(), c = draw();
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ((a + b) + c, a + (b + c));
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a - b, -(b - a));
    EXPECT_EQ(a + -a, Field());
    if (!a.isZero())
      EXPECT_EQ(a * a.inverse(), of(1));
  }
}

TEST(Field, ReductionOfTheLargestSums) {
  // 63 products of p - 1 with itself, and p - 1 more, still fit: their value
  // is 63 * 1 - 1.
  Field last = of(-1);
  Field::Wide sum = last.residue();
  for (int64_t i = 0; i < Field::maxProducts; ++i)
    sum += last.widened(last);
  EXPECT_EQ(Field::reduce(sum), of(Field::maxProducts - 1));
  // 2^128 - 1 = 2^6 - 1, for 2^128 = 2^(2 * 61 + 6).
  EXPECT_EQ(Field::reduce(~Field::Wide(0)), of(63));
  EXPECT_EQ(Field::reduce(Field::prime), Field());
}

// Lengths around the multiples of 63, elements near p, where a lost carry
// shows; expected values from Python integers.
TEST(Field, LazySumsOfProducts) {
  struct {
    int64_t length;
    uint64_t expected;
  } cases[] = {{33, 1966657}, {64, 28549312}, {1000, 1746838081000}};
  for (const auto &c : cases) {
    ProductSum<Field> sum;
    for (int64_t i = 0; i < c.length; ++i)
      sum.add(of(p - 1 - i * i), of(p - 1 - 7 * i));
    EXPECT_EQ(sum.get().residue(), c.expected) << c.length;
  }
  std::mt19937_64 random(5);
  for (int64_t length = 0; length < 400; ++length) {
    ProductSum<Field> lazy;
    Field eager;
    for (int64_t i = 0; i < length; ++i) {
      Field a = of(-1 - int64_t(random() % 4)), b = Field::reduce(random());
      lazy.add(a, b);
      eager += a * b;
    }
    EXPECT_EQ(lazy.get(), eager) << length;
  }
}

TEST(Field, HashesDependOnEverything) {
  uint64_t key = getFunctionKey(7, "exp");
  EXPECT_NE(key, getFunctionKey(8, "exp"));
  EXPECT_NE(key, getFunctionKey(7, "tanh"));
  EXPECT_NE(getFunctionKey(7, "norm", {1e-5}),
            getFunctionKey(7, "norm", {1e-6}));
  EXPECT_NE(hashWord(key, 1), hashWord(key, 2));
  EXPECT_EQ(hashWord(key, 1), hashWord(getFunctionKey(7, "exp"), 1));
}
