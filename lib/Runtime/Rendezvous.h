// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_RENDEZVOUS_H
#define TP_RUNTIME_RENDEZVOUS_H

#include "Runtime/Exchange.h"
#include "tp/Runtime/Communicator.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tp::runtime {

/// Where the ranks of one set meet, again and again. A round ends when all
/// members have arrived, and then opens for all; or it is closed before, and
/// then for all and for good. Which of the two is decided by one atomic step,
/// so that no member goes on to use the buffers of one that has given up.
class Rendezvous {
public:
  /// What a member shows to the others. Written before it arrives, read when
  /// the round has opened, or while the member is known to be waiting.
  struct alignas(64) Seat {
    Call call;
    Buffers buffers{};
    /// Rounds that the member has arrived in.
    std::atomic<uint64_t> arrivals{0};
  };

  /// Names a round: that of the next arrival of the caller, who must be a
  /// member and not be waiting.
  using Round = uint64_t;

  enum class Outcome { Waiting, Open, Closed };

  explicit Rendezvous(std::vector<int64_t> members);

  /// In ascending order.
  std::span<const int64_t> members() const { return ranks; }
  Seat &seat(size_t position) { return seats[position]; }

  Round nextRound() const { return state.load(std::memory_order_acquire) / 2; }
  Outcome outcome(Round round) const;

  /// The member at `position` arrives. True for the last one, who must call
  /// `open` or `close`.
  bool arrive(size_t position, Round round);
  /// True if the member has not arrived in the round.
  bool isMissing(size_t position, Round round) const;

  /// Ends a round well, for the last to arrive. Closed if somebody gave up
  /// first.
  Outcome open(Round round);
  /// Ends a round badly. Open if all had arrived first.
  Outcome close(Round round);

  /// Spins for `spin`, or a moment if that is 0. True if the round ended.
  bool pause(Round round, std::chrono::microseconds spin) const;
  /// Sleeps until the round ends or `wake` is called, `most` at most.
  void sleep(Round round, std::chrono::microseconds most);
  /// Ends every sleep.
  void wake();

private:
  Outcome settle(Round round, uint64_t next);

  std::vector<int64_t> ranks;
  std::unique_ptr<Seat[]> seats;
  /// Twice the number of open rounds so far; odd once closed.
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<size_t> absent;
  /// Sleepers, so that a round that nobody sleeps in ends without a lock.
  alignas(64) std::atomic<int> sleepers{0};
  std::mutex mutex;
  std::condition_variable condition;
  /// Calls of `wake`, guarded by `mutex`.
  uint64_t wakes = 0;
};

} // namespace tp::runtime

#endif // TP_RUNTIME_RENDEZVOUS_H
