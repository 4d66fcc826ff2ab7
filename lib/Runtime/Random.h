// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_RANDOM_H
#define TP_RUNTIME_RANDOM_H

#include <array>
#include <cstdint>

namespace tp::runtime {

using RandomWords = std::array<uint32_t, 4>;

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers:
/// as easy as 1, 2, 3"): random words as a function of a counter and a key.
RandomWords philox(RandomWords counter, std::array<uint32_t, 2> key);

} // namespace tp::runtime

#endif // TP_RUNTIME_RANDOM_H
