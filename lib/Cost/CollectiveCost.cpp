// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Cost/CollectiveCost.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <optional>

using namespace llvm;
using namespace tp;

static constexpr std::pair<CollectiveKind, StringRef> collectiveNames[] = {
    {CollectiveKind::AllReduce, "all_reduce"},
    {CollectiveKind::AllGather, "all_gather"},
    {CollectiveKind::ReduceScatter, "reduce_scatter"},
    {CollectiveKind::AllToAll, "all_to_all"},
    {CollectiveKind::Permute, "permute"}};

static constexpr std::pair<Algorithm, StringRef> algorithmNames[] = {
    {Algorithm::None, "none"},
    {Algorithm::Ring, "ring"},
    {Algorithm::Tree, "tree"},
    {Algorithm::Hierarchical, "hierarchical"},
    {Algorithm::InSwitch, "in_switch"},
    {Algorithm::Measured, "measured"},
    {Algorithm::TwoPhase, "reduce_scatter+all_gather"},
    {Algorithm::PointToPoint, "point_to_point"}};

StringRef tp::toString(CollectiveKind kind) {
  return collectiveNames[static_cast<size_t>(kind)].second;
}

StringRef tp::toString(Algorithm algorithm) {
  return algorithmNames[static_cast<size_t>(algorithm)].second;
}

namespace {

/// One collective on the level of its group.
class Pricing {
public:
  Pricing(const Machine &machine, CollectiveKind kind, double piece,
          const RankGroup &group)
      : machine(machine), link(machine.links[group.level]), kind(kind),
        piece(piece), group(group), ranks(static_cast<double>(group.size())),
        reduces(kind == CollectiveKind::AllReduce) {}

  CollectiveCost run();

private:
  CollectiveCost priceTable(ArrayRef<MeasuredPoint> points, double share) const;
  std::optional<CollectiveCost> readTable() const;
  void addCandidates(Algorithm algorithm);
  std::optional<CollectiveCost> price(const AlgorithmConstants &entry) const;
  CollectiveCost priceRing(const AlgorithmConstants &entry) const;
  CollectiveCost priceTree(const AlgorithmConstants &entry) const;
  CollectiveCost priceInSwitch(const AlgorithmConstants &entry) const;
  std::optional<CollectiveCost> priceHierarchical() const;
  CollectiveCost priceTwoPhase() const;
  CollectiveCost pricePermute() const;
  /// Ranks of the group in a block of the next smaller level.
  int64_t countInner() const {
    return group.level == 0 ? 1 : group.inBlock[group.level - 1];
  }
  /// What a rank of a ring sends.
  double getRingBytes() const {
    double bytes = piece * (ranks - 1);
    return reduces ? 2 * bytes : bytes;
  }
  void consider(const CollectiveCost &cost) {
    if (!best || cost.seconds < best->seconds)
      best = cost;
  }

  const Machine &machine;
  const Link &link;
  CollectiveKind kind;
  double piece;
  const RankGroup &group;
  double ranks;
  bool reduces;
  std::optional<CollectiveCost> best;
};

} // namespace

//===- Tables -------------------------------------------------------------===//

/// `share` of the time that the table has for S bytes.
CollectiveCost Pricing::priceTable(ArrayRef<MeasuredPoint> points,
                                   double share) const {
  double bytes = piece * ranks, seconds = points.front().seconds;
  const auto *next = llvm::find_if(points, [&](const MeasuredPoint &point) {
    return static_cast<double>(point.bytes) >= bytes;
  });
  if (next != points.begin()) {
    const auto *right = next == points.end() ? points.end() - 1 : next;
    const MeasuredPoint &left = right[-1];
    auto from = static_cast<double>(left.bytes);
    double slope = (right->seconds - left.seconds) /
                   (static_cast<double>(right->bytes) - from);
    seconds = left.seconds + (bytes - from) * slope;
  }
  double sent = getRingBytes();
  return {share * seconds, sent, sent, Algorithm::Measured};
}

std::optional<CollectiveCost> Pricing::readTable() const {
  const MeasuredCollective *sums = nullptr;
  for (const MeasuredCollective &table : link.measured) {
    if (table.groupRanks != group.size())
      continue;
    if (table.collective == kind)
      return priceTable(table.points, 1);
    if (table.collective == CollectiveKind::AllReduce)
      sums = &table;
  }
  if (!sums)
    return std::nullopt;
  return priceTable(sums->points, 0.5);
}

//===- Formulas -----------------------------------------------------------===//

CollectiveCost Pricing::priceRing(const AlgorithmConstants &entry) const {
  double steps = reduces ? 2 * (ranks - 1) : ranks - 1;
  double sent = getRingBytes(), bandwidth = entry.bandwidth;
  if (entry.multiRail && countInner() > 1)
    bandwidth = std::min(bandwidth * static_cast<double>(countInner()),
                         machine.links[group.level - 1].bandwidth);
  return {entry.base + (steps * entry.latency + sent / bandwidth), sent, sent,
          Algorithm::Ring};
}

CollectiveCost Pricing::priceTree(const AlgorithmConstants &entry) const {
  int64_t inner = countInner();
  double chain = inner == 1 ? 0
                            : static_cast<double>(inner - 1) *
                                  machine.links[group.level - 1].latency;
  double depth = Log2_64_Ceil(group.size() / inner);
  double sent = 2 * (piece * ranks);
  return {entry.base + 2 * (chain + depth * entry.latency) +
              sent / entry.bandwidth,
          sent, sent, Algorithm::Tree};
}

CollectiveCost Pricing::priceInSwitch(const AlgorithmConstants &entry) const {
  double sent = piece * ranks;
  return {entry.base + entry.latency + sent / entry.bandwidth, sent, sent,
          Algorithm::InSwitch};
}

std::optional<CollectiveCost> Pricing::priceHierarchical() const {
  int64_t inner = countInner(), blocks = group.size() / inner;
  if (inner == 1 || blocks == 1)
    return std::nullopt;
  RankGroup inside = group, between = group;
  inside.level = group.level - 1;
  std::fill_n(between.inBlock.begin(), group.level, 1);
  between.inBlock[group.level] = blocks;
  // The pieces inside a block are those of all blocks.
  double large = piece * static_cast<double>(blocks);
  CollectiveCost sum{0, 0, 0, Algorithm::Hierarchical};
  auto add = [&](CollectiveKind phase, double bytes, const RankGroup &ranks) {
    CollectiveCost cost = priceCollective(machine, phase, bytes, ranks);
    sum.seconds += cost.seconds;
    sum.sentBytes += cost.sentBytes;
    sum.receivedBytes += cost.receivedBytes;
  };
  if (!reduces)
    add(kind, large, inside);
  add(kind, piece, between);
  if (!reduces)
    return sum;
  add(CollectiveKind::ReduceScatter, large, inside);
  add(CollectiveKind::AllGather, large, inside);
  return sum;
}

CollectiveCost Pricing::priceTwoPhase() const {
  CollectiveCost scatter =
      priceCollective(machine, CollectiveKind::ReduceScatter, piece, group);
  CollectiveCost gather =
      priceCollective(machine, CollectiveKind::AllGather, piece, group);
  return {scatter.seconds + gather.seconds,
          scatter.sentBytes + gather.sentBytes,
          scatter.receivedBytes + gather.receivedBytes, Algorithm::TwoPhase};
}

CollectiveCost Pricing::pricePermute() const {
  return {link.latency + piece / link.bandwidth, piece, piece,
          Algorithm::PointToPoint};
}

std::optional<CollectiveCost>
Pricing::price(const AlgorithmConstants &entry) const {
  switch (entry.algorithm) {
  case Algorithm::Ring:
    return priceRing(entry);
  case Algorithm::Tree:
    return priceTree(entry);
  case Algorithm::InSwitch:
    return priceInSwitch(entry);
  case Algorithm::Hierarchical:
    return priceHierarchical();
  case Algorithm::None:
  case Algorithm::Measured:
  case Algorithm::TwoPhase:
  case Algorithm::PointToPoint:
    break;
  }
  return std::nullopt;
}

//===- Choice -------------------------------------------------------------===//

/// Whether an algorithm carries out a collective.
static bool fits(Algorithm algorithm, CollectiveKind kind) {
  if (algorithm == Algorithm::Hierarchical)
    return kind != CollectiveKind::AllToAll;
  return algorithm == Algorithm::Ring || kind == CollectiveKind::AllReduce;
}

/// Entries for groups of this size; where there are none, those for all.
void Pricing::addCandidates(Algorithm algorithm) {
  if (!fits(algorithm, kind))
    return;
  SmallVector<AlgorithmConstants> entries;
  for (int64_t wanted : {group.size(), int64_t(0)}) {
    llvm::copy_if(link.algorithms, std::back_inserter(entries),
                  [&](const AlgorithmConstants &entry) {
                    return entry.algorithm == algorithm &&
                           entry.groupRanks == wanted;
                  });
    if (!entries.empty())
      break;
  }
  if (entries.empty() && algorithm == Algorithm::Ring)
    entries.push_back({Algorithm::Ring, 0, link.bandwidth, link.latency, 0});
  for (const AlgorithmConstants &entry : entries)
    if (std::optional<CollectiveCost> cost = price(entry))
      consider(*cost);
}

CollectiveCost Pricing::run() {
  if (group.size() <= 1)
    return {};
  if (kind == CollectiveKind::Permute)
    return pricePermute();
  best = readTable();
  if (!best)
    for (Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree,
                                Algorithm::InSwitch, Algorithm::Hierarchical})
      addCandidates(algorithm);
  if (reduces)
    consider(priceTwoPhase());
  return *best;
}

CollectiveCost tp::priceCollective(const Machine &machine, CollectiveKind kind,
                                   double pieceBytes, const RankGroup &group) {
  CollectiveCost cost = Pricing(machine, kind, pieceBytes, group).run();
  if (cost.algorithm != Algorithm::None && machine.launch.on)
    cost.seconds = std::max(cost.seconds, machine.launch.seconds);
  return cost;
}
