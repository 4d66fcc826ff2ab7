// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/ElementTypes.h"
#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

//===- Verifiers ----------------------------------------------------------===//

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

LogicalResult AddOp::verify() { return verifyAligned(*this); }
LogicalResult SubOp::verify() { return verifyAligned(*this); }
LogicalResult MulOp::verify() { return verifyAligned(*this); }
LogicalResult DivOp::verify() { return verifyAligned(*this); }
LogicalResult MaximumOp::verify() { return verifyAligned(*this); }
LogicalResult CompareOp::verify() { return verifyAligned(*this); }

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
  if (failed(verifyPlace(*this)))
    return failure();
  if (getSeed().getType().getRank() != 0)
    return emitOpError() << "seed of shape [" << getSeed().getType().getShape()
                         << "]; one number is wanted";
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate <= 1))
    return emitOpError() << "rate = " << rate << " must be from 0 to 1";
  return success();
}

LogicalResult CastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
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
  return elementwiseRule(op).linearIn({0, 1}).build();
}

ShardingRule AddOp::getShardingRule() { return linearTogether(*this); }
ShardingRule SubOp::getShardingRule() { return linearTogether(*this); }

ShardingRule MulOp::getShardingRule() {
  return elementwiseRule(*this).linearIn({0}).linearIn({1}).build();
}

ShardingRule DivOp::getShardingRule() {
  return elementwiseRule(*this).linearIn({0}).build();
}

ShardingRule MaximumOp::getShardingRule() {
  return elementwiseRule(*this).takesMaximum().build();
}

ShardingRule CompareOp::getShardingRule() {
  return elementwiseRule(*this).build();
}

ShardingRule DropoutOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(getInput().getType().getShape()))
    dims.push_back({builder.factor("d" + std::to_string(index), size)});
  for (const DimFactors &dim : dims)
    builder.dependsOnPosition(dim);
  return builder.operand(dims).operand({}).result(dims).linearIn({0}).build();
}

ShardingRule ExpOp::getShardingRule() { return elementwiseRule(*this).build(); }
ShardingRule LogOp::getShardingRule() { return elementwiseRule(*this).build(); }
ShardingRule SigmoidOp::getShardingRule() {
  return elementwiseRule(*this).build();
}
ShardingRule ReluOp::getShardingRule() {
  return elementwiseRule(*this).build();
}
ShardingRule SiluOp::getShardingRule() {
  return elementwiseRule(*this).build();
}
ShardingRule TanhOp::getShardingRule() {
  return elementwiseRule(*this).build();
}
ShardingRule GeluOp::getShardingRule() {
  return elementwiseRule(*this).build();
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
  ShardingRuleBuilder builder = elementwiseRule(*this);
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
  ShardingRuleBuilder builder = elementwiseRule(*this);
  if (isZero(getValue()))
    builder.isZero();
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (!dense || !dense.isSplat())
    builder.dependsOnPosition(llvm::to_vector(
        llvm::seq<unsigned>(0, getResult().getType().getRank())));
  return builder.build();
}

//===- Work ---------------------------------------------------------------===//

// FLOPs of a transcendental are counted as its additions, products and one per
// call: these operations are bound by memory, the count only has to be small.
static constexpr auto keepsResult = KeptForBackward::Result;
static constexpr auto keepsNothing = KeptForBackward::Nothing;

Work AddOp::getWork() { return {1}; }
Work SubOp::getWork() { return {1}; }
Work MulOp::getWork() { return {1}; }
Work DivOp::getWork() { return {1}; }
Work MaximumOp::getWork() { return {1}; }
Work CompareOp::getWork() { return {1, keepsNothing}; }
// A comparison and a product; the random words are integers.
Work DropoutOp::getWork() { return {2, KeptForBackward::Mask}; }
Work ExpOp::getWork() { return {1, keepsResult}; }
Work LogOp::getWork() { return {1}; }
Work SigmoidOp::getWork() { return {4, keepsResult}; }
Work ReluOp::getWork() { return {1, keepsResult}; }
Work SiluOp::getWork() { return {4}; }
Work TanhOp::getWork() { return {4, keepsResult}; }
Work GeluOp::getWork() { return {8}; }
Work CastOp::getWork() { return {1, keepsNothing}; }
Work ConstantOp::getWork() { return {}; }

//===- Local forms --------------------------------------------------------===//

Operation *DropoutOp::writeLocal(LocalWriter &writer) {
  Value origin = writer.getLinearOrigin(getInput());
  auto local = cast<DropoutOp>(writer.copy(origin));
  if (origin)
    local.setGlobalShapeAttr(writer.getShape(getInput()));
  return local;
}

Operation *ConstantOp::writeLocal(LocalWriter &writer) {
  auto local = cast<RankedTensorType>(writer.getResultType());
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (dense && dense.isSplat())
    return writer.create<ConstantOp>(local, dense.resizeSplat(local));
  Type whole = withSharding(getResult().getType(), nullptr);
  return writer.slice(writer.create<ConstantOp>(whole, getValue()));
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
