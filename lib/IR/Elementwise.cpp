// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/ElementTypes.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

//===- Verifiers ----------------------------------------------------------===//

static LogicalResult verifySameShapeAndType(Operation *op) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (input.getShape() != result.getShape())
    return op->emitOpError()
           << "result shape [" << result.getShape()
           << "] differs from operand shape [" << input.getShape() << "]";
  if (input.getElementType() != result.getElementType())
    return op->emitOpError()
           << "result element type " << result.getElementType()
           << " differs from the operand's " << input.getElementType()
           << "; tp.cast changes element types";
  return success();
}

/// Operands align with the last dimensions of the result; at least one has the
/// result's shape.
static LogicalResult verifyAligned(Operation *op) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  bool someIsFull = false;
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes())) {
    auto operand = cast<RankedTensorType>(type);
    if (operand.getRank() > result.getRank() ||
        result.getShape().take_back(operand.getRank()) != operand.getShape())
      return op->emitOpError()
             << "operand " << index << " of shape [" << operand.getShape()
             << "] does not align with the last dimensions of the result ["
             << result.getShape() << "]";
    someIsFull |= operand.getRank() == result.getRank();
  }
  if (!someIsFull)
    return op->emitOpError()
           << "no operand has the result's rank of " << result.getRank();
  return success();
}

static LogicalResult verifyBinary(Operation *op) {
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (getElementTypeOrSelf(type) != result)
      return op->emitOpError() << "operand " << index << " has element type "
                               << getElementTypeOrSelf(type) << ", the result "
                               << result << "; tp.cast changes element types";
  return verifyAligned(op);
}

LogicalResult AddOp::verify() { return verifyBinary(*this); }
LogicalResult SubOp::verify() { return verifyBinary(*this); }
LogicalResult MulOp::verify() { return verifyBinary(*this); }
LogicalResult DivOp::verify() { return verifyBinary(*this); }
LogicalResult MaximumOp::verify() { return verifyBinary(*this); }
LogicalResult CompareOp::verify() {
  Type lhs = getLhs().getType().getElementType();
  Type rhs = getRhs().getType().getElementType();
  if (lhs != rhs)
    return emitOpError() << "compares " << lhs << " with " << rhs
                         << "; tp.cast changes element types";
  return verifyAligned(*this);
}

/// The local phase knows the whole shape and where the rank's part begins.
static LogicalResult verifyPlace(DropoutOp op) {
  if (op.getOrigin() && !op.getGlobalShape())
    return op.emitOpError() << "has an origin but no global_shape that it is a "
                               "place in";
  if (!op.getGlobalShape())
    return success();
  ArrayRef<int64_t> whole = *op.getGlobalShape();
  ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  bool fits = whole.size() == shape.size() && numElements(whole);
  for (unsigned dim = 0; fits && dim < shape.size(); ++dim)
    fits = shape[dim] <= whole[dim];
  if (fits)
    return success();
  return op.emitOpError() << "operand of shape [" << shape
                          << "] is no part of a tensor of shape [" << whole
                          << "]";
}

LogicalResult DropoutOp::verify() {
  if (failed(verifySameShapeAndType(*this)) || failed(verifyPlace(*this)))
    return failure();
  if (getSeed().getType().getRank() != 0)
    return emitOpError() << "seed of shape [" << getSeed().getType().getShape()
                         << "]; one number is wanted";
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate <= 1))
    return emitOpError() << "rate = " << rate << " must be from 0 to 1";
  return success();
}

LogicalResult ExpOp::verify() { return verifySameShapeAndType(*this); }
LogicalResult LogOp::verify() { return verifySameShapeAndType(*this); }
LogicalResult SigmoidOp::verify() { return verifySameShapeAndType(*this); }
LogicalResult ReluOp::verify() { return verifySameShapeAndType(*this); }
LogicalResult SiluOp::verify() { return verifySameShapeAndType(*this); }
LogicalResult TanhOp::verify() { return verifySameShapeAndType(*this); }
LogicalResult GeluOp::verify() { return verifySameShapeAndType(*this); }

LogicalResult CastOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (input.getShape() != result.getShape())
    return emitOpError() << "result shape [" << result.getShape()
                         << "] differs from operand shape [" << input.getShape()
                         << "]";
  Type from = input.getElementType(), to = result.getElementType();
  bool bothFloat = isa<FloatType>(from) && isa<FloatType>(to);
  bool bothInteger = isa<IntegerType>(from) && isa<IntegerType>(to);
  bool widens = from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
  if (bothFloat || (bothInteger && widens) ||
      (isa<IntegerType>(from) && isa<FloatType>(to)))
    return success();
  return emitOpError() << "cannot cast " << from << " to " << to
                       << ": it would lose whole values";
}

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (isa<RankedTensorType>(value) && value.getShape() == result.getShape() &&
      value.getElementType() == result.getElementType())
    return success();
  return emitOpError() << "value of type " << value << " for a result of type "
                       << result;
}

//===- Sharding rules -----------------------------------------------------===//

static ShardingRule linearTogether(Operation *op) {
  return elementwiseRule(op, 1).linearIn({0, 1}).build();
}

ShardingRule AddOp::getShardingRule() { return linearTogether(*this); }
ShardingRule SubOp::getShardingRule() { return linearTogether(*this); }

ShardingRule MulOp::getShardingRule() {
  return elementwiseRule(*this, 1).linearIn({0}).linearIn({1}).build();
}

ShardingRule DivOp::getShardingRule() {
  return elementwiseRule(*this, 1).linearIn({0}).build();
}

ShardingRule MaximumOp::getShardingRule() {
  return elementwiseRule(*this, 1).takesMaximum().build();
}

ShardingRule CompareOp::getShardingRule() {
  return elementwiseRule(*this, 1).keeps(KeptForBackward::Nothing).build();
}

// A comparison and a product; the random words are integers.
ShardingRule DropoutOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(getInput().getType().getShape()))
    dims.push_back({builder.factor("d" + std::to_string(index), size)});
  for (const DimFactors &dim : dims)
    builder.dependsOnPosition(dim);
  return builder.operand(dims)
      .operand({})
      .result(dims)
      .linearIn({0})
      .keeps(KeptForBackward::Mask)
      .work(2)
      .build();
}

Operation *DropoutOp::writeLocal(OpBuilder &builder, ValueRange operands,
                                 TypeRange resultTypes) {
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  if (llvm::is_contained(shape, 0))
    return copyWithTypes(builder, *this, operands, resultTypes);
  Value origin;
  int64_t stride = 1;
  for (unsigned dim = shape.size(); dim-- > 0; stride *= shape[dim]) {
    Value begin = createShardOrigin(builder, getLoc(), getInput(), dim);
    if (!begin)
      continue;
    Value place = arith::MulIOp::create(
        builder, getLoc(), begin,
        arith::ConstantIndexOp::create(builder, getLoc(), stride));
    origin = origin ? arith::AddIOp::create(builder, getLoc(), origin, place)
                          .getResult()
                    : place;
  }
  DenseI64ArrayAttr whole;
  if (origin)
    whole = builder.getDenseI64ArrayAttr(shape);
  return DropoutOp::create(builder, getLoc(), resultTypes[0], operands[0],
                           operands[1], origin, getRateAttr(), getSiteAttr(),
                           whole);
}

// FLOPs of a transcendental are counted as its additions, products and one per
// call: these operations are bound by memory, the count only has to be small.
ShardingRule ExpOp::getShardingRule() {
  return elementwiseRule(*this, 1).keeps(KeptForBackward::Result).build();
}
ShardingRule LogOp::getShardingRule() {
  return elementwiseRule(*this, 1).build();
}
ShardingRule SigmoidOp::getShardingRule() {
  return elementwiseRule(*this, 4).keeps(KeptForBackward::Result).build();
}
ShardingRule ReluOp::getShardingRule() {
  return elementwiseRule(*this, 1).keeps(KeptForBackward::Result).build();
}
ShardingRule SiluOp::getShardingRule() {
  return elementwiseRule(*this, 4).build();
}
ShardingRule TanhOp::getShardingRule() {
  return elementwiseRule(*this, 4).keeps(KeptForBackward::Result).build();
}
ShardingRule GeluOp::getShardingRule() {
  return elementwiseRule(*this, 8).build();
}

static Type typeBefore(CastOp op) {
  return op.getInput().getType().getElementType();
}
static Type typeAfter(CastOp op) {
  return op.getResult().getType().getElementType();
}

/// Whether the sum of casts is the cast of the sum. Sums of integers wrap
/// around at their own width and those of floats count as exact, so a cast from
/// integers is not linear even where it is exact.
static bool isLinear(CastOp op) {
  Type from = typeBefore(op), to = typeAfter(op);
  return from == to || (isa<FloatType>(from) && holdsEveryValue(to, from));
}

ShardingRule CastOp::getShardingRule() {
  ShardingRuleBuilder builder =
      elementwiseRule(*this, 1).keeps(KeptForBackward::Nothing);
  if (isLinear(*this))
    builder.linearIn({0});
  // Every cast is monotone, so the maximum of casts is the cast of the maximum.
  if (holdsEveryValue(typeAfter(*this), typeBefore(*this)))
    builder.movesData();
  else
    builder.takesMaximum();
  return builder.build();
}

bool CastOp::keepsPartialSums(std::string &why) {
  if (isLinear(*this))
    return true;
  Type from = typeBefore(*this), to = typeAfter(*this);
  llvm::raw_string_ostream os(why);
  if (isa<FloatType>(from))
    os << "rounding " << from << " to " << to
       << " before the sum is finished is not rounding the sum";
  else if (!holdsEveryValue(to, from))
    os << to << " does not hold every " << from
       << ", so rounding before the sum is finished is not rounding the sum";
  else
    os << "sums of " << from << " wrap around, so casting to " << to
       << " before the sum is finished is not casting the sum";
  return false;
}

/// Zeros of either sign, or no elements at all.
static bool isZero(ElementsAttr value) {
  if (value.getNumElements() == 0)
    return true;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isZero();
  return dense.getSplatValue<APInt>().isZero();
}

ShardingRule ConstantOp::getShardingRule() {
  ShardingRuleBuilder builder = elementwiseRule(*this, 0);
  if (isZero(getValue()))
    builder.isZero();
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (!dense || !dense.isSplat())
    builder.dependsOnPosition(llvm::to_vector(
        llvm::seq<unsigned>(0, getResult().getType().getRank())));
  return builder.build();
}

//===- Constant -----------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  Type type = value.getType();
  if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
  if (getValue().getType() != getResult().getType())
    printer << " as " << getResult().getType();
}

Operation *ConstantOp::writeLocal(OpBuilder &builder, ValueRange,
                                  TypeRange resultTypes) {
  auto local = cast<RankedTensorType>(resultTypes[0]);
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (dense && dense.isSplat())
    return ConstantOp::create(builder, getLoc(), local,
                              dense.resizeSplat(local));
  RankedTensorType whole = withSharding(getResult().getType(), nullptr);
  Operation *current = ConstantOp::create(builder, getLoc(), whole, getValue());
  SmallVector<int64_t> shape(whole.getShape());
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Value origin = createShardOrigin(builder, getLoc(), getResult(), dim);
    if (!origin)
      continue;
    shape[dim] = local.getDimSize(dim);
    current = LocalSliceOp::create(
        builder, getLoc(), RankedTensorType::get(shape, local.getElementType()),
        current->getResult(0), origin, dim);
  }
  return current;
}
