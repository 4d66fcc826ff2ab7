// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Cost/CostModel.h"
#include "tp/IR/Legality.h"
#include "tp/IR/LocalShape.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tp;

int64_t tp::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

double CostModel::getShardBytes(RankedTensorType type, const Layout &layout) {
  double bytes = static_cast<double>(getElementBytes(type.getElementType()));
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), layout.dims))
    bytes *= static_cast<double>(getLargestShard(size, dim));
  return bytes;
}

const Link &CostModel::getLink(ArrayRef<AxisPart> parts) const {
  for (const Link &link : machine.links) {
    bool joins = link.ranks == 0 || llvm::all_of(parts, [&](AxisPart part) {
                   int64_t axisSize = mesh.getAxes()[part.axis].getSize();
                   // Ranks between one repetition of the part and the next.
                   int64_t period =
                       mesh.getStride(part.axis) * axisSize / part.pre;
                   return link.ranks % period == 0;
                 });
    if (joins)
      return link;
  }
  return machine.links.back();
}

/// How each factor is split: as in any tensor that has it.
static SmallVector<DimLayout> getFactorSplits(const ShardingRule &rule,
                                              ArrayRef<Layout> layouts) {
  SmallVector<DimLayout> splits(rule.factors.size());
  for (auto [tensor, layout] : llvm::enumerate(layouts)) {
    UndividedFactor undivided;
    FailureOr<FactorSplits> dealt = dealParts(rule, tensor, layout, undivided);
    if (failed(dealt))
      continue;
    for (auto [into, from] : llvm::zip_equal(splits, dealt->splits))
      if (into.parts.empty())
        into = from;
  }
  return splits;
}

Cost CostModel::priceOperation(const ShardingRule &rule, TypeRange types,
                               ArrayRef<Layout> layouts) const {
  Cost cost;
  SmallVector<DimLayout> splits = getFactorSplits(rule, layouts);
  cost.flops = rule.flopsPerPoint;
  for (unsigned factor : rule.workFactors)
    cost.flops *= static_cast<double>(
        getLargestShard(rule.factors[factor].size, splits[factor]));
  auto resultType = cast<RankedTensorType>(types.back());
  for (auto [tensor, layout] : llvm::enumerate(layouts)) {
    bool lookedUp = rule.lookedUp && *rule.lookedUp == tensor;
    cost.memoryBytes +=
        lookedUp ? getShardBytes(resultType, layouts.back())
                 : getShardBytes(cast<RankedTensorType>(types[tensor]), layout);
  }
  std::string typeName;
  llvm::raw_string_ostream(typeName) << resultType.getElementType();
  // A reshape or a constant moves nothing.
  if (rule.movesData && rule.flopsPerPoint == 0)
    cost.memoryBytes = 0;
  cost.seconds = std::max(cost.flops / machine.getPeak(typeName),
                          cost.memoryBytes / machine.memoryBandwidth);
  return cost;
}

/// Bytes of the largest piece that a rank sends at a time: its shard, or what
/// of it another rank gets.
static double getPieceBytes(const LayoutStep &step, RankedTensorType type,
                            const Layout &before) {
  Layout pieces = before;
  if (std::optional<unsigned> dim = step.getSplitDim()) {
    llvm::append_range(pieces.dims[*dim].parts, step.parts);
    if (step.unit != 0)
      pieces.dims[*dim].unit = step.unit;
  }
  return CostModel::getShardBytes(type, pieces);
}

Cost CostModel::priceStep(const LayoutStep &step, RankedTensorType type,
                          const Layout &before) const {
  Cost cost;
  double ranks = static_cast<double>(numRanks(step.parts));
  double held = getShardBytes(type, before);
  double piece = getPieceBytes(step, type, before);
  double ringSteps = ranks - 1;
  switch (step.kind) {
  case LayoutStep::AllSlice:
  case LayoutStep::ToUnreduced:
    return cost;
  case LayoutStep::AllGather:
  case LayoutStep::ReduceScatter:
  case LayoutStep::AllToAll:
    cost.sentBytes = piece * (ranks - 1);
    break;
  case LayoutStep::AllReduce:
    cost.sentBytes = 2 * (held / ranks * (ranks - 1));
    ringSteps *= 2;
    break;
  case LayoutStep::Permute:
    cost.sentBytes = held;
    ringSteps = 1;
    break;
  }
  const Link &link = getLink(step.parts);
  cost.communicates = ranks > 1;
  cost.seconds = ringSteps * link.latency + cost.sentBytes / link.bandwidth;
  return cost;
}

Price tp::toPrice(const Cost &cost, bool isReshardStep) {
  // Rounded up, so that one all-reduce never costs more than the reduce-scatter
  // and all-gather that it is made of.
  double ticks = std::ceil(cost.seconds * Price::ticksPerSecond);
  if (!(ticks < std::ldexp(1.0, Price::timeBits)))
    return Price::infinite();
  PriceFields fields;
  fields.time = static_cast<uint64_t>(ticks);
  fields.collectives = cost.communicates;
  fields.steps = isReshardStep;
  return *Price::get(fields);
}

FailureOr<Machine> tp::loadMachine(ModuleOp module, StringRef name) {
  auto recorded = module->getAttrOfType<StringAttr>(machineAttrName);
  if (name.empty())
    name = recorded ? recorded.getValue() : "h100";
  llvm::Expected<Machine> machine = Machine::load(name);
  if (!machine)
    return module.emitError() << llvm::toString(machine.takeError());
  return std::move(*machine);
}
