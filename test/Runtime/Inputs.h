// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_TEST_RUNTIME_INPUTS_H
#define TP_TEST_RUNTIME_INPUTS_H

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace tp::test {

/// Random values in [-1, 1].
template <typename T>
std::vector<T> randomValues(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(-1, 1);
  std::vector<T> values(static_cast<size_t>(count));
  for (T &value : values)
    value = static_cast<T>(distribution(generator));
  return values;
}

/// What a result must not keep: an element that no kernel wrote.
template <typename T> std::vector<T> unwritten(int64_t count) {
  return std::vector<T>(static_cast<size_t>(count),
                        std::numeric_limits<T>::quiet_NaN());
}

} // namespace tp::test

#endif // TP_TEST_RUNTIME_INPUTS_H
