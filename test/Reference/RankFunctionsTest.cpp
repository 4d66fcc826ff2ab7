// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks that run functions of their own, in step.

#include "Programs.h"

using namespace tp;

namespace {

/// Two functions: ranks 0 and 2 hold two elements each, rank 1 one.
constexpr llvm::StringLiteral functions = R"(
  func.func private @two(%x: tensor<2xf64>) -> tensor<5xf64>
      attributes {tp.local} {
    %y = tp.add %x, %x : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %z = tp.local_all_gather %y dim 0 groups dense<[[0, 1, 2]]> : tensor<1x3xi64>
        pieces dense<[[2, 1, 2]]> : tensor<1x3xi64>
        : (tensor<2xf64>) -> tensor<5xf64>
    return %z : tensor<5xf64>
  }
  func.func private @one(%x: tensor<1xf64>) -> tensor<5xf64>
      attributes {tp.local} {
    %y = tp.add %x, %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %z = tp.local_all_gather %y dim 0 groups dense<[[0, 1, 2]]> : tensor<1x3xi64>
        pieces dense<[[2, 1, 2]]> : tensor<1x3xi64>
        : (tensor<1xf64>) -> tensor<5xf64>
    return %z : tensor<5xf64>
  }
  func.func private @other_operation(%x: tensor<1xf64>) -> tensor<5xf64>
      attributes {tp.local} {
    %y = tp.mul %x, %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %z = tp.local_all_gather %y dim 0 groups dense<[[0, 1, 2]]> : tensor<1x3xi64>
        pieces dense<[[2, 1, 2]]> : tensor<1x3xi64>
        : (tensor<1xf64>) -> tensor<5xf64>
    return %z : tensor<5xf64>
  }
  func.func private @other_pieces(%x: tensor<1xf64>) -> tensor<5xf64>
      attributes {tp.local} {
    %y = tp.add %x, %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %z = tp.local_all_gather %y dim 0 groups dense<[[0, 1, 2]]> : tensor<1x3xi64>
        pieces dense<[[1, 1, 3]]> : tensor<1x3xi64>
        : (tensor<1xf64>) -> tensor<5xf64>
    return %z : tensor<5xf64>
  }
  tp.rank_table @main [@two, @one] [0, 1, 0])";

using Results = llvm::Expected<std::vector<Tensors<double>>>;

/// Ranks 0 and 2 run @two, rank 1 runs `second`.
Results run(llvm::StringRef second) {
  Program program(functions);
  RankFunctions entry{
      "main", {program.get("two"), program.get(second)}, {0, 1, 0}};
  std::vector<Tensors<double>> arguments = {{scalars<double>({2}, {1, 2})},
                                            {scalars<double>({1}, {3})},
                                            {scalars<double>({2}, {4, 5})}};
  return evaluateRanks<double>(entry, 3, arguments);
}

TEST(RankFunctions, EachRankRunsItsOwn) {
  Results results = run("one");
  ASSERT_TRUE(static_cast<bool>(results))
      << llvm::toString(results.takeError());
  for (const Tensors<double> &ofRank : *results)
    EXPECT_EQ(ofRank[0].values, (std::vector<double>{2, 4, 6, 8, 10}));
}

TEST(RankFunctions, MustBeOneProgram) {
  Results other = run("other_operation");
  ASSERT_FALSE(static_cast<bool>(other));
  EXPECT_NE(llvm::toString(other.takeError())
                .find("stands where other ranks run tp.add"),
            std::string::npos);
  Results pieces = run("other_pieces");
  ASSERT_FALSE(static_cast<bool>(pieces));
  EXPECT_NE(llvm::toString(pieces.takeError())
                .find("differs from the collective of other ranks"),
            std::string::npos);
}

TEST(RankFunctions, TheTableIsForSoManyRanks) {
  Program program(functions);
  RankFunctions entry{"main", {program.get("two")}, {0, 0}};
  std::vector<Tensors<double>> arguments(3);
  auto results = evaluateRanks<double>(entry, 3, arguments);
  ASSERT_FALSE(static_cast<bool>(results));
  EXPECT_NE(llvm::toString(results.takeError()).find("a table of 2 ranks"),
            std::string::npos);
}

} // namespace
