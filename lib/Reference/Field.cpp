// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Reference/Field.h"

#include <cmath>

using namespace tp;

Field Field::fromDouble(double value) {
  assert(std::isfinite(value) && "no residue for infinity or NaN");
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);
  // The mantissa has 53 bits, so this is an integer.
  Field integer = fromInteger(static_cast<int64_t>(std::ldexp(mantissa, 53)));
  // 2^61 = 1, so exponents count modulo 61.
  int shift = ((exponent - 53) % 61 + 61) % 61;
  return integer * Field(uint64_t(1) << shift);
}
