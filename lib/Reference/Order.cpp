// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A permutation of 61-bit words in rounds that can be undone, as the finaliser
/// of splitmix64 (Steele, Lea and Flood 2014) has them. The one word that is no
/// element is walked past.

#include "Reference/Order.h"
#include "Reference/Kernel.h"

using namespace tp;

static constexpr uint64_t mask = Field::prime;
/// Odd, and the number that undoes it mod 2^61.
static constexpr uint64_t factor = 0x94d049bb133111eb & mask;

/// By Newton's iteration; each step doubles the digits that are right.
static constexpr uint64_t invertOdd(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - odd * inverse;
  return inverse & mask;
}
static constexpr uint64_t inverseFactor = invertOdd(factor);
static_assert(((factor * inverseFactor) & mask) == 1);

/// Undoes itself: the shift is more than half of the digits.
static uint64_t mixDown(uint64_t word) { return word ^ (word >> 31); }

RandomOrder::RandomOrder(uint64_t key) {
  for (int round = 0; round < numRounds; ++round)
    roundKeys[round] = hashWord(key, round) & mask;
  isReversed = permute(0) > permute(1);
}

uint64_t RandomOrder::permute(uint64_t word) const {
  do {
    for (uint64_t key : roundKeys)
      word = (mixDown(word ^ key) * factor) & mask;
    word = mixDown(word);
  } while (word == Field::prime);
  return word;
}

uint64_t RandomOrder::invert(uint64_t word) const {
  do {
    word = mixDown(word);
    for (int round = numRounds; round-- > 0;)
      word = mixDown((word * inverseFactor) & mask) ^ roundKeys[round];
  } while (word == Field::prime);
  return word;
}

uint64_t RandomOrder::placeOf(Field x) const {
  uint64_t place = permute(x.residue());
  return isReversed ? Field::prime - 1 - place : place;
}

Field RandomOrder::at(uint64_t place) const {
  return Field::reduce(invert(isReversed ? Field::prime - 1 - place : place));
}

/// Half of the place, and an offset below half of all places.
static uint64_t halveAndShift(uint64_t place, uint64_t castKey) {
  return place / 2 + (mixBits(castKey) >> 4);
}

Field RandomOrder::castTo(uint64_t castKey, Field x) const {
  return at(halveAndShift(placeOf(x), castKey));
}

/// As floating-point numbers are laid out: 6 digits of the exponent, then 54 of
/// the magnitude.
static uint64_t encodeMagnitude(uint64_t magnitude) {
  if (magnitude == 0)
    return 0;
  int exponent = 63 - std::countl_zero(magnitude);
  if (exponent == 63)
    return (uint64_t(1) << 60) - 1;
  uint64_t digits = magnitude << (63 - exponent) << 1 >> 10;
  return (uint64_t(exponent) + 1) << 54 | digits;
}

Field RandomOrder::castTo(uint64_t castKey, int64_t x) const {
  constexpr uint64_t middle = (uint64_t(1) << 60) - 1;
  uint64_t place = x < 0 ? middle - encodeMagnitude(-static_cast<uint64_t>(x))
                         : middle + encodeMagnitude(static_cast<uint64_t>(x));
  return at(halveAndShift(place, castKey));
}
