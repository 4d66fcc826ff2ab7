// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Measures this computer as a machine for the cost model.

#ifndef TP_RUN_CALIBRATE_H
#define TP_RUN_CALIBRATE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tp {

/// Ranks that may be measured at once.
inline constexpr int64_t maxCalibratedRanks = 64;

/// Measures products, attention, the memory and all-reduces with the kernels
/// and the transport that tp-run uses, in f32, each while `ranks` threads do
/// the same, and gives the text of a machine file called `name`. Ranks share
/// caches and memory, so the figures hold for programs of as many. Every time
/// is the mean of several, the odd ones left out. Fails if `ranks` is not in
/// [1, maxCalibratedRanks] or a measurement fails.
llvm::Expected<std::string> calibrate(int64_t ranks, llvm::StringRef name);

} // namespace tp

#endif // TP_RUN_CALIBRATE_H
