// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which types hold which, by hand: f16 has 11 digits up to 2^16, bf16 8 up to
// 2^128, f32 24, f64 53.

#include "tp/IR/ElementTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

struct Named {
  const char *name;
  Type type;
};

} // namespace

TEST(ElementTypes, HoldEveryValueOfOthers) {
  MLIRContext context;
  Builder builder(&context);
  Named types[] = {
      {"i1", builder.getI1Type()},     {"i32", builder.getI32Type()},
      {"i64", builder.getI64Type()},   {"f16", builder.getF16Type()},
      {"bf16", builder.getBF16Type()}, {"f32", builder.getF32Type()},
      {"f64", builder.getF64Type()}};
  // Row: from; column: to; in the order above.
  StringRef held[] = {"1111111",  // i1
                      "0110001",  // i32
                      "0010000",  // i64
                      "0001011",  // f16
                      "0000111",  // bf16
                      "0000011",  // f32
                      "0000001"}; // f64
  for (auto [row, from] : llvm::enumerate(types))
    for (auto [column, to] : llvm::enumerate(types))
      EXPECT_EQ(holdsEveryValue(to.type, from.type), held[row][column] == '1')
          << from.name << " in " << to.name;
}

// 8 and 16 bits: bf16 has just the 7 digits of i8, f16 not the 15 of i16.
TEST(ElementTypes, HoldShortIntegers) {
  MLIRContext context;
  Builder builder(&context);
  Type byte = builder.getI8Type(), word = builder.getI16Type();
  EXPECT_TRUE(holdsEveryValue(builder.getBF16Type(), byte));
  EXPECT_TRUE(holdsEveryValue(builder.getF16Type(), byte));
  EXPECT_FALSE(holdsEveryValue(builder.getF16Type(), word));
  EXPECT_TRUE(holdsEveryValue(builder.getF32Type(), word));
  EXPECT_TRUE(holdsEveryValue(word, byte));
  EXPECT_FALSE(holdsEveryValue(byte, word));
}
