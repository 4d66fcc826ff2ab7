// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The prime field of 2^61 - 1 elements.

#ifndef TP_REFERENCE_FIELD_H
#define TP_REFERENCE_FIELD_H

#include <cassert>
#include <cstdint>

namespace tp {

/// An element of the field of p = 2^61 - 1 elements. Sums and products are
/// exact, so any order of a sum gives the same value: two programs either agree
/// or do not.
class Field {
public:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;
  /// That many products fit in a `Wide` next to a reduced value.
  static constexpr int64_t maxProducts = 63;

  constexpr Field() = default;

  /// `value` mod p.
  static constexpr Field fromInteger(int64_t value) {
    int64_t rest = value % static_cast<int64_t>(prime);
    return Field(rest < 0 ? rest + prime : rest);
  }
  /// `value` mod p.
  static constexpr Field reduce(Wide value) {
    // 2^61 = 1, so digits in base 2^61 are simply added.
    uint64_t low = static_cast<uint64_t>(value) & prime;
    uint64_t middle = static_cast<uint64_t>(value >> 61) & prime;
    uint64_t high = static_cast<uint64_t>(value >> 122);
    uint64_t sum = low + middle + high;
    sum = (sum & prime) + (sum >> 61);
    return Field(sum >= prime ? sum - prime : sum);
  }
  /// A float literal, exactly: m * 2^e mod p. `value` must be finite.
  static Field fromDouble(double value);

  /// The representative in [0, p).
  constexpr uint64_t residue() const { return value; }
  constexpr bool isZero() const { return value == 0; }

  constexpr bool operator==(const Field &) const = default;
  constexpr Field operator+(Field other) const {
    uint64_t sum = value + other.value;
    return Field(sum >= prime ? sum - prime : sum);
  }
  constexpr Field operator-(Field other) const {
    return Field(value >= other.value ? value - other.value
                                      : value + prime - other.value);
  }
  constexpr Field operator*(Field other) const {
    return reduce(widened(other));
  }
  constexpr Field operator-() const { return Field() - *this; }
  constexpr Field &operator+=(Field other) { return *this = *this + other; }
  constexpr Field &operator*=(Field other) { return *this = *this * other; }

  /// The product before reduction, for sums of up to `maxProducts` of them.
  constexpr Wide widened(Field other) const {
    return static_cast<Wide>(value) * other.value;
  }

  /// 1 / this by Fermat's little theorem; the inverse of 0 does not exist.
  constexpr Field inverse() const {
    assert(value != 0 && "0 has no inverse");
    Field result(1), power = *this;
    for (uint64_t exponent = prime - 2; exponent != 0; exponent >>= 1) {
      if (exponent & 1)
        result *= power;
      power *= power;
    }
    return result;
  }

private:
  explicit constexpr Field(uint64_t value) : value(value) {}
  uint64_t value = 0;
};

} // namespace tp

#endif // TP_REFERENCE_FIELD_H
