// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REFERENCE_ORDER_H
#define TP_REFERENCE_ORDER_H

#include "tp/Reference/Field.h"

namespace tp {

/// A random order of the field's elements, in which maxima are taken. 0 comes
/// before 1, as i1 values that are cast have it.
class RandomOrder {
public:
  explicit RandomOrder(uint64_t key);

  /// How many elements come before `x`, in [0, p).
  uint64_t placeOf(Field x) const;
  /// The element that `place` others, fewer than p, come before.
  Field at(uint64_t place) const;

  /// What stands for a cast that rounds: a random function that keeps the
  /// order, so that it may be taken before a maximum or after it. `castKey`
  /// tells types apart. No more than two elements have the same image.
  Field castTo(uint64_t castKey, Field x) const;
  /// The same for an integer; the images of integers that agree in their first
  /// 54 digits may be the same.
  Field castTo(uint64_t castKey, int64_t x) const;

private:
  static constexpr int numRounds = 4;
  uint64_t permute(uint64_t word) const;
  uint64_t invert(uint64_t word) const;

  uint64_t roundKeys[numRounds];
  bool isReversed = false;
};

} // namespace tp

#endif // TP_REFERENCE_ORDER_H
