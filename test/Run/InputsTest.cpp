// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Inputs.h"
#include "LocalProgram.h"
#include "tp/IR/TP.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace tp;
using namespace tp::test;

namespace {

Port port(std::string name, ElementKind kind, ArrayRef<int64_t> shape,
          bool isParameter = false) {
  Port port;
  port.name = std::move(name);
  port.kind = kind;
  port.globalShape = llvm::to_vector(shape);
  port.isParameter = isParameter;
  return port;
}

struct Moments {
  double mean, deviation;
};

Moments moments(ArrayRef<double> values) {
  double sum = 0, squares = 0;
  for (double value : values) {
    sum += value;
    squares += value * value;
  }
  double mean = sum / values.size();
  return {mean, std::sqrt(squares / values.size() - mean * mean)};
}

TEST(Inputs, PartsOfARankFitTogether) {
  Inputs inputs(3);
  Port matrix = port("w", ElementKind::F32, {6, 10});
  TensorOf<double> whole = llvm::cantFail(inputs.readWhole(matrix));
  for (int64_t first : {0, 2, 4})
    for (int64_t column : {0, 7}) {
      SmallVector<Span> ranges = {{first, 2}, {column, 3}};
      Array part = llvm::cantFail(inputs.read(matrix, ranges));
      EXPECT_EQ(toReference(part).values, slice<double>(whole, ranges).values);
    }
}

TEST(Inputs, SeedAndNameMakeADifference) {
  auto values = [&](uint64_t seed, const char *name) {
    Port vector = port(name, ElementKind::F64, {100});
    return llvm::cantFail(Inputs(seed).readWhole(vector)).values;
  };
  EXPECT_EQ(values(1, "x"), values(1, "x"));
  EXPECT_NE(values(1, "x"), values(2, "x"));
  EXPECT_NE(values(1, "x"), values(1, "y"));
}

TEST(Inputs, SpreadOfMadeNumbers) {
  // 40000 numbers: means are within 5 deviations of the mean, 5 / 200.
  Inputs inputs(11);
  auto spread = [&](const Port &port) {
    return moments(llvm::cantFail(inputs.readWhole(port)).values);
  };
  Moments plain = spread(port("x", ElementKind::F64, {400, 100}));
  EXPECT_NEAR(plain.mean, 0, 0.025);
  EXPECT_NEAR(plain.deviation, 1, 0.025);
  Moments weight = spread(port("w", ElementKind::F64, {400, 100}, true));
  EXPECT_NEAR(weight.deviation, 0.1, 0.0025);
  Moments gain = spread(port("norm.weight", ElementKind::F64, {40000}, true));
  EXPECT_NEAR(gain.mean, 1, 0.0025);
  Moments bias = spread(port("q_proj.bias", ElementKind::F64, {40000}, true));
  EXPECT_NEAR(bias.mean, 0, 0.0025);
}

TEST(Inputs, IdsLieInTheVocabularyTheyIndex) {
  ProgramContext programs;
  auto module = programs.parse(R"(
    func.func private @lookup(%t: tensor<5x2xf32>, %i: tensor<40xi32>)
        -> tensor<40x2xf32> {
      %r = tp.embedding %t, %i
          : (tensor<5x2xf32>, tensor<40xi32>) -> tensor<40x2xf32>
      return %r : tensor<40x2xf32>
    }
    func.func @main(%t: tensor<5x2xf32>, %i: tensor<4x10xi32>)
        -> tensor<40x2xf32> {
      %f = tp.reshape %i : (tensor<4x10xi32>) -> tensor<40xi32>
      %r = call @lookup(%t, %f)
          : (tensor<5x2xf32>, tensor<40xi32>) -> tensor<40x2xf32>
      return %r : tensor<40x2xf32>
    })");
  ASSERT_TRUE(module);
  func::FuncOp entry = llvm::cantFail(findEntry(*module, ""));
  Signature signature = llvm::cantFail(readSignature({"main", {entry}, {}}));
  inferBounds(entry, signature);
  ASSERT_EQ(signature.arguments[1].bound, 5);
  auto ids = llvm::cantFail(Inputs(1).readWhole(signature.arguments[1]));
  std::vector<int64_t> seen(5, 0);
  for (int64_t id : ids.integers) {
    ASSERT_TRUE(id >= 0 && id < 5);
    ++seen[id];
  }
  EXPECT_EQ(llvm::count(seen, 0), 0);
}

/// A file with one tensor of F32 that counts from 1.
std::string countingFile(StringRef name, ArrayRef<int64_t> shape) {
  std::string header;
  llvm::raw_string_ostream os(header);
  int64_t count = *numElements(shape);
  os << "{\"" << name << "\":{\"dtype\":\"F32\",\"shape\":[";
  llvm::interleaveComma(shape, os);
  os << "],\"data_offsets\":[0," << 4 * count << "]}}";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  text += header;
  for (int64_t i = 1; i <= count; ++i) {
    auto number = static_cast<float>(i);
    text.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  return text;
}

SafetensorsFile parseFile(const std::string &text) {
  return llvm::cantFail(
      SafetensorsFile::parse(llvm::MemoryBuffer::getMemBufferCopy(text, "f")));
}

TEST(Inputs, AFileGoesBeforeTheSeed) {
  SafetensorsFile file = parseFile(countingFile("x", {2, 2}));
  Inputs inputs(0);
  inputs.useFile(file);
  Port whole = port("x", ElementKind::F32, {2, 2});
  Array part = llvm::cantFail(inputs.read(whole, {{0, 2}, {1, 1}}));
  EXPECT_EQ(part.as<float>()[0], 2.0f);
  EXPECT_EQ(part.as<float>()[1], 4.0f);
  llvm::Expected<Array> wrong =
      inputs.read(port("x", ElementKind::F32, {4}), {{0, 4}});
  EXPECT_FALSE(bool(wrong));
  llvm::consumeError(wrong.takeError());
}

// Two runs of two rows of a [7, 3] tensor, rows 1, 2, 4 and 5, and a fifth row
// of padding; along the rows and, transposed, along the columns.
TEST(Inputs, PartsOfStoredTensorsAreReadRunByRun) {
  MLIRContext context;
  context.loadDialect<TPDialect>();
  SafetensorsFile rows = parseFile(countingFile("w", {7, 3}));
  Port block = port("w[1:3 of every 3]", ElementKind::F32, {5, 3}, true);
  block.stored = StoredAttr::get(&context, "w", {7, 3}, 0, 1, 2, 3, 2);
  Inputs inputs(0);
  inputs.useFile(rows);
  TensorOf<double> whole = llvm::cantFail(inputs.readWhole(block));
  EXPECT_EQ(whole.values, (std::vector<double>{4, 5, 6, 7, 8, 9, 13, 14, 15, 16,
                                               17, 18, 0, 0, 0}));
  Array part = llvm::cantFail(inputs.read(block, {{1, 2}, {1, 2}}));
  EXPECT_EQ(toReference(part).values, (std::vector<double>{8, 9, 14, 15}));

  SafetensorsFile columns = parseFile(countingFile("w", {2, 7}));
  Port other = port("w[:, 1:3 of every 3]", ElementKind::F32, {2, 5}, true);
  other.stored = StoredAttr::get(&context, "w", {2, 7}, 1, 1, 2, 3, 2);
  Inputs again(0);
  again.useFile(columns);
  EXPECT_EQ(llvm::cantFail(again.readWhole(other)).values,
            (std::vector<double>{2, 3, 5, 6, 0, 9, 10, 12, 13, 0}));
}

// Made numbers belong to the stored tensor, so the program with a fused
// parameter and that with its blocks compute with the same ones.
TEST(Inputs, BlocksAreMadeAsPartsOfTheFusedParameter) {
  MLIRContext context;
  context.loadDialect<TPDialect>();
  Port fused = port("w", ElementKind::F64, {7, 3}, true);
  Port block = port("w[2:5]", ElementKind::F64, {3, 3}, true);
  block.stored = StoredAttr::get(&context, "w", {7, 3}, 0, 2, 3);
  Inputs inputs(5);
  SmallVector<Span> rows = {{2, 3}, {0, 3}};
  EXPECT_EQ(slice<double>(llvm::cantFail(inputs.readWhole(fused)), rows).values,
            llvm::cantFail(inputs.readWhole(block)).values);
  EXPECT_EQ(
      slice<Field>(llvm::cantFail(inputs.readField(fused, 9)), rows).values,
      llvm::cantFail(inputs.readField(block, 9)).values);
}

// A folder with one tensor, called as in the checkpoint of a model without its
// head.
TEST(Inputs, CheckpointsLackNoParameter) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("checkpoint", folder));
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "model.safetensors");
  {
    std::error_code code;
    llvm::raw_fd_ostream file(path, code);
    ASSERT_FALSE(code);
    file << countingFile("wte.weight", {2, 3});
  }
  Checkpoint checkpoint = llvm::cantFail(Checkpoint::open(folder));
  Inputs inputs(0);
  inputs.useCheckpoint(checkpoint);
  Port table = port("transformer.wte.weight", ElementKind::F64, {2, 3}, true);
  EXPECT_EQ(llvm::cantFail(inputs.readWhole(table)).values,
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
  auto missing =
      inputs.readWhole(port("lm_head.weight", ElementKind::F64, {2}, true));
  ASSERT_FALSE(bool(missing));
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "the checkpoint has no tensor 'lm_head.weight'");
  // What is no parameter is made.
  EXPECT_TRUE(bool(inputs.readWhole(port("x", ElementKind::F64, {2}))));
  llvm::sys::fs::remove_directories(folder);
}

} // namespace
