// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LocalProgram.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

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
  for (auto [number, port] : llvm::enumerate(signature.arguments))
    whole.push_back(llvm::cantFail(inputs.readWhole(number, port)));
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

} // namespace
