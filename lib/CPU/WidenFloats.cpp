// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// 16-bit floating-point types are computed in f32.

#include "CPU/Patterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tp/IR/ElementTypes.h"
#include <cmath>

using namespace mlir;
using namespace tp;

static bool isNarrow(Type type) {
  auto real = dyn_cast<FloatType>(type);
  return real && real.getWidth() == 16;
}

//===- Types --------------------------------------------------------------===//

static APFloat widened(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static std::optional<Attribute> widened(DenseElementsAttr elements) {
  if (!isNarrow(elements.getElementType()))
    return std::nullopt;
  return cast<DenseFPElementsAttr>(elements).mapValues(
      Float32Type::get(elements.getContext()),
      [](const APFloat &value) { return widened(value).bitcastToAPInt(); });
}

static void widenTypes(ModuleOp module) {
  Type wide = Float32Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FloatType type) -> std::optional<Type> {
    return isNarrow(type) ? std::optional(wide) : std::nullopt;
  });
  using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([](DenseElementsAttr elements) -> Replaced {
    std::optional<Attribute> result = widened(elements);
    if (!result)
      return std::nullopt;
    return std::pair(*result, WalkResult::skip());
  });
  replacer.addReplacement([&](FloatAttr number) -> Replaced {
    if (!isNarrow(number.getType()))
      return std::nullopt;
    return std::pair(
        Attribute(FloatAttr::get(wide, widened(number.getValue()))),
        WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

//===- Rounding -----------------------------------------------------------===//

namespace {

/// Rounds an f32 or f64 to the values of a narrower type: to nearest, ties to
/// even, beyond the largest one to infinity. By arithmetic on bits, since not
/// every processor converts to these types.
class Rounding {
public:
  Rounding(OpBuilder &builder, Location loc, Value x, FloatType type)
      : builder(builder), loc(loc), x(x), type(type),
        wide(cast<FloatType>(x.getType())),
        bits(builder.getIntegerType(wide.getWidth())),
        magnitude(math::AbsFOp::create(builder, loc, x)) {}

  Value create();

private:
  Value real(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(wide, value));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(bits, value));
  }
  Value compare(arith::CmpFPredicate relation, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, relation, a, b);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value roundNormal();
  Value roundSubnormal();
  int digits(FloatType of) const {
    return static_cast<int>(
        APFloat::semanticsPrecision(of.getFloatSemantics()));
  }

  OpBuilder &builder;
  Location loc;
  Value x;
  FloatType type, wide;
  IntegerType bits;
  Value magnitude;
};

} // namespace

/// Adds just under half of the last digit that is kept, and that digit: a carry
/// is what rounding to nearest adds, ties to even.
Value Rounding::roundNormal() {
  int64_t dropped = digits(wide) - digits(type), unit = int64_t(1) << dropped;
  Value pattern = arith::BitcastOp::create(builder, loc, bits, magnitude);
  Value last = arith::AndIOp::create(
      builder, loc,
      arith::ShRUIOp::create(builder, loc, pattern, integer(dropped)),
      integer(1));
  Value half = arith::AddIOp::create(builder, loc, last, integer(unit / 2 - 1));
  Value carried = arith::AddIOp::create(builder, loc, pattern, half);
  Value kept = arith::AndIOp::create(builder, loc, carried, integer(-unit));
  return arith::BitcastOp::create(builder, loc, wide, kept);
}

/// Next to a number whose last digit is the type's least one, sums are rounded
/// to multiples of it.
Value Rounding::roundSubnormal() {
  int lowest = APFloat::semanticsMinExponent(type.getFloatSemantics());
  Value anchor =
      real(std::ldexp(1.0, lowest - (digits(type) - 1) + digits(wide) - 1));
  Value sum = arith::AddFOp::create(builder, loc, magnitude, anchor);
  return arith::SubFOp::create(builder, loc, sum, anchor);
}

Value Rounding::create() {
  using Relation = arith::CmpFPredicate;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Value least =
      real(APFloat::getSmallestNormalized(semantics).convertToDouble());
  Value largest = real(APFloat::getLargest(semantics).convertToDouble());
  Value isSubnormal = compare(Relation::OLT, magnitude, least);
  Value rounded = select(isSubnormal, roundSubnormal(), roundNormal());
  Value isTooLarge = compare(Relation::OGT, rounded, largest);
  rounded = select(isTooLarge, real(HUGE_VAL), rounded);
  Value signedValue = math::CopySignOp::create(builder, loc, rounded, x);
  return select(compare(Relation::UNO, x, x), x, signedValue);
}

/// `x`, of any type, as an f32 that is a value of `type`.
static Value castTo(OpBuilder &builder, Location loc, Value x, FloatType type) {
  // In one step: an integer that was rounded to f32 first could end elsewhere.
  if (isa<IntegerType>(x.getType()))
    x = arith::SIToFPOp::create(builder, loc, builder.getF64Type(), x);
  Value rounded = Rounding(builder, loc, x, type).create();
  if (rounded.getType().isF32())
    return rounded;
  return arith::TruncFOp::create(builder, loc, builder.getF32Type(), rounded);
}

//===- Entry --------------------------------------------------------------===//

namespace {

/// Operations whose values depend on a type that is not there afterwards.
struct TypedOperations {
  SmallVector<std::pair<CastOp, FloatType>> casts;
  SmallVector<std::pair<MaskPaddingOp, FloatType>> masks;

  void add(Operation *op);
  void replace(PatternRewriter &rewriter);
};

} // namespace

void TypedOperations::add(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isNarrow(getElementTypeOrSelf(op->getResult(0))))
    return;
  auto type = cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  if (auto mask = dyn_cast<MaskPaddingOp>(op))
    masks.emplace_back(mask, type);
  auto conversion = dyn_cast<CastOp>(op);
  if (conversion &&
      !holdsEveryValue(type, conversion.getInput().getType().getElementType()))
    casts.emplace_back(conversion, type);
}

void TypedOperations::replace(PatternRewriter &rewriter) {
  for (auto [op, type] : casts) {
    rewriter.setInsertionPoint(op);
    replaceByElementwise(
        rewriter, op, op.getInput(),
        [type = type](OpBuilder &builder, Location loc, ValueRange x) {
          return castTo(builder, loc, x[0], type);
        });
  }
  for (auto [op, type] : masks) {
    rewriter.setInsertionPoint(op);
    APFloat lowest =
        APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true);
    replaceMaskPadding(rewriter, op,
                       FloatAttr::get(rewriter.getF32Type(), widened(lowest)));
  }
}

static LogicalResult requireValues(ConstantOp constant) {
  Type type = constant.getValue().getElementType();
  if (!isNarrow(type) || isa<DenseElementsAttr>(constant.getValue()))
    return success();
  return constant.emitOpError() << "keeps its values of " << type
                                << " outside the text; dense<..> is wanted";
}

LogicalResult tp::widenFloats(ModuleOp module) {
  TypedOperations typed;
  WalkResult walked = module.walk([&](Operation *op) {
    auto constant = dyn_cast<ConstantOp>(op);
    if (constant && failed(requireValues(constant)))
      return WalkResult::interrupt();
    typed.add(op);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  widenTypes(module);
  PatternRewriter rewriter(module.getContext());
  typed.replace(rewriter);
  return success();
}
