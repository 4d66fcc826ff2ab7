// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/ThreadState.h"

#include <algorithm>
#include <set>
#include <thread>

using namespace tp::runtime;
using std::chrono::microseconds;
using State = ThreadWorld::State;
using Outcome = Rendezvous::Outcome;

static size_t checkRanks(int64_t numRanks) {
  constexpr int64_t most = 4096;
  if (numRanks < 1 || numRanks > most)
    throw RuntimeError("the number of ranks, " + std::to_string(numRanks) +
                       ", is not between 1 and " + std::to_string(most));
  return static_cast<size_t>(numRanks);
}

static microseconds checkDeadline(double seconds) {
  constexpr double most = 1e9;
  if (!(seconds > 0) || seconds > most)
    throw RuntimeError("a deadline of " + std::to_string(seconds) +
                       " s is not between 0 and 1e9");
  return std::max(microseconds(1),
                  microseconds(static_cast<int64_t>(seconds * 1e6)));
}

State::State(int64_t numRanks, double deadlineSeconds)
    : longestWait(checkDeadline(deadlineSeconds)), ranks(checkRanks(numRanks)) {
  bool crowded = ranks.size() > std::thread::hardware_concurrency();
  spin = microseconds(crowded ? 0 : 200);
}

//===-- The course of a rank ---------------------------------------------===//

void State::beginRun(int64_t rank) { stateOf(rank).startedRuns.fetch_add(1); }

void State::endRun(int64_t rank) {
  RankState &state = stateOf(rank);
  state.endedRuns.store(state.startedRuns.load());
  wakeAll();
}

void State::leave(int64_t rank) {
  stateOf(rank).left.store(true);
  wakeAll();
}

void State::noteCall(int64_t rank, const Call &call) {
  RankState &state = stateOf(rank);
  state.lastSite.store(call.site, std::memory_order_relaxed);
  state.lastOp.store(static_cast<int>(call.op), std::memory_order_relaxed);
}

Rendezvous &State::meetingOf(const std::vector<int64_t> &members) {
  std::lock_guard lock(mutex);
  std::unique_ptr<Rendezvous> &meeting = meetings[members];
  if (!meeting)
    meeting = std::make_unique<Rendezvous>(members);
  return *meeting;
}

void State::wakeAll() {
  std::lock_guard lock(mutex);
  for (auto &[members, meeting] : meetings)
    meeting->wake();
}

//===-- Failure ----------------------------------------------------------===//

void State::fail(const std::string &reason) noexcept {
  {
    std::lock_guard lock(mutex);
    if (failed.load())
      return;
    try {
      failure = reason;
    } catch (...) {
      failure = "out of memory";
    }
    failed.store(true);
  }
  wakeAll();
}

void State::throwFailure() {
  std::lock_guard lock(mutex);
  throw CollectiveError(failure);
}

bool State::compareCalls(Rendezvous &meeting) {
  std::span<const int64_t> members = meeting.members();
  const Call &first = meeting.seat(0).call;
  for (size_t i = 1; i < members.size(); ++i) {
    const Call &other = meeting.seat(i).call;
    if (sameCall(first, other))
      continue;
    std::string one = std::to_string(members[0]);
    std::string two = std::to_string(members[i]);
    fail("ranks " + one + " and " + two + " meet with different calls: rank " +
         one + " issued " + describe(first) + ", rank " + two + " issued " +
         describe(other));
    return false;
  }
  return true;
}

//===-- Diagnosis of a wait ----------------------------------------------===//

/// Only of a rank that is registered, with the lock held, or of the caller:
/// others may be writing their seat.
std::string State::describeWait(const Waiting &waiting) {
  return describe(waiting.meeting->seat(waiting.position).call);
}

/// The wait of a rank if it is registered and goes on. With the lock held.
const Waiting *State::waitOf(int64_t rank) {
  const std::optional<Waiting> &waiting = stateOf(rank).waiting;
  bool goesOn =
      waiting && waiting->meeting->outcome(waiting->round) == Outcome::Waiting;
  return goesOn ? &*waiting : nullptr;
}

/// `steps` is the way from the start of a search to a wait, which lacks the
/// rank of `last`, which waits at the start: the circle as text.
std::string State::describeCircle(const std::vector<Step> &steps, size_t at,
                                  const Waiting &last) {
  std::string rank = std::to_string(last.rank);
  std::string text = "rank " + rank + " waits in " + describeWait(last);
  for (; at != 0; at = steps[at].parent) {
    const Waiting &wait = *steps[at].wait;
    std::string before = "rank " + std::to_string(wait.rank) + " waits in " +
                         describeWait(wait) + " for rank " + rank + "; ";
    text.insert(0, before);
    rank = std::to_string(wait.rank);
  }
  return "a deadlock: " + text + " for rank " + rank;
}

/// A circle of ranks, each waiting for the next, through `start`; empty if
/// there is none. With the lock held no registered rank can go on, and a
/// meeting that lacks one of them cannot open: what is found is a deadlock, and
/// the last to register in one finds it. Meetings are visited once each.
std::string State::findCircle(const Waiting &start) {
  std::vector<Step> steps = {{&start, 0}};
  std::set<const Rendezvous *> visited = {start.meeting};
  for (size_t at = 0; at < steps.size(); ++at) {
    const Waiting &wait = *steps[at].wait;
    std::span<const int64_t> members = wait.meeting->members();
    for (size_t i = 0; i < members.size(); ++i) {
      bool missing = wait.meeting->isMissing(i, wait.round);
      const Waiting *next = missing ? waitOf(members[i]) : nullptr;
      if (!next)
        continue;
      if (next->meeting == start.meeting)
        return describeCircle(steps, at, *next);
      if (visited.insert(next->meeting).second)
        steps.push_back({next, at});
    }
  }
  return "";
}

State::Registration::Registration(State &world, const Waiting &waiting)
    : world(world), rank(waiting.rank) {
  std::string circle;
  {
    std::lock_guard lock(world.mutex);
    std::optional<Waiting> &own = world.stateOf(rank).waiting;
    own = waiting;
    circle = world.findCircle(*own);
  }
  if (!circle.empty())
    world.fail(circle);
}

State::Registration::~Registration() {
  std::lock_guard lock(world.mutex);
  world.stateOf(rank).waiting.reset();
}

/// True if a rank will issue no more calls in the run of `waiter`.
bool State::hasEnded(int64_t rank, const Waiting &waiter) {
  RankState &state = stateOf(rank);
  int64_t run = std::max<int64_t>(stateOf(waiter.rank).startedRuns.load(), 1);
  return state.left.load() || state.endedRuns.load() >= run;
}

std::string State::describeState(int64_t rank) {
  std::string text = "rank " + std::to_string(rank);
  if (const Waiting *wait = waitOf(rank))
    return text + " waits in " + describeWait(*wait);
  static const char *const names[] = {"all_reduce", "all_gather",
                                      "reduce_scatter", "all_to_all",
                                      "collective_permute"};
  int op = stateOf(rank).lastOp.load(std::memory_order_relaxed);
  if (op < 0)
    return text + " has issued no collective";
  return text + " is elsewhere; the last collective it issued is " + names[op] +
         " at site " +
         std::to_string(stateOf(rank).lastSite.load(std::memory_order_relaxed));
}

std::string State::describeMissing(const Waiting &waiting) {
  std::vector<int64_t> missing;
  std::span<const int64_t> members = waiting.meeting->members();
  for (size_t i = 0; i < members.size(); ++i)
    if (waiting.meeting->isMissing(i, waiting.round))
      missing.push_back(members[i]);
  constexpr size_t most = 4;
  std::string text = describeRanks(missing);
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < std::min(missing.size(), most); ++i)
    text += "; " + describeState(missing[i]);
  return text;
}

void State::lookAfterOthers(const Waiting &waiting, microseconds elapsed) {
  std::span<const int64_t> members = waiting.meeting->members();
  for (size_t i = 0; i < members.size(); ++i) {
    // In this order: a member that ended after it had arrived is not missing.
    if (!hasEnded(members[i], waiting) ||
        !waiting.meeting->isMissing(i, waiting.round))
      continue;
    return fail("rank " + std::to_string(members[i]) +
                " has ended without the call that rank " +
                std::to_string(waiting.rank) +
                " waits in: " + describeWait(waiting));
  }
  if (elapsed < longestWait)
    return;
  double seconds = static_cast<double>(longestWait.count()) * 1e-6;
  std::string missing = describeMissing(waiting);
  if (waiting.meeting->outcome(waiting.round) == Outcome::Waiting)
    fail("deadline of " + std::to_string(seconds) + " s passed: rank " +
         std::to_string(waiting.rank) + " waits in " + describeWait(waiting) +
         " for ranks " + missing);
}
