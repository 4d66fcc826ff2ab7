// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Collectives of the typed phase and their local forms.

#include "tp/IR/Collective.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tp/IR/LocalShape.h"

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

static MeshAttr getMesh(Operation *op) {
  return lookupMesh(op, getSharding(op->getOperand(0)).getMesh());
}

/// A table of ranks as a dense attribute. The partitioner has checked that the
/// mesh is small enough for one.
static DenseIntElementsAttr makeTable(OpBuilder &builder,
                                      ArrayRef<SmallVector<int64_t>> rows) {
  SmallVector<int64_t> flat;
  for (ArrayRef<int64_t> row : rows)
    llvm::append_range(flat, row);
  int64_t columns = rows.empty() ? 0 : rows.front().size();
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(rows.size()), columns}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, flat);
}

using RankRows = SmallVector<SmallVector<int64_t>>;

static RankRows findGroups(Operation *op, ArrayRef<AxisPart> parts) {
  auto groups = getGroups(parts, getMesh(op));
  return succeeded(groups) ? std::move(*groups) : RankRows();
}

/// What the members of each group hold of dimension `dim` of `tensor`; null if
/// the members of every group hold equally much.
static DenseIntElementsAttr makePieces(OpBuilder &builder,
                                       const RankRows &groups, Value tensor,
                                       unsigned dim) {
  Layout layout = getCheckedLayout(tensor);
  MeshAttr mesh = lookupMesh(tensor.getDefiningOp()
                                 ? tensor.getDefiningOp()
                                 : tensor.getParentBlock()->getParentOp(),
                             getSharding(tensor).getMesh());
  int64_t size = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  RankRows pieces = groups;
  for (SmallVector<int64_t> &row : pieces)
    for (int64_t &entry : row)
      entry = getRange(size, layout.dims[dim], mesh, entry).size;
  if (llvm::all_of(pieces,
                   [](ArrayRef<int64_t> row) { return llvm::all_equal(row); }))
    return {};
  return makeTable(builder, pieces);
}

Value AllReduceOp::writeLocal(OpBuilder &builder, Value operand, Type type) {
  RankRows groups = findGroups(*this, getLayoutStep().parts);
  return LocalAllReduceOp::create(builder, getLoc(), type, operand,
                                  getSharding(getInput()).getKind(),
                                  makeTable(builder, groups));
}

Value AllGatherOp::writeLocal(OpBuilder &builder, Value operand, Type type) {
  RankRows groups = findGroups(*this, getLayoutStep().parts);
  return LocalAllGatherOp::create(
      builder, getLoc(), type, operand, getDim(), makeTable(builder, groups),
      makePieces(builder, groups, getInput(), getDim()));
}

Value ReduceScatterOp::writeLocal(OpBuilder &builder, Value operand,
                                  Type type) {
  RankRows groups = findGroups(*this, getLayoutStep().parts);
  return LocalReduceScatterOp::create(
      builder, getLoc(), type, operand, getSharding(getInput()).getKind(),
      getDim(), makeTable(builder, groups),
      makePieces(builder, groups, getResult(), getDim()));
}

Value AllToAllOp::writeLocal(OpBuilder &builder, Value operand, Type type) {
  RankRows groups = findGroups(*this, getLayoutStep().parts);
  return LocalAllToAllOp::create(
      builder, getLoc(), type, operand, getSource(), getTarget(),
      makeTable(builder, groups),
      makePieces(builder, groups, getInput(), getSource()),
      makePieces(builder, groups, getResult(), getTarget()));
}

/// Where in the rank's present piece its new piece starts.
Value AllSliceOp::writeLocal(OpBuilder &builder, Value operand, Type type) {
  MeshAttr mesh = getMesh(*this);
  auto refs =
      llvm::map_to_vector(getLayoutStep().parts, [&](const AxisPart &part) {
        return toAttr(part, mesh);
      });
  int64_t unit = getSharding(getResult()).getDims()[getDim()].getUnit();
  int64_t size = cast<ShapedType>(operand.getType()).getDimSize(getDim());
  auto split = DimShardingAttr::get(getContext(), refs, unit);
  Value origin =
      ShardOriginOp::create(builder, getLoc(), builder.getIndexType(),
                            getSharding(getInput()).getMesh(), split,
                            builder.getI64IntegerAttr(size));
  return LocalSliceOp::create(builder, getLoc(), type, operand, origin,
                              getDim());
}

/// The place along the axes is where a dimension of that many elements begins.
Value ToUnreducedOp::writeLocal(OpBuilder &builder, Value operand, Type type) {
  AxisParts parts = getLayoutStep().parts;
  MeshAttr mesh = getMesh(*this);
  auto refs = llvm::map_to_vector(
      parts, [&](const AxisPart &part) { return toAttr(part, mesh); });
  auto split = DimShardingAttr::get(getContext(), refs, 1);
  Value place =
      ShardOriginOp::create(builder, getLoc(), builder.getIndexType(),
                            getSharding(getInput()).getMesh(), split,
                            builder.getI64IntegerAttr(numRanks(parts)));
  return LocalMaskOp::create(builder, getLoc(), type, operand, place);
}

/// Elements of the block of each source; null if all have the same number.
static DenseI64ArrayAttr makeCounts(OpBuilder &builder, const RankRows &pairs,
                                    CollectivePermuteOp op) {
  Layout layout = getCheckedLayout(op.getInput());
  SmallVector<int64_t> counts;
  for (ArrayRef<int64_t> pair : pairs) {
    int64_t count = 1;
    for (int64_t size : getLocalShape(op.getInput().getType().getShape(),
                                      layout, getMesh(op), pair[0]))
      count *= size;
    counts.push_back(count);
  }
  if (llvm::all_equal(counts))
    return {};
  return builder.getDenseI64ArrayAttr(counts);
}

/// Rank r sends its block to the rank whose new piece it is.
Value CollectivePermuteOp::writeLocal(OpBuilder &builder, Value operand,
                                      Type type) {
  MeshAttr mesh = getMesh(*this);
  auto before =
      getGroups(getCheckedLayout(getInput()).dims[getDim()].parts, mesh);
  auto after =
      getGroups(getCheckedLayout(getResult()).dims[getDim()].parts, mesh);
  RankRows pairs;
  if (succeeded(before) && succeeded(after))
    for (auto [source, target] : llvm::zip_equal(*before, *after))
      for (auto [from, to] : llvm::zip_equal(source, target))
        pairs.push_back({from, to});
  return LocalPermuteOp::create(builder, getLoc(), type, operand,
                                makeTable(builder, pairs),
                                makeCounts(builder, pairs, *this));
}

//===- Origins ------------------------------------------------------------===//

Value tp::createShardOrigin(OpBuilder &builder, Location loc, Value tensor,
                            unsigned dim) {
  ShardingAttr sharding = getSharding(tensor);
  if (!sharding || sharding.getDims()[dim].getAxes().empty())
    return {};
  int64_t size = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  return ShardOriginOp::create(builder, loc, builder.getIndexType(),
                               sharding.getMesh(), sharding.getDims()[dim],
                               builder.getI64IntegerAttr(size));
}
