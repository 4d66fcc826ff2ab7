// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Collectives and what else belongs to the local phase.

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"
#include "tp/Reference/Shards.h"
#include <numeric>

using namespace mlir;
using namespace tp;

//===- Global phase -------------------------------------------------------===//

/// Only the layout changes, which the unsharded value does not have.
template <class S> static llvm::Error evaluateIdentity(RankCall<S> &call) {
  TensorOf<S> &result = call.result();
  result.values = call.operand(0).values;
  result.integers = call.operand(0).integers;
  result.degree = call.operand(0).degree;
  return llvm::Error::success();
}

//===- Groups -------------------------------------------------------------===//

/// The rows of a table of ranks. Each of the evaluation's ranks must be in it
/// once a column group: the verifier has checked this for the table's own
/// number of ranks, which `numRanks` must equal.
static llvm::Expected<SmallVector<SmallVector<int64_t>>>
readTable(Operation *op, DenseIntElementsAttr table, int64_t tableRanks,
          int64_t numRanks) {
  if (tableRanks != numRanks)
    return makeError(op, "is written for " + Twine(tableRanks) +
                             " ranks and runs on " + Twine(numRanks));
  int64_t columns = table.getType().getDimSize(1);
  SmallVector<SmallVector<int64_t>> rows;
  for (auto [index, rank] : llvm::enumerate(table.getValues<int64_t>())) {
    if (static_cast<int64_t>(index) % columns == 0)
      rows.emplace_back();
    rows.back().push_back(rank);
  }
  return rows;
}

template <class S>
static llvm::Expected<SmallVector<SmallVector<int64_t>>>
readGroups(GroupCall<S> &call, DenseIntElementsAttr table) {
  return readTable(call.op, table, table.getNumElements(),
                   call.session.numRanks);
}

namespace {

/// The operands of one group, in the group's order.
template <class S>
SmallVector<const TensorOf<S> *> collect(GroupCall<S> &call,
                                         ArrayRef<int64_t> group) {
  SmallVector<const TensorOf<S> *> members;
  for (int64_t rank : group)
    members.push_back(call.operands[rank]);
  return members;
}

/// The piece of the member at `place` of a group, of a dimension of `size`
/// elements: a row of `pieces`, or equal pieces.
struct GroupPieces {
  SmallVector<int64_t> sizes;

  Span operator[](size_t place) const {
    ArrayRef<int64_t> before = ArrayRef(sizes).take_front(place);
    return {std::accumulate(before.begin(), before.end(), int64_t(0)),
            sizes[place]};
  }
  int64_t whole() const {
    return (*this)[sizes.size() - 1].offset + sizes.back();
  }
};

/// The pieces of group number `row`; `equal` is a piece's size if they are not
/// listed.
GroupPieces readPieces(DenseIntElementsAttr pieces, size_t row,
                       size_t groupSize, int64_t equal) {
  if (!pieces)
    return {SmallVector<int64_t>(groupSize, equal)};
  GroupPieces result;
  auto values = pieces.getValues<int64_t>();
  for (size_t place = 0; place < groupSize; ++place)
    result.sizes.push_back(values[row * groupSize + place]);
  return result;
}

/// Refuses a tensor of a rank whose size along `dim` is not `wanted`.
template <class S>
llvm::Error checkSize(GroupCall<S> &call, int64_t rank,
                      const TensorOf<S> &tensor, unsigned dim, int64_t wanted) {
  if (tensor.shape[dim] == wanted)
    return llvm::Error::success();
  return makeError(call.op, "rank " + Twine(rank) + " holds " +
                                Twine(tensor.shape[dim]) +
                                " elements of dimension " + Twine(dim) +
                                ", the pieces give it " + Twine(wanted));
}

} // namespace

//===- Reductions ---------------------------------------------------------===//

/// Sum or maximum of a group.
template <class S>
static TensorOf<S> reduceGroup(GroupCall<S> &call, ReductionKind kind,
                               ArrayRef<int64_t> group) {
  uint64_t key = getOrderKey(call.session.key);
  Type type = getElementTypeOrSelf(call.op->getResult(0));
  TensorOf<S> total = *call.operands[group.front()];
  bool isMax = kind == ReductionKind::Max;
  if (isMax)
    call.session.noteHashes(total.size() * group.size(), total.degree);
  for (const TensorOf<S> *term : collect(call, group.drop_front())) {
    total.degree = degreeOfSum(total.degree, term->degree);
    for (auto [sum, value] : llvm::zip_equal(total.values, term->values))
      sum = isMax ? takeLarger(key, sum, value) : sum + value;
    for (auto [sum, value] : llvm::zip_equal(total.integers, term->integers))
      sum = isMax ? std::max(sum, value)
                  : wrapAround(type, static_cast<uint64_t>(sum) + value);
  }
  return total;
}

template <class S> static llvm::Error evaluateAllReduce(GroupCall<S> &call) {
  auto op = cast<LocalAllReduceOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (ArrayRef<int64_t> group : *groups) {
    TensorOf<S> total = reduceGroup(call, op.getKind(), group);
    for (int64_t rank : group)
      call.results[rank] = total;
  }
  return llvm::Error::success();
}

template <class S>
static llvm::Error evaluateReduceScatter(GroupCall<S> &call) {
  auto op = cast<LocalReduceScatterOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (auto [row, group] : llvm::enumerate(*groups)) {
    TensorOf<S> total = reduceGroup(call, op.getKind(), group);
    int64_t size = total.shape[op.getDim()];
    GroupPieces pieces = readPieces(op.getPiecesAttr(), row, group.size(),
                                    size / static_cast<int64_t>(group.size()));
    if (llvm::Error error =
            checkSize(call, group.front(), total, op.getDim(), pieces.whole()))
      return error;
    for (auto [place, rank] : llvm::enumerate(group))
      call.results[rank] = slice(total, op.getDim(), pieces[place]);
  }
  return llvm::Error::success();
}

//===- Data movement ------------------------------------------------------===//

/// The operands along a dimension, as long as `pieces` say.
template <class S>
static llvm::Error checkSizes(GroupCall<S> &call, ArrayRef<int64_t> group,
                              unsigned dim, const GroupPieces &pieces) {
  for (auto [place, rank] : llvm::enumerate(group))
    if (llvm::Error error = checkSize(call, rank, *call.operands[rank], dim,
                                      pieces[place].size))
      return error;
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateAllGather(GroupCall<S> &call) {
  auto op = cast<LocalAllGatherOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (auto [row, group] : llvm::enumerate(*groups)) {
    int64_t equal = call.operands[group.front()]->shape[op.getDim()];
    if (llvm::Error error = checkSizes(
            call, group, op.getDim(),
            readPieces(op.getPiecesAttr(), row, group.size(), equal)))
      return error;
    std::vector<TensorOf<S>> pieces;
    for (const TensorOf<S> *piece : collect(call, group))
      pieces.push_back(*piece);
    TensorOf<S> whole = concatenate<S>(pieces, op.getDim());
    for (int64_t rank : group)
      call.results[rank] = whole;
  }
  return llvm::Error::success();
}

/// The rank at place p of a group gets part p of `target` from each member, one
/// after the other along `source`.
template <class S> static llvm::Error evaluateAllToAll(GroupCall<S> &call) {
  auto op = cast<LocalAllToAllOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (auto [row, group] : llvm::enumerate(*groups)) {
    const TensorOf<S> &first = *call.operands[group.front()];
    GroupPieces sources = readPieces(op.getSourcePiecesAttr(), row,
                                     group.size(), first.shape[op.getSource()]);
    GroupPieces targets = readPieces(
        op.getTargetPiecesAttr(), row, group.size(),
        first.shape[op.getTarget()] / static_cast<int64_t>(group.size()));
    if (llvm::Error error = checkSizes(call, group, op.getSource(), sources))
      return error;
    for (int64_t rank : group)
      if (llvm::Error error = checkSize(call, rank, *call.operands[rank],
                                        op.getTarget(), targets.whole()))
        return error;
    for (auto [place, rank] : llvm::enumerate(group)) {
      std::vector<TensorOf<S>> pieces;
      for (const TensorOf<S> *member : collect(call, group))
        pieces.push_back(slice(*member, op.getTarget(), targets[place]));
      call.results[rank] = concatenate<S>(pieces, op.getSource());
    }
  }
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluatePermute(GroupCall<S> &call) {
  DenseIntElementsAttr pairs = cast<LocalPermuteOp>(call.op).getPairs();
  auto rows = readTable(call.op, pairs, pairs.getType().getDimSize(0),
                        call.session.numRanks);
  if (!rows)
    return rows.takeError();
  for (ArrayRef<int64_t> pair : *rows)
    call.results[pair[1]] = *call.operands[pair[0]];
  return llvm::Error::success();
}

//===- Where a rank's part lies -------------------------------------------===//

template <class S> static llvm::Error evaluateSlice(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0);
  unsigned dim = cast<LocalSliceOp>(call.op).getDim();
  int64_t origin = call.indexOr(1, 0), size = call.result().shape[dim];
  if (origin < 0 || origin > input.shape[dim] - size)
    return makeError(call.op, "rank " + Twine(call.rank) + " takes " +
                                  Twine(size) + " elements from " +
                                  Twine(origin) + " of " +
                                  Twine(input.shape[dim]));
  call.result() = slice(input, dim, {origin, size});
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateMask(RankCall<S> &call) {
  if (call.indexOr(1, 0) != 0)
    return llvm::Error::success();
  return evaluateIdentity(call);
}

template <class S> static llvm::Error evaluateOrigin(RankCall<S> &call) {
  auto op = cast<ShardOriginOp>(call.op);
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  if (!mesh)
    return makeError(op, "there is no mesh @" + op.getMesh());
  int64_t numRanks = 1;
  for (MeshAxisAttr axis : mesh.getAxes())
    numRanks *= axis.getSize();
  if (numRanks != call.session.numRanks)
    return makeError(op, "mesh @" + op.getMesh() + " has " + Twine(numRanks) +
                             " ranks; the program runs on " +
                             Twine(call.session.numRanks));
  std::optional<Span> part = findSpan(static_cast<int64_t>(op.getSize()),
                                      op.getSplit(), mesh, call.rank);
  if (!part)
    return makeError(op, "the mesh has no such axes, or the unit does not "
                         "divide the size");
  call.result().integers = {part->offset};
  return llvm::Error::success();
}

template <class S> void tp::addCollectiveKernels(KernelTable<S> &table) {
  for (StringRef name : {"tp.all_reduce", "tp.all_gather", "tp.reduce_scatter",
                         "tp.all_to_all", "tp.all_slice", "tp.to_unreduced",
                         "tp.collective_permute", "tp.reshard"})
    table[name] = {Phase::Global, evaluateIdentity<S>, nullptr};
  auto addLocal = [&](StringRef name, auto kernel) {
    table[name] = {Phase::Local, nullptr, kernel};
  };
  addLocal("tp.local_all_reduce", evaluateAllReduce<S>);
  addLocal("tp.local_all_gather", evaluateAllGather<S>);
  addLocal("tp.local_reduce_scatter", evaluateReduceScatter<S>);
  addLocal("tp.local_all_to_all", evaluateAllToAll<S>);
  addLocal("tp.local_permute", evaluatePermute<S>);
  table["tp.local_slice"] = {Phase::Local, evaluateSlice<S>, nullptr};
  table["tp.local_mask"] = {Phase::Local, evaluateMask<S>, nullptr};
  table["tp.shard_origin"] = {Phase::Local, evaluateOrigin<S>, nullptr};
}

template void tp::addCollectiveKernels(KernelTable<double> &);
template void tp::addCollectiveKernels(KernelTable<Rounded> &);
template void tp::addCollectiveKernels(KernelTable<Field> &);
