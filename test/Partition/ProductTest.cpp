// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products split along each of their dimensions, whatever the sizes, against
// three loops over whole numbers.

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tp/InitAll.h"
#include "tp/Reference/Evaluator.h"
#include "tp/Reference/Shards.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tp;

namespace {

struct Sizes {
  int64_t m, k, n;
};

/// The axes of a mesh, and what splits a dimension over all of them.
struct Split {
  std::string mesh, axes;
  int64_t ranks;
};

const Split splits[] = {
    {R"("tp"=2)", R"("tp")", 2},
    {R"("tp"=3)", R"("tp")", 3},
    {R"("tp"=4)", R"("tp")", 4},
    {R"("tp"=4)", R"("tp":(1)2, "tp":(2)2)", 4},
    {R"("tp"=7)", R"("tp")", 7},
    {R"("a"=2, "b"=2)", R"("a", "b")", 4},
    {R"("a"=2, "b"=3)", R"("b", "a")", 6},
};

class Products : public testing::Test {
protected:
  static void SetUpTestSuite() { registerAllPasses(); }

  Products() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> partition(StringRef text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return module;
    PassManager manager(&context);
    if (failed(parsePassPipeline(
            "tp-check,tp-insert-collectives,tp-check,tp-partition", manager)) ||
        failed(manager.run(*module)))
      return {};
    return module;
  }

  /// x times w, the dimension `split` dealt over the ranks; the product as each
  /// rank has it first, and whole.
  std::string write(const Sizes &sizes, const Split &how, char split) {
    auto dims = [&](bool first, bool second, bool isSum = false) {
      std::string text = "#tp.sharding<@mesh, [";
      text += first ? "{" + how.axes + "}, " : "{}, ";
      text += second ? "{" + how.axes + "}]" : "{}]";
      if (isSum)
        text += ", unreduced = {" + how.axes + "}";
      return text + ">";
    };
    auto tensor = [](int64_t rows, int64_t columns, const std::string &layout) {
      return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
             "xf64, " + layout + ">";
    };
    auto [m, k, n] = sizes;
    std::string x = tensor(m, k, dims(split == 'm', split == 'k'));
    std::string w = tensor(k, n, dims(split == 'k', split == 'n'));
    std::string y =
        tensor(m, n, dims(split == 'm', split == 'n', split == 'k'));
    // A sum is finished in rows.
    std::string part = split == 'k' ? tensor(m, n, dims(true, false)) : y;
    std::string whole = tensor(m, n, dims(false, false));
    std::string text = "tp.mesh @mesh = <[" + how.mesh + "]>\n";
    text += "func.func @main(%x: " + x + ", %w: " + w + ") -> (" + part + ", " +
            whole + ") {\n";
    text += "  %y = tp.matmul %x, %w : (" + x + ", " + w + ") -> " + y + "\n";
    text += "  %part = tp.reshard %y : (" + y + ") -> " + part + "\n";
    text += "  %whole = tp.reshard %part : (" + part + ") -> " + whole + "\n";
    text += "  return %part, %whole : " + part + ", " + whole + "\n}\n";
    return text;
  }

  MLIRContext context;
};

TensorOf<double> zeros(int64_t rows, int64_t columns) {
  TensorOf<double> tensor;
  tensor.shape = {rows, columns};
  tensor.values.resize(rows * columns);
  return tensor;
}

TensorOf<double> multiply(const TensorOf<double> &x,
                          const TensorOf<double> &w) {
  int64_t m = x.shape[0], k = x.shape[1], n = w.shape[1];
  TensorOf<double> y = zeros(m, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        y.values[i * n + j] += x.values[i * k + l] * w.values[l * n + j];
  return y;
}

/// What a rank holds of a whole tensor, by the type that the program records.
TensorOf<double> partOf(const TensorOf<double> &whole, TypeAttr global,
                        func::FuncOp function, int64_t rank) {
  ShardingAttr sharding = getSharding(global.getValue());
  MeshAttr mesh = lookupMesh(function, sharding.getMesh());
  return slice<double>(whole, *findShard(whole.shape, sharding, mesh, rank));
}

/// Runs the program on all ranks; an empty text if every output is exact.
std::string compare(ModuleOp module, int64_t ranks, const TensorOf<double> &x,
                    const TensorOf<double> &w) {
  RankFunctions entry = llvm::cantFail(findRankFunctions(module, "main"));
  func::FuncOp any = entry.functions.front();
  auto global = [&](DictionaryAttr attributes) {
    return attributes.getAs<TypeAttr>(globalAttrName);
  };
  std::vector<std::vector<TensorOf<double>>> arguments(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    arguments[rank] = {partOf(x, global(any.getArgAttrDict(0)), any, rank),
                       partOf(w, global(any.getArgAttrDict(1)), any, rank)};
  auto results = evaluateRanks<double>(entry, ranks, arguments);
  if (!results)
    return llvm::toString(results.takeError());
  TensorOf<double> y = multiply(x, w);
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (unsigned output : {0u, 1u})
      if (!((*results)[rank][output] ==
            partOf(y, global(any.getResultAttrDict(output)), any, rank)))
        return "output " + std::to_string(output) + " of rank " +
               std::to_string(rank);
  return "";
}

/// Sizes of 0 and of 2 to 12, so that ranks outnumber elements now and then. A
/// dimension of one element has nothing to deal.
TEST_F(Products, AnySizeSplitsThreeWays) {
  std::mt19937_64 random(4);
  auto draw = [&] {
    int64_t size = std::uniform_int_distribution<int64_t>(1, 12)(random);
    return size == 1 ? 0 : size;
  };
  auto fill = [&](TensorOf<double> tensor) {
    for (double &value : tensor.values)
      value = std::uniform_int_distribution<int>(-9, 9)(random);
    return tensor;
  };
  for (int trial = 0; trial < 1000; ++trial) {
    Sizes sizes{draw(), draw(), draw()};
    const Split &how = splits[trial % std::size(splits)];
    TensorOf<double> x = fill(zeros(sizes.m, sizes.k));
    TensorOf<double> w = fill(zeros(sizes.k, sizes.n));
    for (char split : {'m', 'k', 'n'}) {
      std::string text = write(sizes, how, split);
      OwningOpRef<ModuleOp> module = partition(text);
      ASSERT_TRUE(module) << text;
      EXPECT_EQ(compare(*module, how.ranks, x, w), "") << text;
    }
    if (HasFailure())
      return;
  }
}

} // namespace
