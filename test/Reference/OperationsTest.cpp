// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Operations, one at a time, against values from their formulas in Python and
/// against identities in the field.

#include "Programs.h"
#include <cmath>

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
