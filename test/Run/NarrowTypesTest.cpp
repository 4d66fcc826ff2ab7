// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// f16 and bf16 run as f32; casts to them round as LLVM's APFloat does.

#include "LocalProgram.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace tp;
using namespace tp::test;

namespace {

/// A constant of `values` as the text of a dense attribute.
template <class T> std::string dense(ArrayRef<T> values) {
  StringRef bytes(reinterpret_cast<const char *>(values.data()),
                  values.size() * sizeof(T));
  return "dense<\"0x" + llvm::toHex(bytes) + "\">";
}

/// The values of `from`, cast to `to`, as the compiled program gives them.
template <class T>
std::vector<float> castAll(ArrayRef<T> values, const std::string &from,
                           const std::string &to) {
  std::string size = "tensor<" + std::to_string(values.size()) + "x";
  std::string type = size + to + ">";
  auto ranks =
      outputs("func.func @main() -> " + type +
                  " attributes {tp.local} { %c = tp.constant " + dense(values) +
                  " : " + size + from + "> %y = tp.cast %c : (" + size + from +
                  ">) -> " + type + " return %y : " + type + " }",
              Inputs(0));
  if (ranks.size() != 1)
    return {};
  const Array &array = ranks[0][0];
  ArrayRef<float> result = array.as<float>();
  return {result.begin(), result.end()};
}

const llvm::fltSemantics &semanticsOf(StringRef type) {
  return type == "f16" ? APFloat::IEEEhalf() : APFloat::BFloat();
}

/// Random bits, values that lie near those of `type` and between two of them,
/// limits.
template <class T> std::vector<T> makeReals(StringRef type) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const llvm::fltSemantics &semantics = semanticsOf(type);
  int kept = static_cast<int>(APFloat::semanticsPrecision(semantics));
  std::mt19937_64 random(5);
  std::vector<T> values = {0, T(-0.0), 1, T(INFINITY), T(-INFINITY), T(NAN)};
  T largest = T(APFloat::getLargest(semantics).convertToDouble());
  T half = largest * T(std::ldexp(1.0, -kept - 1));
  for (T value : {largest, largest + half, largest + half * T(0.999)})
    values.insert(values.end(), {value, -value});
  for (int i = 0; i < 3000; ++i) {
    int exponent = static_cast<int>(random() % 60) - 30;
    // A multiple of half of the last digit, and a little more or less.
    T tie = T(random() % (uint64_t(1) << (kept + 1)));
    T nudge = T(std::ldexp(double(int(random() % 3) - 1), kept + 2 - digits));
    T value = std::ldexp(tie + nudge, exponent - kept);
    values.insert(values.end(), {value, -value});
    values.push_back(std::ldexp(T(random()), int(random() % 200) - 160));
  }
  return values;
}

template <class T> void expectRounding(StringRef from, StringRef type) {
  std::vector<T> values = makeReals<T>(type);
  std::vector<float> actual = castAll(ArrayRef(values), from.str(), type.str());
  ASSERT_EQ(actual.size(), values.size());
  for (auto [value, result] : llvm::zip_equal(values, actual)) {
    bool losesInfo = false;
    APFloat expected(value);
    expected.convert(semanticsOf(type), APFloat::rmNearestTiesToEven,
                     &losesInfo);
    float wanted = expected.convertToFloat();
    // Ranks flush denormal numbers of f32.
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(result));
    else if (std::fabs(wanted) < 0x1p-126f)
      EXPECT_TRUE(result == 0 || result == wanted) << value;
    else
      EXPECT_EQ(result, wanted) << value << " to " << type.str();
    EXPECT_TRUE(std::isnan(value) ||
                std::signbit(result) == std::signbit(value));
  }
}

} // namespace

TEST(NarrowTypes, CastsOfFloatsRound) {
  expectRounding<float>("f32", "f16");
  expectRounding<float>("f32", "bf16");
  expectRounding<double>("f64", "f16");
  expectRounding<double>("f64", "bf16");
}

// Ties of 8 and of 11 digits; 2^25 + 2^17 + 1 is none of bf16, but would be one
// if it were rounded to f32 first.
TEST(NarrowTypes, CastsOfIntegersRound) {
  std::vector<int32_t> values = {257, 259, 2049, 2051, -2049, 33685505, 65519};
  EXPECT_EQ(castAll(ArrayRef(values), "i32", "bf16"),
            (std::vector<float>{256, 260, 2048, 2048, -2048, 33816576, 65536}));
  EXPECT_EQ(castAll(ArrayRef(values), "i32", "f16"),
            (std::vector<float>{257, 259, 2048, 2052, -2048, INFINITY, 65504}));
  std::vector<int64_t> wide = {1 << 20, (int64_t(1) << 40) + 1, 65520, -65520};
  EXPECT_EQ(castAll(ArrayRef(wide), "i64", "bf16"),
            (std::vector<float>{1048576, 1099511627776, 65536, -65536}));
  EXPECT_EQ(castAll(ArrayRef(wide), "i64", "f16"),
            (std::vector<float>{INFINITY, INFINITY, INFINITY, -INFINITY}));
}

// 1 + 2^-8 is no value of bf16: neither arithmetic nor widening rounds.
TEST(NarrowTypes, ArithmeticHasTheDigitsOfF32) {
  auto ranks = outputs(R"(
      func.func @main() -> (tensor<2xbf16>, tensor<2xf64>, tensor<2xbf16>)
          attributes {tp.local} {
        %a = tp.constant dense<[1.0, -2.0]> : tensor<2xbf16>
        %b = tp.constant dense<0.00390625> : tensor<2xbf16>
        %s = tp.add %a, %b
            : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
        %w = tp.cast %s : (tensor<2xbf16>) -> tensor<2xf64>
        %n = tp.cast %w : (tensor<2xf64>) -> tensor<2xbf16>
        return %s, %w, %n : tensor<2xbf16>, tensor<2xf64>, tensor<2xbf16>
      })",
                       Inputs(0));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0][0].as<float>(), ArrayRef({1.00390625f, -1.99609375f}));
  EXPECT_EQ(ranks[0][1].as<double>(), ArrayRef({1.00390625, -1.99609375}));
  EXPECT_EQ(ranks[0][2].as<float>(), ArrayRef({1.0f, -2.0f}));
}

// The lowest number is that of the program's type, and the loss's constants
// have its digits: 0.1 / 3 is 0.033447265625 in bf16, 1 - 0.1 is 0.8984375.
TEST(NarrowTypes, ConstantsAreThoseOfTheType) {
  auto ranks = outputs(R"(
      func.func @main() -> (tensor<3xf16>, tensor<3xbf16>, tensor<bf16>)
          attributes {tp.local} {
        %a = tp.constant dense<1.5> : tensor<3xf16>
        %b = tp.constant dense<1.5> : tensor<3xbf16>
        %0 = tp.mask_padding %a {valid = 2 : i64}
            : (tensor<3xf16>) -> tensor<3xf16>
        %1 = tp.mask_padding %b {valid = 1 : i64}
            : (tensor<3xbf16>) -> tensor<3xbf16>
        %x = tp.constant dense<[[0.0, 0.0, 64.0]]> : tensor<1x3xbf16>
        %t = tp.constant dense<2> : tensor<1xi32>
        %2 = tp.cross_entropy %x, %t {label_smoothing = 0.1 : f64}
            : (tensor<1x3xbf16>, tensor<1xi32>) -> tensor<bf16>
        return %0, %1, %2 : tensor<3xf16>, tensor<3xbf16>, tensor<bf16>
      })",
                       Inputs(0));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0][0].as<float>(), ArrayRef({1.5f, 1.5f, -65504.0f}));
  EXPECT_EQ(ranks[0][1].as<float>(),
            ArrayRef({1.5f, -0x1.FEp127f, -0x1.FEp127f}));
  // The largest logit is subtracted: -64, -64 and 0.
  EXPECT_EQ(ranks[0][2].as<float>()[0], 128 * 0.033447265625f);
}
