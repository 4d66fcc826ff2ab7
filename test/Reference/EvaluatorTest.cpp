// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The unsharded evaluator against closed forms and loops written here.

#include "tp/Reference/Evaluator.h"
#include "Programs.h"
#include <cmath>

using namespace tp;

//===- Families -----------------------------------------------------------===//

// Y = tanh(X W1) W2, values computed with 30 digits elsewhere.
TEST(Evaluator, TanhMLP) {
  Tensors<double> results = evaluateText<double>(
      R"(func.func @main(%x: tensor<2x2xf64>, %a: tensor<2x4xf64>,
                         %b: tensor<4x2xf64>) -> tensor<2x2xf64> {
        %0 = tp.matmul %x, %a
            : (tensor<2x2xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
        %1 = tp.tanh %0 : (tensor<2x4xf64>) -> tensor<2x4xf64>
        %2 = tp.matmul %1, %b
            : (tensor<2x4xf64>, tensor<4x2xf64>) -> tensor<2x2xf64>
        return %2 : tensor<2x2xf64>
      })",
      {scalars<double>({2, 2}, {1, 2, 3, -1}),
       scalars<double>({2, 4}, {.5, -.3, .2, .1, -.2, .4, .6, -.5}),
       scalars<double>({4, 2}, {.3, -.1, .2, .5, -.4, .6, .7, -.2})});
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0],
             {-0.733225338581, 0.895562342129, 0.573103828506, -0.657209840771},
             1e-12);
}

// Expected values: the formulas in Python.
TEST(Evaluator, Activations) {
  auto apply = [](std::string op) {
    std::string text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {"
                       "%0 = tp." +
                       op +
                       ": (tensor<4xf32>) -> tensor<4xf32>"
                       "return %0 : tensor<4xf32> }";
    return evaluateText<double>(text, {scalars<double>({4}, {1, -1, .5, -2})})
        .front();
  };
  expectNear(apply("gelu %x"),
             {0.8413447460685429, -0.15865525393145707, 0.34573123063700656,
              -0.04550026389635842},
             1e-15);
  expectNear(apply("gelu %x tanh"),
             {0.8411919906082768, -0.15880800939172324, 0.34571400982514394,
              -0.04540230591222494},
             1e-15);
  expectNear(apply("silu %x"),
             {0.7310585786300049, -0.2689414213699951, 0.3112296656009273,
              -0.2384058440442351},
             1e-15);
  expectNear(apply("relu %x"), {1, 0, .5, 0}, 0);
}

// x = 1..4, mean of squares 7.5, so x / sqrt(8) with epsilon 0.5.
TEST(Evaluator, RMSNorm) {
  Tensors<double> results = evaluateText<double>(
      R"(func.func @main(%x: tensor<2x4xf32>, %g: tensor<4xf32>)
          -> tensor<2x4xf32> {
        %0 = tp.rms_norm %x, %g {epsilon = 0.5 : f64}
            : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
        return %0 : tensor<2x4xf32>
      })",
      {scalars<double>({2, 4}, {1, 2, 3, 4, 0, 0, 0, 0}),
       scalars<double>({4}, {1, 2, -1, .5})});
  double root = std::sqrt(8.0);
  expectNear(results.front(),
             {1 / root, 4 / root, -3 / root, 2 / root, 0, 0, 0, 0}, 1e-15);
}

// Positions 0 and 3 against Python, theta = 100, so frequencies 1 and 1/10.
TEST(Evaluator, Rope) {
  std::vector<double> heads;
  for (int64_t i = 0; i < 4; ++i)
    heads.insert(heads.end(), {1, 2, 3, 4});
  Tensors<double> results = evaluateText<double>(
      R"(func.func @main(%x: tensor<1x4x1x4xf32>) -> tensor<1x4x1x4xf32> {
        %0 = tp.rope %x {theta = 1.0e2 : f64}
            : (tensor<1x4x1x4xf32>) -> tensor<1x4x1x4xf32>
        return %0 : tensor<1x4x1x4xf32>
      })",
      {scalars<double>({1, 4, 1, 4}, heads)});
  ASSERT_EQ(results.size(), 1u);
  expectNear(slice(results[0], 1, {0, 1}), {1, 2, 3, 4}, 0);
  expectNear(slice(results[0], 1, {3, 1}),
             {-1.413352520780047, 0.7285921516058536, -2.828857481741469,
              4.412386369825104},
             1e-14);
}

// factor 8, low 1, high 4, original 8192: wave lengths 6.3 and 167 stay, 4443
// is in between, 118143 is divided by 8. At position 1 the angle is the
// frequency; values from Python.
TEST(Evaluator, RopeScaledAsLlama3) {
  std::vector<double> ones(16, 0);
  for (int64_t i = 0; i < 4; ++i)
    ones[8 + i] = 1;
  Tensors<double> results = evaluateText<double>(
      R"(func.func @main(%x: tensor<1x2x1x8xf32>) -> tensor<1x2x1x8xf32> {
        %0 = tp.rope %x {theta = 5.0e5 : f64,
            llama3 = array<f64: 8.0, 1.0, 4.0, 8192.0>}
            : (tensor<1x2x1x8xf32>) -> tensor<1x2x1x8xf32>
        return %0 : tensor<1x2x1x8xf32>
      })",
      {scalars<double>({1, 2, 1, 8}, ones)});
  ASSERT_EQ(results.size(), 1u);
  double frequencies[] = {1, 0.03760603093086393, 0.0005248461609929547,
                          5.318295896944988e-05 / 8};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(results[0].values[8 + i], std::cos(frequencies[i]), 1e-14);
    EXPECT_NEAR(results[0].values[12 + i], std::sin(frequencies[i]), 1e-14);
  }
}

namespace {

/// Attention over [s, heads, d] of one batch entry as a table of probabilities,
/// written from the formula and not from the evaluator.
std::vector<double> attend(const TensorOf<double> &q, const TensorOf<double> &k,
                           const TensorOf<double> &v, double scale,
                           int64_t seenByFirst) {
  int64_t s = q.shape[1], h = q.shape[2], d = q.shape[3], t = k.shape[1];
  int64_t g = k.shape[2];
  std::vector<double> out(s * h * d);
  for (int64_t head = 0; head < h; ++head)
    for (int64_t i = 0; i < s; ++i) {
      std::vector<double> p(t);
      double total = 0;
      int64_t kv = head * g / h;
      for (int64_t j = 0; j < t && j < seenByFirst + i; ++j) {
        double dot = 0;
        for (int64_t e = 0; e < d; ++e)
          dot +=
              q.values[(i * h + head) * d + e] * k.values[(j * g + kv) * d + e];
        total += p[j] = std::exp(scale * dot);
      }
      for (int64_t j = 0; j < t; ++j)
        for (int64_t e = 0; e < d; ++e)
          out[(i * h + head) * d + e] +=
              total == 0 ? 0 : p[j] / total * v.values[(j * g + kv) * d + e];
    }
  return out;
}

} // namespace

TEST(Evaluator, AttentionWithGroupsAndMasks) {
  struct {
    std::string origin, attributes;
    int64_t seenByFirst;
  } cases[] = {{"", "scale = 0.5 : f64", 1000},
               // 3 queries, 5 keys: the first query sees 3.
               {"", "causal, scale = 0.5 : f64", 3},
               {"from %o", "causal, scale = 0.25 : f64", 2},
               // Queries before the first key see nothing.
               {"from %n", "causal, scale = 0.25 : f64", -1}};
  std::mt19937_64 random(3);
  TensorOf<double> q = randomReals({1, 3, 4, 6}, random);
  TensorOf<double> k = randomReals({1, 5, 2, 6}, random);
  TensorOf<double> v = randomReals({1, 5, 2, 6}, random);
  for (const auto &c : cases) {
    std::string text =
        "!q = tensor<1x3x4x6xf32> !k = tensor<1x5x2x6xf32>\n"
        "func.func @main(%q: !q, %k: !k, %v: !k) -> !q {"
        "%a = arith.constant 3 : index %b = arith.constant -2 : index "
        "%o = arith.addi %a, %b : index %n = arith.constant -2 : index "
        "%0 = tp.attention %q, %k, %v " +
        c.origin + "{" + c.attributes + "} : (!q, !k, !k" +
        (c.origin.empty() ? "" : ", index") + ") -> !q return %0 : !q }";
    Tensors<double> results = evaluateText<double>(text, {q, k, v});
    ASSERT_EQ(results.size(), 1u);
    double scale = c.attributes.find("0.5") != std::string::npos ? 0.5 : 0.25;
    expectNear(results[0], attend(q, k, v, scale, c.seenByFirst), 1e-14);
  }
}

TEST(Evaluator, AttentionTreatsBatchEntriesAlone) {
  std::string text = R"(!t = tensor<2x3x2x2xf32>
      func.func @main(%q: !t) -> !t {
        %0 = tp.attention %q, %q, %q {causal, scale = 0.5 : f64}
            : (!t, !t, !t) -> !t
        return %0 : !t
      })";
  std::mt19937_64 random(4);
  TensorOf<double> q = randomReals({2, 3, 2, 2}, random);
  Tensors<double> results = evaluateText<double>(text, {q});
  ASSERT_EQ(results.size(), 1u);
  for (int64_t b : {0, 1}) {
    TensorOf<double> entry = slice(q, 0, {b, 1});
    expectNear(slice(results[0], 0, {b, 1}), attend(entry, entry, entry, .5, 1),
               1e-14);
  }
}

// Elements just below p: 64 or more products do not fit in 128 bits unreduced.
TEST(Evaluator, MatmulTransposesAndBatches) {
  std::mt19937_64 random(9);
  auto largeField = [&](llvm::ArrayRef<int64_t> shape) {
    TensorOf<Field> tensor = randomField(shape, random);
    for (Field &value : tensor.values)
      value = Field::fromInteger(-1 - static_cast<int64_t>(random() % 1000));
    return tensor;
  };
  TensorOf<Field> a = largeField({2, 70, 3});
  for (bool shared : {true, false}) {
    TensorOf<Field> b = shared ? largeField({5, 70}) : largeField({2, 5, 70});
    std::string type = shared ? "tensor<5x70xf32>" : "tensor<2x5x70xf32>";
    Tensors<Field> results = evaluateText<Field>(
        "func.func @main(%a: tensor<2x70x3xf32>, %b: " + type +
            ") -> tensor<2x3x5xf32> {"
            "%0 = tp.matmul %a, %b {transpose_a, transpose_b} : "
            "(tensor<2x70x3xf32>, " +
            type +
            ") -> tensor<2x3x5xf32>"
            "return %0 : tensor<2x3x5xf32> }",
        {a, b});
    ASSERT_EQ(results.size(), 1u);
    for (int64_t i = 0; i < 2 * 3 * 5; ++i) {
      int64_t batch = i / 15, m = i / 5 % 3, n = i % 5;
      Field expected;
      for (int64_t k = 0; k < 70; ++k)
        expected += a.values[(batch * 70 + k) * 3 + m] *
                    b.values[((shared ? 0 : batch) * 5 + n) * 70 + k];
      EXPECT_EQ(results[0].values[i], expected) << i;
    }
  }
}

TEST(Evaluator, ShapesAndBroadcasts) {
  Tensors<double> results = evaluateText<double>(
      R"(func.func @main(%x: tensor<2x3xf32>, %b: tensor<3xf32>)
          -> (tensor<3x2xf32>, tensor<6xf32>, tensor<2x3xf32>,
              tensor<2x3xf32>) {
        %0 = tp.transpose %x by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
        %1 = tp.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
        %2 = tp.sub %b, %x
            : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %c = tp.constant dense<[0.5, -0.25, 2.0]> : tensor<3xf32>
        %3 = tp.mul %x, %c
            : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
        return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<6xf32>,
            tensor<2x3xf32>, tensor<2x3xf32>
      })",
      {scalars<double>({2, 3}, {1, 2, 3, 4, 5, 6}),
       scalars<double>({3}, {10, 20, 30})});
  ASSERT_EQ(results.size(), 4u);
  expectNear(results[0], {1, 4, 2, 5, 3, 6}, 0);
  expectNear(results[1], {1, 2, 3, 4, 5, 6}, 0);
  expectNear(results[2], {9, 18, 27, 6, 15, 24}, 0);
  expectNear(results[3], {.5, -.5, 6, 2, -1.25, 12}, 0);
}

TEST(Evaluator, Embedding) {
  llvm::StringRef text =
      R"(func.func @main(%t: tensor<3x2xf32>, %i: tensor<4xi32>)
          -> (tensor<4x2xf32>, tensor<4x2xf32>) {
        %z = arith.constant 0 : index
        %o = arith.constant 2 : index
        %0 = tp.embedding %t, %i from %z {vocabulary = 6 : i64}
            : (tensor<3x2xf32>, tensor<4xi32>, index) -> tensor<4x2xf32>
        %1 = tp.embedding %t, %i from %o {vocabulary = 6 : i64}
            : (tensor<3x2xf32>, tensor<4xi32>, index) -> tensor<4x2xf32>
        return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
      })";
  TensorOf<double> table = scalars<double>({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensors<double> results =
      evaluateText<double>(text, {table, integers<double>({4}, {2, 0, 4, 5})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {5, 6, 1, 2, 0, 0, 0, 0}, 0);
  expectNear(results[1], {1, 2, 0, 0, 5, 6, 0, 0}, 0);
  for (int64_t id : {-1, 6}) {
    std::string message =
        errorOf<double>(text, {table, integers<double>({4}, {0, 1, id, 2})});
    EXPECT_NE(message.find("id " + std::to_string(id) +
                           " at position 2 is outside the vocabulary of 6"),
              std::string::npos)
        << message;
  }
}

//===- The walk -----------------------------------------------------------===//

// The typed phase means what the open one means.
TEST(Evaluator, LayoutsChangeNothing) {
  std::mt19937_64 random(1);
  Tensors<Field> arguments = {randomField({4, 6}, random),
                              randomField({6, 8}, random)};
  Tensors<Field> open = evaluateText<Field>(
      R"(func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>)
          -> tensor<4x8xf32> {
        %0 = tp.matmul %x, %w
            : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
        return %0 : tensor<4x8xf32>
      })",
      arguments);
  Tensors<Field> typed = evaluateText<Field>(
      R"(tp.mesh @mesh = <["tp"=2]>
      !x = tensor<4x6xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>
      !w = tensor<6x8xf32, #tp.sharding<@mesh, [{"tp"}, {}]>>
      !p = tensor<4x8xf32,
                  #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>>
      !y = tensor<4x8xf32, #tp.sharding<@mesh, [{}, {}]>>
      func.func private @product(%x: !x, %w: !w) -> !p {
        %0 = tp.matmul %x, %w : (!x, !w) -> !p
        return %0 : !p
      }
      func.func @main(%x: !x, %w: !w) -> !y {
        %0 = call @product(%x, %w) : (!x, !w) -> !p
        %1 = tp.all_reduce %0 over {"tp"} : (!p) -> !y
        %2 = tp.reshard %1 : (!y) -> !y
        return %2 : !y
      })",
      arguments);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open, typed);
}

TEST(Evaluator, RefusesWhatItCannotEvaluate) {
  std::string recursive = R"(func.func @main(%x: tensor<2xf32>)
      -> tensor<2xf32> {
    %0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })";
  Tensors<double> two = {scalars<double>({2}, {1, 2})};
  EXPECT_NE(errorOf<double>(recursive, two).find("@main calls itself"),
            std::string::npos);
  EXPECT_TRUE(std::isinf(countMultiplyAdds(Program(recursive).get("main"))));
  std::string unknown = R"(func.func @main(%x: tensor<2xf32>)
      -> tensor<2xf32> {
    %0 = arith.negf %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  })";
  EXPECT_NE(
      errorOf<double>(unknown, two).find("arith.negf: has no reference kernel"),
      std::string::npos);
  EXPECT_FALSE(hasReferenceKernel("arith.negf"));
  EXPECT_TRUE(hasReferenceKernel("tp.matmul"));
  std::string identity = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {"
                         "return %x : tensor<2xf32> }";
  EXPECT_NE(errorOf<double>(identity, {}).find("takes 1 arguments, not 0"),
            std::string::npos);
  EXPECT_NE(errorOf<double>(identity, {scalars<double>({3}, {1, 2, 3})})
                .find("argument 0 of shape [3]"),
            std::string::npos);
  EXPECT_NE(errorOf<double>(identity, {integers<double>({2}, {1, 2})})
                .find("2 integers"),
            std::string::npos);
  EXPECT_NE(errorOf<double>("func.func private @main()", {}).find("no body"),
            std::string::npos);
}

//===- Bound --------------------------------------------------------------===//

TEST(Evaluator, CountsMultiplyAdds) {
  Program program(R"(
      func.func private @f(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>)
          -> tensor<4x8xf32> {
        %0 = tp.matmul %x, %w
            : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
        return %0 : tensor<4x8xf32>
      }
      func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>) {
        %0 = call @f(%x, %w)
            : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
        %1 = call @f(%x, %w)
            : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
        return
      })");
  EXPECT_EQ(countMultiplyAdds(program.get("main")), 2.0 * 4 * 6 * 8);
}

// x w has degree 2: 6 hashes of it, each of degree 1, times w again: 2.
TEST(Evaluator, CountsHashesAndDegrees) {
  EvaluationCounts counts;
  std::mt19937_64 random(1);
  evaluateText<Field>(
      R"(func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>)
          -> tensor<2x3xf32> {
        %0 = tp.matmul %x, %w
            : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
        %1 = tp.tanh %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
        %2 = tp.mul %1, %x
            : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %3 = tp.mul %2, %x
            : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        return %3 : tensor<2x3xf32>
      })",
      {randomField({2, 3}, random), randomField({3, 3}, random)}, {1, &counts});
  EXPECT_EQ(counts.hashes, 6);
  EXPECT_EQ(counts.divisions, 0);
  EXPECT_EQ(counts.degree.polynomial, 3);
  EXPECT_DOUBLE_EQ(falseAcceptBound(counts, counts),
                   (12.0 * 11 / 2 + 1) * 3 / 0x1.fffffffffffffp60);
}

// 1 x 2 queries x 2 heads: 4 denominators, of degree 1 each, and 4 visible
// scores for the first query and head on, 2 + 4 = 6 in all. The result is
// weight * value * inverse: 2 and one inverse.
TEST(Evaluator, CountsDivisions) {
  EvaluationCounts counts;
  std::mt19937_64 random(1);
  evaluateText<Field>(
      R"(!t = tensor<1x2x2x2xf32>
      func.func @main(%q: !t) -> !t {
        %0 = tp.attention %q, %q, %q {causal, scale = 0.5 : f64}
            : (!t, !t, !t) -> !t
        return %0 : !t
      })",
      {randomField({1, 2, 2, 2}, random)}, {1, &counts});
  EXPECT_EQ(counts.hashes, 6);
  EXPECT_EQ(counts.divisions, 4);
  EXPECT_EQ(counts.clearing, 4);
  EXPECT_EQ(counts.degree.polynomial, 2);
  EXPECT_EQ(counts.degree.inverses, 1);
  EXPECT_DOUBLE_EQ(falseAcceptBound(counts, {}),
                   (15.0 + 4 + 1) * (2 + 4) / 0x1.fffffffffffffp60);
}

TEST(Evaluator, KeysChooseOtherFunctions) {
  llvm::StringRef text =
      R"(func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = tp.silu %x : (tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  })";
  std::mt19937_64 random(1);
  Tensors<Field> x = {randomField({3}, random)};
  EXPECT_EQ(evaluateText<Field>(text, x, {1, nullptr}),
            evaluateText<Field>(text, x, {1, nullptr}));
  EXPECT_NE(evaluateText<Field>(text, x, {1, nullptr}),
            evaluateText<Field>(text, x, {2, nullptr}));
}
