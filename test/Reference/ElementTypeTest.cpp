// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the evaluator makes of element types: casts, and integers that wrap.

#include "Programs.h"

using namespace mlir;
using namespace tp;

// 1 + 2^-8 lies between the bf16 values 1 and 1 + 2^-7, ties go to even.
TEST(ElementType, Casts) {
  llvm::StringRef text =
      R"(func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>)
      -> (tensor<2xbf16>, tensor<2xf64>, tensor<2xf32>, tensor<2xi64>) {
    %0 = tp.cast %x : (tensor<2xf32>) -> tensor<2xbf16>
    %1 = tp.cast %x : (tensor<2xf32>) -> tensor<2xf64>
    %2 = tp.cast %i : (tensor<2xi32>) -> tensor<2xf32>
    %3 = tp.cast %i : (tensor<2xi32>) -> tensor<2xi64>
    return %0, %1, %2, %3 : tensor<2xbf16>, tensor<2xf64>, tensor<2xf32>,
        tensor<2xi64>
  })";
  Tensors<double> real =
      evaluateText<double>(text, {scalars<double>({2}, {1.00390625, 3}),
                                  integers<double>({2}, {-3, 7})});
  ASSERT_EQ(real.size(), 4u);
  expectNear(real[0], {1, 3}, 0);
  expectNear(real[1], {1.00390625, 3}, 0);
  expectNear(real[2], {-3, 7}, 0);
  EXPECT_EQ(real[3], integers<double>({2}, {-3, 7}));
  TensorOf<Field> x = scalars<Field>({2}, {Field::fromDouble(.1), Field()});
  Tensors<Field> field =
      evaluateText<Field>(text, {x, integers<Field>({2}, {-3, 7})});
  ASSERT_EQ(field.size(), 4u);
  EXPECT_NE(field[0].values, x.values);
  EXPECT_EQ(field[1].values, x.values);
  // f32 does not hold every i32.
  EXPECT_NE(field[2].values,
            (std::vector{Field::fromInteger(-3), Field::fromInteger(7)}));
}

/// Two numbers added, subtracted and multiplied.
static std::vector<int64_t> ringOf(std::string element, int64_t a, int64_t b) {
  std::string type = "tensor<" + element + ">";
  std::string types = "(" + type + ", " + type + ") -> " + type;
  std::string text = "func.func @main(%a: " + type + ", %b: " + type +
                     ") -> (" + type + ", " + type + ", " + type + ") {";
  for (StringRef name : {"add", "sub", "mul"})
    text += ("%" + name + " = tp." + name + " %a, %b : " + types + "\n").str();
  text += "return %add, %sub, %mul : " + type + ", " + type + ", " + type + "}";
  std::vector<int64_t> values;
  for (const TensorOf<Field> &result : evaluateText<Field>(
           text, {integers<Field>({}, {a}), integers<Field>({}, {b})}))
    values.push_back(result.integers.front());
  return values;
}

// Expected values: Python, (v + 2^(n-1)) % 2^n - 2^(n-1).
TEST(ElementType, IntegersWrapAround) {
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(ringOf("i32", -7, 4), (Numbers{-3, -11, -28}));
  EXPECT_EQ(ringOf("i32", 2147483647, 3),
            (Numbers{-2147483646, 2147483644, 2147483645}));
  EXPECT_EQ(ringOf("i32", INT32_MIN, -1),
            (Numbers{2147483647, -2147483647, INT32_MIN}));
  EXPECT_EQ(ringOf("i64", INT64_MAX, 3),
            (Numbers{INT64_MIN + 2, INT64_MAX - 3, INT64_MAX - 2}));
  EXPECT_EQ(ringOf("i64", INT64_MIN, -1),
            (Numbers{INT64_MAX, INT64_MIN + 1, INT64_MIN}));
  EXPECT_EQ(ringOf("i1", 1, 1), (Numbers{0, 0, 1}));
  EXPECT_EQ(ringOf("i1", 0, 1), (Numbers{1, 1, 0}));
}

/// The cast of the larger of two numbers, and the larger of their casts.
template <class Arguments>
static void expectMonotone(const std::string &from, const std::string &to,
                           const Arguments &arguments) {
  std::string a = "tensor<3x" + from + ">", b = "tensor<3x" + to + ">";
  std::string text = "func.func @main(%x: " + a + ", %y: " + a + ") -> (" + b +
                     ", " + b + ") { %m = tp.maximum %x, %y : (" + a + ", " +
                     a + ") -> " + a + " %0 = tp.cast %m : (" + a + ") -> " +
                     b + " %1 = tp.cast %x : (" + a + ") -> " + b +
                     " %2 = tp.cast %y : (" + a + ") -> " + b +
                     " %3 = tp.maximum %1, %2 : (" + b + ", " + b + ") -> " +
                     b + " return %0, %3 : " + b + ", " + b + "}";
  for (uint64_t key = 0; key < 30; ++key) {
    Tensors<Field> results = evaluateText<Field>(text, arguments, {key});
    EXPECT_EQ(results[0], results[1]) << from << " to " << to;
  }
}

TEST(ElementType, EveryCastKeepsTheOrder) {
  std::mt19937_64 random(9);
  Tensors<Field> numbers = {randomField({3}, random), randomField({3}, random)};
  for (std::string to : {"f64", "f32", "bf16", "f16"})
    for (std::string from : {"f64", "f32", "bf16", "f16"})
      expectMonotone(from, to, numbers);
  Tensors<Field> whole = {integers<Field>({3}, {-5, 2147483647, 0}),
                          integers<Field>({3}, {4, 2147483646, -1})};
  for (std::string to : {"i64", "f64", "f32", "bf16", "f16"})
    for (std::string from : {"i32", "i64"})
      if (to != "i64" || from != "i64")
        expectMonotone(from, to, whole);
  Tensors<Field> bits = {integers<Field>({3}, {0, 1, 1}),
                         integers<Field>({3}, {1, 0, 1})};
  for (std::string to : {"i32", "i64", "f64", "f32", "bf16", "f16"})
    expectMonotone("i1", to, bits);
}

// 2049 = 2^11 + 1 lies between two values of f16; 2^24 + 1 of f32; 2^53 + 1 of
// f64.
TEST(ElementType, CastsOfIntegersRound) {
  llvm::StringRef text = R"(func.func @main(%x: tensor<3xi64>)
      -> (tensor<3xf16>, tensor<3xf32>, tensor<3xf64>) {
    %0 = tp.cast %x : (tensor<3xi64>) -> tensor<3xf16>
    %1 = tp.cast %x : (tensor<3xi64>) -> tensor<3xf32>
    %2 = tp.cast %x : (tensor<3xi64>) -> tensor<3xf64>
    return %0, %1, %2 : tensor<3xf16>, tensor<3xf32>, tensor<3xf64>
  })";
  Tensors<double> results = evaluateText<double>(
      text, {integers<double>({3}, {2049, 16777217, 9007199254740993})});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].values[0], 2048);
  EXPECT_EQ(results[1].values[1], 16777216);
  EXPECT_EQ(results[2].values[1], 16777217);
  EXPECT_EQ(results[2].values[2], 9007199254740992);
}
