// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_CONTEXT_H
#define TP_RUNTIME_CONTEXT_H

#include "Runtime/Arena.h"
#include "Runtime/Workers.h"
#include "tp/Runtime/Communicator.h"

#include <csetjmp>
#include <exception>
#include <string>

namespace tp::runtime {

/// What the functions of Abi.h know about the rank they run on.
class RankContext {
public:
  RankContext(Communicator &communicator, int64_t numThreads)
      : communicator(communicator), numThreads(numThreads) {}

  Communicator &communicator;
  Arena arena;
  /// As many as `numThreads` from the first run on.
  Workers workers;
  int64_t numThreads;
  /// Why the last run failed.
  std::string error;
  /// Where a failing function goes on; valid while `canLand`.
  std::jmp_buf landing;
  bool canLand = false;
};

/// The innermost scope's context on this thread, or null.
RankContext *currentContext();

/// Throws RuntimeError if this thread is no rank.
RankContext &requireContext();

/// Records a failure in the current context and stops the other ranks.
/// `function` is null for a text that names its rank already.
void recordFailure(const char *function, const char *what) noexcept;

/// Goes to the frame of runRank. Where there is none, prints the failure and
/// ends the process: compiled code cannot be returned to.
[[noreturn]] void leaveProgram();

/// False if `body` threw; the exception is recorded and destroyed by then.
template <typename Body>
bool succeeds(const char *function, Body &body) noexcept {
  try {
    body();
    return true;
  } catch (const CollectiveError &error) {
    recordFailure(nullptr, error.what());
  } catch (const std::exception &error) {
    recordFailure(function, error.what());
  } catch (...) {
    recordFailure(function, "unknown exception");
  }
  return false;
}

/// The body of an extern "C" function. The jump is made here, after `succeeds`
/// has unwound everything: `Body` must capture by reference only, so that no
/// object with a destructor is live.
template <typename Body> void guarded(const char *function, Body body) {
  static_assert(std::is_trivially_destructible_v<Body>);
  if (!succeeds(function, body))
    leaveProgram();
}

} // namespace tp::runtime

#endif // TP_RUNTIME_CONTEXT_H
