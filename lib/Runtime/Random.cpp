// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Random.h"
#include "Runtime/Context.h"
#include "Runtime/Sizes.h"
#include "tp/Runtime/Abi.h"

#include <cmath>
#include <string>

using namespace tp::runtime;

RandomWords tp::runtime::philox(RandomWords counter,
                                std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

namespace {

uint32_t lowWord(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t highWord(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

/// The random words of one dropout.
struct Mask {
  uint64_t seed, site;
  /// Words below it drop their element.
  uint64_t threshold;

  RandomWords words(uint64_t block) const {
    return philox(
        {lowWord(block), highWord(block), lowWord(site), highWord(site)},
        {lowWord(seed), highWord(seed)});
  }
};

/// The sizes of what a rank holds, and its place in the whole.
struct Part {
  const int64_t *dims;
  int64_t numDims, origin;

  int64_t size(int64_t dim) const { return dims[2 * dim]; }
  int64_t stride(int64_t dim) const { return dims[2 * dim + 1]; }
};

/// Drops elements of a part, and scales those that stay.
template <typename T> struct Dropper {
  const Part &part;
  const Mask &mask;
  T scale;

  /// Elements with the indices from `index` on.
  void dropRow(T *out, const T *x, int64_t count, uint64_t index) const {
    RandomWords words{};
    for (int64_t i = 0; i < count; ++i, ++index) {
      if (i == 0 || index % 4 == 0)
        words = mask.words(index / 4);
      out[i] = words[index % 4] < mask.threshold ? T(0) : x[i] * scale;
    }
  }

  /// Dimension `dim` and those within it; returns the number of elements.
  int64_t dropDims(T *out, const T *x, int64_t dim, uint64_t index) const {
    if (dim + 1 == part.numDims) {
      dropRow(out, x, part.size(dim), index);
      return part.size(dim);
    }
    int64_t done = 0;
    for (int64_t i = 0; i < part.size(dim); ++i)
      done += dropDims(out + done, x + done, dim + 1,
                       index + static_cast<uint64_t>(i * part.stride(dim)));
    return done;
  }
};

template <typename T>
void dropout(T *out, const T *x, const Part &part, double rate, Mask mask) {
  checkedCount({{"numDims", part.numDims}}, 2 * sizeof(int64_t));
  checkedCount({{"origin", part.origin}}, 1);
  if (part.numDims == 0 || part.stride(part.numDims - 1) != 1)
    throw RuntimeError("the last of " + std::to_string(part.numDims) +
                       " dimensions has no stride of 1");
  int64_t count = 1;
  for (int64_t dim = 0; dim < part.numDims; ++dim)
    count =
        checkedCount({{"count", count}, {"size", part.size(dim)}}, sizeof(T));
  if (!(rate >= 0 && rate <= 1))
    throw RuntimeError("rate " + std::to_string(rate) + " is not from 0 to 1");
  mask.threshold = static_cast<uint64_t>(std::llround(std::ldexp(rate, 32)));
  T scale = rate == 1 ? T(0) : static_cast<T>(1 / (1 - rate));
  Dropper<T>{part, mask, scale}.dropDims(out, x, 0,
                                         static_cast<uint64_t>(part.origin));
}

} // namespace

// Compiled code passes every size as an argument of its own.
// NOLINTBEGIN(readability-function-size)
extern "C" {

#define TP_DEFINE_DROPOUT(SUFFIX, T)                                           \
  void tp_dropout_##SUFFIX(T *out, const T *x, const int64_t *seed,            \
                           const int64_t *dims, int64_t numDims,               \
                           int64_t origin, double rate, int64_t site) {        \
    guarded("tp_dropout_" #SUFFIX, [&] {                                       \
      dropout(out, x, {dims, numDims, origin}, rate,                           \
              {static_cast<uint64_t>(*seed), static_cast<uint64_t>(site), 0}); \
    });                                                                        \
  }

TP_DEFINE_DROPOUT(f32, float)
TP_DEFINE_DROPOUT(f64, double)
}
// NOLINTEND(readability-function-size)
