// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Rendezvous.h"

#include <utility>

using namespace tp::runtime;
using Clock = std::chrono::steady_clock;

/// Tells the processor that this is a spinning loop.
static void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

Rendezvous::Rendezvous(std::vector<int64_t> members)
    : ranks(std::move(members)), seats(std::make_unique<Seat[]>(ranks.size())),
      absent(ranks.size()) {}

Rendezvous::Outcome Rendezvous::outcome(Round round) const {
  uint64_t now = state.load(std::memory_order_acquire);
  if (now >= 2 * (round + 1))
    return Outcome::Open;
  return now & 1 ? Outcome::Closed : Outcome::Waiting;
}

bool Rendezvous::arrive(size_t position, Round round) {
  seats[position].arrivals.store(round + 1, std::memory_order_release);
  if (absent.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return false;
  // For the next round, which nobody enters before this one has opened.
  absent.store(ranks.size(), std::memory_order_relaxed);
  return true;
}

bool Rendezvous::isMissing(size_t position, Round round) const {
  return seats[position].arrivals.load(std::memory_order_acquire) <= round;
}

Rendezvous::Outcome Rendezvous::settle(Round round, uint64_t next) {
  uint64_t expected = 2 * round;
  state.compare_exchange_strong(expected, next);
  // Sequentially consistent with the sleeper's check: either it sees the new
  // state or this sees the sleeper.
  if (sleepers.load() != 0)
    wake();
  return outcome(round);
}

Rendezvous::Outcome Rendezvous::open(Round round) {
  return settle(round, 2 * (round + 1));
}

Rendezvous::Outcome Rendezvous::close(Round round) {
  return settle(round, 2 * round + 1);
}

bool Rendezvous::pause(Round round, std::chrono::microseconds spin) const {
  Clock::time_point end = Clock::now() + spin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (outcome(round) != Outcome::Waiting)
        return true;
      relax();
    }
  } while (Clock::now() < end);
  return false;
}

void Rendezvous::sleep(Round round, std::chrono::microseconds most) {
  std::unique_lock lock(mutex);
  uint64_t before = wakes;
  sleepers.fetch_add(1);
  condition.wait_for(
      lock, most, [&] { return wakes != before || state.load() != 2 * round; });
  sleepers.fetch_sub(1);
}

void Rendezvous::wake() {
  {
    std::lock_guard lock(mutex);
    ++wakes;
  }
  condition.notify_all();
}
