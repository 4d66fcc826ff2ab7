// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A machine as the cost model sees it, read from YAML.

#ifndef TP_COST_MACHINE_H
#define TP_COST_MACHINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tp {

/// What ranks do together.
enum class CollectiveKind {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  /// Every rank sends one block to one other.
  Permute
};

/// How they do it. CollectiveCost.h has the formulas.
enum class Algorithm {
  /// Talks to nobody.
  None,
  Ring,
  /// Double binary tree, for all-reduce.
  Tree,
  /// Inside each block of the smaller level, then between the blocks.
  Hierarchical,
  /// The switch adds (NVLS, SHARP), for all-reduce.
  InSwitch,
  /// Read off a table.
  Measured,
  /// An all-reduce as a reduce-scatter and an all-gather.
  TwoPhase,
  /// Each pair directly.
  PointToPoint
};

/// As machine files and reports write them: "all_reduce", "in_switch".
llvm::StringRef toString(CollectiveKind kind);
llvm::StringRef toString(Algorithm algorithm);

/// Constants of one algorithm on one level of links. Where several entries fit,
/// the cheapest counts, as with the protocols of NCCL.
struct AlgorithmConstants {
  /// Ring, Tree, Hierarchical or InSwitch.
  Algorithm algorithm = Algorithm::Ring;
  /// Ranks of the groups that the entry is for; 0: all that have no entry of
  /// this algorithm for their own number.
  int64_t groupRanks = 0;
  /// Bytes a second that one rank sends, one direction. Not for Hierarchical.
  double bandwidth = 0;
  /// Seconds a step.
  double latency = 0;
  /// Seconds a call.
  double base = 0;
  /// Ring: as many rings as ranks of the group share a block of the smaller
  /// level, each through a link of its own, as NCCL uses all network cards of a
  /// node; no faster than the links of the smaller level.
  bool multiRail = false;
};

/// One measurement.
struct MeasuredPoint {
  /// Of the whole tensor, as nccl-tests count: what an all-gather gives, what a
  /// reduce-scatter or an all-reduce starts from.
  int64_t bytes = 0;
  double seconds = 0;
};

/// Measured times of one collective in groups of one size.
struct MeasuredCollective {
  CollectiveKind collective = CollectiveKind::AllReduce;
  int64_t groupRanks = 0;
  /// By size. No time is smaller than the one before: reading a file raises
  /// what noise has made smaller.
  std::vector<MeasuredPoint> points;
};

/// Links that join a block of neighbouring ranks.
struct Link {
  std::string name;
  /// Ranks in a block, as 8 in a node; 0: all there are.
  int64_t ranks = 0;
  /// Bytes a second that one rank sends, one direction.
  double bandwidth = 0;
  /// Seconds a step of a ring.
  double latency = 0;
  /// Further algorithms. `bandwidth` and `latency` describe the ring unless
  /// there is one among these for all groups.
  std::vector<AlgorithmConstants> algorithms = {};
  /// Tables; where there is one it counts in place of the formulas.
  std::vector<MeasuredCollective> measured = {};
};

/// Dense peak of one element type.
struct Peak {
  /// As bf16.
  std::string type;
  /// Floating-point operations a second.
  double flops = 0;
};

/// What share of the peak a matrix product [m, k] x [k, n] reaches:
///   efficiency / (1 + half_m / m + half_n / n + half_k / k),
/// the half-performance lengths of R. Hockney and C. Jesshope, "Parallel
/// Computers 2" (1988), one for each size: a product in which one size is its
/// half-length and the others are large runs at half speed. In other words the
/// time is linear in m n k and in the sizes of the three matrices.
struct ProductEfficiency {
  double efficiency = 1;
  double halfRows = 0, halfColumns = 0, halfDepth = 0;
  /// Share of the peak that attention reaches with heads of any size d:
  ///   attention / (1 + attentionHalfHead / d),
  /// since a pair of a query and a key takes an exponential, too, whatever d is
  /// (J. Shah et al., "FlashAttention-3", 2024, section 3.1).
  double attention = 1;
  double attentionHalfHead = 0;
};

/// The least that an operation takes, because the host has to start it.
struct LaunchFloor {
  double seconds = 0;
  /// Off where the host runs ahead (graphs, compiled steps).
  bool on = false;
};

/// One kind of device and how its ranks are joined.
struct Machine {
  std::string name;
  std::vector<Peak> peaks;
  /// FLOP/s of operations that are no products; 0: as the peaks.
  double vectorFlops = 0;
  /// Bytes a second.
  double memoryBandwidth = 0;
  /// Bytes of a device.
  int64_t memoryBytes = 0;
  ProductEfficiency products;
  LaunchFloor launch;
  /// From the smallest block to the largest.
  std::vector<Link> links;

  /// Peak for element type `type`; for a type without one, the lowest.
  double getPeak(llvm::StringRef type) const;

  /// Reads `nameOrFile`: a file, or the name of one in share/machines beside
  /// the build or the installation. Every field is checked.
  static llvm::Expected<Machine> load(llvm::StringRef nameOrFile);
  /// The error names file, line and column.
  static llvm::Expected<Machine> parse(llvm::StringRef text,
                                       llvm::StringRef fileName);
};

} // namespace tp

#endif // TP_COST_MACHINE_H
