// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_COMMUNICATOR_H
#define TP_RUNTIME_COMMUNICATOR_H

#include "tp/Runtime/Abi.h"

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tp::runtime {

/// A failure of a run-time function.
class RuntimeError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A collective that failed together with other ranks: the text is the same on
/// each of them.
class CollectiveError : public RuntimeError {
  using RuntimeError::RuntimeError;
};

enum class CollectiveOp {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Permute
};

/// What a rank asks for: the identity of a collective, without its buffers. Two
/// calls meet if `sameCall` holds; the members of a group must issue the same
/// ones in the same order.
struct Call {
  CollectiveOp op = CollectiveOp::AllReduce;
  TPDataType dtype = TP_F32;
  /// Meaningful for AllReduce and ReduceScatter.
  TPReduction kind = TP_SUM;
  /// AllToAll: the first of the two dimensions is the one that is gathered.
  bool sourceFirst = false;
  /// As in Abi.h, in elements: AllReduce and Permute {count}; AllGather and
  /// ReduceScatter {outer, inner}; AllToAll {outer, dim0, middle, dim1, inner},
  /// with pieces the whole dim0 and dim1.
  std::array<int64_t, 5> sizes{};
  /// Which call of the program this is.
  int64_t site = 0;
  /// The members, in the order of the pieces. Valid during the call only.
  std::span<const int64_t> group;
  /// Permute: source and target of each block, one pair after the other.
  std::span<const int64_t> pairs;
  /// Sizes of the members' pieces where they differ, else empty: AllGather and
  /// ReduceScatter along the dimension, AllToAll along the one that is gathered
  /// and, in `targetPieces`, along the one that is split; Permute: elements of
  /// each pair's block.
  std::span<const int64_t> pieces, targetPieces;

  bool hasPieces() const { return !pieces.empty(); }
};

/// True if every field agrees, the members and pairs included.
bool sameCall(const Call &lhs, const Call &rhs);

/// As users read it, for example
/// `all_reduce(sum, 12 x f32) at site 3 over ranks {0, 2}`.
std::string describe(const Call &call);

/// `{0, 2, 5}`; the middle of a list of more than 16 is left out.
std::string describeRanks(std::span<const int64_t> ranks);

/// Sum of the sizes of pieces. Throws RuntimeError if one is negative or the
/// sum does not fit.
int64_t totalOf(std::span<const int64_t> pieces);

/// Size in bytes of one element.
int64_t elementSize(TPDataType dtype);

/// One rank's end of the connection between the ranks: what a transport must
/// provide. An object belongs to one rank and is used by the thread of that
/// rank only, except for `fail`.
///
/// A transport keeps three promises. Members of a group that issue different
/// calls all get an error that names two ranks that disagree, with both calls.
/// A rank that ends its run, fails or hangs makes an error, within a bounded
/// time, of every call that waits for it. A reduction is taken in the order of
/// the group, so that all members get the same bits.
class Communicator {
public:
  Communicator(int64_t rank, int64_t size);
  virtual ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// This rank, in [0, size()).
  int64_t rank() const { return ownRank; }
  /// Number of ranks.
  int64_t size() const { return static_cast<int64_t>(everyone.size()); }

  /// Carries out a collective and returns when `out` holds this rank's result
  /// and `in` may be overwritten. `call.group` (or `call.pairs`) has been made
  /// by `findGroup` (or `findPairs`). Throws RuntimeError if the call is
  /// malformed, CollectiveError if it has failed on any member.
  void run(const Call &call, void *out, const void *in);

  /// The row of `groups` that holds this rank. Throws RuntimeError unless the
  /// table, numGroups rows of groupSize ranks, holds each rank exactly once.
  std::span<const int64_t> findGroup(const int64_t *groups, int64_t numGroups,
                                     int64_t groupSize);
  /// `pairs` as a span. Throws RuntimeError unless each rank is exactly once a
  /// source and once a target.
  std::span<const int64_t> findPairs(const int64_t *pairs, int64_t numPairs);
  /// All ranks in order: the group of a Permute.
  std::span<const int64_t> allRanks() const { return everyone; }

  /// This rank starts a program. Runs are counted: the n-th run of one rank is
  /// part of the n-th run of the others.
  virtual void beginRun() = 0;
  /// This rank has come to the end of its program. A rank that waits for it in
  /// a collective of the same run fails with an error that names it.
  virtual void endRun() = 0;
  /// This rank takes part in nothing from now on: the same for all later runs.
  virtual void leave() = 0;
  /// This rank has failed for the given reason. Every collective of every rank
  /// fails from now on with an error that contains it. The first reason stays.
  /// May be called from any thread.
  virtual void fail(const std::string &reason) noexcept = 0;

protected:
  /// `run` for a call whose sizes are known to be sound.
  virtual void exchange(const Call &call, void *out, const void *in) = 0;

private:
  int64_t ownRank;
  std::vector<int64_t> everyone;
  /// Scratch of findGroup and findPairs: one mark for each rank.
  std::vector<uint8_t> marks;
};

} // namespace tp::runtime

#endif // TP_RUNTIME_COMMUNICATOR_H
