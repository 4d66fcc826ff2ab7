// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/ElementTypes.h"

using namespace mlir;
using namespace tp;

/// Binary digits of the largest magnitude below the lowest integer's, a power
/// of 2.
static unsigned countDigits(IntegerType type) {
  return type.getWidth() == 1 ? 1 : type.getWidth() - 1;
}

static bool holdsEveryInteger(Type to, IntegerType from) {
  unsigned digits = countDigits(from);
  if (auto integer = dyn_cast<IntegerType>(to))
    // A wider type has the sign that i1 lacks.
    return integer == from ||
           (integer.getWidth() > 1 && countDigits(integer) >= digits);
  auto real = dyn_cast<FloatType>(to);
  if (!real)
    return false;
  const llvm::fltSemantics &semantics = real.getFloatSemantics();
  // 2^digits, the magnitude of the lowest integer, needs the exponent `digits`.
  return llvm::APFloat::semanticsPrecision(semantics) >= digits &&
         llvm::APFloat::semanticsMaxExponent(semantics) >=
             static_cast<int>(digits);
}

bool tp::holdsEveryValue(Type to, Type from) {
  if (to == from)
    return true;
  if (auto integer = dyn_cast<IntegerType>(from))
    return holdsEveryInteger(to, integer);
  auto source = dyn_cast<FloatType>(from), target = dyn_cast<FloatType>(to);
  return source && target &&
         llvm::APFloatBase::isRepresentableBy(source.getFloatSemantics(),
                                              target.getFloatSemantics());
}
