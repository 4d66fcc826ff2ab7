// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Collectives of the typed phase and their local forms.

#include "tp/IR/Collective.h"

using namespace mlir;
using namespace tp;

//===- Verifiers ----------------------------------------------------------===//

/// Only the encoding may change.
static LogicalResult verifySameGlobalType(Operation *op) {
  Type input = withSharding(op->getOperand(0).getType(), nullptr);
  Type result = withSharding(op->getResult(0).getType(), nullptr);
  if (input == result)
    return success();
  return op->emitOpError() << "changes " << input << " to " << result
                           << "; only the sharding may change";
}

static LogicalResult verifyDim(Operation *op, StringRef name, uint64_t dim) {
  int64_t rank = cast<ShapedType>(op->getOperand(0).getType()).getRank();
  if (dim < static_cast<uint64_t>(rank))
    return success();
  return op->emitOpError() << "'" << name << "' is dimension "
                           << static_cast<int64_t>(dim)
                           << " of a tensor of rank " << rank;
}

/// Collectives belong to the typed phase.
static LogicalResult verifyEncoded(Operation *op) {
  for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
    if (!getSharding(type))
      return op->emitOpError()
             << "has a tensor without sharding; collectives act on typed IR";
  return success();
}

static LogicalResult verifyCollective(Operation *op) {
  return success(succeeded(verifySameGlobalType(op)) &&
                 succeeded(verifyEncoded(op)));
}

static LogicalResult verifyCollective(Operation *op, uint64_t dim) {
  return success(succeeded(verifyCollective(op)) &&
                 succeeded(verifyDim(op, "dim", dim)));
}

LogicalResult AllReduceOp::verify() { return verifyCollective(*this); }
LogicalResult AllGatherOp::verify() {
  return verifyCollective(*this, getDim());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyCollective(*this, getDim());
}
LogicalResult AllSliceOp::verify() { return verifyCollective(*this, getDim()); }
LogicalResult ToUnreducedOp::verify() { return verifyCollective(*this); }
LogicalResult CollectivePermuteOp::verify() {
  return verifyCollective(*this, getDim());
}
LogicalResult ReshardOp::verify() { return verifySameGlobalType(*this); }

LogicalResult AllToAllOp::verify() {
  if (failed(verifyCollective(*this)) ||
      failed(verifyDim(*this, "source", getSource())) ||
      failed(verifyDim(*this, "target", getTarget())))
    return failure();
  if (getSource() == getTarget())
    return emitOpError() << "source and target are both dimension "
                         << getSource();
  return success();
}

//===- Steps --------------------------------------------------------------===//

/// The step of a collective whose axes tp-check has resolved; unresolved axes
/// give a step that fits no layout.
static LayoutStep makeStep(Operation *op, LayoutStep::Kind kind, ArrayAttr axes,
                           unsigned dim = 0, unsigned target = 0) {
  LayoutStep step{kind, dim, target, {}, 0};
  ShardingAttr sharding = getSharding(op->getOperand(0));
  MeshAttr mesh = sharding ? lookupMesh(op, sharding.getMesh()) : MeshAttr();
  FailureOr<AxisParts> parts = failure();
  if (mesh)
    parts = resolveAxes(axes, mesh);
  if (succeeded(parts))
    step.parts = *parts;
  ShardingAttr made = getSharding(op->getResult(0));
  std::optional<unsigned> split = step.getSplitDim();
  if (split && made)
    step.unit = made.getDims()[*split].getUnit();
  return step;
}

LayoutStep AllReduceOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::AllReduce, getAxes());
}
LayoutStep AllGatherOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::AllGather, getAxes(), getDim());
}
LayoutStep ReduceScatterOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::ReduceScatter, getAxes(), getDim());
}
LayoutStep AllToAllOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::AllToAll, getAxes(), getSource(),
                  getTarget());
}
LayoutStep AllSliceOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::AllSlice, getAxes(), getDim());
}
LayoutStep ToUnreducedOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::ToUnreduced, getAxes());
}
LayoutStep CollectivePermuteOp::getLayoutStep() {
  return makeStep(*this, LayoutStep::Permute, getAxes(), getDim());
}

Value tp::createStep(OpBuilder &builder, Location loc, Value value,
                     const LayoutStep &step, Type result) {
  MeshAttr mesh = lookupMesh(builder.getInsertionBlock()->getParentOp(),
                             getSharding(value).getMesh());
  SmallVector<Attribute> refs;
  for (const AxisPart &part : step.parts)
    refs.push_back(toAttr(part, mesh));
  ArrayAttr axes = builder.getArrayAttr(refs);
  switch (step.kind) {
  case LayoutStep::AllReduce:
    return AllReduceOp::create(builder, loc, result, value, axes);
  case LayoutStep::AllGather:
    return AllGatherOp::create(builder, loc, result, value, step.dim, axes);
  case LayoutStep::ReduceScatter:
    return ReduceScatterOp::create(builder, loc, result, value, step.dim, axes);
  case LayoutStep::AllToAll:
    return AllToAllOp::create(builder, loc, result, value, step.dim,
                              step.target, axes);
  case LayoutStep::AllSlice:
    return AllSliceOp::create(builder, loc, result, value, step.dim, axes);
  case LayoutStep::ToUnreduced:
    return ToUnreducedOp::create(builder, loc, result, value, axes);
  case LayoutStep::Permute:
    return CollectivePermuteOp::create(builder, loc, result, value, step.dim,
                                       axes);
  }
  return value;
}

//===- Local forms --------------------------------------------------------===//

Operation *AllReduceOp::writeLocal(LocalWriter &writer) {
  return writer.create<LocalAllReduceOp>(
      writer.getResultType(), writer.getOperand(),
      getSharding(getInput()).getKind(),
      writer.getGroups(getLayoutStep().parts));
}

Operation *AllGatherOp::writeLocal(LocalWriter &writer) {
  AxisParts parts = getLayoutStep().parts;
  return writer.create<LocalAllGatherOp>(
      writer.getResultType(), writer.getOperand(), getDim(),
      writer.getGroups(parts), writer.getPieces(parts, getInput(), getDim()));
}

Operation *ReduceScatterOp::writeLocal(LocalWriter &writer) {
  AxisParts parts = getLayoutStep().parts;
  return writer.create<LocalReduceScatterOp>(
      writer.getResultType(), writer.getOperand(),
      getSharding(getInput()).getKind(), getDim(), writer.getGroups(parts),
      writer.getPieces(parts, getResult(), getDim()));
}

Operation *AllToAllOp::writeLocal(LocalWriter &writer) {
  AxisParts parts = getLayoutStep().parts;
  return writer.create<LocalAllToAllOp>(
      writer.getResultType(), writer.getOperand(), getSource(), getTarget(),
      writer.getGroups(parts), writer.getPieces(parts, getInput(), getSource()),
      writer.getPieces(parts, getResult(), getTarget()));
}

Operation *AllSliceOp::writeLocal(LocalWriter &writer) {
  return writer.create<LocalSliceOp>(
      writer.getResultType(), writer.getOperand(),
      writer.getPartOrigin(getDim(), getLayoutStep().parts), getDim());
}

Operation *ToUnreducedOp::writeLocal(LocalWriter &writer) {
  return writer.create<LocalMaskOp>(writer.getResultType(), writer.getOperand(),
                                    writer.getPlace(getLayoutStep().parts));
}

Operation *CollectivePermuteOp::writeLocal(LocalWriter &writer) {
  LocalWriter::Sends sends = writer.getSends(getDim());
  return writer.create<LocalPermuteOp>(
      writer.getResultType(), writer.getOperand(), sends.pairs, sends.counts);
}
