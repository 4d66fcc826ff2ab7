// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Context.h"
#include "tp/Runtime/Abi.h"

#include <string>

using namespace tp::runtime;

namespace {

/// A table of groups as compiled code passes it.
struct Groups {
  const int64_t *ranks;
  int64_t numGroups, groupSize;
};

/// Tables of the same shape with the members' pieces; null where they are
/// equal.
struct Pieces {
  const int64_t *sizes = nullptr, *targets = nullptr;
};

} // namespace

static TPDataType toDataType(int64_t dtype) {
  if (dtype < TP_F32 || dtype > TP_I1)
    throw RuntimeError("element type " + std::to_string(dtype) +
                       " is none of TPDataType");
  return static_cast<TPDataType>(dtype);
}

static TPReduction toReduction(int64_t kind) {
  if (kind != TP_SUM && kind != TP_MAX)
    throw RuntimeError("reduction " + std::to_string(kind) +
                       " is none of TPReduction");
  return static_cast<TPReduction>(kind);
}

static Call makeCall(CollectiveOp op, int64_t dtype, int64_t site) {
  Call call;
  call.op = op;
  call.dtype = toDataType(dtype);
  call.site = site;
  return call;
}

static void runGrouped(Call &call, const Groups &groups, void *out,
                       const void *in, const Pieces &pieces = {}) {
  Communicator &communicator = requireContext().communicator;
  call.group =
      communicator.findGroup(groups.ranks, groups.numGroups, groups.groupSize);
  auto row = call.group.data() - groups.ranks;
  if (pieces.sizes)
    call.pieces = {pieces.sizes + row, call.group.size()};
  if (pieces.targets) {
    call.targetPieces = {pieces.targets + row, call.group.size()};
    int64_t source = totalOf(call.pieces), target = totalOf(call.targetPieces);
    call.sizes[1] = call.sourceFirst ? source : target;
    call.sizes[3] = call.sourceFirst ? target : source;
  }
  communicator.run(call, out, in);
}

// Compiled code passes every size and table as an argument of its own.
// NOLINTBEGIN(readability-function-size)
extern "C" {

void tp_all_reduce(void *out, const void *in, int64_t count, int64_t dtype,
                   int64_t kind, const int64_t *groups, int64_t numGroups,
                   int64_t groupSize, int64_t site) {
  guarded("tp_all_reduce", [&] {
    Call call = makeCall(CollectiveOp::AllReduce, dtype, site);
    call.kind = toReduction(kind);
    call.sizes[0] = count;
    runGrouped(call, {groups, numGroups, groupSize}, out, in);
  });
}

void tp_all_gather(void *out, const void *in, int64_t outer, int64_t inner,
                   int64_t dtype, const int64_t *groups, int64_t numGroups,
                   int64_t groupSize, int64_t site) {
  guarded("tp_all_gather", [&] {
    Call call = makeCall(CollectiveOp::AllGather, dtype, site);
    call.sizes = {outer, inner};
    runGrouped(call, {groups, numGroups, groupSize}, out, in);
  });
}

void tp_all_gather_v(void *out, const void *in, int64_t outer, int64_t inner,
                     int64_t dtype, const int64_t *pieces,
                     const int64_t *groups, int64_t numGroups,
                     int64_t groupSize, int64_t site) {
  guarded("tp_all_gather_v", [&] {
    Call call = makeCall(CollectiveOp::AllGather, dtype, site);
    call.sizes = {outer, inner};
    runGrouped(call, {groups, numGroups, groupSize}, out, in, {pieces});
  });
}

void tp_reduce_scatter(void *out, const void *in, int64_t outer, int64_t inner,
                       int64_t dtype, int64_t kind, const int64_t *groups,
                       int64_t numGroups, int64_t groupSize, int64_t site) {
  guarded("tp_reduce_scatter", [&] {
    Call call = makeCall(CollectiveOp::ReduceScatter, dtype, site);
    call.kind = toReduction(kind);
    call.sizes = {outer, inner};
    runGrouped(call, {groups, numGroups, groupSize}, out, in);
  });
}

void tp_reduce_scatter_v(void *out, const void *in, int64_t outer,
                         int64_t inner, int64_t dtype, int64_t kind,
                         const int64_t *pieces, const int64_t *groups,
                         int64_t numGroups, int64_t groupSize, int64_t site) {
  guarded("tp_reduce_scatter_v", [&] {
    Call call = makeCall(CollectiveOp::ReduceScatter, dtype, site);
    call.kind = toReduction(kind);
    call.sizes = {outer, inner};
    runGrouped(call, {groups, numGroups, groupSize}, out, in, {pieces});
  });
}

void tp_all_to_all(void *out, const void *in, int64_t outer, int64_t dim0,
                   int64_t middle, int64_t dim1, int64_t inner,
                   int64_t sourceFirst, int64_t dtype, const int64_t *groups,
                   int64_t numGroups, int64_t groupSize, int64_t site) {
  guarded("tp_all_to_all", [&] {
    Call call = makeCall(CollectiveOp::AllToAll, dtype, site);
    call.sourceFirst = sourceFirst != 0;
    call.sizes = {outer, dim0, middle, dim1, inner};
    runGrouped(call, {groups, numGroups, groupSize}, out, in);
  });
}

void tp_all_to_all_v(void *out, const void *in, int64_t outer, int64_t middle,
                     int64_t inner, int64_t sourceFirst, int64_t dtype,
                     const int64_t *sourcePieces, const int64_t *targetPieces,
                     const int64_t *groups, int64_t numGroups,
                     int64_t groupSize, int64_t site) {
  guarded("tp_all_to_all_v", [&] {
    Call call = makeCall(CollectiveOp::AllToAll, dtype, site);
    call.sourceFirst = sourceFirst != 0;
    call.sizes = {outer, 0, middle, 0, inner};
    runGrouped(call, {groups, numGroups, groupSize}, out, in,
               {sourcePieces, targetPieces});
  });
}

void tp_collective_permute(void *out, const void *in, int64_t count,
                           int64_t dtype, const int64_t *pairs,
                           int64_t numPairs, int64_t site) {
  guarded("tp_collective_permute", [&] {
    Communicator &communicator = requireContext().communicator;
    Call call = makeCall(CollectiveOp::Permute, dtype, site);
    call.sizes[0] = count;
    call.group = communicator.allRanks();
    call.pairs = communicator.findPairs(pairs, numPairs);
    communicator.run(call, out, in);
  });
}

void tp_collective_permute_v(void *out, const void *in, int64_t dtype,
                             const int64_t *counts, const int64_t *pairs,
                             int64_t numPairs, int64_t site) {
  guarded("tp_collective_permute_v", [&] {
    Communicator &communicator = requireContext().communicator;
    Call call = makeCall(CollectiveOp::Permute, dtype, site);
    call.group = communicator.allRanks();
    call.pairs = communicator.findPairs(pairs, numPairs);
    call.pieces = {counts, call.group.size()};
    communicator.run(call, out, in);
  });
}

int64_t tp_rank(void) {
  int64_t rank = 0;
  guarded("tp_rank", [&] { rank = requireContext().communicator.rank(); });
  return rank;
}
}
// NOLINTEND(readability-function-size)
