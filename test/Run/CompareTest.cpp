// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Compare.h"
#include "LocalProgram.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tp;
using namespace tp::test;

namespace {

Array floats(ArrayRef<float> values) {
  Array array(ElementKind::F32, {static_cast<int64_t>(values.size())});
  llvm::copy(values, array.as<float>().begin());
  return array;
}

TensorOf<double> doubles(std::vector<double> values) {
  TensorOf<double> tensor;
  tensor.shape = {static_cast<int64_t>(values.size())};
  tensor.values = std::move(values);
  return tensor;
}

TEST(Compare, LargestErrorInUnitsOfTheLargestMagnitude) {
  Difference difference =
      compare(floats({1, 2.5f, -8}), doubles({1, 2, -8.25}));
  EXPECT_EQ(difference.absolute, 0.5);
  EXPECT_EQ(difference.at, 1);
  EXPECT_EQ(difference.magnitude, 8.25);
  EXPECT_DOUBLE_EQ(difference.relative(), 0.5 / 8.25);
  EXPECT_TRUE(difference.within(0.061));
  EXPECT_FALSE(difference.within(0.060));
}

TEST(Compare, NoToleranceForNaN) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(compare(floats({nan}), doubles({1})).within(1e30));
  // Not even where both sides agree.
  EXPECT_FALSE(compare(floats({nan}), doubles({nan})).within(1e30));
  float infinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(compare(floats({infinity}), doubles({infinity})).within(1e30));
}

TEST(Compare, IntegersAreEqualOrWrong) {
  Array array(ElementKind::I32, {2});
  array.as<int32_t>()[0] = 5;
  array.as<int32_t>()[1] = -1;
  TensorOf<double> expected;
  expected.shape = {2};
  expected.isInteger = true;
  expected.integers = {5, -1};
  EXPECT_TRUE(compare(array, expected).within(0));
  expected.integers = {5, -2};
  EXPECT_FALSE(compare(array, expected).within(1e30));
}

TEST(Compare, ShapesThatDifferAreWrong) {
  EXPECT_FALSE(compare(floats({1, 1}), doubles({1})).within(1e30));
}

TEST(Compare, WorstOfAllRanks) {
  Difference total = compare(floats({1}), doubles({1}));
  merge(total, compare(floats({3}), doubles({4})));
  merge(total, compare(floats({9}), doubles({9})));
  EXPECT_EQ(total.absolute, 1);
  EXPECT_EQ(total.magnitude, 9);
}

double toleranceOf(StringRef text) {
  ProgramContext programs;
  auto module = programs.parse(text);
  EXPECT_TRUE(module);
  return tolerance(llvm::cantFail(findEntry(*module, "")));
}

TEST(Tolerance, CountsTermsAlongTheLongestPath) {
  // 2^-24 is half the distance of floats near 1. A product of 15 terms and one
  // addition: 16 terms.
  EXPECT_DOUBLE_EQ(toleranceOf(R"(
    func.func @main(%x: tensor<2x15xf32>, %w: tensor<15x3xf32>,
                    %b: tensor<3xf32>) -> tensor<2x3xf32> {
      %p = tp.matmul %x, %w
          : (tensor<2x15xf32>, tensor<15x3xf32>) -> tensor<2x3xf32>
      %r = tp.add %p, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    })"),
                   8 * std::ldexp(1, -24) * 4);
}

// A sum of 16 terms in f32, which bf16 runs as; a cast adds 2^-8, which is 2^16
// times as much as f32's, so that it counts 2^32 terms. Widening adds nothing.
TEST(Tolerance, KnowsCastsThatRound) {
  std::string sum = "func.func @main(%x: tensor<16xbf16>) -> tensor<bf16> { "
                    "%y = tp.reduce sum %x over [0] : (tensor<16xbf16>) -> "
                    "tensor<bf16> ";
  EXPECT_DOUBLE_EQ(toleranceOf(sum + "return %y : tensor<bf16> }"),
                   8 * std::ldexp(1, -24) * 4);
  std::string wide = "%w = tp.cast %y : (tensor<bf16>) -> tensor<f32> ";
  EXPECT_DOUBLE_EQ(toleranceOf(sum + wide + "return %y : tensor<bf16> }"),
                   8 * std::ldexp(1, -24) * std::sqrt(17));
  EXPECT_DOUBLE_EQ(toleranceOf(sum + wide +
                               "%n = tp.cast %w : (tensor<f32>) -> "
                               "tensor<bf16> return %n : tensor<bf16> }"),
                   8 * std::ldexp(1, -24) * std::sqrt(18 + std::ldexp(1, 32)));
}

TEST(Tolerance, FollowsCallsInDoublePrecision) {
  // Two calls in a row, 8 terms each.
  EXPECT_DOUBLE_EQ(toleranceOf(R"(
    func.func private @layer(%x: tensor<8x8xf64>) -> tensor<8x8xf64> {
      %p = tp.matmul %x, %x
          : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
      return %p : tensor<8x8xf64>
    }
    func.func @main(%x: tensor<8x8xf64>) -> tensor<8x8xf64> {
      %a = call @layer(%x) : (tensor<8x8xf64>) -> tensor<8x8xf64>
      %b = call @layer(%a) : (tensor<8x8xf64>) -> tensor<8x8xf64>
      return %b : tensor<8x8xf64>
    })"),
                   8 * std::ldexp(1, -53) * 4);
}

TEST(Tolerance, StagesOfAnOperationAddUp) {
  // A rotation, a product of 10 terms a score, a mean over 5 keys.
  EXPECT_DOUBLE_EQ(toleranceOf(R"(
    func.func @main(%q: tensor<1x5x3x10xf32>, %k: tensor<1x5x3x10xf32>)
        -> tensor<1x5x3x10xf32> {
      %r = tp.rope %q {theta = 1.0e4 : f64}
          : (tensor<1x5x3x10xf32>) -> tensor<1x5x3x10xf32>
      %o = tp.attention %r, %k, %k {causal, scale = 0.5 : f64}
          : (tensor<1x5x3x10xf32>, tensor<1x5x3x10xf32>, tensor<1x5x3x10xf32>)
          -> tensor<1x5x3x10xf32>
      return %o : tensor<1x5x3x10xf32>
    })"),
                   8 * std::ldexp(1, -24) * 4);
}

TEST(Tolerance, ALossSumsOverClassesThenOverTokens) {
  // The maximum, spread and subtracted, an exponential, 25 classes, a
  // logarithm, its difference from the target's logit, 6 tokens, a quotient.
  EXPECT_DOUBLE_EQ(toleranceOf(R"(
    func.func @main(%x: tensor<2x3x25xf32>, %t: tensor<2x3xi64>)
        -> tensor<f32> {
      %l = tp.cross_entropy %x, %t
          : (tensor<2x3x25xf32>, tensor<2x3xi64>) -> tensor<f32>
      return %l : tensor<f32>
    })"),
                   8 * std::ldexp(1, -24) *
                       std::sqrt(1 + 1 + 1 + 1 + 25 + 1 + 1 + 6 + 1));
}

} // namespace
