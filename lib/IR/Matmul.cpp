// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

namespace {

/// The two matrix dimensions of an operand, by role.
struct MatrixDims {
  int64_t rows, columns;
};

} // namespace

static MatrixDims getMatrixDims(RankedTensorType type, bool transposed) {
  ArrayRef<int64_t> last = type.getShape().take_back(2);
  return transposed ? MatrixDims{last[1], last[0]}
                    : MatrixDims{last[0], last[1]};
}

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(),
                   result = getResult().getType();
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return emitOpError() << "operands of rank " << lhs.getRank() << " and "
                         << rhs.getRank() << "; a matrix has rank 2 or more";
  if (rhs.getRank() != 2 && rhs.getRank() != lhs.getRank())
    return emitOpError() << "the right operand has rank " << rhs.getRank()
                         << "; it must be 2 (shared by the batch) or the left "
                            "operand's "
                         << lhs.getRank();
  ArrayRef<int64_t> batch = lhs.getShape().drop_back(2);
  if (rhs.getRank() != 2 && rhs.getShape().drop_back(2) != batch)
    return emitOpError() << "batch dimensions [" << batch << "] and ["
                         << rhs.getShape().drop_back(2) << "] differ";
  MatrixDims a = getMatrixDims(lhs, getTransposeA());
  MatrixDims b = getMatrixDims(rhs, getTransposeB());
  if (a.columns != b.rows)
    return emitOpError() << "contracts " << a.columns << " columns with "
                         << b.rows << " rows";
  SmallVector<int64_t> expected(batch);
  expected.append({a.rows, b.columns});
  if (result.getShape() != ArrayRef(expected))
    return emitOpError() << "result shape [" << result.getShape()
                         << "] should be [" << ArrayRef(expected) << "]";
  return success();
}

ShardingRule MatmulOp::getShardingRule() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> batch;
  for (auto [index, size] : llvm::enumerate(lhs.getShape().drop_back(2)))
    batch.push_back({builder.factor("b" + std::to_string(index), size)});
  MatrixDims a = getMatrixDims(lhs, getTransposeA());
  unsigned m = builder.factor("m", a.rows);
  unsigned k = builder.factor("k", a.columns, FactorKind::Sum);
  unsigned n = builder.factor("n", getMatrixDims(rhs, getTransposeB()).columns);

  auto matrix = [&](ArrayRef<DimFactors> leading, unsigned row, unsigned column,
                    bool transposed) {
    SmallVector<DimFactors> dims(leading);
    dims.push_back({transposed ? column : row});
    dims.push_back({transposed ? row : column});
    return dims;
  };
  bool shared = rhs.getRank() == 2 && lhs.getRank() != 2;
  builder.operand(matrix(batch, m, k, getTransposeA()))
      .operand(matrix(shared ? ArrayRef<DimFactors>() : ArrayRef(batch), k, n,
                      getTransposeB()))
      .result(matrix(batch, m, n, false));
  return builder.linearIn({0}).linearIn({1}).build();
}

Work MatmulOp::getWork() { return {.flopsPerPoint = 2}; }
