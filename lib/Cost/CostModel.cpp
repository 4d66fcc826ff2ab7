// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Cost/CostModel.h"
#include "tp/IR/FactorSplits.h"
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

/// How many of a part's ranks share a block of `block` neighbouring ranks.
static int64_t countInBlock(AxisPart part, MeshAttr mesh, int64_t block) {
  int64_t axisSize = mesh.getAxes()[part.axis].getSize();
  // Ranks between one repetition of the part and the next.
  int64_t period = mesh.getStride(part.axis) * axisSize / part.pre;
  int64_t step = period / part.size;
  if (block == 0 || block % period == 0)
    return part.size;
  return block % step == 0 && period % block == 0 ? block / step : 1;
}

RankGroup CostModel::getGroup(ArrayRef<AxisPart> parts) const {
  RankGroup group;
  for (const Link &link : machine.links) {
    int64_t inBlock = 1;
    for (AxisPart part : parts)
      inBlock *= countInBlock(part, mesh, link.ranks);
    group.inBlock.push_back(inBlock);
    if (inBlock == numRanks(parts))
      break;
  }
  group.level = group.inBlock.size() - 1;
  return group;
}

const Link &CostModel::getLink(ArrayRef<AxisPart> parts) const {
  return machine.links[getGroup(parts).level];
}

/// Sizes of the factors on the rank with most: each is split as in any tensor
/// that has it.
static SmallVector<int64_t> getFactorSizes(const ShardingRule &rule,
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
  SmallVector<int64_t> sizes;
  for (auto [factor, split] : llvm::zip_equal(rule.factors, splits))
    sizes.push_back(getLargestShard(factor.size, split));
  return sizes;
}

static bool contains(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

namespace {

/// Sizes of the largest shard of a product: of the factors that are contracted
/// (in two operands and in no result) and of those of the result, by the
/// operands that have them.
struct ProductSizes {
  /// Nothing is contracted otherwise.
  bool isProduct = false;
  /// Contracted inside one operation, as attention does.
  bool isFused = false;
  double rows = 1, columns = 1, depth = 1, batch = 1;
  /// Of the result, what must not be split: the size of a head.
  double head = 1;

  ProductSizes(const ShardingRule &rule, ArrayRef<int64_t> sizes);
  double getPoints() const { return rows * columns * batch * depth; }
};

} // namespace

ProductSizes::ProductSizes(const ShardingRule &rule, ArrayRef<int64_t> sizes) {
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    auto has = [&, index = index](const TensorFactors &tensor) {
      return contains(tensor, index);
    };
    bool inResult = llvm::any_of(rule.results, has);
    auto uses = llvm::count_if(rule.operands, has);
    auto size = static_cast<double>(sizes[index]);
    if (inResult) {
      // A constant has no operands.
      bool inFirst = !rule.operands.empty() && has(rule.operands.front());
      (uses != 1 ? batch : inFirst ? rows : columns) *= size;
      if (factor.kind == FactorKind::Whole)
        head *= size;
      continue;
    }
    if (uses < 2)
      continue;
    isProduct = true;
    isFused |= factor.kind == FactorKind::Whole;
    depth *= size;
  }
}

double CostModel::countProductFlops(const ShardingRule &rule, const Work &work,
                                    ArrayRef<Layout> layouts,
                                    FlopConvention convention) {
  SmallVector<int64_t> factorSizes = getFactorSizes(rule, layouts);
  ProductSizes sizes(rule, factorSizes);
  if (!sizes.isProduct)
    return 0;
  // Each operand after the first is multiplied once; a multiply-add counts 2.
  if (convention == FlopConvention::Full)
    return 2 * static_cast<double>(rule.operands.size() - 1) *
           sizes.getPoints();
  return work.countFlops(factorSizes);
}

/// Seconds that the FLOPs alone take.
static double getComputeSeconds(const Machine &machine,
                                const ProductSizes &sizes, double flops,
                                double peak) {
  const ProductEfficiency &products = machine.products;
  if (!sizes.isProduct)
    return flops / (machine.vectorFlops > 0 ? machine.vectorFlops : peak);
  if (sizes.isFused)
    return flops / peak / products.attention *
           (1 + products.attentionHalfHead / sizes.head);
  if (flops == 0)
    return 0;
  double losses = 1 + products.halfRows / sizes.rows +
                  products.halfColumns / sizes.columns +
                  products.halfDepth / sizes.depth;
  return flops / peak / products.efficiency * losses;
}

Cost CostModel::priceOperation(const ShardingRule &rule, const Work &work,
                               TypeRange types,
                               ArrayRef<Layout> layouts) const {
  Cost cost;
  SmallVector<int64_t> sizes = getFactorSizes(rule, layouts);
  cost.flops = work.countFlops(sizes);
  auto resultType = cast<RankedTensorType>(types.back());
  for (auto [tensor, layout] : llvm::enumerate(layouts)) {
    bool lookedUp = work.lookedUp && *work.lookedUp == tensor;
    cost.memoryBytes +=
        lookedUp ? getShardBytes(resultType, layouts.back())
                 : getShardBytes(cast<RankedTensorType>(types[tensor]), layout);
  }
  std::string typeName;
  llvm::raw_string_ostream(typeName) << resultType.getElementType();
  // A reshape or a constant moves nothing.
  if (rule.movesData && work.flopsPerPoint == 0)
    cost.memoryBytes = 0;
  cost.seconds = std::max(getComputeSeconds(machine, {rule, sizes}, cost.flops,
                                            machine.getPeak(typeName)),
                          cost.memoryBytes / machine.memoryBandwidth);
  if (machine.launch.on && cost.seconds > 0)
    cost.seconds = std::max(cost.seconds, machine.launch.seconds);
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

/// What a step is; nothing if no rank talks to another.
static std::optional<CollectiveKind> getCollective(LayoutStep::Kind kind) {
  switch (kind) {
  case LayoutStep::AllSlice:
  case LayoutStep::ToUnreduced:
    return std::nullopt;
  case LayoutStep::AllGather:
    return CollectiveKind::AllGather;
  case LayoutStep::ReduceScatter:
    return CollectiveKind::ReduceScatter;
  case LayoutStep::AllToAll:
    return CollectiveKind::AllToAll;
  case LayoutStep::AllReduce:
    return CollectiveKind::AllReduce;
  case LayoutStep::Permute:
    return CollectiveKind::Permute;
  }
  llvm_unreachable("every kind is listed");
}

Cost CostModel::priceStep(const LayoutStep &step, RankedTensorType type,
                          const Layout &before) const {
  std::optional<CollectiveKind> kind = getCollective(step.kind);
  if (!kind)
    return {};
  double piece = getPieceBytes(step, type, before);
  if (*kind == CollectiveKind::AllReduce)
    piece /= static_cast<double>(numRanks(step.parts));
  CollectiveCost call =
      priceCollective(machine, *kind, piece, getGroup(step.parts));
  Cost cost;
  cost.seconds = call.seconds;
  cost.sentBytes = call.sentBytes;
  cost.receivedBytes = call.receivedBytes;
  cost.communicates = call.algorithm != Algorithm::None;
  cost.algorithm = call.algorithm;
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
