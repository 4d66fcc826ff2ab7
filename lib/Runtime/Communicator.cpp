// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Runtime/Communicator.h"
#include "Runtime/Sizes.h"

#include <algorithm>
#include <numeric>

using namespace tp::runtime;

//===-- Text -------------------------------------------------------------===//

static const char *name(CollectiveOp op) {
  switch (op) {
  case CollectiveOp::AllReduce:
    return "all_reduce";
  case CollectiveOp::AllGather:
    return "all_gather";
  case CollectiveOp::ReduceScatter:
    return "reduce_scatter";
  case CollectiveOp::AllToAll:
    return "all_to_all";
  case CollectiveOp::Permute:
    return "collective_permute";
  }
  return "unknown collective";
}

static const char *name(TPDataType dtype) {
  switch (dtype) {
  case TP_F32:
    return "f32";
  case TP_F64:
    return "f64";
  case TP_I32:
    return "i32";
  case TP_I64:
    return "i64";
  case TP_I8:
    return "i8";
  case TP_I1:
    return "i1";
  }
  return "unknown type";
}

static const char *name(TPReduction kind) {
  return kind == TP_SUM ? "sum" : "max";
}

static bool reduces(CollectiveOp op) {
  return op == CollectiveOp::AllReduce || op == CollectiveOp::ReduceScatter;
}

static size_t numSizes(CollectiveOp op) {
  switch (op) {
  case CollectiveOp::AllReduce:
  case CollectiveOp::Permute:
    return 1;
  case CollectiveOp::AllGather:
  case CollectiveOp::ReduceScatter:
    return 2;
  case CollectiveOp::AllToAll:
    return 5;
  }
  return 0;
}

std::string tp::runtime::describeRanks(std::span<const int64_t> ranks) {
  constexpr size_t most = 16;
  std::string text = "{";
  for (size_t i = 0; i < ranks.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(ranks[i]);
    if (ranks.size() > most && i == most - 2) {
      text += ", ...";
      i = ranks.size() - 2;
    }
  }
  return text + "}";
}

static std::string describePairs(std::span<const int64_t> pairs) {
  constexpr size_t most = 16;
  std::string text;
  size_t numPairs = pairs.size() / 2;
  for (size_t i = 0; i < std::min(numPairs, most); ++i)
    text += (i ? ", " : "") + std::to_string(pairs[2 * i]) + "->" +
            std::to_string(pairs[2 * i + 1]);
  return numPairs > most ? text + ", ..." : text;
}

std::string tp::runtime::describe(const Call &call) {
  std::string text = name(call.op);
  text += "(";
  if (reduces(call.op))
    text += std::string(name(call.kind)) + ", ";
  for (size_t i = 0; i < numSizes(call.op); ++i)
    text += std::to_string(call.sizes[i]) + " x ";
  text += name(call.dtype);
  if (call.hasPieces())
    text += ", pieces " + describeRanks(call.pieces);
  if (!call.targetPieces.empty())
    text += " and " + describeRanks(call.targetPieces);
  if (call.op == CollectiveOp::AllToAll)
    text += call.sourceFirst ? ", gathers the first dimension"
                             : ", gathers the second dimension";
  text += ") at site " + std::to_string(call.site);
  if (call.op == CollectiveOp::Permute)
    return text + " along " + describePairs(call.pairs);
  return text + " over ranks " + describeRanks(call.group);
}

//===-- Calls ------------------------------------------------------------===//

bool tp::runtime::sameCall(const Call &lhs, const Call &rhs) {
  return lhs.op == rhs.op && lhs.dtype == rhs.dtype && lhs.kind == rhs.kind &&
         lhs.sourceFirst == rhs.sourceFirst && lhs.sizes == rhs.sizes &&
         lhs.site == rhs.site && std::ranges::equal(lhs.group, rhs.group) &&
         std::ranges::equal(lhs.pairs, rhs.pairs) &&
         std::ranges::equal(lhs.pieces, rhs.pieces) &&
         std::ranges::equal(lhs.targetPieces, rhs.targetPieces);
}

int64_t tp::runtime::elementSize(TPDataType dtype) {
  switch (dtype) {
  case TP_F32:
  case TP_I32:
    return 4;
  case TP_F64:
  case TP_I64:
    return 8;
  case TP_I8:
  case TP_I1:
    return 1;
  }
  return 0;
}

/// Bytes that a call reads and writes on one rank.
struct Extent {
  int64_t in, out;
};

int64_t tp::runtime::totalOf(std::span<const int64_t> pieces) {
  int64_t total = 0;
  for (int64_t piece : pieces)
    if (piece < 0 || __builtin_add_overflow(total, piece, &total))
      throw RuntimeError("a piece of " + std::to_string(piece) +
                         " elements among " + describeRanks(pieces));
  return total;
}

/// Sizes of the blocks that `rank` sends and gets.
static Extent checkBlocks(const Call &call, int64_t rank) {
  Extent extent{};
  int64_t bytes = elementSize(call.dtype);
  for (size_t i = 0; i < call.pieces.size(); ++i) {
    int64_t size = bytes * checkedCount({{"count", call.pieces[i]}}, bytes);
    if (call.pairs[2 * i] == rank)
      extent.in = size;
    if (call.pairs[2 * i + 1] == rank)
      extent.out = size;
  }
  return extent;
}

/// `checkSizes` where the members' pieces differ.
static Extent checkPieces(const Call &call, int64_t rank) {
  if (call.op == CollectiveOp::Permute)
    return checkBlocks(call, rank);
  auto [outer, dim0, middle, dim1, inner] = call.sizes;
  auto self = static_cast<size_t>(std::ranges::find(call.group, rank) -
                                  call.group.begin());
  int64_t bytes = elementSize(call.dtype);
  auto size = [&](int64_t gathered, int64_t split) {
    return bytes * checkedCount({{"outer", outer},
                                 {"pieces", gathered},
                                 {"middle", middle},
                                 {"target pieces", split},
                                 {"inner", inner}},
                                bytes);
  };
  int64_t own = call.pieces[self], whole = totalOf(call.pieces);
  if (call.op == CollectiveOp::AllToAll)
    return {size(own, totalOf(call.targetPieces)),
            size(whole, call.targetPieces[self])};
  // {outer, inner}
  inner = dim0;
  middle = 1;
  Extent gather{size(own, 1), size(whole, 1)};
  return call.op == CollectiveOp::AllGather ? gather
                                            : Extent{gather.out, gather.in};
}

static Extent checkSizes(const Call &call, int64_t rank) {
  if (call.hasPieces())
    return checkPieces(call, rank);
  auto [first, second, third, fourth, fifth] = call.sizes;
  int64_t bytes = elementSize(call.dtype);
  auto members = static_cast<int64_t>(call.group.size());
  if (call.op == CollectiveOp::AllReduce || call.op == CollectiveOp::Permute) {
    int64_t size = bytes * checkedCount({{"count", first}}, bytes);
    return {size, size};
  }
  if (call.op != CollectiveOp::AllToAll) {
    NamedSize outer = {"outer", first}, inner = {"inner", second};
    int64_t piece = bytes * checkedCount({outer, inner}, bytes);
    int64_t whole =
        bytes * checkedCount({outer, {"members", members}, inner}, bytes);
    return call.op == CollectiveOp::AllGather ? Extent{piece, whole}
                                              : Extent{whole, piece};
  }
  int64_t size = bytes * checkedCount({{"outer", first},
                                       {"dim0", second},
                                       {"middle", third},
                                       {"dim1", fourth},
                                       {"inner", fifth}},
                                      bytes);
  int64_t target = call.sourceFirst ? fourth : second;
  if (target % members != 0)
    throw RuntimeError("a dimension of " + std::to_string(target) +
                       " cannot be split among the " + std::to_string(members) +
                       " members of " + describe(call));
  return {size, size};
}

static void checkOverlap(const Call &call, const Extent &extent,
                         const void *out, const void *in) {
  if (call.op == CollectiveOp::AllReduce && out == in)
    return;
  auto outBegin = reinterpret_cast<uintptr_t>(out);
  auto inBegin = reinterpret_cast<uintptr_t>(in);
  if (outBegin < inBegin + static_cast<uintptr_t>(extent.in) &&
      inBegin < outBegin + static_cast<uintptr_t>(extent.out))
    throw RuntimeError("the result of " + describe(call) +
                       " overlaps its operand");
}

//===-- Communicator -----------------------------------------------------===//

Communicator::Communicator(int64_t rank, int64_t size)
    : ownRank(rank), everyone(static_cast<size_t>(size)),
      marks(everyone.size()) {
  std::iota(everyone.begin(), everyone.end(), int64_t(0));
}

Communicator::~Communicator() = default;

void Communicator::run(const Call &call, void *out, const void *in) {
  if (reduces(call.op) && call.kind == TP_SUM && call.dtype == TP_I1)
    throw RuntimeError("a sum of i1 is not defined: " + describe(call));
  checkOverlap(call, checkSizes(call, rank()), out, in);
  exchange(call, out, in);
}

std::span<const int64_t> Communicator::findGroup(const int64_t *groups,
                                                 int64_t numGroups,
                                                 int64_t groupSize) {
  if (numGroups <= 0 || groupSize <= 0 || numGroups > size() ||
      groupSize > size() || numGroups * groupSize != size())
    throw RuntimeError(std::to_string(numGroups) + " groups of " +
                       std::to_string(groupSize) + " do not hold each of " +
                       std::to_string(size()) + " ranks once");
  std::span<const int64_t> table(groups, static_cast<size_t>(size()));
  std::ranges::fill(marks, 0);
  size_t own = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    int64_t member = table[i];
    if (member < 0 || member >= size())
      throw RuntimeError("rank " + std::to_string(member) +
                         " in a table of groups is none of " +
                         std::to_string(size()));
    if (marks[static_cast<size_t>(member)]++)
      throw RuntimeError("rank " + std::to_string(member) +
                         " is twice in a table of groups");
    if (member == rank())
      own = i / static_cast<size_t>(groupSize);
  }
  return table.subspan(own * static_cast<size_t>(groupSize),
                       static_cast<size_t>(groupSize));
}

std::span<const int64_t> Communicator::findPairs(const int64_t *pairs,
                                                 int64_t numPairs) {
  if (numPairs != size())
    throw RuntimeError(std::to_string(numPairs) +
                       " pairs do not move the "
                       "blocks of " +
                       std::to_string(size()) + " ranks");
  std::span<const int64_t> table(pairs, 2 * everyone.size());
  for (size_t side : {size_t(0), size_t(1)}) {
    std::ranges::fill(marks, 0);
    for (size_t i = side; i < table.size(); i += 2) {
      const char *role = side == 0 ? "source" : "target";
      if (table[i] < 0 || table[i] >= size())
        throw RuntimeError(std::string(role) + " " + std::to_string(table[i]) +
                           " of a permutation is none of " +
                           std::to_string(size()) + " ranks");
      if (marks[static_cast<size_t>(table[i])]++)
        throw RuntimeError("rank " + std::to_string(table[i]) + " is twice a " +
                           role + " of a permutation");
    }
  }
  return table;
}
