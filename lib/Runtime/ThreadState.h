// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_THREADSTATE_H
#define TP_RUNTIME_THREADSTATE_H

#include "Runtime/Rendezvous.h"
#include "tp/Runtime/Threads.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tp::runtime {

/// A rank that has waited for some time.
struct Waiting {
  int64_t rank = 0;
  Rendezvous *meeting = nullptr;
  /// Its seat.
  size_t position = 0;
  Rendezvous::Round round = 0;
};

/// What the ranks of a ThreadWorld share: who meets where, who waits for whom,
/// and the first failure.
class ThreadWorld::State {
public:
  State(int64_t numRanks, double deadlineSeconds);

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
  std::chrono::microseconds deadline() const { return longestWait; }
  /// Longest time to spin before sleeping: 0 where there are more ranks than
  /// processors, for the one waited for may need this one.
  std::chrono::microseconds mostSpin() const { return spin; }

  void beginRun(int64_t rank);
  void endRun(int64_t rank);
  void leave(int64_t rank);
  /// Remembers, for the diagnosis of a rank that hangs, where it was last seen.
  void noteCall(int64_t rank, const Call &call);

  /// The meeting of a set of ranks, in ascending order.
  Rendezvous &meetingOf(const std::vector<int64_t> &members);

  void fail(const std::string &reason) noexcept;
  bool hasFailed() const { return failed.load(std::memory_order_acquire); }
  [[noreturn]] void throwFailure();

  /// For the last to arrive: false, after `fail`, if the members' calls differ.
  bool compareCalls(Rendezvous &meeting);

  /// Makes a waiting rank visible to the others while it exists. The rank
  /// cannot go on without ending this, so whoever holds the lock sees it
  /// waiting.
  class Registration {
  public:
    /// Fails the world if this rank completes a circle of waiting ranks.
    Registration(State &world, const Waiting &waiting);
    ~Registration();
    Registration(const Registration &) = delete;
    Registration &operator=(const Registration &) = delete;

  private:
    State &world;
    int64_t rank;
  };

  /// Fails the world if one that `waiting` waits for has ended, or if `elapsed`
  /// reaches the deadline.
  void lookAfterOthers(const Waiting &waiting,
                       std::chrono::microseconds elapsed);

  std::vector<std::unique_ptr<Communicator>> communicators;

private:
  struct RankState {
    std::atomic<int64_t> startedRuns{0};
    std::atomic<int64_t> endedRuns{0};
    std::atomic<bool> left{false};
    /// The site and op of the last call; the op is -1 before the first.
    std::atomic<int64_t> lastSite{0};
    std::atomic<int> lastOp{-1};
    /// Set while registered; guarded by `mutex`.
    std::optional<Waiting> waiting;
  };

  RankState &stateOf(int64_t rank) { return ranks[static_cast<size_t>(rank)]; }
  bool hasEnded(int64_t rank, const Waiting &waiter);
  const Waiting *waitOf(int64_t rank);
  std::string describeWait(const Waiting &waiting);
  std::string describeState(int64_t rank);
  std::string describeMissing(const Waiting &waiting);
  /// A wait that a search for a circle has reached, and the step it came from.
  struct Step {
    const Waiting *wait;
    size_t parent;
  };
  std::string describeCircle(const std::vector<Step> &steps, size_t at,
                             const Waiting &last);
  std::string findCircle(const Waiting &start);
  void wakeAll();

  std::chrono::microseconds longestWait, spin;
  std::vector<RankState> ranks;
  std::atomic<bool> failed{false};
  /// Guards what follows and RankState::waiting.
  std::mutex mutex;
  std::map<std::vector<int64_t>, std::unique_ptr<Rendezvous>> meetings;
  std::string failure;
};

} // namespace tp::runtime

#endif // TP_RUNTIME_THREADSTATE_H
