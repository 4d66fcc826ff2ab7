// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_THREADS_H
#define TP_RUNTIME_THREADS_H

#include "tp/Runtime/Communicator.h"

#include <memory>

namespace tp::runtime {

/// Ranks that are threads of this process. Collectives read and write the
/// members' buffers in place. Must outlive the threads that use its
/// communicators. After a failure a world stays failed: make a new one.
class ThreadWorld {
public:
  /// `numRanks` is in [1, 4096]. A member that has waited in a collective for
  /// `deadlineSeconds`, in (0, 1e9], makes it fail and names those that have
  /// not come: longer than any rank computes between two collectives, the first
  /// touch of its memory included. Throws RuntimeError on other values.
  ThreadWorld(int64_t numRanks, double deadlineSeconds);
  ~ThreadWorld();

  int64_t size() const;
  /// The end of one rank, owned by the world.
  Communicator &communicator(int64_t rank);

  class State;

private:
  std::unique_ptr<State> state;
};

} // namespace tp::runtime

#endif // TP_RUNTIME_THREADS_H
