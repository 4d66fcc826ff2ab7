// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LocalProgram.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tp;
using namespace tp::test;

namespace {

/// relu(x a^T) b^T on n ranks: columns of `a`, then rows of `b`, then the sum.
std::string twoProducts(int64_t ranks, int64_t hidden) {
  std::string table = "[[";
  for (int64_t rank = 0; rank < ranks; ++rank)
    table += (rank ? ", " : "") + std::to_string(rank);
  table += "]]";
  return llvm::formatv(R"(
    tp.mesh @mesh = <["tp"={0}]>
    func.func @main(
        %x: tensor<3x8xf64> {{tp.name = "x"},
        %a: tensor<{1}x8xf64> {{tp.name = "a", tp.parameter,
          tp.global = tensor<{2}x8xf64,
            #tp.sharding<@mesh, [{{"tp"}, {{}]>>},
        %b: tensor<5x{1}xf64> {{tp.name = "b", tp.parameter,
          tp.global = tensor<5x{2}xf64,
            #tp.sharding<@mesh, [{{}, {{"tp"}]>>})
        -> (tensor<3x5xf64> {{tp.name = "y"})
        attributes {{tp.local, tp.ranks = {0}} {{
      %h = tp.matmul %x, %a {{transpose_b}
          : (tensor<3x8xf64>, tensor<{1}x8xf64>) -> tensor<3x{1}xf64>
      %r = tp.relu %h : (tensor<3x{1}xf64>) -> tensor<3x{1}xf64>
      %p = tp.matmul %r, %b {{transpose_b}
          : (tensor<3x{1}xf64>, tensor<5x{1}xf64>) -> tensor<3x5xf64>
      %y = tp.local_all_reduce %p sum groups dense<{3}> : tensor<1x{0}xi64>
          : (tensor<3x5xf64>) -> tensor<3x5xf64>
      return %y : tensor<3x5xf64>
    })",
                       ranks, hidden / ranks, hidden, table)
      .str();
}

/// The same in plain loops.
std::vector<double> twoProductsByHand(const TensorOf<double> &x,
                                      const TensorOf<double> &a,
                                      const TensorOf<double> &b,
                                      int64_t hidden) {
  std::vector<double> y(15, 0);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < hidden; ++j) {
      double h = 0;
      for (int64_t k = 0; k < 8; ++k)
        h += x.values[i * 8 + k] * a.values[j * 8 + k];
      for (int64_t o = 0; o < 5; ++o)
        y[i * 5 + o] += std::max(h, 0.0) * b.values[o * hidden + j];
    }
  return y;
}

class RanksTest : public testing::TestWithParam<int64_t> {};

TEST_P(RanksTest, ColumnThenRowProduct) {
  int64_t ranks = GetParam(), hidden = 12;
  ProgramContext programs;
  auto module = programs.parse(twoProducts(ranks, hidden));
  ASSERT_TRUE(module);
  Inputs inputs(7);
  Signature signature;
  auto results = run(*module, signature, inputs);
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  std::vector<TensorOf<double>> whole;
  for (const Port &port : signature.arguments)
    whole.push_back(llvm::cantFail(inputs.readWhole(port)));
  std::vector<double> expected =
      twoProductsByHand(whole[0], whole[1], whole[2], hidden);
  ASSERT_EQ(results->outputs.size(), size_t(ranks));
  for (const std::vector<Array> &outputs : results->outputs) {
    ArrayRef<double> y = outputs[0].as<double>();
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(y[i], expected[i], 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(, RanksTest, testing::Values(1, 2, 3));

/// Largest distance of `op` on f32 from `expected`, in units of the last place
/// of the result and at least 2^-126, over normal inputs with spread 1.
double unitsInTheLastPlace(StringRef op,
                           llvm::function_ref<double(double)> expected) {
  std::string text = llvm::formatv(R"(
    func.func @main(%x: tensor<100x200xf32>)
        -> (tensor<100x200xf32>, tensor<100x200xf32>)
        attributes {{tp.local} {{
      %y = {0} : (tensor<100x200xf32>) -> tensor<100x200xf32>
      return %x, %y : tensor<100x200xf32>, tensor<100x200xf32>
    })",
                                   op);
  auto values = outputs(text, Inputs(5));
  if (values.empty())
    return HUGE_VAL;
  double worst = 0;
  for (auto [x, y] :
       llvm::zip_equal(values[0][0].as<float>(), values[0][1].as<float>())) {
    double exact = expected(x);
    double place = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
    worst = std::max(worst, std::fabs(y - exact) / place);
  }
  return worst;
}

TEST(Elementwise, SiluIsAccurate) {
  EXPECT_LE(unitsInTheLastPlace(
                "tp.silu %x", [](double x) { return x / (1 + std::exp(-x)); }),
            4);
}

TEST(Elementwise, ExponentialsAndLogarithmsAreAccurate) {
  EXPECT_LE(
      unitsInTheLastPlace("tp.exp %x", [](double x) { return std::exp(x); }),
      4);
  EXPECT_LE(
      unitsInTheLastPlace("tp.sigmoid %x",
                          [](double x) { return 1 / (1 + std::exp(-x)); }),
      4);
}

TEST(Elementwise, TanhIsAccurate) {
  EXPECT_LE(
      unitsInTheLastPlace("tp.tanh %x", [](double x) { return std::tanh(x); }),
      8);
}

TEST(Elementwise, GeluIsAccurateToTheMagnitudeOfItsTerms) {
  // Near x = -3 the two terms of the sum cancel: compare with x, not with the
  // result.
  auto worst = [](StringRef op, auto exact) {
    std::string text = llvm::formatv(R"(
      func.func @main(%x: tensor<4000xf32>)
          -> (tensor<4000xf32>, tensor<4000xf32>) attributes {{tp.local} {{
        %y = {0} : (tensor<4000xf32>) -> tensor<4000xf32>
        return %x, %y : tensor<4000xf32>, tensor<4000xf32>
      })",
                                     op);
    auto values = outputs(text, Inputs(5));
    double worst = values.empty() ? HUGE_VAL : 0;
    if (!values.empty())
      for (auto [x, y] :
           llvm::zip_equal(values[0][0].as<float>(), values[0][1].as<float>()))
        worst = std::max(worst, std::fabs(y - exact(x)) / std::fabs(x));
    return worst;
  };
  EXPECT_LE(
      worst("tp.gelu %x",
            [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }),
      3e-7);
  EXPECT_LE(worst("tp.gelu %x tanh",
                  [](double x) {
                    double inner = std::sqrt(2 / std::numbers::pi) *
                                   (x + 0.044715 * x * x * x);
                    return x / 2 * (1 + std::tanh(inner));
                  }),
            3e-7);
}

TEST(Elementwise, LargeArgumentsReachTheirLimits) {
  auto values = outputs(R"(
    func.func @main() -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>,
                          tensor<6xf32>) attributes {tp.local} {
      %x = tp.constant dense<[-1.0e4, -100.0, 0.0, 100.0, 1.0e4, 0x7FC00000]>
          : tensor<6xf32>
      %s = tp.silu %x : (tensor<6xf32>) -> tensor<6xf32>
      %t = tp.tanh %x : (tensor<6xf32>) -> tensor<6xf32>
      %g = tp.gelu %x : (tensor<6xf32>) -> tensor<6xf32>
      %r = tp.relu %x : (tensor<6xf32>) -> tensor<6xf32>
      return %s, %t, %g, %r
          : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
    })",
                        Inputs(0));
  ASSERT_EQ(values.size(), 1u);
  float limits[4][5] = {{0, 0, 0, 100, 1e4},
                        {-1, -1, 0, 1, 1},
                        {0, 0, 0, 100, 1e4},
                        {0, 0, 0, 100, 1e4}};
  for (int64_t function = 0; function < 4; ++function) {
    ArrayRef<float> result = values[0][function].as<float>();
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_NEAR(result[i], limits[function][i], 1e-6) << function << i;
    EXPECT_TRUE(std::isnan(result[5])) << function;
  }
}

TEST(Elementwise, OperandsOfLowerRankAlignWithTheLastDimensions) {
  auto values = outputs(R"(
    func.func @main() -> (tensor<2x3xf32>, tensor<3x2xi32>, tensor<2x3xf64>,
                          tensor<f32>) attributes {tp.local} {
      %m = tp.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
          : tensor<2x3xf32>
      %v = tp.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
      %s = tp.constant dense<-1.0> : tensor<f32>
      %p = tp.mul %m, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %d = tp.sub %s, %p : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %r = tp.relu %m : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %a = tp.add %d, %r
          : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %i = tp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
      %t = tp.transpose %i by [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
      %w = tp.cast %i : (tensor<2x3xi32>) -> tensor<2x3xf64>
      return %a, %t, %w, %s
          : tensor<2x3xf32>, tensor<3x2xi32>, tensor<2x3xf64>, tensor<f32>
    })",
                        Inputs(0));
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0][0].as<float>(),
            ArrayRef<float>({-10, -39, -88, -37, -96, -175}));
  EXPECT_EQ(values[0][1].as<int32_t>(), ArrayRef<int32_t>({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values[0][2].as<double>(), ArrayRef<double>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values[0][3].as<float>(), ArrayRef<float>({-1}));
}

TEST(Shape, TransposeTurnsThreeDimensions) {
  // Dimension i of the result is dimension permutation[i] of the operand.
  auto values = outputs(R"(
    func.func @main(%x: tensor<2x3x4xf32>)
        -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<6x4xf32>)
        attributes {tp.local} {
      %t = tp.transpose %x by [2, 0, 1]
          : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
      %r = tp.reshape %t : (tensor<4x2x3xf32>) -> tensor<6x4xf32>
      return %x, %t, %r
          : tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<6x4xf32>
    })",
                        Inputs(2));
  ASSERT_EQ(values.size(), 1u);
  ArrayRef<float> x = values[0][0].as<float>(), t = values[0][1].as<float>();
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 2; ++j)
      for (int64_t k = 0; k < 3; ++k)
        EXPECT_EQ(t[(i * 2 + j) * 3 + k], x[(j * 3 + k) * 4 + i]);
  EXPECT_EQ(values[0][2].as<float>(), t);
}

TEST(Shape, SlicesAndOriginsFollowTheRank) {
  // 7 elements over 3 ranks are 3, 2, 2: they begin at 0, 3, 5.
  auto values = outputs(R"(
    tp.mesh @mesh = <["dp"=2, "tp"=3]>
    func.func @main(%x: tensor<2x9xf32>)
        -> (tensor<2x9xf32>, tensor<2x2xf32>, tensor<2x9xf32>)
        attributes {tp.local, tp.ranks = 6} {
      %o = tp.shard_origin @mesh {"tp"} of 7 : index
      %s = tp.local_slice %x from %o dim 1
          : (tensor<2x9xf32>, index) -> tensor<2x2xf32>
      %m = tp.local_mask %x if %o
          : (tensor<2x9xf32>, index) -> tensor<2x9xf32>
      return %x, %s, %m : tensor<2x9xf32>, tensor<2x2xf32>, tensor<2x9xf32>
    })",
                        Inputs(4));
  ASSERT_EQ(values.size(), 6u);
  for (int64_t rank = 0; rank < 6; ++rank) {
    int64_t origin = std::array{0, 3, 5}[rank % 3];
    ArrayRef<float> x = values[rank][0].as<float>();
    EXPECT_EQ(values[rank][1].as<float>(),
              ArrayRef<float>({x[origin], x[origin + 1], x[9 + origin],
                               x[9 + origin + 1]}));
    for (float value : values[rank][2].as<float>())
      EXPECT_EQ(value != 0, rank % 3 == 0);
  }
}

TEST(Shape, OriginsNestAndCountInUnits) {
  // 10 units of 2 over 2 (5, 5), each 5 over 2 (3, 2): 0, 3, 5, 8 units.
  auto values = outputs(R"(
    tp.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(%x: tensor<18x1xi32> {tp.bound = 1000000})
        -> (tensor<18x1xi32>, tensor<1x1xi32>)
        attributes {tp.local, tp.ranks = 4} {
      %o = tp.shard_origin @mesh {"a", "b", unit = 2} of 20 : index
      %s = tp.local_slice %x from %o dim 0
          : (tensor<18x1xi32>, index) -> tensor<1x1xi32>
      return %x, %s : tensor<18x1xi32>, tensor<1x1xi32>
    })",
                        Inputs(4));
  ASSERT_EQ(values.size(), 4u);
  for (int64_t rank = 0; rank < 4; ++rank) {
    int64_t origin = std::array{0, 6, 10, 16}[rank];
    EXPECT_EQ(values[rank][1].as<int32_t>()[0],
              values[rank][0].as<int32_t>()[origin]);
  }
}

TEST(Collectives, GatherOfScatterIsTheSum) {
  auto values = outputs(R"(
    func.func @main(%x: tensor<3x4xf32>)
        -> (tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x4xf32>, tensor<6x2xf32>,
            tensor<3x4xf32>) attributes {tp.local, tp.ranks = 2} {
      %s = tp.local_reduce_scatter %x sum dim 1
          groups dense<[[1, 0]]> : tensor<1x2xi64>
          : (tensor<3x4xf32>) -> tensor<3x2xf32>
      %g = tp.local_all_gather %s dim 1 groups dense<[[1, 0]]> : tensor<1x2xi64>
          : (tensor<3x2xf32>) -> tensor<3x4xf32>
      %t = tp.local_all_to_all %x from 0 to 1
          groups dense<[[0, 1]]> : tensor<1x2xi64>
          : (tensor<3x4xf32>) -> tensor<6x2xf32>
      %p = tp.local_permute %x pairs dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
          : (tensor<3x4xf32>) -> tensor<3x4xf32>
      return %x, %s, %g, %t, %p : tensor<3x4xf32>, tensor<3x2xf32>,
          tensor<3x4xf32>, tensor<6x2xf32>, tensor<3x4xf32>
    })",
                        Inputs(9));
  ASSERT_EQ(values.size(), 2u);
  for (int64_t rank = 0; rank < 2; ++rank) {
    ArrayRef<float> x = values[rank][0].as<float>();
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t column = 0; column < 4; ++column) {
        float value = x[row * 4 + column];
        EXPECT_EQ(values[rank][2].as<float>()[row * 4 + column], 2 * value);
        EXPECT_EQ(values[rank][4].as<float>()[row * 4 + column], value);
        // Rank 1 is at position 0 of the reversed group.
        if (column / 2 == 1 - rank) {
          EXPECT_EQ(values[rank][1].as<float>()[row * 2 + column % 2],
                    2 * value);
        }
        if (column / 2 == rank) {
          ArrayRef<float> turned = values[rank][3].as<float>();
          EXPECT_EQ(turned[row * 2 + column % 2], value);
          EXPECT_EQ(turned[(3 + row) * 2 + column % 2], value);
        }
      }
  }
}

TEST(Engine, FunctionsCallOneAnotherAndMayReturnTheirArguments) {
  auto values = outputs(R"(
    func.func private @twice(%x: tensor<3xf32>)
        -> (tensor<3xf32>, tensor<3xf32>) attributes {tp.local} {
      %y = tp.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %y, %x : tensor<3xf32>, tensor<3xf32>
    }
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
        attributes {tp.local} {
      %a:2 = call @twice(%x)
          : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %b:2 = call @twice(%a#0)
          : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      return %b#0, %a#1 : tensor<3xf32>, tensor<3xf32>
    })",
                        Inputs(1));
  ASSERT_EQ(values.size(), 1u);
  for (auto [y, x] :
       llvm::zip_equal(values[0][0].as<float>(), values[0][1].as<float>()))
    EXPECT_EQ(y, 4 * x);
}

std::string errorOf(StringRef text) {
  ProgramContext programs;
  auto module = programs.parse(text);
  if (!module)
    return "the program does not parse";
  Signature signature;
  ScopedDiagnosticHandler silent(&programs.context,
                                 [](Diagnostic &) { return success(); });
  auto results = run(*module, signature, Inputs(0));
  return results ? "" : llvm::toString(results.takeError());
}

TEST(Engine, ARankThatFailsIsNamed) {
  // Ids up to 8 look into a table of 2 rows.
  std::string error = errorOf(R"(
    func.func @main(%t: tensor<2x4xf32>, %i: tensor<5xi64> {tp.bound = 9})
        -> tensor<5x4xf32> attributes {tp.local, tp.ranks = 2} {
      %r = tp.embedding %t, %i
          : (tensor<2x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
      return %r : tensor<5x4xf32>
    })");
  EXPECT_NE(error.find("rank "), std::string::npos) << error;
  EXPECT_NE(error.find("vocabulary of 2"), std::string::npos) << error;
}

TEST(Engine, ShapesMustFitTheMesh) {
  std::string error = errorOf(R"(
    tp.mesh @mesh = <["tp"=2]>
    func.func @main(%x: tensor<3xf32> {
        tp.global = tensor<8xf32, #tp.sharding<@mesh, [{"tp"}]>>})
        -> tensor<3xf32> attributes {tp.local, tp.ranks = 2} {
      return %x : tensor<3xf32>
    })");
  EXPECT_NE(error.find("no rank holds row 6 of dimension 0 of `argument 0`"),
            std::string::npos)
      << error;
}

} // namespace
