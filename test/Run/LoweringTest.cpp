// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Compiled operations on their own: limits, NaN, every element type.

#include "LocalProgram.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tp;
using namespace tp::test;

namespace {

/// The results of a program of one rank without arguments.
std::vector<Array> evaluate(const std::string &types, const std::string &body) {
  auto values =
      outputs("func.func @main() -> (" + types + ") attributes {tp.local} {" +
                  body + " : " + types + " }",
              Inputs(0));
  return values.size() == 1 ? values[0] : std::vector<Array>();
}

template <class T> std::vector<T> elements(const Array &array) {
  ArrayRef<T> values = array.as<T>();
  return {values.begin(), values.end()};
}

template <class T> void expectFunctions(const std::string &type) {
  std::string t = "tensor<6x" + type + ">";
  std::string nan = type == "f32" ? "0x7FC00000" : "0x7FF8000000000000";
  std::vector<Array> values = evaluate(
      t + ", " + t + ", " + t + ", " + t,
      "%x = tp.constant dense<[-1.0e4, -1.0, 0.0, 1.0, 1.0e4, " + nan +
          "]> : " + t + " %e = tp.exp %x : (" + t + ") -> " + t +
          " %s = tp.sigmoid %x : (" + t + ") -> " + t + " %l = tp.log %x : (" +
          t + ") -> " + t + " %z = tp.sub %x, %x : (" + t + ", " + t + ") -> " +
          t + " %d = tp.div %x, %z : (" + t + ", " + t + ") -> " + t +
          " return %e, %s, %l, %d");
  ASSERT_EQ(values.size(), 4u);
  T infinite = std::numeric_limits<T>::infinity();
  T tolerance = 4 * std::numeric_limits<T>::epsilon();
  auto e = elements<T>(values[0]), s = elements<T>(values[1]);
  auto l = elements<T>(values[2]), d = elements<T>(values[3]);
  EXPECT_EQ(e[0], 0);
  EXPECT_NEAR(e[1], std::exp(T(-1)), tolerance);
  EXPECT_EQ(e[2], 1);
  EXPECT_NEAR(e[3], std::exp(T(1)), 3 * tolerance);
  EXPECT_EQ(e[4], infinite);
  EXPECT_EQ(s[0], 0);
  EXPECT_NEAR(s[1], 1 / (1 + std::exp(T(1))), tolerance);
  EXPECT_EQ(s[2], T(0.5));
  EXPECT_EQ(s[4], 1);
  EXPECT_TRUE(std::isnan(l[1]));
  EXPECT_EQ(l[2], -infinite);
  EXPECT_EQ(l[3], 0);
  EXPECT_NEAR(l[4], std::log(T(1e4)), 10 * tolerance);
  EXPECT_EQ(d[0], -infinite);
  EXPECT_TRUE(std::isnan(d[2]));
  EXPECT_EQ(d[4], infinite);
  for (const auto &result : {e, s, l, d})
    EXPECT_TRUE(std::isnan(result[5]));
}

} // namespace

TEST(Lowering, FunctionsAtTheirLimits) {
  expectFunctions<float>("f32");
  expectFunctions<double>("f64");
}

TEST(Lowering, LargerElements) {
  std::vector<Array> values = evaluate(
      "tensor<3xf32>, tensor<3xi32>, tensor<2xi1>",
      R"(%a = tp.constant dense<[1.0, 0x7FC00000, -3.0]> : tensor<3xf32>
             %b = tp.constant dense<[2.0, 5.0, -4.0]> : tensor<3xf32>
             %f = tp.maximum %b, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
             %i = tp.constant dense<[-7, 3, 0]> : tensor<3xi32>
             %j = tp.constant dense<[-9, 4, -1]> : tensor<3xi32>
             %k = tp.maximum %i, %j : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
             %p = tp.constant dense<[true, false]> : tensor<2xi1>
             %q = tp.constant dense<false> : tensor<2xi1>
             %r = tp.maximum %p, %q : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
             return %f, %k, %r)");
  ASSERT_EQ(values.size(), 3u);
  auto f = elements<float>(values[0]);
  EXPECT_EQ(f[0], 2);
  EXPECT_TRUE(std::isnan(f[1]));
  EXPECT_EQ(f[2], -3);
  EXPECT_EQ(elements<int32_t>(values[1]), (std::vector<int32_t>{-7, 4, 0}));
  EXPECT_EQ(elements<uint8_t>(values[2]), (std::vector<uint8_t>{1, 0}));
}

// Rows and columns of integers and truth values, from the second element on.
TEST(Lowering, ReductionsOfIntegers) {
  std::vector<Array> values = evaluate(
      "tensor<2xi64>, tensor<3xi32>, tensor<2xi1>, tensor<i1>",
      R"(%x = tp.constant dense<[[-5, -2, -9], [-7, -3, -8]]> : tensor<2x3xi64>
             %o = arith.constant 1 : index
             %a = tp.reduce max %x over [1] from %o {count = 3 : i64}
                 : (tensor<2x3xi64>, index) -> tensor<2xi64>
             %y = tp.constant dense<[[1, 2, 3], [2147483647, 5, 6]]> : tensor<2x3xi32>
             %b = tp.reduce sum %y over [0] : (tensor<2x3xi32>) -> tensor<3xi32>
             %p = tp.constant dense<[[false, true], [false, false]]> : tensor<2x2xi1>
             %c = tp.reduce max %p over [1] : (tensor<2x2xi1>) -> tensor<2xi1>
             %d = tp.reduce max %c over [0] {count = 0 : i64} : (tensor<2xi1>) -> tensor<i1>
             return %a, %b, %c, %d)");
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(elements<int64_t>(values[0]), (std::vector<int64_t>{-2, -3}));
  // Integers wrap around.
  EXPECT_EQ(elements<int32_t>(values[1]),
            (std::vector<int32_t>{-2147483647 - 1, 7, 9}));
  EXPECT_EQ(elements<uint8_t>(values[2]), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(elements<uint8_t>(values[3]), (std::vector<uint8_t>{0}));
}

TEST(Lowering, ReductionsOfSeparateDimensions) {
  std::vector<Array> values =
      evaluate("tensor<3xf64>, tensor<f64>, tensor<2x1x2xf64>",
               R"(%x = tp.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
                                 [[7.0, 8.0], [9.0, -1.0], [-2.0, 0.5]]]> : tensor<2x3x2xf64>
         %a = tp.reduce sum %x over [0, 2] : (tensor<2x3x2xf64>) -> tensor<3xf64>
         %b = tp.reduce max %x over [0, 1, 2] : (tensor<2x3x2xf64>) -> tensor<f64>
         %s = tp.slice %x at [0, 2, 0] : (tensor<2x3x2xf64>) -> tensor<2x1x2xf64>
         %c = tp.softmax %s along 1 : (tensor<2x1x2xf64>) -> tensor<2x1x2xf64>
         return %a, %b, %c)");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(elements<double>(values[0]), (std::vector<double>{18, 15, 9.5}));
  EXPECT_EQ(elements<double>(values[1]), (std::vector<double>{9}));
  EXPECT_EQ(elements<double>(values[2]), std::vector<double>(4, 1));
}

TEST(Lowering, Comparisons) {
  for (auto [relation, expected] :
       std::initializer_list<std::pair<std::string, std::vector<uint8_t>>>{
           {"eq", {0, 1, 0}},
           {"ne", {1, 0, 1}},
           {"lt", {1, 0, 0}},
           {"le", {1, 1, 0}},
           {"gt", {0, 0, 1}},
           {"ge", {0, 1, 1}}}) {
    std::vector<Array> values =
        evaluate("tensor<3xi1>",
                 "%x = tp.constant dense<[-1, 0, 1]> : tensor<3xi64>"
                 "%z = tp.constant dense<0> : tensor<i64>"
                 "%m = tp.compare " +
                     relation +
                     " %x, %z : (tensor<3xi64>, tensor<i64>) -> tensor<3xi1>"
                     " return %m");
    ASSERT_EQ(values.size(), 1u) << relation;
    EXPECT_EQ(elements<uint8_t>(values[0]), expected) << relation;
  }
}

TEST(Lowering, PiecesOfIntegers) {
  std::vector<Array> values = evaluate(
      "tensor<2x4xi32>, tensor<2x2x3xi1>",
      R"(%x = tp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
         %a = tp.slice %x at [0, 1] : (tensor<2x3xi32>) -> tensor<2x1xi32>
         %c = tp.concat %a, %x along 1
             : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x4xi32>
         %m = tp.constant dense<[true, false]> : tensor<2xi1>
         %b = tp.broadcast %m along [0, 2] : (tensor<2xi1>) -> tensor<2x2x3xi1>
         return %c, %b)");
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(elements<int32_t>(values[0]),
            (std::vector<int32_t>{2, 1, 2, 3, 5, 4, 5, 6}));
  EXPECT_EQ(elements<uint8_t>(values[1]),
            (std::vector<uint8_t>{1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}));
}

// A loss in the local phase is written by its parts as well: log(1 + 3) where
// the target's logit is 0 and the other one log 3.
TEST(Lowering, LossOfOneRank) {
  std::vector<Array> values = evaluate(
      "tensor<f64>",
      R"(%x = tp.constant dense<[[0.0, 1.0986122886681098, 7.0]]> : tensor<1x3xf64>
         %t = tp.constant dense<0> : tensor<1xi32>
         %l = tp.cross_entropy %x, %t {vocabulary = 2 : i64}
             : (tensor<1x3xf64>, tensor<1xi32>) -> tensor<f64>
         return %l)");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_NEAR(elements<double>(values[0])[0], std::log(4.0), 1e-15);
}

// An element dropped by one rank is dropped by all, whatever part they hold:
// the scalar is element 0 of the vector.
TEST(Lowering, DropoutOfAScalar) {
  for (int seed = 0; seed < 8; ++seed) {
    std::vector<Array> values =
        evaluate("tensor<f32>, tensor<3xf32>", "%s = tp.constant dense<" +
                                                   std::to_string(seed) +
                                                   R"(> : tensor<i64>
         %x = tp.constant dense<2.0> : tensor<f32>
         %v = tp.constant dense<2.0> : tensor<3xf32>
         %a = tp.dropout %x, %s {rate = 0.5 : f64} : (tensor<f32>, tensor<i64>) -> tensor<f32>
         %b = tp.dropout %v, %s {rate = 0.5 : f64} : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
         return %a, %b)");
    ASSERT_EQ(values.size(), 2u);
    float scalar = elements<float>(values[0])[0];
    EXPECT_EQ(scalar, elements<float>(values[1])[0]);
    EXPECT_TRUE(scalar == 0 || scalar == 4);
  }
}
