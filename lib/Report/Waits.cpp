// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waits.h"
#include "Places.h"

using namespace mlir;
using namespace tp;

//===- Parts of a step ----------------------------------------------------===//

/// The operand of `event` that holds indices into another one.
static std::optional<unsigned> findIndices(const StepEvent &event) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(event.op);
  if (!ruled)
    return std::nullopt;
  for (unsigned operand = 0; operand < event.operands.size(); ++operand)
    if (ruled.getIndexBound(operand))
      return operand;
  return std::nullopt;
}

int64_t tp::countTokens(const Step &step) {
  int64_t tokens = 0;
  for (const StepEvent &event : step.events) {
    std::optional<unsigned> indices = findIndices(event);
    bool looksUp = indices && llvm::any_of(event.operands, [&](unsigned value) {
                     return step.isParameter(value);
                   });
    if (!looksUp)
      continue;
    auto type =
        cast<RankedTensorType>(event.op->getOperand(*indices).getType());
    tokens = std::max(tokens, type.getNumElements());
  }
  return tokens;
}

namespace {

/// Where the embedding ends, and where the head and the loss begin; event
/// numbers.
struct Borders {
  unsigned layers = 0, head = 0, loss = 0;

  StepPart of(unsigned event) const {
    if (event < layers)
      return StepPart::Embedding;
    if (event < head)
      return StepPart::Layers;
    return event < loss ? StepPart::Head : StepPart::Loss;
  }
};

} // namespace

/// Layers are what the entry calls. In a program without calls they follow the
/// last look-up in a parameter before other parameters are used. The loss
/// follows the last use of a parameter, if indices - targets - are read there.
static Borders findBorders(const Step &step) {
  unsigned size = step.events.size();
  Borders borders{0, size, size};
  std::optional<unsigned> firstWeight;
  unsigned lastWeight = 0, lastLookUp = 0, lastTargets = 0;
  for (auto [number, event] : llvm::enumerate(step.events)) {
    bool reads = llvm::any_of(event.operands, [&](unsigned value) {
      return step.isParameter(value);
    });
    bool hasIndices = findIndices(event).has_value();
    if (hasIndices && !reads)
      lastTargets = number;
    if (!reads)
      continue;
    lastWeight = number;
    if (hasIndices && !firstWeight)
      lastLookUp = number + 1;
    else if (!hasIndices && !firstWeight)
      firstWeight = number;
  }
  if (lastLookUp != 0)
    borders.layers = firstWeight.value_or(size);
  if (!step.calls.empty()) {
    borders.layers = step.calls.front().begin;
    borders.head = step.calls.back().end;
  }
  if (lastTargets > lastWeight)
    borders.loss = lastWeight + 1;
  borders.head = std::min(borders.head, borders.loss);
  return borders;
}

//===- Two queues ---------------------------------------------------------===//

namespace {

class Queues {
public:
  Queues(const Step &step, const llvm::DenseMap<Operation *, Cost> &costs)
      : step(step), costs(costs), runs(step.events.size()) {}

  Waits run();

private:
  struct Run {
    double start = 0, end = 0;
    bool communicates = false;
    /// The collective that it could not start before.
    std::optional<unsigned> after;
  };

  void runEvent(unsigned number);
  /// When all of `values` are there, and the collective that is last.
  std::pair<double, std::optional<unsigned>>
  findReady(ArrayRef<unsigned> values) const;
  /// The computation stands still from `from` until `last` has ended.
  void hold(double from, std::optional<unsigned> last);
  void takeTimeline();
  void findFirstUses();
  void describe();

  const Step &step;
  const llvm::DenseMap<Operation *, Cost> &costs;
  std::vector<Run> runs;
  /// When each queue is free; the last collective of its queue.
  double computeFree = 0, linkFree = 0;
  std::optional<unsigned> lastCollective;
  llvm::DenseMap<unsigned, double> held;
  Waits waits;
};

} // namespace

std::pair<double, std::optional<unsigned>>
Queues::findReady(ArrayRef<unsigned> values) const {
  double ready = 0;
  std::optional<unsigned> last;
  for (unsigned value : values) {
    std::optional<unsigned> maker = step.values[value].event;
    if (!maker || runs[*maker].end <= ready)
      continue;
    ready = runs[*maker].end;
    last = runs[*maker].communicates ? maker : std::nullopt;
  }
  return {ready, last};
}

// A collective may itself have waited for another one, which then is to blame
// for what lies before its own start.
void Queues::hold(double from, std::optional<unsigned> last) {
  while (last && runs[*last].end > from) {
    const Run &run = runs[*last];
    held[*last] += run.end - std::max(run.start, from);
    last = run.after;
  }
}

void Queues::runEvent(unsigned number) {
  const StepEvent &event = step.events[number];
  Cost cost = costs.lookup(event.op);
  auto [ready, last] = findReady(event.operands);
  Run &run = runs[number];
  run.communicates = cost.communicates;
  if (cost.communicates) {
    run.start = std::max(ready, linkFree);
    run.after = ready >= linkFree ? last : lastCollective;
    run.end = run.start + cost.seconds;
    linkFree = run.end;
    lastCollective = number;
    return;
  }
  run.start = std::max(ready, computeFree);
  if (ready > computeFree)
    hold(computeFree, last);
  run.end = run.start + cost.seconds;
  computeFree = run.end;
}

/// The call that stands for all; without calls, all of the step.
void Queues::takeTimeline() {
  unsigned begin = 0, end = step.events.size();
  if (const StepCall *call = step.getShownCall()) {
    begin = call->begin;
    end = call->end;
    waits.timeline.what = getPlace(call->op);
  }
  std::optional<double> origin;
  for (unsigned number = begin; number < end; ++number) {
    const Run &run = runs[number];
    if (run.end <= run.start)
      continue;
    if (waits.timeline.entries.size() == Timeline::maxEntries) {
      ++waits.timeline.omitted;
      continue;
    }
    if (!origin)
      origin = run.start;
    origin = std::min(*origin, run.start);
    waits.timeline.entries.push_back({getPlace(step.events[number].op),
                                      run.start, run.end, run.communicates});
  }
  for (TimelineEntry &entry : waits.timeline.entries) {
    entry.start -= *origin;
    entry.end -= *origin;
  }
}

void Queues::findFirstUses() {
  std::vector<Operation *> users(step.values.size());
  for (const StepEvent &event : step.events)
    for (unsigned value : event.operands)
      if (!users[value])
        users[value] = event.op;
  Operation *end = step.getEntry().getBody().front().getTerminator();
  for (unsigned value : step.results)
    if (!users[value])
      users[value] = end;
  for (const StepEvent &event : step.events) {
    auto found = waits.collectives.find(event.op);
    if (found != waits.collectives.end() && !found->second.first)
      found->second.first = users[event.results[0]];
  }
}

void Queues::describe() {
  Borders borders = findBorders(step);
  for (auto [number, event] : llvm::enumerate(step.events)) {
    if (!isa<CollectiveOpInterface>(event.op))
      continue;
    auto [it, isNew] = waits.collectives.try_emplace(event.op);
    Wait &wait = it->second;
    if (isNew)
      wait.part = borders.of(number);
    auto found = held.find(number);
    if (found == held.end() || found->second <= 0)
      continue;
    ++wait.blocking;
    wait.heldSeconds += found->second;
    waits.heldSeconds += found->second;
  }
}

Waits Queues::run() {
  for (unsigned number = 0; number < step.events.size(); ++number)
    runEvent(number);
  auto [ready, last] = findReady(step.results);
  if (ready > computeFree)
    hold(computeFree, last);
  waits.seconds = std::max({computeFree, linkFree, ready});
  describe();
  findFirstUses();
  takeTimeline();
  return std::move(waits);
}

Waits tp::findWaits(const Step &step,
                    const llvm::DenseMap<Operation *, Cost> &costs) {
  return Queues(step, costs).run();
}
