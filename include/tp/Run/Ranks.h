// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_RANKS_H
#define TP_RUN_RANKS_H

#include "tp/Run/Engine.h"
#include "tp/Run/Inputs.h"

namespace tp {

/// How to run the ranks.
struct RankOptions {
  /// Seconds that a rank waits for another one in a collective.
  double deadline = 60;
  /// Threads that compute the products and the attention of a rank.
  int64_t threadsPerRank = 1;
  /// Runs after the first, of which the fastest is reported.
  int64_t repeats = 0;
};

/// What the ranks gave.
struct RankResults {
  /// One row a rank.
  std::vector<std::vector<Array>> outputs;
  /// Wall-clock seconds of the fastest run, from the first rank's start to the
  /// last one's end, without copying results.
  double seconds = 0;
  /// Of the run in the middle.
  double medianSeconds = 0;
  /// Largest over the ranks: bytes that the program held at once, without
  /// inputs.
  int64_t peakBytes = 0;
};

/// Number of ranks that may run in this process.
inline constexpr int64_t maxRanks = 4096;

/// Runs the program with each rank on a thread of its own. A rank reads its
/// parts of the inputs only. The error names the rank that failed.
llvm::Expected<RankResults> runRanks(const Engine &engine,
                                     const Signature &signature,
                                     const Inputs &inputs,
                                     const RankOptions &options = {});

} // namespace tp

#endif // TP_RUN_RANKS_H
