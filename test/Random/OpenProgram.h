// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_TEST_RANDOM_OPENPROGRAM_H
#define TP_TEST_RANDOM_OPENPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <random>
#include <string>

namespace tp::test {

/// The source of all choices: a seed names a program.
class Chance {
public:
  explicit Chance(uint64_t seed) : engine(seed) {}

  /// In [0, bound).
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  }
  bool oneIn(int64_t bound) { return below(bound) == 0; }
  template <class T> const T &of(llvm::ArrayRef<T> values) {
    return values[below(values.size())];
  }

private:
  std::mt19937_64 engine;
};

/// Which operations a program is made of.
enum class Operations {
  All,
  /// Those that keep normal inputs within reach of floating point.
  Tame
};

/// The text of a random program in the open phase: one function of one to
/// `mostOps` operations on small tensors of pairwise different sizes.
std::string makeOpenProgram(Chance &chance, Operations operations,
                            int64_t mostOps);

} // namespace tp::test

#endif // TP_TEST_RANDOM_OPENPROGRAM_H
