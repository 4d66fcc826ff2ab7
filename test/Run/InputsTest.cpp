// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Inputs.h"
#include "LocalProgram.h"
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
  port.globalShape = port.localShape = llvm::to_vector(shape);
  port.layout = Layout::whole(shape.size());
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
  TensorOf<double> whole = llvm::cantFail(inputs.readWhole(2, matrix));
  for (int64_t first : {0, 2, 4})
    for (int64_t column : {0, 7}) {
      SmallVector<Range> ranges = {{first, 2}, {column, 3}};
      Array part = llvm::cantFail(inputs.read(2, matrix, ranges));
      EXPECT_EQ(toReference(part).values, slice<double>(whole, ranges).values);
    }
}

TEST(Inputs, SeedAndArgumentMakeADifference) {
  Port vector = port("x", ElementKind::F64, {100});
  auto values = [&](uint64_t seed, unsigned argument) {
    return llvm::cantFail(Inputs(seed).readWhole(argument, vector)).values;
  };
  EXPECT_EQ(values(1, 0), values(1, 0));
  EXPECT_NE(values(1, 0), values(2, 0));
  EXPECT_NE(values(1, 0), values(1, 1));
}

TEST(Inputs, SpreadOfMadeNumbers) {
  // 40000 numbers: means are within 5 deviations of the mean, 5 / 200.
  Inputs inputs(11);
  auto spread = [&](const Port &port) {
    return moments(llvm::cantFail(inputs.readWhole(0, port)).values);
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
  Signature signature = llvm::cantFail(readSignature(entry));
  inferBounds(entry, signature);
  ASSERT_EQ(signature.arguments[1].bound, 5);
  auto ids = llvm::cantFail(Inputs(1).readWhole(1, signature.arguments[1]));
  std::vector<int64_t> seen(5, 0);
  for (int64_t id : ids.integers) {
    ASSERT_TRUE(id >= 0 && id < 5);
    ++seen[id];
  }
  EXPECT_EQ(llvm::count(seen, 0), 0);
}

TEST(Inputs, AFileGoesBeforeTheSeed) {
  StringRef header = R"({"x":{"dtype":"F32","shape":[2,2],)"
                     R"("data_offsets":[0,16]}})";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  text += header;
  float numbers[4] = {1.5, -2, 3, 0.25};
  text.append(reinterpret_cast<const char *>(numbers), sizeof(numbers));
  SafetensorsFile file = llvm::cantFail(
      SafetensorsFile::parse(llvm::MemoryBuffer::getMemBufferCopy(text, "f")));
  Inputs inputs(0);
  inputs.useFile(file);
  Port whole = port("x", ElementKind::F32, {2, 2});
  Array part = llvm::cantFail(inputs.read(0, whole, {{0, 2}, {1, 1}}));
  EXPECT_EQ(part.as<float>()[0], -2.0f);
  EXPECT_EQ(part.as<float>()[1], 0.25f);
  llvm::Expected<Array> wrong =
      inputs.read(0, port("x", ElementKind::F32, {4}), {{0, 4}});
  EXPECT_FALSE(bool(wrong));
  llvm::consumeError(wrong.takeError());
}

} // namespace
