// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

LogicalResult EmbeddingOp::verify() {
  RankedTensorType table = getTable().getType(), ids = getIds().getType(),
                   result = getResult().getType();
  if (table.getRank() != 2)
    return emitOpError() << "table of rank " << table.getRank()
                         << "; [vocabulary, width] is wanted";
  if (table.getElementType() != result.getElementType())
    return emitOpError() << "table of element type " << table.getElementType()
                         << " for a result of " << result.getElementType();
  SmallVector<int64_t> expected(ids.getShape());
  expected.push_back(table.getDimSize(1));
  if (result.getShape() != ArrayRef(expected))
    return emitOpError() << "result shape [" << result.getShape()
                         << "] should be [" << ArrayRef(expected) << "]";
  if (getVocabulary() &&
      static_cast<int64_t>(*getVocabulary()) < table.getDimSize(0))
    return emitOpError() << "a vocabulary of " << *getVocabulary()
                         << " has no shard of " << table.getDimSize(0)
                         << " rows";
  return success();
}

ShardingRule EmbeddingOp::getShardingRule() {
  ShardingRuleBuilder builder;
  RankedTensorType table = getTable().getType();
  unsigned vocabulary =
      builder.factor("vocabulary", table.getDimSize(0), FactorKind::Sum);
  SmallVector<DimFactors> dims;
  SmallVector<unsigned> work;
  for (auto [index, size] : llvm::enumerate(getIds().getType().getShape())) {
    work.push_back(builder.factor("t" + std::to_string(index), size));
    dims.push_back({work.back()});
  }
  SmallVector<DimFactors> ids = dims;
  unsigned width = builder.factor("width", table.getDimSize(1));
  work.push_back(width);
  dims.push_back({width});
  return builder.operand({{vocabulary}, {width}})
      .operand(ids)
      .result(dims)
      .linearIn({0})
      .work(0, work)
      .looksUp(0)
      .build();
}

std::optional<int64_t> EmbeddingOp::getIndexBound(unsigned number) {
  if (number != 1)
    return std::nullopt;
  return getVocabulary() ? static_cast<int64_t>(*getVocabulary())
                         : getTable().getType().getDimSize(0);
}

Operation *EmbeddingOp::writeLocal(OpBuilder &builder, ValueRange operands,
                                   TypeRange resultTypes) {
  Value origin = createShardOrigin(builder, getLoc(), getTable(), 0);
  IntegerAttr vocabulary;
  if (origin)
    vocabulary = builder.getI64IntegerAttr(getTable().getType().getDimSize(0));
  return EmbeddingOp::create(builder, getLoc(), resultTypes[0], operands[0],
                             operands[1], origin, vocabulary);
}
