// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"
#include "tp/Runtime/Abi.h"

using namespace mlir;
using namespace tp;

/// Of a type that programs have after widenFloats.
static int64_t dataType(Type type) {
  if (type.isF32())
    return TP_F32;
  if (type.isF64())
    return TP_F64;
  if (type.isInteger(32))
    return TP_I32;
  if (type.isInteger(64))
    return TP_I64;
  assert(type.isInteger(1) && "a number of the dialect");
  return TP_I1;
}

static int64_t reduction(ReductionKind kind) {
  return kind == ReductionKind::Sum ? TP_SUM : TP_MAX;
}

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// The sizes around a dimension; equal pieces of it count as part of the inner
/// one.
static void addOuterAndInner(KernelCall &call, RankedTensorType type,
                             int64_t dim, DenseIntElementsAttr pieces) {
  call.integer(product(type.getShape().take_front(dim)));
  call.integer(product(type.getShape().drop_front(pieces ? dim + 1 : dim)));
}

/// `pieces`, or a table for `groups` in which each piece has `size` elements.
static DenseIntElementsAttr orEqual(DenseIntElementsAttr pieces,
                                    DenseIntElementsAttr groups, int64_t size) {
  if (pieces)
    return pieces;
  return DenseIntElementsAttr::get(cast<ShapedType>(groups.getType()),
                                   ArrayRef(size));
}

namespace {

struct AllReduceModel : KernelModel<AllReduceModel, LocalAllReduceOp> {
  LogicalResult write(LocalAllReduceOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    int64_t dtype = dataType(type.getElementType());
    call.tensor(op.getInput());
    call.integer(type.getNumElements());
    call.integer(dtype);
    call.integer(reduction(op.getKind()));
    call.table(op.getGroups(), /*withColumns=*/true);
    return call.finishCollective("tp_all_reduce");
  }
};

struct AllGatherModel : KernelModel<AllGatherModel, LocalAllGatherOp> {
  LogicalResult write(LocalAllGatherOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    int64_t dtype = dataType(type.getElementType());
    DenseIntElementsAttr pieces = op.getPiecesAttr();
    call.tensor(op.getInput());
    addOuterAndInner(call, type, op.getDim(), pieces);
    call.integer(dtype);
    if (pieces)
      call.numbers(pieces);
    call.table(op.getGroups(), /*withColumns=*/true);
    return call.finishCollective(pieces ? "tp_all_gather_v" : "tp_all_gather");
  }
};

struct ReduceScatterModel
    : KernelModel<ReduceScatterModel, LocalReduceScatterOp> {
  LogicalResult write(LocalReduceScatterOp op, KernelCall &call) const {
    RankedTensorType type = op.getResult().getType();
    int64_t dtype = dataType(type.getElementType());
    DenseIntElementsAttr pieces = op.getPiecesAttr();
    call.tensor(op.getInput());
    addOuterAndInner(call, type, op.getDim(), pieces);
    call.integer(dtype);
    call.integer(reduction(op.getKind()));
    if (pieces)
      call.numbers(pieces);
    call.table(op.getGroups(), /*withColumns=*/true);
    return call.finishCollective(pieces ? "tp_reduce_scatter_v"
                                        : "tp_reduce_scatter");
  }
};

struct AllToAllModel : KernelModel<AllToAllModel, LocalAllToAllOp> {
  LogicalResult write(LocalAllToAllOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    int64_t dtype = dataType(type.getElementType());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t source = op.getSource(), target = op.getTarget();
    int64_t first = std::min(source, target), second = std::max(source, target);
    call.tensor(op.getInput());
    if (op.getSourcePieces() || op.getTargetPieces())
      return writePieces(op, call, dtype);
    call.integer(product(shape.take_front(first)));
    call.integer(shape[first]);
    call.integer(product(shape.slice(first + 1, second - first - 1)));
    call.integer(shape[second]);
    call.integer(product(shape.drop_front(second + 1)));
    call.integer(source == first);
    call.integer(dtype);
    call.table(op.getGroups(), /*withColumns=*/true);
    return call.finishCollective("tp_all_to_all");
  }

private:
  static LogicalResult writePieces(LocalAllToAllOp op, KernelCall &call,
                                   int64_t dtype) {
    ArrayRef<int64_t> shape = op.getInput().getType().getShape();
    int64_t source = op.getSource(), target = op.getTarget();
    int64_t first = std::min(source, target), second = std::max(source, target);
    call.integer(product(shape.take_front(first)));
    call.integer(product(shape.slice(first + 1, second - first - 1)));
    call.integer(product(shape.drop_front(second + 1)));
    call.integer(source == first);
    call.integer(dtype);
    call.numbers(
        orEqual(op.getSourcePiecesAttr(), op.getGroups(), shape[source]));
    call.numbers(orEqual(op.getTargetPiecesAttr(), op.getGroups(),
                         op.getResult().getType().getDimSize(target)));
    call.table(op.getGroups(), /*withColumns=*/true);
    return call.finishCollective("tp_all_to_all_v");
  }
};

struct PermuteModel : KernelModel<PermuteModel, LocalPermuteOp> {
  LogicalResult write(LocalPermuteOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    int64_t dtype = dataType(type.getElementType());
    call.tensor(op.getInput());
    if (std::optional<ArrayRef<int64_t>> counts = op.getCounts()) {
      auto table = RankedTensorType::get(
          {static_cast<int64_t>(counts->size())},
          cast<ShapedType>(op.getPairs().getType()).getElementType());
      call.integer(dtype);
      call.numbers(DenseIntElementsAttr::get(table, *counts));
      call.table(op.getPairs(), /*withColumns=*/false);
      return call.finishCollective("tp_collective_permute_v");
    }
    call.integer(type.getNumElements());
    call.integer(dtype);
    call.table(op.getPairs(), /*withColumns=*/false);
    return call.finishCollective("tp_collective_permute");
  }
};

} // namespace

void tp::addCollectiveModels(MLIRContext &context) {
  LocalAllReduceOp::attachInterface<AllReduceModel>(context);
  LocalAllGatherOp::attachInterface<AllGatherModel>(context);
  LocalReduceScatterOp::attachInterface<ReduceScatterModel>(context);
  LocalAllToAllOp::attachInterface<AllToAllModel>(context);
  LocalPermuteOp::attachInterface<PermuteModel>(context);
}
