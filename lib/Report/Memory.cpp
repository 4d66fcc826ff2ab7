// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"
#include "Places.h"
#include "tp/Cost/CostModel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tp;

static void add(uint64_t &sum, uint64_t bytes) {
  sum = llvm::SaturatingAdd(sum, bytes);
}

//===- What lies there ----------------------------------------------------===//

namespace {

/// The arguments of the entry, and what an optimizer keeps for them.
class Holdings {
public:
  Holdings(const Step &step, MeshAttr mesh, const TrainingSettings &training,
           MemoryFigures &figures)
      : step(step), mesh(mesh), training(training), figures(figures),
        gathered(step.getEntry().getNumArguments()) {}

  void add();
  /// By argument: bytes that ZeRO gathers before a use.
  ArrayRef<uint64_t> getGathered() const { return gathered; }

private:
  void addParameter(unsigned argument, uint64_t bytes);
  /// Ranks of the data axes that the argument is not split along.
  int64_t countReplicas(unsigned argument) const;
  llvm::DenseSet<unsigned> findCaches() const;

  const Step &step;
  MeshAttr mesh;
  const TrainingSettings &training;
  MemoryFigures &figures;
  std::vector<uint64_t> gathered;
};

} // namespace

int64_t Holdings::countReplicas(unsigned argument) const {
  AxisParts used =
      getCheckedLayout(step.getEntry().getArgument(argument)).getSplitParts();
  int64_t ranks = 1;
  for (unsigned axis : training.dataAxes)
    if (llvm::none_of(used, [&](AxisPart part) { return part.axis == axis; }))
      ranks *= mesh.getAxes()[axis].getSize();
  return ranks;
}

void Holdings::addParameter(unsigned argument, uint64_t bytes) {
  auto type =
      cast<RankedTensorType>(step.getEntry().getArgument(argument).getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!training.isOn() || !element)
    return ::add(figures.parameters, bytes);
  uint64_t width = getElementBytes(element);
  uint64_t count = bytes / width;
  // ZeRO deals the elements of a replicated tensor out (S. Rajbhandari et al.,
  // "ZeRO", SC 2020, section 5).
  int64_t replicas = countReplicas(argument);
  uint64_t share = llvm::divideCeil(count, replicas);
  if (training.zero == 3 && replicas > 1)
    gathered[argument] = bytes;
  auto of = [&](int stage) { return training.zero >= stage ? share : count; };
  ::add(figures.parameters, llvm::SaturatingMultiply(of(3), width));
  uint64_t gradient = training.gradientBytes ? training.gradientBytes : width;
  ::add(figures.gradients, llvm::SaturatingMultiply(of(2), gradient));
  // Two moments, and a copy to add small updates to.
  uint64_t stateWidth = std::max<uint64_t>(width, 4);
  uint64_t states = width < stateWidth ? 3 : 2;
  ::add(figures.optimizer,
        llvm::SaturatingMultiply(of(1), states * stateWidth));
}

/// Arguments that a concatenation lengthens.
llvm::DenseSet<unsigned> Holdings::findCaches() const {
  llvm::DenseSet<unsigned> caches;
  for (const StepEvent &event : step.events) {
    auto ruled = dyn_cast<ShardingRuleOpInterface>(event.op);
    if (!ruled || event.operands.size() < 2)
      continue;
    std::optional<unsigned> argument =
        step.getStorage(event.operands[0]).argument;
    if (argument && isMove(ruled))
      caches.insert(*argument);
  }
  return caches;
}

void Holdings::add() {
  llvm::DenseSet<unsigned> caches = findCaches();
  for (unsigned number = 0; number < step.getEntry().getNumArguments();
       ++number) {
    uint64_t bytes = step.values[number].bytes;
    if (step.isParameter(number))
      addParameter(number, bytes);
    else
      ::add(caches.contains(number) ? figures.cache : figures.inputs, bytes);
  }
}

//===- What a backward pass keeps -----------------------------------------===//

namespace {

/// By value that has memory of its own, whether it is kept; and the bytes of
/// the masks that each event leaves.
struct Kept {
  std::vector<bool> values;
  std::vector<uint64_t> masks;
};

class KeptFinder {
public:
  KeptFinder(const Step &step, bool recomputes)
      : step(step), recomputes(recomputes) {}

  Kept run();

private:
  void findActive();
  bool isNeeded(const StepEvent &event, const ShardingRule &rule,
                unsigned operand) const;
  void keep(unsigned value);
  void keepOf(unsigned number);

  const Step &step;
  bool recomputes;
  std::vector<bool> active;
  Kept kept;
};

} // namespace

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Constants are there again. A gathered value is kept as the piece that it is
/// gathered from, and gathered again (V. Korthikanti et al., "Reducing
/// Activation Recomputation in Large Transformer Models", MLSys 2023,
/// section 4.2.2).
void KeptFinder::keep(unsigned value) {
  const StepValue &storage = step.getStorage(value);
  if (storage.argument)
    return;
  const StepEvent &maker = step.events[*storage.event];
  if (maker.operands.empty())
    return;
  auto collective = dyn_cast<CollectiveOpInterface>(maker.op);
  bool gathers =
      collective && collective.getLayoutStep().kind == LayoutStep::AllGather;
  if (gathers)
    return keep(maker.operands[0]);
  kept.values[step.values[value].storage] = true;
}

/// Whether the value is a number that depends on a parameter: only then is
/// there a derivative.
void KeptFinder::findActive() {
  active.resize(step.values.size());
  for (unsigned number = 0; number < step.getEntry().getNumArguments();
       ++number)
    active[number] = step.isParameter(number) &&
                     isFloat(step.getEntry().getArgument(number));
  for (const StepEvent &event : step.events)
    for (auto [result, value] :
         llvm::zip_equal(event.op->getResults(), event.results))
      active[value] = isFloat(result) &&
                      llvm::any_of(event.operands, [&](unsigned operand) {
                        return active[operand];
                      });
}

/// Whether the derivative in one of the operands depends on this one. That in
/// an operand of a linear set does not depend on the others of the set.
bool KeptFinder::isNeeded(const StepEvent &event, const ShardingRule &rule,
                          unsigned operand) const {
  for (unsigned other = 0; other < rule.operands.size(); ++other) {
    if (!active[event.operands[other]])
      continue;
    bool together = llvm::any_of(rule.linear, [&](const auto &set) {
      return llvm::is_contained(set, other) && llvm::is_contained(set, operand);
    });
    if (!together)
      return true;
  }
  return false;
}

void KeptFinder::keepOf(unsigned number) {
  const StepEvent &event = step.events[number];
  auto ruled = dyn_cast<ShardingRuleOpInterface>(event.op);
  if (!ruled || llvm::none_of(event.results,
                              [&](unsigned value) { return active[value]; }))
    return;
  ShardingRule rule = ruled.getShardingRule();
  switch (cast<WorkOpInterface>(event.op).getWork().kept) {
  case KeptForBackward::Nothing:
    return;
  case KeptForBackward::Result:
    return keep(event.results[0]);
  case KeptForBackward::Mask: {
    Type element = getElementTypeOrSelf(event.op->getResult(0).getType());
    kept.masks[number] =
        step.values[event.results[0]].bytes / getElementBytes(element);
    return;
  }
  case KeptForBackward::Operands:
    for (auto [operand, value] : llvm::enumerate(event.operands))
      if (operand < rule.operands.size() && isNeeded(event, rule, operand))
        keep(value);
  }
}

Kept KeptFinder::run() {
  findActive();
  kept.values.resize(step.values.size());
  kept.masks.resize(step.events.size());
  for (unsigned number = 0; number < step.events.size(); ++number)
    if (!recomputes || !step.events[number].call)
      keepOf(number);
  if (recomputes)
    for (const StepCall &call : step.calls)
      for (unsigned operand : call.operands)
        keep(operand);
  return std::move(kept);
}

//===- What lives when ----------------------------------------------------===//

namespace {

struct MostLive {
  uint64_t bytes = 0;
  Operation *op = nullptr;
};

constexpr unsigned atEnd = ~0u;

} // namespace

/// By storage, the last event that reads it; its own if none does.
static std::vector<unsigned> findLastUses(const Step &step) {
  std::vector<unsigned> last(step.values.size(), 0);
  for (auto [number, event] : llvm::enumerate(step.events)) {
    for (unsigned value : event.operands)
      last[step.values[value].storage] = number;
    for (unsigned value : event.results)
      last[step.values[value].storage] = number;
  }
  for (unsigned value : step.results)
    last[step.values[value].storage] = atEnd;
  return last;
}

/// The most that values made during the step take at once, each from its
/// operation to the last that reads it, and the arguments that are gathered for
/// it. What is in `kept` stays.
static MostLive findPeak(const Step &step, const Kept *kept,
                         ArrayRef<uint64_t> gathered) {
  std::vector<unsigned> last = findLastUses(step);
  std::vector<std::vector<unsigned>> dying(step.events.size());
  for (auto [number, value] : llvm::enumerate(step.values)) {
    bool stays = last[number] == atEnd || (kept && kept->values[number]);
    if (value.event && value.storage == number && !stays)
      dying[last[number]].push_back(number);
  }
  MostLive peak;
  uint64_t live = 0;
  for (auto [number, event] : llvm::enumerate(step.events)) {
    for (unsigned value : event.results)
      add(live, step.values[value].bytes);
    if (kept)
      add(live, kept->masks[number]);
    uint64_t atWork = live;
    llvm::SmallDenseSet<unsigned> read;
    for (unsigned value : event.operands) {
      std::optional<unsigned> argument = step.getStorage(value).argument;
      if (argument && read.insert(*argument).second)
        add(atWork, gathered[*argument]);
    }
    if (atWork > peak.bytes || !peak.op)
      peak = {atWork, event.op};
    for (unsigned value : dying[number])
      live -= std::min(live, step.values[value].bytes);
  }
  return peak;
}

//===- All of it ----------------------------------------------------------===//

FailureOr<MemoryFigures> tp::collectMemory(const Step &step, MeshAttr mesh,
                                           const TrainingSettings &training) {
  MemoryFigures figures;
  Holdings holdings(step, mesh, training, figures);
  holdings.add();
  Kept kept = KeptFinder(step, training.recomputesLayers).run();
  for (auto [value, isKept] : llvm::zip_equal(step.values, kept.values))
    if (isKept)
      add(figures.saved, value.bytes);
  for (uint64_t bytes : kept.masks)
    add(figures.saved, bytes);
  MostLive peak =
      findPeak(step, training.isOn() ? &kept : nullptr, holdings.getGathered());
  figures.temporaries = peak.bytes;
  if (training.isOn())
    figures.temporaries -= std::min(peak.bytes, figures.saved);
  if (peak.op)
    figures.peakAt = getPlace(peak.op);
  figures.total = figures.temporaries;
  for (uint64_t bytes : {figures.parameters, figures.gradients,
                         figures.optimizer, figures.cache, figures.inputs})
    add(figures.total, bytes);
  if (training.isOn())
    add(figures.total, figures.saved);
  if (figures.total >> 63 || figures.saved >> 63)
    return step.getEntry().emitOpError()
           << "takes 2^63 bytes or more of a rank's memory";
  return figures;
}
