// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Runtime/Threads.h"
#include "Runtime/Rendezvous.h"
#include "Runtime/ThreadState.h"

#include <algorithm>

using namespace tp::runtime;
using std::chrono::microseconds;
using Outcome = Rendezvous::Outcome;
using Clock = std::chrono::steady_clock;

/// A wait this short needs no diagnosis.
static constexpr microseconds firstSleep{2000};
/// Longest time before a waiting rank looks after the others again. They wake
/// it when they end; this is for the deadline, and a second line of defence.
static constexpr microseconds longestSleep{50000};

namespace {

/// One ordered group as one rank sees it.
struct View {
  std::vector<int64_t> order;
  Rendezvous *meeting;
  /// Where the members, in the order of the group, sit.
  std::vector<size_t> seats;
  /// Position of this rank in the order.
  size_t self;
  /// Scratch of a call, in the order of the group.
  std::vector<Buffers> buffers;

  Rendezvous::Seat &ownSeat() { return meeting->seat(seats[self]); }
};

class ThreadCommunicator final : public Communicator {
public:
  ThreadCommunicator(ThreadWorld::State &world, int64_t rank)
      : Communicator(rank, world.size()), world(world),
        patience(world.mostSpin()) {}

  void beginRun() override { world.beginRun(rank()); }
  void endRun() override { world.endRun(rank()); }
  void leave() override { world.leave(rank()); }
  void fail(const std::string &reason) noexcept override { world.fail(reason); }

private:
  void exchange(const Call &call, void *out, const void *in) override;

  View &findView(std::span<const int64_t> group);
  void enter(View &view, Rendezvous::Round round);
  void awaitEntry(View &view, Rendezvous::Round round);
  void depart(View &view, Rendezvous::Round round);

  bool pause(const Rendezvous &meeting, Rendezvous::Round round);

  ThreadWorld::State &world;
  /// How long the next wait spins.
  microseconds patience;
  std::vector<std::unique_ptr<View>> views;
};

} // namespace

View &ThreadCommunicator::findView(std::span<const int64_t> group) {
  // A program has a handful of groups: a search beats a hash of 256 ranks.
  for (const std::unique_ptr<View> &view : views)
    if (std::ranges::equal(view->order, group))
      return *view;
  auto view = std::make_unique<View>();
  view->order.assign(group.begin(), group.end());
  std::vector<int64_t> members = view->order;
  std::ranges::sort(members);
  view->meeting = &world.meetingOf(members);
  for (int64_t member : view->order)
    view->seats.push_back(static_cast<size_t>(
        std::ranges::lower_bound(members, member) - members.begin()));
  view->self = static_cast<size_t>(std::ranges::find(view->order, rank()) -
                                   view->order.begin());
  view->buffers.resize(view->order.size());
  return *views.emplace_back(std::move(view));
}

/// A short wait without sleeping, nor yielding, which on a busy machine costs a
/// time slice of every other thread. Spinning pays off where the others are
/// about to come and harms where they need this processor, which only shows in
/// the end: each success doubles the time for the next wait, each failure
/// halves it.
bool ThreadCommunicator::pause(const Rendezvous &meeting,
                               Rendezvous::Round round) {
  constexpr microseconds least{2};
  bool done = meeting.pause(round, patience);
  patience = done ? patience * 2 : patience / 2;
  patience = std::min(std::max(patience, least), world.mostSpin());
  return done;
}

/// Waits, with a look after the others, until the round ends.
void ThreadCommunicator::awaitEntry(View &view, Rendezvous::Round round) {
  Rendezvous &meeting = *view.meeting;
  if (pause(meeting, round))
    return;
  Clock::time_point begin = Clock::now();
  meeting.sleep(round, std::min(firstSleep, world.deadline()));
  if (meeting.outcome(round) != Outcome::Waiting)
    return;
  Waiting waiting{rank(), &meeting, view.seats[view.self], round};
  ThreadWorld::State::Registration registration(world, waiting);
  while (meeting.outcome(round) == Outcome::Waiting) {
    auto elapsed =
        std::chrono::duration_cast<microseconds>(Clock::now() - begin);
    world.lookAfterOthers(waiting, elapsed);
    if (world.hasFailed()) {
      meeting.close(round);
      return;
    }
    auto left = std::max(world.deadline() - elapsed, microseconds(1));
    meeting.sleep(round, std::min(longestSleep, left));
  }
}

/// All members are here with the same call when this returns.
void ThreadCommunicator::enter(View &view, Rendezvous::Round round) {
  Rendezvous &meeting = *view.meeting;
  if (!meeting.arrive(view.seats[view.self], round)) {
    awaitEntry(view, round);
  } else if (world.compareCalls(meeting)) {
    meeting.open(round);
  } else {
    meeting.close(round);
  }
  if (meeting.outcome(round) == Outcome::Closed)
    world.throwFailure();
}

/// Waits until nobody uses this rank's buffers any more. The others are
/// copying: they will come, whatever happens elsewhere, so this does not give
/// up.
void ThreadCommunicator::depart(View &view, Rendezvous::Round round) {
  Rendezvous &meeting = *view.meeting;
  if (meeting.arrive(view.seats[view.self], round)) {
    meeting.open(round);
    return;
  }
  if (pause(meeting, round))
    return;
  while (meeting.outcome(round) == Outcome::Waiting)
    meeting.sleep(round, longestSleep);
}

void ThreadCommunicator::exchange(const Call &call, void *out, const void *in) {
  if (world.hasFailed())
    world.throwFailure();
  world.noteCall(rank(), call);
  View &view = findView(call.group);
  Rendezvous &meeting = *view.meeting;
  Rendezvous::Round round = meeting.nextRound();
  if (meeting.outcome(round) == Outcome::Closed)
    world.throwFailure();
  Rendezvous::Seat &own = view.ownSeat();
  own.call = call;
  own.buffers = {in, out};
  enter(view, round);
  for (size_t i = 0; i < view.seats.size(); ++i)
    view.buffers[i] = meeting.seat(view.seats[i]).buffers;
  exchangeShare(call, view.buffers, view.self);
  depart(view, round + 1);
}

ThreadWorld::ThreadWorld(int64_t numRanks, double deadlineSeconds)
    : state(std::make_unique<State>(numRanks, deadlineSeconds)) {
  for (int64_t rank = 0; rank < numRanks; ++rank)
    state->communicators.push_back(
        std::make_unique<ThreadCommunicator>(*state, rank));
}

ThreadWorld::~ThreadWorld() = default;

int64_t ThreadWorld::size() const { return state->size(); }

Communicator &ThreadWorld::communicator(int64_t rank) {
  if (rank < 0 || rank >= size())
    throw RuntimeError("there is no rank " + std::to_string(rank) + " among " +
                       std::to_string(size()));
  return *state->communicators[static_cast<size_t>(rank)];
}
