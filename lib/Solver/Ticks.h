// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_TICKS_H
#define TP_SOLVER_TICKS_H

#include "tp/Cost/Price.h"
#include <limits>

namespace tp {

/// The time of a price, or a difference of times, as message passing sees it:
/// always a whole number, and far below 2^53, so that sums and differences are
/// exact. Other fields of prices matter in elimination only.
using Ticks = double;

/// What is forbidden.
inline constexpr Ticks infiniteTicks = std::numeric_limits<Ticks>::infinity();

/// The longest time that message passing takes on: 70 s, so that sums over the
/// ends of an operation stay exact.
inline constexpr uint64_t largestTicks = uint64_t(1) << 50;

} // namespace tp

#endif // TP_SOLVER_TICKS_H
