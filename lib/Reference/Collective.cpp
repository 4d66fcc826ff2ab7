// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Collectives and what else belongs to the local phase.

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"

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

/// Part `number` of `numParts` equal parts of a dimension.
template <class S>
TensorOf<S> equalPart(const TensorOf<S> &tensor, unsigned dim, int64_t number,
                      int64_t numParts) {
  int64_t size = tensor.shape[dim] / numParts;
  return slice(tensor, dim, {number * size, size});
}

} // namespace

//===- Reductions ---------------------------------------------------------===//

template <class S>
static llvm::Error addIntegers(Operation *op, TensorOf<S> &total,
                               const TensorOf<S> &term) {
  unsigned width =
      getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth();
  for (auto [sum, value] : llvm::zip_equal(total.integers, term.integers)) {
    int64_t before = sum;
    bool fits = !__builtin_add_overflow(before, value, &sum) &&
                (width == 1 ? sum == 0 || sum == 1 : llvm::isIntN(width, sum));
    if (!fits)
      return makeError(op, "the sum of " + Twine(before) + " and " +
                               Twine(value) + " does not fit i" + Twine(width));
  }
  return llvm::Error::success();
}

/// Sum or maximum of a group.
template <class S>
static llvm::Expected<TensorOf<S>>
reduceGroup(GroupCall<S> &call, ReductionKind kind, ArrayRef<int64_t> group) {
  uint64_t key = getOrderKey(call.session.key);
  TensorOf<S> total = *call.operands[group.front()];
  bool isMax = kind == ReductionKind::Max;
  if (isMax)
    call.session.noteHashes(total.size() * group.size(), total.degree);
  for (const TensorOf<S> *term : collect(call, group.drop_front())) {
    total.degree = degreeOfSum(total.degree, term->degree);
    for (auto [sum, value] : llvm::zip_equal(total.values, term->values))
      sum = isMax ? takeLarger(key, sum, value) : sum + value;
    if (isMax)
      for (auto [sum, value] : llvm::zip_equal(total.integers, term->integers))
        sum = std::max(sum, value);
    else if (llvm::Error error = addIntegers(call.op, total, *term))
      return error;
  }
  return total;
}

template <class S> static llvm::Error evaluateAllReduce(GroupCall<S> &call) {
  auto op = cast<LocalAllReduceOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (ArrayRef<int64_t> group : *groups) {
    llvm::Expected<TensorOf<S>> total = reduceGroup(call, op.getKind(), group);
    if (!total)
      return total.takeError();
    for (int64_t rank : group)
      call.results[rank] = *total;
  }
  return llvm::Error::success();
}

template <class S>
static llvm::Error evaluateReduceScatter(GroupCall<S> &call) {
  auto op = cast<LocalReduceScatterOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (ArrayRef<int64_t> group : *groups) {
    llvm::Expected<TensorOf<S>> total = reduceGroup(call, op.getKind(), group);
    if (!total)
      return total.takeError();
    for (auto [place, rank] : llvm::enumerate(group))
      call.results[rank] = equalPart(*total, op.getDim(), place, group.size());
  }
  return llvm::Error::success();
}

//===- Data movement ------------------------------------------------------===//

template <class S> static llvm::Error evaluateAllGather(GroupCall<S> &call) {
  auto op = cast<LocalAllGatherOp>(call.op);
  auto groups = readGroups(call, op.getGroups());
  if (!groups)
    return groups.takeError();
  for (ArrayRef<int64_t> group : *groups) {
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
  for (ArrayRef<int64_t> group : *groups)
    for (auto [place, rank] : llvm::enumerate(group)) {
      std::vector<TensorOf<S>> pieces;
      for (const TensorOf<S> *member : collect(call, group))
        pieces.push_back(
            equalPart(*member, op.getTarget(), place, group.size()));
      call.results[rank] = concatenate<S>(pieces, op.getSource());
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
  if (mesh.getNumRanks() != call.session.numRanks)
    return makeError(
        op, "mesh @" + op.getMesh() + " has " + Twine(mesh.getNumRanks()) +
                " ranks; the program runs on " + Twine(call.session.numRanks));
  SmallVector<Attribute> axes(op.getSplit().getAxes());
  FailureOr<AxisParts> parts =
      resolveAxes(ArrayAttr::get(op.getContext(), axes), mesh);
  if (failed(parts))
    return makeError(op, "the mesh has no such axes");
  DimLayout dim{*parts, op.getSplit().getUnit()};
  call.result().integers = {
      getRange(op.getSize(), dim, mesh, call.rank).offset};
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
template void tp::addCollectiveKernels(KernelTable<Field> &);
