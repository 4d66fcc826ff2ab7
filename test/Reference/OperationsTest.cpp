// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Operations, one at a time, against values from their formulas in Python and
/// against identities in the field.

#include "Programs.h"
#include <cmath>
#include <limits>

using namespace tp;

namespace {

/// A function of `arguments` that returns the result of `op`, all as written.
std::string program(std::string arguments, std::string op, std::string result) {
  return "func.func @main(" + arguments + ") -> " + result + " { %0 = tp." +
         op + " -> " + result + " return %0 : " + result + " }";
}

} // namespace

//===- Elementwise --------------------------------------------------------===//

TEST(Operations, Functions) {
  auto apply = [](std::string op, std::vector<double> values) {
    return evaluateText<double>(program("%x: tensor<4xf64>",
                                        op + " %x : (tensor<4xf64>)",
                                        "tensor<4xf64>"),
                                {scalars<double>({4}, std::move(values))})
        .front();
  };
  expectNear(apply("exp", {1, -1, .5, -2}),
             {2.718281828459045, 0.36787944117144233, 1.6487212707001282,
              0.1353352832366127},
             1e-15);
  expectNear(apply("log", {1, 3, .5, 20}),
             {0.0, 1.0986122886681098, -0.6931471805599453, 2.995732273553991},
             1e-15);
  expectNear(apply("sigmoid", {1, -1, .5, -2}),
             {0.7310585786300049, 0.2689414213699951, 0.6224593312018546,
              0.11920292202211755},
             1e-15);
}

TEST(Operations, Quotient) {
  std::string text = program("%x: tensor<2x3xf64>, %y: tensor<3xf64>",
                             "div %x, %y : (tensor<2x3xf64>, tensor<3xf64>)",
                             "tensor<2x3xf64>");
  expectNear(
      evaluateText<double>(text, {scalars<double>({2, 3}, {1, 2, 3, -4, 5, 6}),
                                  scalars<double>({3}, {2, -4, .5})})
          .front(),
      {.5, -.5, 6, -2, -1.25, 12}, 0);
  std::mt19937_64 random(5);
  TensorOf<Field> x = randomField({2, 3}, random), y = randomField({3}, random);
  TensorOf<Field> quotient = evaluateText<Field>(text, {x, y}).front();
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(quotient.values[i] * y.values[i % 3], x.values[i]);
}

TEST(Operations, QuotientByZeroInTheField) {
  Program module(program("%x: tensor<2xf64>",
                         "div %x, %x : (tensor<2xf64>, tensor<2xf64>)",
                         "tensor<2xf64>"));
  auto results = evaluate<Field>(
      module.get("main"),
      Tensors<Field>{scalars<Field>({2}, {Field::fromInteger(3), Field()})});
  ASSERT_FALSE(static_cast<bool>(results));
  llvm::Error error = results.takeError();
  EXPECT_TRUE(error.isA<ZeroDenominatorError>());
  llvm::consumeError(std::move(error));
}

//===- Norm ---------------------------------------------------------------===//

TEST(Operations, LayerNorm) {
  TensorOf<double> x = scalars<double>({2, 4}, {1, 2, 4, 9, -1, .5, .5, .5});
  TensorOf<double> gain = scalars<double>({4}, {1, 2, -1, .5});
  TensorOf<double> bias = scalars<double>({4}, {0, .25, -.5, 3});
  expectNear(
      evaluateText<double>(
          program("%x: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>",
                  "layer_norm %x, %g, %b {epsilon = 0.5 : f64} : "
                  "(tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)",
                  "tensor<2x4xf32>"),
          {x, gain, bias})
          .front(),
      {-0.9486832980505138, -1.0149110640673518, -0.5, 3.7905694150420945,
       -1.171700198827415, 1.0311334658849431, -0.8905667329424716,
       3.195283366471236},
      1e-14);
  expectNear(
      evaluateText<double>(program("%x: tensor<2x4xf32>, %g: tensor<4xf32>",
                                   "layer_norm %x, %g {epsilon = 0.5 : f64} : "
                                   "(tensor<2x4xf32>, tensor<4xf32>)",
                                   "tensor<2x4xf32>"),
                           {x, gain})
          .front(),
      {-0.9486832980505138, -1.2649110640673518, 0.0, 0.7905694150420948,
       -1.171700198827415, 0.7811334658849433, -0.39056673294247163,
       0.19528336647123581},
      1e-14);
}

// A shift of a row by a constant changes nothing, in the field as well; a
// change of one element does.
TEST(Operations, LayerNormIgnoresTheMean) {
  std::string text = program("%x: tensor<1x5xf32>, %g: tensor<5xf32>",
                             "layer_norm %x, %g {epsilon = 0.5 : f64} : "
                             "(tensor<1x5xf32>, tensor<5xf32>)",
                             "tensor<1x5xf32>");
  std::mt19937_64 random(6);
  TensorOf<Field> x = randomField({1, 5}, random), g = randomField({5}, random);
  TensorOf<Field> shifted = x, other = x;
  for (Field &value : shifted.values)
    value += Field::fromInteger(7);
  other.values[2] += Field::fromInteger(1);
  Tensors<Field> result = evaluateText<Field>(text, {x, g});
  EXPECT_EQ(result, evaluateText<Field>(text, {shifted, g}));
  EXPECT_NE(result, evaluateText<Field>(text, {other, g}));
}

//===- Shape --------------------------------------------------------------===//

TEST(Operations, Slice) {
  TensorOf<double> x = scalars<double>({2, 3, 4}, std::vector<double>(24));
  std::iota(x.values.begin(), x.values.end(), 0);
  expectNear(evaluateText<double>(program("%x: tensor<2x3x4xf32>",
                                          "slice %x at [1, 0, 2] : "
                                          "(tensor<2x3x4xf32>)",
                                          "tensor<1x2x2xf32>"),
                                  {x})
                 .front(),
             {14, 15, 18, 19}, 0);
  Tensors<double> nothing =
      evaluateText<double>(program("%x: tensor<2x3x4xf32>",
                                   "slice %x at [2, 0, 0] : "
                                   "(tensor<2x3x4xf32>)",
                                   "tensor<0x3x4xf32>"),
                           {x});
  EXPECT_TRUE(nothing.front().values.empty());
}

TEST(Operations, Broadcast) {
  EXPECT_EQ(evaluateText<double>(program("%x: tensor<2x2xi32>",
                                         "broadcast %x along [1] : "
                                         "(tensor<2x2xi32>)",
                                         "tensor<2x3x2xi32>"),
                                 {integers<double>({2, 2}, {1, 2, 3, 4})})
                .front()
                .integers,
            (std::vector<int64_t>{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
}

TEST(Operations, Concat) {
  EXPECT_EQ(evaluateText<double>(
                program("%x: tensor<2x1xi32>, %y: tensor<2x3xi32>",
                        "concat %x, %y, %x along 1 : "
                        "(tensor<2x1xi32>, tensor<2x3xi32>, tensor<2x1xi32>)",
                        "tensor<2x5xi32>"),
                {integers<double>({2, 1}, {1, 2}),
                 integers<double>({2, 3}, {3, 4, 5, 6, 7, 8})})
                .front()
                .integers,
            (std::vector<int64_t>{1, 3, 4, 5, 1, 2, 6, 7, 8, 2}));
}

//===- Reduction ----------------------------------------------------------===//

namespace {

const std::vector<double> cube = {1, -2, 3, 4, 5,  -6, 7,  8, 9, -10, 11, 12,
                                  0, 2,  4, 8, 16, 32, -1, 1, 5, 3,   2,  1};

std::vector<double> reduceCube(std::string op, std::string result) {
  return evaluateText<double>(program("%x: tensor<2x3x4xf64>",
                                      "reduce " + op + " : (tensor<2x3x4xf64>)",
                                      result),
                              {scalars<double>({2, 3, 4}, cube)})
      .front()
      .values;
}

} // namespace

TEST(Operations, Reduce) {
  EXPECT_EQ(reduceCube("sum %x over [2]", "tensor<2x3xf64>"),
            (std::vector<double>{6, 14, 22, 14, 48, 11}));
  EXPECT_EQ(reduceCube("max %x over [0, 2]", "tensor<3xf64>"),
            (std::vector<double>{8, 32, 12}));
  EXPECT_EQ(reduceCube("sum %x over [1] {count = 2 : i64}", "tensor<2x4xf64>"),
            (std::vector<double>{6, -8, 10, 12, 16, 34, 3, 9}));
  EXPECT_EQ(reduceCube("max %x over [2] {count = 1 : i64}", "tensor<2x3xf64>"),
            (std::vector<double>{1, 5, 9, 0, 16, 5}));
  EXPECT_EQ(reduceCube("sum %x over []", "tensor<2x3x4xf64>"), cube);
}

TEST(Operations, ReduceIntegers) {
  TensorOf<double> x = integers<double>({2, 2}, {-7, -9, -5, -3});
  auto reduce = [&](std::string kind, std::string type, TensorOf<double> of) {
    std::string input = "tensor<2x2x" + type + ">";
    return program("%x: " + input,
                   "reduce " + kind + " %x over [1] : (" + input + ")",
                   "tensor<2x" + type + ">");
  };
  EXPECT_EQ(evaluateText<double>(reduce("max", "i32", x), {x}).front().integers,
            (std::vector<int64_t>{-7, -3}));
  EXPECT_EQ(evaluateText<double>(reduce("sum", "i64", x), {x}).front().integers,
            (std::vector<int64_t>{-16, -8}));
  x = integers<double>({2, 2}, {0, 1, 0, 0});
  EXPECT_EQ(evaluateText<double>(reduce("max", "i1", x), {x}).front().integers,
            (std::vector<int64_t>{1, 0}));
  // Sums wrap around.
  x = integers<double>({2, 2}, {2147483647, 1, 0, 0});
  EXPECT_EQ(evaluateText<double>(reduce("sum", "i32", x), {x}).front().integers,
            (std::vector<int64_t>{-2147483648, 0}));
}

// In the field a maximum is one of its elements, in whatever order they come,
// and that of a part is as good as any other partial result.
TEST(Operations, MaximumInTheField) {
  std::mt19937_64 random(8);
  TensorOf<Field> x = randomField({6}, random), reversed = x;
  std::reverse(reversed.values.begin(), reversed.values.end());
  std::string text =
      program("%x: tensor<6xf64>", "reduce max %x over [0] : (tensor<6xf64>)",
              "tensor<f64>");
  TensorOf<Field> largest = evaluateText<Field>(text, {x}).front();
  EXPECT_TRUE(llvm::is_contained(x.values, largest.values.front()));
  EXPECT_EQ(largest, evaluateText<Field>(text, {reversed}).front());
  std::string ofParts = R"(func.func @main(%x: tensor<6xf64>) -> tensor<f64> {
      %a = tp.slice %x at [0] : (tensor<6xf64>) -> tensor<2xf64>
      %b = tp.slice %x at [2] : (tensor<6xf64>) -> tensor<4xf64>
      %c = tp.reduce max %a over [0] : (tensor<2xf64>) -> tensor<f64>
      %d = tp.reduce max %b over [0] : (tensor<4xf64>) -> tensor<f64>
      %e = tp.maximum %d, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
      return %e : tensor<f64>
    })";
  EXPECT_EQ(largest, evaluateText<Field>(ofParts, {x}).front());
}

TEST(Operations, Maximum) {
  expectNear(evaluateText<double>(
                 program("%x: tensor<2x2xf64>, %y: tensor<2xf64>",
                         "maximum %x, %y : (tensor<2x2xf64>, tensor<2xf64>)",
                         "tensor<2x2xf64>"),
                 {scalars<double>({2, 2}, {1, 5, -3, 0}),
                  scalars<double>({2}, {-2, 2})})
                 .front(),
             {1, 5, -2, 2}, 0);
}

TEST(Operations, Softmax) {
  std::string text =
      program("%x: tensor<2x3xf64>", "softmax %x along 0 : (tensor<2x3xf64>)",
              "tensor<2x3xf64>");
  expectNear(evaluateText<double>(
                 text, {scalars<double>({2, 3}, {1, 2, -1, 0, .5, 3})})
                 .front(),
             {0.7310585786300049, 0.8175744761936437, 0.017986209962091555,
              0.2689414213699951, 0.18242552380635632, 0.9820137900379085},
             1e-15);
  std::mt19937_64 random(9);
  TensorOf<Field> shares =
      evaluateText<Field>(text, {randomField({2, 3}, random)}).front();
  for (int64_t column = 0; column < 3; ++column)
    EXPECT_EQ(shares.values[column] + shares.values[3 + column],
              Field::fromInteger(1));
}

//===- Attention ----------------------------------------------------------===//

// The last two of five tokens over a cache of the first three: what attention
// over all five gives them, at the same positions.
TEST(Operations, DecodeIsTheEndOfTheWhole) {
  std::string whole = R"(!t = tensor<1x5x2x4xf32> !n = tensor<1x2x2x4xf32>
      func.func @main(%x: !t, %v: !t) -> !n {
        %r = tp.rope %x {theta = 1.0e2 : f64} : (!t) -> !t
        %y = tp.attention %r, %r, %v {causal, scale = 0.5 : f64} : (!t, !t, !t) -> !t
        %z = tp.slice %y at [0, 3, 0, 0] : (!t) -> !n
        return %z : !n
      })";
  std::string decoded = R"(!t = tensor<1x5x2x4xf32> !n = tensor<1x2x2x4xf32>
      !c = tensor<1x3x2x4xf32>
      func.func @main(%x: !t, %v: !t) -> !n {
        %old = tp.slice %x at [0, 0, 0, 0] : (!t) -> !c
        %cache = tp.rope %old {theta = 1.0e2 : f64} : (!c) -> !c
        %new = tp.slice %x at [0, 3, 0, 0] : (!t) -> !n
        %r = tp.rope %new {theta = 1.0e2 : f64, offset = 3 : i64} : (!n) -> !n
        %k = tp.concat %cache, %r along 1 : (!c, !n) -> !t
        %y = tp.attention %r, %k, %v {causal, scale = 0.5 : f64} : (!n, !t, !t) -> !n
        return %y : !n
      })";
  std::mt19937_64 random(10);
  TensorOf<Field> x = randomField({1, 5, 2, 4}, random),
                  v = randomField({1, 5, 2, 4}, random);
  EXPECT_EQ(evaluateText<Field>(whole, {x, v}),
            evaluateText<Field>(decoded, {x, v}));
}

//===- Vocabulary ---------------------------------------------------------===//

namespace {

/// 3 tokens, 4 classes and a column of padding; one token is not counted.
const std::vector<double> lossLogits = {1.0, 2.0,  -1.0, 0.5,  9.0,
                                        0.0, -3.0, 2.5,  1.0,  9.0,
                                        2.0, 2.0,  2.0,  -2.0, 9.0};
const std::vector<int64_t> lossTargets = {2, -100, 1};

std::string lossProgram(std::string attributes) {
  return program("%x: tensor<3x5xf64>, %t: tensor<3xi64>",
                 "cross_entropy %x, %t {ignore_index = -100 : i64, "
                 "vocabulary = 4 : i64" +
                     attributes + "} : (tensor<3x5xf64>, tensor<3xi64>)",
                 "tensor<f64>");
}

} // namespace

TEST(Operations, CrossEntropy) {
  Tensors<double> arguments = {scalars<double>({3, 5}, lossLogits),
                               integers<double>({3}, lossTargets)};
  expectNear(evaluateText<double>(lossProgram(""), arguments).front(),
             {2.299940419206523}, 1e-14);
  expectNear(evaluateText<double>(lossProgram(", label_smoothing = 0.25 : f64"),
                                  arguments)
                 .front(),
             {2.221815419206523}, 1e-14);
  arguments[1].integers[0] = 4;
  EXPECT_NE(errorOf<double>(lossProgram(""), arguments)
                .find("target 4 at position 0 is none of the 4 classes"),
            std::string::npos);
}

TEST(Operations, TakeTarget) {
  expectNear(
      evaluateText<double>(program("%x: tensor<3x5xf64>, %t: tensor<3xi64>",
                                   "take_target %x, %t {ignore_index = -100 : "
                                   "i64} : (tensor<3x5xf64>, tensor<3xi64>)",
                                   "tensor<3xf64>"),
                           {scalars<double>({3, 5}, lossLogits),
                            integers<double>({3}, lossTargets)})
          .front(),
      {-1, 0, 2}, 0);
}

TEST(Operations, Compare) {
  auto compare = [](std::string relation) {
    return evaluateText<double>(
               program("%x: tensor<2x3xi32>, %y: tensor<3xi32>",
                       "compare " + relation +
                           " %x, %y : (tensor<2x3xi32>, tensor<3xi32>)",
                       "tensor<2x3xi1>"),
               {integers<double>({2, 3}, {-1, 2, 3, 0, 5, -6}),
                integers<double>({3}, {0, 2, -6})})
        .front()
        .integers;
  };
  EXPECT_EQ(compare("eq"), (std::vector<int64_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(compare("ne"), (std::vector<int64_t>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(compare("lt"), (std::vector<int64_t>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(compare("le"), (std::vector<int64_t>{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(compare("gt"), (std::vector<int64_t>{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(compare("ge"), (std::vector<int64_t>{0, 1, 1, 1, 1, 1}));
}

//===- Dropout ------------------------------------------------------------===//

namespace {

std::string dropoutProgram(std::string rate) {
  return program("%x: tensor<2x7xf64>, %s: tensor<i64>",
                 "dropout %x, %s {rate = " + rate +
                     " : f64, site = 4294967299 : i64} : (tensor<2x7xf64>, "
                     "tensor<i64>)",
                 "tensor<2x7xf64>");
}

} // namespace

// The words of Philox4x32-10 in Python, checked there against the published
// answers.
TEST(Operations, Dropout) {
  Tensors<double> arguments = {
      scalars<double>({2, 7}, std::vector<double>(14, 1)),
      integers<double>({}, {81985529216486895})};
  expectNear(evaluateText<double>(dropoutProgram("0.4"), arguments).front(),
             {1.6666666666666667, 1.6666666666666667, 1.6666666666666667, 0.0,
              1.6666666666666667, 0.0, 1.6666666666666667, 0.0,
              1.6666666666666667, 1.6666666666666667, 1.6666666666666667,
              1.6666666666666667, 0.0, 0.0},
             1e-15);
  EXPECT_EQ(evaluateText<double>(dropoutProgram("0.0"), arguments).front(),
            arguments[0]);
  expectNear(evaluateText<double>(dropoutProgram("1.0"), arguments).front(),
             std::vector<double>(14, 0), 0);
}

// A part with its origin: elements [1, 2] to [1, 4] of the whole.
TEST(Operations, DropoutOfAPart) {
  std::mt19937_64 random(11);
  TensorOf<Field> x = randomField({2, 7}, random);
  TensorOf<Field> seed = integers<Field>({}, {7});
  TensorOf<Field> whole =
      evaluateText<Field>(dropoutProgram("0.4"), {x, seed}).front();
  std::string part = R"(func.func @main(%x: tensor<1x3xf64>, %s: tensor<i64>)
        -> tensor<1x3xf64> attributes {tp.local} {
      %o = arith.constant 9 : index
      %0 = tp.dropout %x, %s from %o {rate = 0.4 : f64, site = 4294967299 : i64,
          global_shape = array<i64: 2, 7>}
          : (tensor<1x3xf64>, tensor<i64>, index) -> tensor<1x3xf64>
      return %0 : tensor<1x3xf64>
    })";
  auto take = [](const TensorOf<Field> &of) {
    return slice<Field>(of, {Span{1, 1}, Span{2, 3}});
  };
  EXPECT_EQ(evaluateLocal<Field>(part, {{take(x), seed}}).front().front(),
            take(whole));
}

TEST(Operations, PaddingHasNoIdsAndIsMasked) {
  llvm::StringRef text =
      R"(func.func @main(%t: tensor<3x2xf32>, %i: tensor<2xi32>)
          -> (tensor<2x2xf32>, tensor<2x2xf32>) {
        %o = arith.constant 4 : index
        %0 = tp.embedding %t, %i {vocabulary = 2 : i64}
            : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
        %1 = tp.mask_padding %0 from %o {valid = 5 : i64}
            : (tensor<2x2xf32>, index) -> tensor<2x2xf32>
        return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
      })";
  TensorOf<double> table = scalars<double>({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensors<double> results =
      evaluateText<double>(text, {table, integers<double>({2}, {1, 0})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {3, 4, 1, 2}, 0);
  double lowest = -std::numeric_limits<float>::max();
  expectNear(results[1], {3, lowest, 1, lowest}, 0);
  std::string message =
      errorOf<double>(text, {table, integers<double>({2}, {0, 2})});
  EXPECT_NE(message.find("id 2 at position 1 is outside the vocabulary of 2"),
            std::string::npos)
      << message;
}
