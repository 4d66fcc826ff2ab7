// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_COST_PRICE_H
#define TP_COST_PRICE_H

#include <compare>
#include <cstdint>
#include <optional>

namespace tp {

/// The four figures of a price, most important first.
struct PriceFields {
  /// Predicted time in 1/16 picosecond, below 2^58 (about 5 h).
  uint64_t time = 0;
  /// Number of collectives, below 2^18.
  uint64_t collectives = 0;
  /// Memory in KiB, below 2^34 (16 TiB).
  uint64_t memory = 0;
  /// Number of reshard steps, whether they communicate or not, below 2^18.
  uint64_t steps = 0;
};

/// What something costs: time first, then collectives, memory and reshard
/// steps, compared lexicographically.
///
/// The fields share one 128-bit word, so that a comparison and an addition are
/// each one operation on the word. A word is a linear function of its fields;
/// its order is lexicographic as long as no sum carries from one field into the
/// next. For the fields below the time `Problem::check()` guarantees this: it
/// refuses problems whose largest possible totals do not fit. The time has no
/// such limit; a sum whose time does not fit is `infinite()`.
class Price {
public:
  __extension__ using Word = unsigned __int128;

  static constexpr unsigned timeBits = 58;
  static constexpr unsigned collectiveBits = 18;
  static constexpr unsigned memoryBits = 34;
  static constexpr unsigned stepBits = 18;

  /// Units of the time field in one second.
  static constexpr double ticksPerSecond = 16e12;

  /// The price of nothing.
  constexpr Price() = default;

  /// The price of what is forbidden; absorbs whatever is added to it.
  static constexpr Price infinite() { return Price(~Word(0)); }

  /// Packs `fields`; nothing if one of them is out of its range.
  static constexpr std::optional<Price> get(const PriceFields &fields) {
    if (fields.time >> timeBits || fields.collectives >> collectiveBits ||
        fields.memory >> memoryBits || fields.steps >> stepBits)
      return std::nullopt;
    Word word = fields.time;
    word = word << collectiveBits | fields.collectives;
    word = word << memoryBits | fields.memory;
    word = word << stepBits | fields.steps;
    // All ones is the word of `infinite()`.
    if (!~word)
      return std::nullopt;
    return Price(word);
  }

  constexpr bool isInfinite() const { return !~word; }
  constexpr bool isFinite() const { return !isInfinite(); }

  /// The time in 1/16 picosecond.
  constexpr uint64_t getTime() const {
    return field(collectiveBits + memoryBits + stepBits, timeBits);
  }
  constexpr uint64_t getCollectives() const {
    return field(memoryBits + stepBits, collectiveBits);
  }
  /// The memory in KiB.
  constexpr uint64_t getMemory() const { return field(stepBits, memoryBits); }
  constexpr uint64_t getSteps() const { return field(0, stepBits); }
  constexpr PriceFields getFields() const {
    return {getTime(), getCollectives(), getMemory(), getSteps()};
  }

  /// The time in seconds; HUGE_VAL if infinite.
  constexpr double seconds() const {
    return isInfinite() ? __builtin_huge_val()
                        : static_cast<double>(getTime()) / ticksPerSecond;
  }

  /// The sum. It is infinite if a summand is, or if the time does not fit: then
  /// and only then does the word wrap round (infinite plus zero does not wrap
  /// and is infinite all the same).
  friend constexpr Price operator+(Price a, Price b) {
    Word sum = a.word + b.word;
    return Price(sum < a.word ? ~Word(0) : sum);
  }
  constexpr Price &operator+=(Price other) { return *this = *this + other; }

  /// What must be added to `floor` to get this price; infinite if this price
  /// is. Requires `floor <= *this`. The word of a difference is exact, but its
  /// fields mean nothing, as one may have borrowed from the next: only the sum
  /// with `floor` can be read again.
  constexpr Price above(Price floor) const {
    return isInfinite() ? *this : Price(word - floor.word);
  }

  friend constexpr bool operator==(Price a, Price b) = default;
  friend constexpr std::strong_ordering operator<=>(Price a, Price b) {
    return a.word < b.word    ? std::strong_ordering::less
           : a.word == b.word ? std::strong_ordering::equal
                              : std::strong_ordering::greater;
  }

  /// The packed word: what is stored, hashed and written.
  constexpr Word getWord() const { return word; }
  /// The price of a packed word that `getWord` gave.
  static constexpr Price fromWord(Word word) { return Price(word); }

private:
  explicit constexpr Price(Word word) : word(word) {}

  constexpr uint64_t field(unsigned shift, unsigned bits) const {
    return static_cast<uint64_t>(word >> shift) & ((uint64_t(1) << bits) - 1);
  }

  Word word = 0;
};

static_assert(Price::timeBits + Price::collectiveBits + Price::memoryBits +
                  Price::stepBits ==
              128);

} // namespace tp

#endif // TP_COST_PRICE_H
