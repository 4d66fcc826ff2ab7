// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_RANK_H
#define TP_RUNTIME_RANK_H

#include "tp/Runtime/Communicator.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tp::runtime {

/// Memory that a rank's program has taken through tp_alloc, in bytes.
struct MemoryUse {
  /// In blocks that have not been freed.
  int64_t live = 0;
  /// Largest value of `live` so far.
  int64_t peak = 0;
  /// Held by the arena, freed blocks included.
  int64_t reserved = 0;
};

class RankContext;

/// Makes the current thread a rank for as long as the object lives: the
/// functions of Abi.h use its communicator and its arena, and denormal numbers
/// are flushed to zero (an FMA on them is some hundred times slower). Ending
/// the scope frees every block of the arena, takes the rank out of the
/// communicator and restores the thread's former state. Scopes nest; the
/// innermost counts. A rank has one scope for all its runs: its communicator
/// serves no other after it.
class RankScope {
public:
  /// Products and attention are computed by `numThreads` threads. A run fails
  /// if that is not in [1, 1024] or so many cannot be started.
  explicit RankScope(Communicator &communicator, int64_t numThreads = 1);
  ~RankScope();
  RankScope(const RankScope &) = delete;
  RankScope &operator=(const RankScope &) = delete;

  MemoryUse memoryUse() const;
  /// Frees the blocks that runs have left, their results: the next run takes
  /// them. Not during a run.
  void freeBlocks();
  RankContext &getContext() { return *context; }

private:
  std::unique_ptr<RankContext> context;
  RankContext *outer;
  unsigned floatingPointState;
};

/// Runs a rank's program on the current thread, which must be the one that made
/// `scope`, and returns the error that ended it, or nothing. An exception of
/// `program` counts as an error. On an error the other ranks are stopped, and
/// the frames between a failing function of Abi.h and this one are left without
/// running destructors: whatever owns memory belongs outside `program`.
std::optional<std::string> runRank(RankScope &scope,
                                   const std::function<void()> &program);

} // namespace tp::runtime

#endif // TP_RUNTIME_RANK_H
