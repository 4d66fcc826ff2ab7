// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Hand-written programs of all ranks against the unsharded program, in the
/// field: right ones are equal to the bit, and every fault shows.

#include "Programs.h"
#include "tp/Reference/Evaluator.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tp;
namespace {

std::string replaced(std::string text, llvm::StringRef from,
                     llvm::StringRef to) {
  size_t position = text.find(from.str());
  EXPECT_NE(position, std::string::npos) << from.str();
  return position == std::string::npos
             ? text
             : text.replace(position, from.size(), to.str());
}

/// Piece `rank` of `numRanks` equal ones.
template <class S>
TensorOf<S> piece(const TensorOf<S> &tensor, unsigned dim, int64_t rank,
                  int64_t numRanks) {
  int64_t size = tensor.shape[dim] / numRanks;
  return slice(tensor, dim, {rank * size, size});
}

/// One row `[[0, 1, ..]]`.
std::string oneGroup(int64_t numRanks) {
  return llvm::formatv(
      "dense<[[{0}]]> : tensor<1x{1}xi64>",
      llvm::join(llvm::map_range(llvm::seq(numRanks),
                                 [](int64_t r) { return std::to_string(r); }),
                 ", "),
      numRanks);
}

/// Whether all ranks give the tensors of `expected`.
bool allEqual(const std::vector<Tensors<Field>> &results,
              const Tensors<Field> &expected) {
  return llvm::all_of(
      results, [&](const Tensors<Field> &row) { return row == expected; });
}

} // namespace

//===- Collectives by hand ------------------------------------------------===//

namespace {

/// Applies one collective to R0 = [1, 2, 3, 4] and R1 = [10, 20, 30, 40].
std::vector<Tensors<double>> collect(std::string op, int64_t resultSize) {
  std::string text = llvm::formatv(
      "func.func @main(%x: tensor<4xf64>) -> tensor<{1}xf64> attributes "
      "{{tp.local} {{ %0 = tp.{0} : (tensor<4xf64>) -> tensor<{1}xf64> "
      "return %0 : tensor<{1}xf64> }",
      op, resultSize);
  return evaluateLocal<double>(text,
                               {{scalars<double>({4}, {1, 2, 3, 4})},
                                {scalars<double>({4}, {10, 20, 30, 40})}});
}

} // namespace

TEST(LocalProgram, CollectivesOnTwoRanks) {
  std::string group = oneGroup(2);
  auto results = collect("local_all_reduce %x sum groups " + group, 4);
  for (auto &row : results)
    expectNear(row.front(), {11, 22, 33, 44}, 0);
  results = collect("local_all_reduce %x max groups " + group, 4);
  for (auto &row : results)
    expectNear(row.front(), {10, 20, 30, 40}, 0);
  results = collect("local_all_gather %x dim 0 groups " + group, 8);
  for (auto &row : results)
    expectNear(row.front(), {1, 2, 3, 4, 10, 20, 30, 40}, 0);
  results = collect("local_reduce_scatter %x sum dim 0 groups " + group, 2);
  expectNear(results[0].front(), {11, 22}, 0);
  expectNear(results[1].front(), {33, 44}, 0);
  results = collect("local_permute %x pairs dense<[[0, 1], [1, 0]]> : "
                    "tensor<2x2xi64>",
                    4);
  expectNear(results[0].front(), {10, 20, 30, 40}, 0);
  expectNear(results[1].front(), {1, 2, 3, 4}, 0);
}

// all_to_all of [1, 2, 3, 4] and [10, 20, 30, 40]: [1, 2, 10, 20] and
// [3, 4, 30, 40], here with one row a rank.
TEST(LocalProgram, AllToAllOnTwoRanks) {
  std::string text =
      "func.func @main(%x: tensor<1x4xf64>) -> tensor<2x2xf64> attributes "
      "{tp.local} { %0 = tp.local_all_to_all %x from 0 to 1 groups " +
      oneGroup(2) +
      " : (tensor<1x4xf64>) -> tensor<2x2xf64> return %0 : tensor<2x2xf64> }";
  auto results = evaluateLocal<double>(
      text, {{scalars<double>({1, 4}, {1, 2, 3, 4})},
             {scalars<double>({1, 4}, {10, 20, 30, 40})}});
  expectNear(results[0].front(), {1, 2, 10, 20}, 0);
  expectNear(results[1].front(), {3, 4, 30, 40}, 0);
}

TEST(LocalProgram, TheOrderInAGroupIsTheOrderOfThePieces) {
  auto results = collect("local_all_gather %x dim 0 groups dense<[[1, 0]]> : "
                         "tensor<1x2xi64>",
                         8);
  for (auto &row : results)
    expectNear(row.front(), {10, 20, 30, 40, 1, 2, 3, 4}, 0);
  results = collect("local_reduce_scatter %x max dim 0 groups dense<[[1, 0]]> "
                    ": tensor<1x2xi64>",
                    2);
  expectNear(results[0].front(), {30, 40}, 0);
  expectNear(results[1].front(), {10, 20}, 0);
}

TEST(LocalProgram, IntegersAndMasksReduce) {
  auto run = [](std::string type, std::string kind, int64_t a, int64_t b) {
    std::string text = llvm::formatv(
        "func.func @main(%x: tensor<1x{0}>) -> tensor<1x{0}> attributes "
        "{{tp.local} {{ %0 = tp.local_all_reduce %x {1} groups {2} : "
        "(tensor<1x{0}>) -> tensor<1x{0}> return %0 : tensor<1x{0}> }",
        type, kind, oneGroup(2));
    Program program(text);
    std::vector<Tensors<Field>> arguments = {{integers<Field>({1}, {a})},
                                             {integers<Field>({1}, {b})}};
    auto results = evaluateRanks<Field>(program.get("main"), 2, arguments);
    if (!results)
      return llvm::toString(results.takeError());
    return std::to_string((*results)[1].front().integers.front());
  };
  EXPECT_EQ(run("i32", "sum", 5, -7), "-2");
  EXPECT_EQ(run("i64", "max", 5, -7), "5");
  EXPECT_EQ(run("i1", "max", 0, 1), "1");
  EXPECT_EQ(run("i32", "sum", 2147483647, 1), "-2147483648");
  EXPECT_EQ(run("i64", "sum", INT64_MAX, INT64_MAX), "-2");
}

//===- Column, then row ---------------------------------------------------===//

namespace {

constexpr llvm::StringLiteral mlp = R"(
    func.func @main(%x: tensor<6x5xf32>, %a: tensor<5x12xf32>,
                    %b: tensor<12x6xf32>) -> tensor<6x6xf32> {
      %0 = tp.matmul %x, %a
          : (tensor<6x5xf32>, tensor<5x12xf32>) -> tensor<6x12xf32>
      %1 = tp.tanh %0 : (tensor<6x12xf32>) -> tensor<6x12xf32>
      %2 = tp.matmul %1, %b
          : (tensor<6x12xf32>, tensor<12x6xf32>) -> tensor<6x6xf32>
      return %2 : tensor<6x6xf32>
    })";

/// {0}: hidden elements a rank, {1}: what finishes the sum.
std::string localMLP(int64_t numRanks, llvm::StringRef finish) {
  return llvm::formatv(R"(
    func.func @main(%x: tensor<6x5xf32>, %a: tensor<5x{0}xf32>,
                    %b: tensor<{0}x6xf32>) -> tensor<6x6xf32>
        attributes {{tp.local} {{
      %0 = tp.matmul %x, %a
          : (tensor<6x5xf32>, tensor<5x{0}xf32>) -> tensor<6x{0}xf32>
      %1 = tp.tanh %0 : (tensor<6x{0}xf32>) -> tensor<6x{0}xf32>
      %2 = tp.matmul %1, %b
          : (tensor<6x{0}xf32>, tensor<{0}x6xf32>) -> tensor<6x6xf32>
      {1}
      return %3 : tensor<6x6xf32>
    })",
                       12 / numRanks, finish);
}

struct MLPInputs {
  Tensors<Field> whole;
  std::vector<Tensors<Field>> ranks;

  explicit MLPInputs(int64_t numRanks) {
    std::mt19937_64 random(21);
    whole = {randomField({6, 5}, random), randomField({5, 12}, random),
             randomField({12, 6}, random)};
    for (int64_t rank = 0; rank < numRanks; ++rank)
      ranks.push_back({whole[0], piece(whole[1], 1, rank, numRanks),
                       piece(whole[2], 0, rank, numRanks)});
  }
};

std::string allReduce(llvm::StringRef value, llvm::StringRef kind,
                      llvm::StringRef groups) {
  return llvm::formatv("%3 = tp.local_all_reduce {0} {1} groups {2} "
                       ": (tensor<6x6xf32>) -> tensor<6x6xf32>",
                       value, kind, groups);
}

class OnRanks : public testing::TestWithParam<int64_t> {};

} // namespace

TEST_P(OnRanks, ColumnThenRow) {
  MLPInputs inputs(GetParam());
  Tensors<Field> expected = evaluateText<Field>(mlp, inputs.whole);
  std::string groups = oneGroup(GetParam());
  std::string right = localMLP(GetParam(), allReduce("%2", "sum", groups));
  EXPECT_TRUE(allEqual(evaluateLocal(right, inputs.ranks), expected));

  auto isCaught = [&](const std::string &mutant) {
    return !allEqual(evaluateLocal(mutant, inputs.ranks), expected);
  };
  EXPECT_TRUE(isCaught(localMLP(GetParam(), allReduce("%2", "max", groups))));
  // No sum, a doubled one.
  EXPECT_TRUE(
      isCaught(replaced(localMLP(GetParam(), ""), "return %3", "return %2")));
  std::string twice = allReduce("%2", "sum", groups);
  twice = replaced(twice, "%3", "%4") + "\n" + allReduce("%4", "sum", groups);
  EXPECT_TRUE(isCaught(localMLP(GetParam(), twice)));
  // Another function, or none.
  EXPECT_TRUE(isCaught(replaced(right, "tp.tanh", "tp.silu")));
  EXPECT_TRUE(isCaught(replaced(right, "tp.matmul %1", "tp.matmul %0")));
  // Pieces of a weight on the wrong ranks: both weights, and the sum is the
  // same; one, and it is not.
  std::swap(inputs.ranks[0][1], inputs.ranks[1][1]);
  EXPECT_TRUE(isCaught(right));
  std::swap(inputs.ranks[0][2], inputs.ranks[1][2]);
  EXPECT_FALSE(isCaught(right));
}

// The nonlinear function before the sum is another program, bias or not.
TEST_P(OnRanks, NonlinearBeforeTheSum) {
  MLPInputs inputs(GetParam());
  Tensors<Field> expected = evaluateText<Field>(
      replaced(mlp.str(), "return %2",
               "%4 = tp.gelu %2 : (tensor<6x6xf32>) -> tensor<6x6xf32> "
               "return %4"),
      inputs.whole);
  std::string gelu = "%4 = tp.gelu {0} : (tensor<6x6xf32>) -> tensor<6x6xf32>";
  std::string groups = oneGroup(GetParam());
  std::string early =
      localMLP(GetParam(), llvm::formatv(gelu.c_str(), "%2").str() + "\n" +
                               allReduce("%4", "sum", groups));
  std::string late = replaced(
      localMLP(GetParam(), allReduce("%2", "sum", groups) + "\n" +
                               llvm::formatv(gelu.c_str(), "%3").str()),
      "return %3", "return %4");
  EXPECT_TRUE(allEqual(evaluateLocal(late, inputs.ranks), expected));
  EXPECT_FALSE(allEqual(evaluateLocal(early, inputs.ranks), expected));
}

//===- Every local operation ----------------------------------------------===//

namespace {

/// The MLP's sum, scattered by rows, turned into columns, passed through relu,
/// gathered; rows cut out, sent to the next rank and back; the whole kept by
/// the first rank alone and summed. {0} hidden, {1} rows or columns a rank, {2}
/// ranks, {3} group, {4} and {5} pairs.
constexpr llvm::StringLiteral tour = R"(
    tp.mesh @mesh = <["tp"={2}]>
    !whole = tensor<6x6xf32>
    !rows = tensor<{1}x6xf32>
    !columns = tensor<6x{1}xf32>
    func.func @main(%x: tensor<6x5xf32>, %a: tensor<5x{0}xf32>,
                    %b: tensor<{0}x6xf32>) -> (!whole, !rows)
        attributes {{tp.local} {{
      %0 = tp.matmul %x, %a
          : (tensor<6x5xf32>, tensor<5x{0}xf32>) -> tensor<6x{0}xf32>
      %1 = tp.tanh %0 : (tensor<6x{0}xf32>) -> tensor<6x{0}xf32>
      %2 = tp.matmul %1, %b
          : (tensor<6x{0}xf32>, tensor<{0}x6xf32>) -> !whole
      %3 = tp.local_reduce_scatter %2 sum dim 0 groups {3}
          : (!whole) -> !rows
      %4 = tp.local_all_to_all %3 from 0 to 1 groups {3} : (!rows) -> !columns
      %5 = tp.relu %4 : (!columns) -> !columns
      %6 = tp.local_all_gather %5 dim 1 groups {3} : (!columns) -> !whole
      %o = tp.shard_origin @mesh {{"tp"} of 6 : index
      %7 = tp.local_slice %6 from %o dim 0 : (!whole, index) -> !rows
      %8 = tp.local_permute %7 pairs {4} : (!rows) -> !rows
      %9 = tp.local_permute %8 pairs {5} : (!rows) -> !rows
      %c = tp.shard_origin @mesh {{"tp"} of {2} : index
      %10 = tp.local_mask %6 if %c : (!whole, index) -> !whole
      %11 = tp.local_all_reduce %10 sum groups {3} : (!whole) -> !whole
      return %11, %9 : !whole, !rows
    })";

std::string shift(int64_t numRanks, int64_t by) {
  std::string rows;
  llvm::raw_string_ostream os(rows);
  llvm::ListSeparator separator;
  for (int64_t rank = 0; rank < numRanks; ++rank)
    os << separator << '[' << rank << ", " << (rank + by + numRanks) % numRanks
       << ']';
  return llvm::formatv("dense<[{0}]> : tensor<{1}x2xi64>", rows, numRanks);
}

bool tourIsRight(const std::string &text, const MLPInputs &inputs,
                 const TensorOf<Field> &expected) {
  auto results = evaluateLocal(text, inputs.ranks);
  for (auto [rank, row] : llvm::enumerate(results))
    if (row.size() != 2 || row[0] != expected ||
        row[1] != piece(expected, 0, rank, results.size()))
      return false;
  return true;
}

} // namespace

TEST_P(OnRanks, EveryLocalOperation) {
  int64_t n = GetParam();
  MLPInputs inputs(n);
  Tensors<Field> expected = evaluateText<Field>(
      replaced(mlp.str(), "return %2",
               "%4 = tp.relu %2 : (tensor<6x6xf32>) -> tensor<6x6xf32> "
               "return %4"),
      inputs.whole);
  std::string right = llvm::formatv(tour.data(), 12 / n, 6 / n, n, oneGroup(n),
                                    shift(n, 1), shift(n, -1));
  EXPECT_TRUE(tourIsRight(right, inputs, expected.front()));
  // Groups in another order, one by one.
  std::string swapped = replaced(oneGroup(n), "0, 1", "1, 0");
  for (std::string op :
       {"%2 sum dim 0 groups ", "from 0 to 1 groups ", "%5 dim 1 groups "})
    EXPECT_FALSE(tourIsRight(replaced(right, op + oneGroup(n), op + swapped),
                             inputs, expected.front()))
        << op;
  struct {
    std::string from, to;
  } faults[] = {{"%2 sum dim 0", "%2 max dim 0"},
                {"%10 sum", "%10 max"},
                {"tp.local_permute %7 pairs " + shift(n, 1),
                 "tp.local_permute %7 pairs " + shift(n, 0)},
                {"of 6 : index", "of 1 : index"},
                {"%6 if %c", "%6 if %z"}};
  right = replaced(right, "%o =", "%z = arith.constant 0 : index %o =");
  for (const auto &fault : faults)
    EXPECT_FALSE(tourIsRight(replaced(right, fault.from, fault.to), inputs,
                             expected.front()))
        << fault.to;
}

INSTANTIATE_TEST_SUITE_P(LocalProgram, OnRanks, testing::Values(2, 3));

// A masked sum of values with one nonzero term each: by the order of residues
// the maximum would be the sum.
TEST(LocalProgram, MaximumIsNotTakenByResidue) {
  std::string text =
      "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> attributes "
      "{tp.local} { %0 = tp.local_all_reduce %x max groups " +
      oneGroup(2) +
      ": (tensor<64xf32>) -> tensor<64xf32> return %0 : tensor<64xf32> }";
  std::mt19937_64 random(2);
  TensorOf<Field> value = randomField({64}, random), zero = value;
  zero.values.assign(64, Field());
  auto results = evaluateLocal<Field>(text, {{value}, {zero}});
  EXPECT_NE(results[0].front(), value);
  EXPECT_EQ(results[0], results[1]);
}

//===- Groups of a two-dimensional mesh -----------------------------------===//

// dp = 2 splits the batch, tp = 2 the contraction: ranks 2 dp + tp.
TEST(LocalProgram, WrongGroupIsAnotherProgram) {
  std::mt19937_64 random(8);
  Tensors<Field> whole = {randomField({4, 6}, random),
                          randomField({6, 3}, random)};
  Tensors<Field> expected = evaluateText<Field>(
      R"(func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x3xf32>)
          -> tensor<4x3xf32> {
        %0 = tp.matmul %x, %w
            : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
        return %0 : tensor<4x3xf32>
      })",
      whole);
  std::vector<Tensors<Field>> arguments;
  for (int64_t rank = 0; rank < 4; ++rank)
    arguments.push_back({piece(piece(whole[0], 0, rank / 2, 2), 1, rank % 2, 2),
                         piece(whole[1], 0, rank % 2, 2)});
  auto isRight = [&](llvm::StringRef groups) {
    std::string text = llvm::formatv(
        R"(func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>)
            -> tensor<2x3xf32> attributes {{tp.local} {{
          %0 = tp.matmul %x, %w
              : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
          %1 = tp.local_all_reduce %0 sum groups dense<{0}> : tensor<{1}xi64>
              : (tensor<2x3xf32>) -> tensor<2x3xf32>
          return %1 : tensor<2x3xf32>
        })",
        groups, groups.count('[') == 2 ? "1x4" : "2x2");
    auto results = evaluateLocal<Field>(text, arguments);
    for (auto [rank, row] : llvm::enumerate(results))
      if (row.front() != piece(expected.front(), 0, rank / 2, 2))
        return false;
    return true;
  };
  EXPECT_TRUE(isRight("[[0, 1], [2, 3]]"));
  EXPECT_FALSE(isRight("[[0, 2], [1, 3]]"));
  EXPECT_FALSE(isRight("[[0, 1, 2, 3]]"));
}

//===- Global indices -----------------------------------------------------===//

// The vocabulary is split for the rows, the sequence for rope and attention:
// each needs to know where the rank's part begins.
TEST(LocalProgram, Origins) {
  std::mt19937_64 random(13);
  TensorOf<Field> table = randomField({6, 8}, random);
  TensorOf<Field> ids = integers<Field>({1, 6}, {5, 0, 2, 1, 4, 3});
  Tensors<Field> expected = evaluateText<Field>(
      R"(!h = tensor<1x6x2x4xf32>
      func.func @main(%t: tensor<6x8xf32>, %i: tensor<1x6xi32>) -> !h {
        %0 = tp.embedding %t, %i
            : (tensor<6x8xf32>, tensor<1x6xi32>) -> tensor<1x6x8xf32>
        %1 = tp.reshape %0 : (tensor<1x6x8xf32>) -> !h
        %2 = tp.rope %1 {theta = 1.0e4 : f64} : (!h) -> !h
        %3 = tp.attention %2, %2, %1 {causal, scale = 0.5 : f64}
            : (!h, !h, !h) -> !h
        return %3 : !h
      })",
      {table, ids});
  std::string right = R"(tp.mesh @mesh = <["sp"=3]>
      !h = tensor<1x6x2x4xf32>
      !part = tensor<1x2x2x4xf32>
      func.func @main(%t: tensor<2x8xf32>, %i: tensor<1x6xi32>) -> !part
          attributes {tp.local} {
        %z = arith.constant 0 : index
        %v = tp.shard_origin @mesh {"sp"} of 6 : index
        %0 = tp.embedding %t, %i from %v {vocabulary = 6 : i64}
            : (tensor<2x8xf32>, tensor<1x6xi32>, index) -> tensor<1x6x8xf32>
        %1 = tp.local_all_reduce %0 sum groups
            dense<[[0, 1, 2]]> : tensor<1x3xi64>
            : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
        %2 = tp.reshape %1 : (tensor<1x6x8xf32>) -> !h
        %s = tp.shard_origin @mesh {"sp"} of 6 : index
        %3 = tp.local_slice %2 from %s dim 1 : (!h, index) -> !part
        %4 = tp.rope %3 from %s {theta = 1.0e4 : f64}
            : (!part, index) -> !part
        %5 = tp.local_all_gather %4 dim 1 groups
            dense<[[0, 1, 2]]> : tensor<1x3xi64> : (!part) -> !h
        %q = arith.addi %s, %z : index
        %6 = tp.attention %4, %5, %2 from %q {causal, scale = 0.5 : f64}
            : (!part, !h, !h, index) -> !part
        return %6 : !part
      })";
  std::vector<Tensors<Field>> arguments;
  for (int64_t rank = 0; rank < 3; ++rank)
    arguments.push_back({piece(table, 0, rank, 3), ids});
  auto isRight = [&](const std::string &text) {
    auto results = evaluateLocal<Field>(text, arguments);
    for (auto [rank, row] : llvm::enumerate(results))
      if (row.front() != piece(expected.front(), 1, rank, 3))
        return false;
    return true;
  };
  EXPECT_TRUE(isRight(right));
  for (llvm::StringRef use :
       {"%i from %v", "%2 from %s", "%3 from %s", "%2 from %q"})
    EXPECT_FALSE(isRight(replaced(right, use, use.drop_back(2).str() + "%z")))
        << use.str();
  EXPECT_FALSE(isRight(replaced(right, "{causal, scale", "{scale")));
}

//===- Errors -------------------------------------------------------------===//

TEST(LocalProgram, RefusesWhatIsNotOneProgramOfTheRanks) {
  auto errorWith = [](llvm::StringRef text, int64_t numRanks) {
    Program program(text);
    std::vector<Tensors<double>> arguments(
        numRanks, {scalars<double>({4}, {1, 2, 3, 4})});
    auto results =
        evaluateRanks<double>(program.get("main"), numRanks, arguments);
    EXPECT_FALSE(static_cast<bool>(results));
    return results ? "" : llvm::toString(results.takeError());
  };
  std::string local = R"(tp.mesh @mesh = <["tp"=2]>
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
          attributes {tp.local} {
        %0 = tp.local_all_reduce %x sum groups dense<[[0, 1]]> : tensor<1x2xi64>
            : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      })";
  EXPECT_NE(errorWith(local, 3).find("is written for 2 ranks and runs on 3"),
            std::string::npos);
  EXPECT_NE(errorWith(replaced(local, "attributes {tp.local}", ""), 2)
                .find("@main is not marked tp.local"),
            std::string::npos);
  EXPECT_NE(errorOf<double>(local, {scalars<double>({4}, {1, 2, 3, 4})})
                .find("evaluate it on all ranks"),
            std::string::npos);
  std::string slice = R"(tp.mesh @mesh = <["tp"=2]>
      func.func @main(%x: tensor<4xf32>) -> tensor<3xf32>
          attributes {tp.local} {
        %o = tp.shard_origin @mesh {"tp"} of 4 : index
        %0 = tp.local_slice %x from %o dim 0
            : (tensor<4xf32>, index) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      })";
  EXPECT_NE(errorWith(slice, 2).find("rank 1 takes 3 elements from 2 of 4"),
            std::string::npos);
  EXPECT_NE(errorWith(slice, 4).find("mesh @mesh has 2 ranks"),
            std::string::npos);
  EXPECT_NE(errorWith(replaced(slice, "attributes {tp.local}",
                               "attributes {tp.local, tp.ranks = 2}"),
                      0)
                .find("0 ranks asked for"),
            std::string::npos);
}
