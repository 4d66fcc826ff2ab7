// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tp;

void tp::replaceByElementwise(PatternRewriter &rewriter, Operation *op,
                              ValueRange inputs, ScalarBody body) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned rank = type.getRank();
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    unsigned own = cast<RankedTensorType>(input.getType()).getRank();
    maps.push_back(AffineMap::getMinorIdentityMap(rank, own, op->getContext()));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(rank, op->getContext()));
  Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange(type), inputs, empty, maps, loops,
      [&](OpBuilder &builder, Location loc, ValueRange scalars) {
        linalg::YieldOp::create(builder, loc,
                                body(builder, loc, scalars.drop_back()));
      });
}

Value tp::takeLarger(OpBuilder &builder, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MaximumFOp::create(builder, loc, x, y);
  // i1 has no sign.
  if (x.getType().isInteger(1))
    return arith::OrIOp::create(builder, loc, x, y);
  return arith::MaxSIOp::create(builder, loc, x, y);
}

static Value number(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

static Value relu(ReluOp, OpBuilder &builder, Location loc, Value x) {
  return arith::MaximumFOp::create(builder, loc, x,
                                   number(builder, loc, x.getType(), 0));
}

static Value isNumber(OpBuilder &builder, Location loc, Value x) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, x, x);
}

/// e^x; 1 for a NaN. The polynomial for exp turns its argument to an integer,
/// which is undefined for a NaN.
static Value expOrOne(OpBuilder &builder, Location loc, Value x) {
  Value exponent =
      arith::SelectOp::create(builder, loc, isNumber(builder, loc, x), x,
                              number(builder, loc, x.getType(), 0));
  return math::ExpOp::create(builder, loc, exponent);
}

static Value exp(ExpOp, OpBuilder &builder, Location loc, Value x) {
  return arith::SelectOp::create(builder, loc, isNumber(builder, loc, x),
                                 expOrOne(builder, loc, x), x);
}

static Value log(LogOp, OpBuilder &builder, Location loc, Value x) {
  return math::LogOp::create(builder, loc, x);
}

/// 1 + e^-x, or 2 for a NaN.
static Value sigmoidDenominator(OpBuilder &builder, Location loc, Value x) {
  Value exponential =
      expOrOne(builder, loc, arith::NegFOp::create(builder, loc, x));
  return arith::AddFOp::create(
      builder, loc, number(builder, loc, x.getType(), 1), exponential);
}

static Value sigmoid(SigmoidOp, OpBuilder &builder, Location loc, Value x) {
  Value value =
      arith::DivFOp::create(builder, loc, number(builder, loc, x.getType(), 1),
                            sigmoidDenominator(builder, loc, x));
  return arith::SelectOp::create(builder, loc, isNumber(builder, loc, x), value,
                                 x);
}

static Value silu(SiluOp, OpBuilder &builder, Location loc, Value x) {
  return arith::DivFOp::create(builder, loc, x,
                               sigmoidDenominator(builder, loc, x));
}

static Value tanhOf(TanhOp, OpBuilder &builder, Location loc, Value x) {
  return math::TanhOp::create(builder, loc, x);
}

static Value gelu(GeluOp op, OpBuilder &builder, Location loc, Value x) {
  Type type = x.getType();
  auto times = [&](Value lhs, Value rhs) -> Value {
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  };
  Value bend;
  if (op.getTanh()) {
    Value cube = times(times(x, x), x);
    Value inner = arith::AddFOp::create(
        builder, loc, x, times(number(builder, loc, type, 0.044715), cube));
    // sqrt(2 / pi)
    Value scale = number(builder, loc, type, 0.79788456080286535588);
    bend = math::TanhOp::create(builder, loc, times(scale, inner));
  } else {
    Value scale = number(builder, loc, type, 0.70710678118654752440);
    bend = math::ErfOp::create(builder, loc, times(x, scale));
  }
  Value sum =
      arith::AddFOp::create(builder, loc, number(builder, loc, type, 1), bend);
  return times(times(number(builder, loc, type, 0.5), x), sum);
}

static Value convert(CastOp op, OpBuilder &builder, Location loc, Value x) {
  Type from = x.getType(), to = op.getResult().getType().getElementType();
  if (from == to)
    return x;
  // i1 counts as 0 and 1, without a sign.
  if (isa<FloatType>(to) && from.isInteger(1))
    return arith::UIToFPOp::create(builder, loc, to, x);
  if (isa<FloatType>(to) && isa<IntegerType>(from))
    return arith::SIToFPOp::create(builder, loc, to, x);
  if (from.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, to, x);
  if (isa<IntegerType>(from))
    return arith::ExtSIOp::create(builder, loc, to, x);
  if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, to, x);
  return arith::TruncFOp::create(builder, loc, to, x);
}

namespace {

template <class Op, Value (*scalar)(Op, OpBuilder &, Location, Value)>
struct LowerUnary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    replaceByElementwise(rewriter, op, op.getInput(),
                         [&](OpBuilder &builder, Location loc, ValueRange x) {
                           return scalar(op, builder, loc, x[0]);
                         });
    return success();
  }
};

template <class Op, class FloatOp, class IntegerOp>
struct LowerBinary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    replaceByElementwise(
        rewriter, op, op->getOperands(),
        [](OpBuilder &builder, Location loc, ValueRange x) -> Value {
          if (isa<FloatType>(x[0].getType()))
            return FloatOp::create(builder, loc, x[0], x[1]);
          return IntegerOp::create(builder, loc, x[0], x[1]);
        });
    return success();
  }
};

struct LowerCompare : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CompareOp op,
                                PatternRewriter &rewriter) const override {
    arith::CmpIPredicate relation = [&] {
      switch (op.getRelation()) {
      case Comparison::eq:
        return arith::CmpIPredicate::eq;
      case Comparison::ne:
        return arith::CmpIPredicate::ne;
      case Comparison::lt:
        return arith::CmpIPredicate::slt;
      case Comparison::le:
        return arith::CmpIPredicate::sle;
      case Comparison::gt:
        return arith::CmpIPredicate::sgt;
      case Comparison::ge:
        return arith::CmpIPredicate::sge;
      }
      llvm_unreachable("all relations are covered");
    }();
    replaceByElementwise(
        rewriter, op, op->getOperands(),
        [&](OpBuilder &builder, Location loc, ValueRange x) -> Value {
          return arith::CmpIOp::create(builder, loc, relation, x[0], x[1]);
        });
    return success();
  }
};

struct DropoutModel : KernelModel<DropoutModel, DropoutOp> {
  LogicalResult write(DropoutOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    std::string suffix = kernelSuffix(type.getElementType());
    // Sizes and global strides, at least of one dimension.
    SmallVector<int64_t> dims;
    ArrayRef<int64_t> whole = op.getGlobalShape().value_or(type.getShape());
    uint64_t stride = 1;
    for (unsigned dim = type.getRank(); dim-- > 0; stride *= whole[dim])
      dims.insert(dims.begin(),
                  {type.getDimSize(dim), static_cast<int64_t>(stride)});
    if (dims.empty())
      dims = {1, 1};
    auto table =
        RankedTensorType::get({static_cast<int64_t>(dims.size()) / 2, 2},
                              IntegerType::get(op.getContext(), 64));
    call.tensor(op.getInput());
    call.tensor(op.getSeed());
    call.table(DenseIntElementsAttr::get(table, dims), /*withColumns=*/false);
    call.index(op.getOrigin());
    call.real(op.getRate().convertToDouble());
    call.integer(static_cast<int64_t>(op.getSite()));
    return call.finish("tp_dropout" + suffix);
  }
};

struct LowerMaximum : OpRewritePattern<MaximumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaximumOp op,
                                PatternRewriter &rewriter) const override {
    replaceByElementwise(rewriter, op, op->getOperands(),
                         [](OpBuilder &builder, Location loc, ValueRange x) {
                           return takeLarger(builder, loc, x[0], x[1]);
                         });
    return success();
  }
};

struct LowerDiv : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    replaceByElementwise(
        rewriter, op, op->getOperands(),
        [](OpBuilder &builder, Location loc, ValueRange x) -> Value {
          return arith::DivFOp::create(builder, loc, x[0], x[1]);
        });
    return success();
  }
};

struct LowerConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, op.getResult().getType(), cast<TypedAttr>(op.getValue()));
    return success();
  }
};

} // namespace

void tp::addElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerUnary<ExpOp, exp>, LowerUnary<LogOp, log>,
               LowerUnary<SigmoidOp, sigmoid>, LowerUnary<ReluOp, relu>,
               LowerUnary<SiluOp, silu>, LowerUnary<TanhOp, tanhOf>,
               LowerUnary<GeluOp, gelu>, LowerUnary<CastOp, convert>,
               LowerCompare, LowerMaximum, LowerDiv,
               LowerBinary<AddOp, arith::AddFOp, arith::AddIOp>,
               LowerBinary<SubOp, arith::SubFOp, arith::SubIOp>,
               LowerBinary<MulOp, arith::MulFOp, arith::MulIOp>, LowerConstant>(
      patterns.getContext());
}

void tp::addElementwiseModels(MLIRContext &context) {
  DropoutOp::attachInterface<DropoutModel>(context);
}
