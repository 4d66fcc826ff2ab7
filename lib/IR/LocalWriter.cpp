// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/LocalWriter.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

/// The mesh that the tensors of `op` lie on; null if it has none.
static FlatSymbolRefAttr findMeshName(Operation *op) {
  for (Type type : llvm::concat<Type>(op->getOperandTypes(), //
                                      op->getResultTypes()))
    if (ShardingAttr sharding = getSharding(type))
      return sharding.getMesh();
  return {};
}

LocalWriter::LocalWriter(OpBuilder &builder, Operation *op, MeshAttr mesh,
                         ValueRange operands, TypeRange resultTypes)
    : builder(builder), op(op), mesh(mesh), meshName(findMeshName(op)),
      operands(operands), resultTypes(resultTypes) {}

static ArrayRef<int64_t> getShapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

Layout LocalWriter::getLayout(Value tensor) const {
  return getCheckedLayout(tensor.getType(), op);
}

//===- Operations ---------------------------------------------------------===//

Operation *tp::copyWithTypes(OpBuilder &builder, Operation *op,
                             ValueRange operands, TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(resultTypes);
  state.addAttributes(op->getAttrs());
  return builder.create(state);
}

Operation *LocalWriter::copy(Value origin) {
  SmallVector<Value> all(operands);
  if (origin)
    all.push_back(origin);
  return copyWithTypes(builder, op, all, resultTypes);
}

Operation *LocalWriter::slice(Operation *whole) {
  OpResult tensor = op->getResult(0);
  auto local = cast<RankedTensorType>(resultTypes[0]);
  SmallVector<int64_t> shape(getShapeOf(tensor));
  Operation *current = whole;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Value origin = getOrigin(tensor, dim);
    if (!origin)
      continue;
    shape[dim] = local.getDimSize(dim);
    current = create<LocalSliceOp>(
        RankedTensorType::get(shape, local.getElementType()),
        current->getResult(0), origin, dim);
  }
  return current;
}

//===- Sizes --------------------------------------------------------------===//

Extent LocalWriter::getSize(Value tensor, unsigned dim) const {
  return Extent(getShapeOf(tensor)[dim]);
}

IntegerAttr LocalWriter::toAttr(Extent number) {
  return builder.getI64IntegerAttr(number.value);
}

DenseI64ArrayAttr LocalWriter::getShape(Value tensor) {
  return builder.getDenseI64ArrayAttr(getShapeOf(tensor));
}

//===- Places -------------------------------------------------------------===//

DimShardingAttr LocalWriter::makeSplit(ArrayRef<AxisPart> parts, int64_t unit) {
  auto refs = llvm::map_to_vector(
      parts, [&](const AxisPart &part) { return tp::toAttr(part, mesh); });
  return DimShardingAttr::get(builder.getContext(), refs, unit);
}

Value LocalWriter::createOrigin(DimShardingAttr split, int64_t size) {
  return create<ShardOriginOp>(builder.getIndexType(), meshName, split,
                               builder.getI64IntegerAttr(size));
}

Value LocalWriter::getOrigin(Value tensor, unsigned dim) {
  ShardingAttr sharding = getSharding(tensor);
  if (!sharding || sharding.getDims()[dim].getAxes().empty())
    return {};
  return createOrigin(sharding.getDims()[dim], getShapeOf(tensor)[dim]);
}

/// Strides are products of sizes of one tensor, whose number of elements fits.
Value LocalWriter::getLinearOrigin(Value tensor) {
  ArrayRef<int64_t> shape = getShapeOf(tensor);
  if (llvm::is_contained(shape, 0))
    return {};
  Value origin;
  int64_t stride = 1;
  for (unsigned dim = shape.size(); dim-- > 0; stride *= shape[dim]) {
    Value begin = getOrigin(tensor, dim);
    if (!begin)
      continue;
    Value place = create<arith::MulIOp>(
        begin, create<arith::ConstantIndexOp>(stride).getResult());
    origin = origin ? create<arith::AddIOp>(origin, place).getResult() : place;
  }
  return origin;
}

Value LocalWriter::getPartOrigin(unsigned dim, ArrayRef<AxisPart> parts) {
  int64_t unit = getSharding(op->getResult(0)).getDims()[dim].getUnit();
  return createOrigin(makeSplit(parts, unit), getShapeOf(operands[0])[dim]);
}

/// It is where a dimension of one element a rank begins.
Value LocalWriter::getPlace(ArrayRef<AxisPart> parts) {
  return createOrigin(makeSplit(parts, 1), numRanks(parts));
}

Value LocalWriter::shift(Value index, Extent distance) {
  if (!index || distance.value == 0)
    return index;
  return create<arith::AddIOp>(
      index, create<arith::ConstantIndexOp>(distance.value).getResult());
}

//===- Tables -------------------------------------------------------------===//

const LocalWriter::RankRows &LocalWriter::findGroups(ArrayRef<AxisPart> parts) {
  auto [entry, isNew] =
      groups.try_emplace(SmallVector<AxisPart>(parts), RankRows());
  if (!isNew)
    return entry->second;
  auto found = tp::getGroups(parts, mesh);
  if (succeeded(found))
    entry->second = std::move(*found);
  return entry->second;
}

DenseIntElementsAttr LocalWriter::makeTable(const RankRows &rows) {
  SmallVector<int64_t> flat;
  for (ArrayRef<int64_t> row : rows)
    llvm::append_range(flat, row);
  int64_t columns = rows.empty() ? 0 : rows.front().size();
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(rows.size()), columns}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, flat);
}

DenseIntElementsAttr LocalWriter::getGroups(ArrayRef<AxisPart> parts) {
  return makeTable(findGroups(parts));
}

DenseIntElementsAttr LocalWriter::getPieces(ArrayRef<AxisPart> parts,
                                            Value tensor, unsigned dim) {
  DimLayout split = getLayout(tensor).dims[dim];
  RankRows pieces = findGroups(parts);
  for (SmallVector<int64_t> &row : pieces)
    for (int64_t &entry : row)
      entry = getRange(getShapeOf(tensor)[dim], split, mesh, entry).size;
  if (llvm::all_of(pieces,
                   [](ArrayRef<int64_t> row) { return llvm::all_equal(row); }))
    return {};
  return makeTable(pieces);
}

/// A rank's shard goes to the rank whose new shard it is.
LocalWriter::Sends LocalWriter::getSends(unsigned dim) {
  Value input = op->getOperand(0);
  Layout before = getLayout(input), after = getLayout(op->getResult(0));
  const RankRows &sources = findGroups(before.dims[dim].parts);
  const RankRows &targets = findGroups(after.dims[dim].parts);
  RankRows pairs;
  SmallVector<int64_t> counts;
  for (auto [froms, tos] : llvm::zip_equal(sources, targets))
    for (auto [from, to] : llvm::zip_equal(froms, tos)) {
      pairs.push_back({from, to});
      counts.push_back(llvm::product_of(
          getLocalShape(getShapeOf(input), before, mesh, from)));
    }
  Sends sends{makeTable(pairs), {}};
  if (!llvm::all_equal(counts))
    sends.counts = builder.getDenseI64ArrayAttr(counts);
  return sends;
}
