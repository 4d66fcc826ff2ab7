// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Where a shard begins, as arithmetic on the number of the rank: the same
/// algebra as getRange of IR/LocalShape.h.

#include "CPU/Patterns.h"
#include "tp/IR/Sharding.h"

using namespace mlir;
using namespace tp;

namespace {

/// Index arithmetic in short; constants fold later.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;

  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value plus(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  Value times(Value lhs, Value rhs) {
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  }
  Value over(Value lhs, int64_t rhs) {
    return arith::DivUIOp::create(builder, loc, lhs, number(rhs));
  }
  Value modulo(Value lhs, int64_t rhs) {
    return arith::RemUIOp::create(builder, loc, lhs, number(rhs));
  }
  Value less(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lhs,
                                 rhs);
  }
};

} // namespace

/// The number of the rank, from the run-time library.
static Value callRank(OpBuilder &builder, Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol("tp_rank")) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    func::FuncOp::create(builder, op->getLoc(), "tp_rank",
                         builder.getFunctionType({}, builder.getI64Type()))
        .setPrivate();
  }
  auto call = func::CallOp::create(builder, op->getLoc(), "tp_rank",
                                   TypeRange(builder.getI64Type()));
  return arith::IndexCastOp::create(builder, op->getLoc(),
                                    builder.getIndexType(), call.getResult(0));
}

static Value coordinate(Arithmetic make, Value rank, const AxisPart &part,
                        MeshAttr mesh) {
  int64_t axisSize = mesh.getAxes()[part.axis].getSize();
  Value onAxis =
      make.modulo(make.over(rank, mesh.getStride(part.axis)), axisSize);
  return make.modulo(make.over(onAxis, axisSize / (part.pre * part.size)),
                     part.size);
}

static LogicalResult lower(ShardOriginOp op) {
  OpBuilder builder(op);
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  if (!mesh)
    return op.emitOpError() << "names mesh " << op.getMeshAttr()
                            << ", which the module does not have";
  SmallVector<Attribute> axes(op.getSplit().getAxes());
  FailureOr<AxisParts> parts = resolveAxes(builder.getArrayAttr(axes), mesh);
  if (failed(parts))
    return op.emitOpError() << "names an axis that mesh " << op.getMeshAttr()
                            << " does not have";
  Arithmetic make{builder, op.getLoc()};
  int64_t unit = op.getSplit().getUnit();
  Value rank = callRank(builder, op);
  Value offset = make.number(0);
  Value size = make.number(static_cast<int64_t>(op.getSize()) / unit);
  for (const AxisPart &part : *parts) {
    Value place = coordinate(make, rank, part, mesh);
    Value base = make.over(size, part.size);
    Value extra = make.modulo(size, part.size);
    Value before = arith::MinUIOp::create(builder, op.getLoc(), place, extra);
    offset = make.plus(offset, make.plus(make.times(place, base), before));
    Value hasMore =
        arith::SelectOp::create(builder, op.getLoc(), make.less(place, extra),
                                make.number(1), make.number(0));
    size = make.plus(base, hasMore);
  }
  op.replaceAllUsesWith(make.times(offset, make.number(unit)));
  op.erase();
  return success();
}

LogicalResult tp::lowerShardOrigins(ModuleOp module) {
  WalkResult result = module.walk([](ShardOriginOp op) {
    return failed(lower(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
