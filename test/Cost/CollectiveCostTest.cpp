// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Times and bytes of collectives against closed forms. An identity that has a
// number in the literature's list of them (research notes on cost models)
// carries it: ID-10 is "a reduce-scatter and an all-gather make an all-reduce".

#include "tp/Cost/CollectiveCost.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tp;

namespace {

using Kind = CollectiveKind;

/// One level for all ranks.
Machine flat(double bandwidth, double latency) {
  Machine machine;
  machine.links.push_back({"all", 0, bandwidth, latency});
  return machine;
}

/// Blocks of 8 with faster links inside.
Machine nodes() {
  Machine machine;
  machine.links.push_back({"inside", 8, 300e9, 2e-6});
  machine.links.push_back({"between", 0, 50e9, 5e-6});
  return machine;
}

RankGroup flatGroup(int64_t ranks) { return {{ranks}, 0}; }

/// `blocks` blocks with `inner` ranks each.
RankGroup group(int64_t inner, int64_t blocks) {
  return {{inner, inner * blocks}, 1};
}

AlgorithmConstants entry(Algorithm algorithm, double bandwidth, double latency,
                         double base = 0, int64_t groupRanks = 0) {
  return {algorithm, groupRanks, bandwidth, latency, base};
}

Machine with(std::vector<AlgorithmConstants> algorithms) {
  Machine machine = flat(1e9, 1e-6);
  machine.links.back().algorithms = std::move(algorithms);
  return machine;
}

/// Only the algorithms of a node of NCCL: three protocols of a ring.
Machine ncclRings(double bandwidth) {
  return with({entry(Algorithm::Ring, bandwidth * 0.5, 0.6e-6, 6.6e-6),
               entry(Algorithm::Ring, bandwidth * 0.92, 1.9e-6, 14e-6),
               entry(Algorithm::Ring, bandwidth, 3.4e-6, 8.4e-6)});
}

double time(const Machine &machine, Kind kind, double piece,
            const RankGroup &group) {
  return priceCollective(machine, kind, piece, group).seconds;
}

} // namespace

// Bytes of a layer of a GPT of width h, b sequences of s tokens in 16 bits: an
// all-reduce after each of two blocks, forward and backward.
TEST(CollectiveCost, ID07_BytesOfALayerWithTensorParallelism) {
  const double message = 2.0 * 4 * 2048 * 6144;
  EXPECT_EQ(message, 100663296);
  CollectiveCost sum =
      priceCollective(flat(1e9, 0), Kind::AllReduce, message / 8, flatGroup(8));
  EXPECT_EQ(4 * sum.sentBytes, 704643072);
  EXPECT_EQ(4 * sum.receivedBytes, 704643072);
  EXPECT_EQ(sum.algorithm, Algorithm::Ring);
  // Recomputing the forward adds its two (ID-08).
  EXPECT_EQ(6 * sum.sentBytes, 1056964608);
}

TEST(CollectiveCost, ID09_SequenceParallelismSendsTheSame) {
  const double piece = 2.0 * 4 * 2048 * 6144 / 8;
  Machine machine = flat(1e9, 0);
  double gather =
      priceCollective(machine, Kind::AllGather, piece, flatGroup(8)).sentBytes;
  double scatter =
      priceCollective(machine, Kind::ReduceScatter, piece, flatGroup(8))
          .sentBytes;
  EXPECT_EQ(4 * gather + 4 * scatter, 704643072);
  // Inputs that are gathered again in the backward: two more.
  EXPECT_EQ(6 * gather + 4 * scatter, 880803840);
}

TEST(CollectiveCost, ID10_ReduceScatterAndAllGatherMakeAnAllReduce) {
  Machine machine = flat(3e9, 7e-6);
  for (int64_t ranks : {2, 3, 4, 7, 8, 14, 72}) {
    const double piece = 12345;
    RankGroup group = flatGroup(ranks);
    CollectiveCost sum =
        priceCollective(machine, Kind::AllReduce, piece, group);
    CollectiveCost scatter =
        priceCollective(machine, Kind::ReduceScatter, piece, group);
    CollectiveCost gather =
        priceCollective(machine, Kind::AllGather, piece, group);
    EXPECT_EQ(scatter.seconds + gather.seconds, sum.seconds) << ranks;
    EXPECT_EQ(scatter.sentBytes + gather.sentBytes, sum.sentBytes);
    // All ranks send 2 (n - 1) S.
    auto n = static_cast<double>(ranks);
    EXPECT_EQ(n * sum.sentBytes, 2 * (n - 1) * (n * piece));
  }
}

TEST(CollectiveCost, ID11_BusBandwidth) {
  // Without latency, S / t is the algorithm's bandwidth and W the bus's.
  const double piece = 1 << 20;
  for (auto [ranks, factor] : {std::pair(2, 1.0), std::pair(4, 1.5),
                               std::pair(8, 1.75), std::pair(72, 142.0 / 72)}) {
    double seconds =
        time(flat(4e9, 0), Kind::AllReduce, piece, flatGroup(ranks));
    EXPECT_DOUBLE_EQ(4e9 / (piece * ranks / seconds), factor);
    for (Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll}) {
      seconds = time(flat(4e9, 0), kind, piece, flatGroup(ranks));
      EXPECT_DOUBLE_EQ(4e9 / (piece * ranks / seconds), (ranks - 1.0) / ranks);
    }
  }
}

TEST(CollectiveCost, ID12_OneRankCostsNothing) {
  for (Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter,
                    Kind::AllToAll, Kind::Permute}) {
    CollectiveCost cost =
        priceCollective(flat(1e9, 1e-3), kind, 1e9, flatGroup(1));
    EXPECT_EQ(cost.seconds, 0);
    EXPECT_EQ(cost.sentBytes, 0);
    EXPECT_EQ(cost.receivedBytes, 0);
    EXPECT_EQ(cost.algorithm, Algorithm::None);
  }
}

TEST(CollectiveCost, ID25_LatencyOfTheProtocolsOfNCCL) {
  const double microseconds[] = {15.0, 40.6, 56.0};
  Machine machine = ncclRings(240e9);
  for (int protocol = 0; protocol < 3; ++protocol) {
    Machine one = with({machine.links.back().algorithms[protocol]});
    EXPECT_NEAR(time(one, Kind::AllReduce, 0, flatGroup(8)) * 1e6,
                microseconds[protocol], 1e-9);
  }
  // Small messages take the first, large ones the last.
  EXPECT_NEAR(time(machine, Kind::AllReduce, 1, flatGroup(8)) * 1e6, 15, 1e-3);
  double large = time(machine, Kind::AllReduce, 1e9, flatGroup(8));
  EXPECT_DOUBLE_EQ(large, 8.4e-6 + (14 * 3.4e-6 + 14e9 / 240e9));
}

TEST(CollectiveCost, ID27_LowerBounds) {
  const double w = 2e9, a = 3e-6;
  std::vector<AlgorithmConstants> all = {entry(Algorithm::Ring, w, a),
                                         entry(Algorithm::Tree, w, a)};
  for (int64_t ranks : {2, 3, 5, 8, 13, 64})
    for (double piece : {1.0, 4096.0, 1e6, 1e9}) {
      auto n = static_cast<double>(ranks);
      RankGroup group = flatGroup(ranks);
      double s = n * piece;
      EXPECT_GE(time(with(all), Kind::AllReduce, piece, group) * (1 + 1e-12),
                2 * (n - 1) / n * s / w);
      for (Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll})
        EXPECT_GE(time(with(all), kind, piece, group) * (1 + 1e-12),
                  (n - 1) / n * s / w);
      // A tree alone, its ring made slow.
      Machine tree = with({entry(Algorithm::Ring, 1, 1), all[1]});
      EXPECT_LE(time(tree, Kind::AllReduce, piece, group),
                2 * s / w + 2 * std::ceil(std::log2(n)) * a + 1e-15);
    }
}

TEST(CollectiveCost, ID28_Monotonicity) {
  Machine machine = nodes();
  machine.links[1].algorithms = {entry(Algorithm::Hierarchical, 0, 0),
                                 entry(Algorithm::Tree, 50e9, 5e-6)};
  machine.links[0].algorithms = {
      entry(Algorithm::InSwitch, 260e9, 1e-6, 20e-6)};
  Machine slower = machine, later = machine;
  for (Link &link : slower.links) {
    link.bandwidth /= 2;
    for (AlgorithmConstants &entry : link.algorithms)
      entry.bandwidth /= 2;
  }
  for (Link &link : later.links) {
    link.latency *= 3;
    for (AlgorithmConstants &entry : link.algorithms)
      entry.latency *= 3;
  }
  for (Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter,
                    Kind::AllToAll, Kind::Permute})
    for (const RankGroup &ranks : {group(8, 3), group(1, 4), group(4, 2),
                                   RankGroup{{8}, 0}, RankGroup{{2}, 0}}) {
      double before = 0;
      for (double piece = 1; piece < 1e10; piece *= 1.7) {
        double seconds = time(machine, kind, piece, ranks);
        EXPECT_GE(seconds, before);
        EXPECT_GE(time(slower, kind, piece, ranks), seconds);
        EXPECT_GE(time(later, kind, piece, ranks), seconds);
        before = seconds;
      }
    }
}

// With all ranks in one block there is nothing between blocks, and with one
// rank a block nothing inside.
TEST(CollectiveCost, ID28_HierarchicalInOneBlockIsFlat) {
  Machine machine = nodes();
  double inside = time(machine, Kind::AllReduce, 1e6, RankGroup{{8}, 0});
  double between = time(machine, Kind::AllReduce, 1e6, group(1, 4));
  machine.links[1].algorithms = {entry(Algorithm::Hierarchical, 0, 0)};
  EXPECT_EQ(time(machine, Kind::AllReduce, 1e6, RankGroup{{8}, 0}), inside);
  EXPECT_EQ(time(machine, Kind::AllReduce, 1e6, group(1, 4)), between);
  EXPECT_EQ(time(machine, Kind::AllReduce, 1e6, group(8, 1)),
            time(nodes(), Kind::AllReduce, 1e6, group(8, 1)));
}

TEST(CollectiveCost, HierarchicalIsThreePhases) {
  Machine machine = nodes();
  machine.links[1].algorithms = {entry(Algorithm::Hierarchical, 0, 0)};
  // 24 ranks in 3 blocks; S = 24 p.
  const double piece = 1e6, s = 24e6;
  CollectiveCost cost =
      priceCollective(machine, Kind::AllReduce, piece, group(8, 3));
  EXPECT_EQ(cost.algorithm, Algorithm::Hierarchical);
  double inside = 7 * 2e-6 + 7.0 / 8 * s / 300e9;
  double between = 4 * 5e-6 + 2.0 * 2 / 3 * (s / 8) / 50e9;
  EXPECT_DOUBLE_EQ(cost.seconds, 2 * inside + between);
  EXPECT_DOUBLE_EQ(cost.sentBytes, 2 * 7.0 / 8 * s + 2.0 * 2 / 3 * s / 8);
  // A gather sends what a ring sends, 23 pieces.
  CollectiveCost gather =
      priceCollective(machine, Kind::AllGather, piece, group(8, 3));
  EXPECT_EQ(gather.algorithm, Algorithm::Hierarchical);
  EXPECT_DOUBLE_EQ(gather.sentBytes, 23 * piece);
  // An all-to-all has no such form.
  EXPECT_EQ(
      priceCollective(machine, Kind::AllToAll, piece, group(8, 3)).algorithm,
      Algorithm::Ring);
}

TEST(CollectiveCost, TreeChainsInsideBlocks) {
  Machine machine = nodes();
  machine.links[1].algorithms = {entry(Algorithm::Tree, 50e9, 5e-6, 7e-6)};
  CollectiveCost cost =
      priceCollective(machine, Kind::AllReduce, 1, group(8, 5));
  EXPECT_EQ(cost.algorithm, Algorithm::Tree);
  // ceil(log2(5)) = 3.
  EXPECT_DOUBLE_EQ(cost.seconds,
                   7e-6 + 2 * (7 * 2e-6 + 3 * 5e-6) + 2 * 40 / 50e9);
  EXPECT_EQ(cost.sentBytes, 80);
}

TEST(CollectiveCost, TheSwitchAddsOnce) {
  Machine machine = with({entry(Algorithm::InSwitch, 275e9, 0, 25e-6)});
  machine.links[0].bandwidth = 370.8e9;
  CollectiveCost large =
      priceCollective(machine, Kind::AllReduce, 1e9, flatGroup(8));
  EXPECT_EQ(large.algorithm, Algorithm::InSwitch);
  EXPECT_DOUBLE_EQ(large.seconds, 25e-6 + 8e9 / 275e9);
  EXPECT_EQ(large.sentBytes, 8e9);
  EXPECT_EQ(
      priceCollective(machine, Kind::AllReduce, 1, flatGroup(8)).algorithm,
      Algorithm::Ring);
  EXPECT_EQ(
      priceCollective(machine, Kind::AllGather, 1e9, flatGroup(8)).algorithm,
      Algorithm::Ring);
}

TEST(CollectiveCost, RingsThroughEveryCardOfANode) {
  Machine machine = nodes();
  AlgorithmConstants ring = entry(Algorithm::Ring, 50e9, 0);
  ring.multiRail = true;
  machine.links[1].algorithms = {ring};
  // Three cards a node are 150 GB/s, eight no more than the links inside.
  EXPECT_DOUBLE_EQ(time(machine, Kind::AllGather, 1e6, group(3, 2)),
                   5e6 / 150e9);
  EXPECT_DOUBLE_EQ(time(machine, Kind::AllGather, 1e6, group(8, 2)),
                   15e6 / 300e9);
  EXPECT_DOUBLE_EQ(time(machine, Kind::AllGather, 1e6, group(1, 4)),
                   3e6 / 50e9);
}

TEST(CollectiveCost, AnEntryForTheSizeOfTheGroupComesFirst) {
  Machine machine = with({entry(Algorithm::Ring, 9e9, 0),
                          entry(Algorithm::Ring, 2e9, 0, 4e-6, 3)});
  EXPECT_DOUBLE_EQ(time(machine, Kind::AllGather, 1e6, flatGroup(2)),
                   1e6 / 9e9);
  EXPECT_DOUBLE_EQ(time(machine, Kind::AllGather, 1e6, flatGroup(3)),
                   4e-6 + 2e6 / 2e9);
}

TEST(CollectiveCost, ATableCountsInPlaceOfFormulas) {
  Machine machine = flat(1e12, 0);
  machine.links[0].measured = {
      {Kind::AllReduce, 4, {{1000, 1e-6}, {3000, 2e-6}, {5000, 6e-6}}}};
  auto at = [&](double bytes) {
    return priceCollective(machine, Kind::AllReduce, bytes / 4, flatGroup(4));
  };
  EXPECT_EQ(at(1000).algorithm, Algorithm::Measured);
  EXPECT_DOUBLE_EQ(at(8).seconds, 1e-6);
  EXPECT_DOUBLE_EQ(at(1000).seconds, 1e-6);
  EXPECT_DOUBLE_EQ(at(1500).seconds, 1.25e-6);
  EXPECT_DOUBLE_EQ(at(3000).seconds, 2e-6);
  EXPECT_DOUBLE_EQ(at(4500).seconds, 5e-6);
  EXPECT_DOUBLE_EQ(at(6000).seconds, 8e-6);
  EXPECT_EQ(at(4000).sentBytes, 6000);
  EXPECT_DOUBLE_EQ(time(machine, Kind::AllGather, 1000, flatGroup(4)), 2e-6);
  EXPECT_EQ(
      priceCollective(machine, Kind::AllReduce, 1000, flatGroup(3)).algorithm,
      Algorithm::Ring);
}

// Whatever tables say.
TEST(CollectiveCost, AnAllReduceIsNeverDearerThanItsPhases) {
  Machine machine = flat(1e12, 0);
  machine.links[0].measured = {
      {Kind::AllReduce, 4, {{1000, 9e-6}, {2000, 9e-6}}},
      {Kind::ReduceScatter, 4, {{1000, 1e-6}, {2000, 1e-6}}},
      {Kind::AllGather, 4, {{1000, 2e-6}, {2000, 2e-6}}}};
  CollectiveCost cost =
      priceCollective(machine, Kind::AllReduce, 300, flatGroup(4));
  EXPECT_EQ(cost.algorithm, Algorithm::TwoPhase);
  EXPECT_DOUBLE_EQ(cost.seconds, 3e-6);
  EXPECT_EQ(cost.sentBytes, 1800);
}

TEST(CollectiveCost, TheLaunchFloorHoldsWhenItIsOn) {
  Machine machine = flat(1e12, 1e-9);
  machine.launch = {5e-6, false};
  double seconds = time(machine, Kind::AllGather, 1, flatGroup(2));
  EXPECT_LT(seconds, 1e-8);
  machine.launch.on = true;
  EXPECT_EQ(time(machine, Kind::AllGather, 1, flatGroup(2)), 5e-6);
  EXPECT_EQ(time(machine, Kind::AllGather, 1, flatGroup(1)), 0);
}
