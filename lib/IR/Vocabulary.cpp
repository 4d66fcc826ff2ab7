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
  SmallVector<int64_t> expected(ids.getShape());
  expected.push_back(table.getDimSize(1));
  if (result.getShape() != ArrayRef(expected))
    return emitOpError() << "result shape [" << result.getShape()
                         << "] should be [" << ArrayRef(expected) << "]";
  auto vocabulary = static_cast<int64_t>(getVocabulary().value_or(0));
  if (vocabulary < 0)
    return emitOpError() << "a vocabulary of " << vocabulary << " rows";
  // The rows of a shard are some of the table's.
  if (!getOrigin() && vocabulary > table.getDimSize(0))
    return emitOpError() << "a vocabulary of " << vocabulary
                         << " in a table of " << table.getDimSize(0) << " rows";
  return success();
}

ShardingRule EmbeddingOp::getShardingRule() {
  ShardingRuleBuilder builder;
  RankedTensorType table = getTable().getType();
  unsigned vocabulary =
      builder.factor("vocabulary", table.getDimSize(0), FactorKind::Sum);
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(getIds().getType().getShape())) {
    dims.push_back({builder.factor("t" + std::to_string(index), size)});
  }
  SmallVector<DimFactors> ids = dims;
  unsigned width = builder.factor("width", table.getDimSize(1));
  dims.push_back({width});
  return builder.operand({{vocabulary}, {width}})
      .operand(ids)
      .result(dims)
      .linearIn({0})
      .dependsOnPosition({vocabulary})
      .build();
}

std::optional<int64_t> EmbeddingOp::getIndexBound(unsigned number) {
  if (number != 1)
    return std::nullopt;
  return getVocabulary() ? static_cast<int64_t>(*getVocabulary())
                         : getTable().getType().getDimSize(0);
}

// Rows are read, not computed.
Work EmbeddingOp::getWork() { return {.lookedUp = 0}; }

Operation *EmbeddingOp::writeLocal(LocalWriter &writer) {
  Value origin = writer.getOrigin(getTable(), 0);
  auto local = cast<EmbeddingOp>(writer.copy(origin));
  if (origin && !getVocabulary())
    local.setVocabularyAttr(writer.toAttr(writer.getSize(getTable(), 0)));
  return local;
}

//===- Targets ------------------------------------------------------------===//

/// One target for each row of logits.
static LogicalResult verifyTargets(Operation *op) {
  auto logits = cast<RankedTensorType>(op->getOperand(0).getType());
  auto targets = cast<RankedTensorType>(op->getOperand(1).getType());
  if (logits.getRank() < 1)
    return op->emitOpError() << "logits need a dimension of classes";
  if (targets.getShape() != logits.getShape().drop_back())
    return op->emitOpError()
           << "targets of shape [" << targets.getShape()
           << "] for logits of shape [" << logits.getShape() << "]";
  return success();
}

/// A given number of classes is at most that of the columns.
static LogicalResult verifyClasses(Operation *op,
                                   std::optional<int64_t> vocabulary,
                                   int64_t columns) {
  if (!vocabulary || (*vocabulary >= 0 && *vocabulary <= columns))
    return success();
  return op->emitOpError() << "vocabulary = " << *vocabulary << " of "
                           << columns << " columns";
}

static std::optional<int64_t> toSigned(std::optional<uint64_t> value) {
  if (!value)
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

LogicalResult TakeTargetOp::verify() {
  if (failed(verifyTargets(*this)))
    return failure();
  RankedTensorType targets = getTargets().getType();
  if (getResult().getType().getShape() != targets.getShape())
    return emitOpError() << "result shape [" << getResult().getType().getShape()
                         << "] should be the targets', [" << targets.getShape()
                         << "]";
  if (!getOrigin())
    return verifyClasses(*this, toSigned(getVocabulary()),
                         getLogits().getType().getShape().back());
  if (!getVocabulary())
    return emitOpError() << "has an origin but no vocabulary that it is a "
                            "place in";
  return success();
}

ShardingRule TakeTargetOp::getShardingRule() {
  ShardingRuleBuilder builder;
  ArrayRef<int64_t> shape = getLogits().getType().getShape();
  SmallVector<DimFactors> tokens;
  for (auto [index, size] : llvm::enumerate(shape.drop_back())) {
    tokens.push_back({builder.factor("t" + std::to_string(index), size)});
  }
  SmallVector<DimFactors> logits = tokens;
  unsigned classes = builder.factor("classes", shape.back(), FactorKind::Sum);
  logits.push_back({classes});
  return builder.operand(logits)
      .operand(tokens)
      .result(tokens)
      .linearIn({0})
      .dependsOnPosition({classes})
      .build();
}

std::optional<int64_t> TakeTargetOp::getIndexBound(unsigned number) {
  if (number != 1)
    return std::nullopt;
  return toSigned(getVocabulary())
      .value_or(getLogits().getType().getShape().back());
}

// Elements are read, not computed.
Work TakeTargetOp::getWork() { return {.lookedUp = 0}; }

Operation *TakeTargetOp::writeLocal(LocalWriter &writer) {
  unsigned classes = getLogits().getType().getRank() - 1;
  Value origin = writer.getOrigin(getLogits(), classes);
  auto local = cast<TakeTargetOp>(writer.copy(origin));
  if (origin && !getVocabulary())
    local.setVocabularyAttr(
        writer.toAttr(writer.getSize(getLogits(), classes)));
  return local;
}

//===- Cross entropy ------------------------------------------------------===//

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyTargets(*this)))
    return failure();
  int64_t columns = getLogits().getType().getShape().back();
  if (failed(verifyClasses(*this, toSigned(getVocabulary()), columns)))
    return failure();
  if (columns == 0 || getVocabulary() == 0)
    return emitOpError() << "has no class to choose";
  if (getResult().getType().getRank() != 0)
    return emitOpError() << "result of shape ["
                         << getResult().getType().getShape()
                         << "]; the mean is one number";
  double smoothing = getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1))
    return emitOpError() << "label_smoothing = " << smoothing
                         << " must be from 0 to 1";
  return success();
}

ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRuleBuilder builder;
  ArrayRef<int64_t> shape = getLogits().getType().getShape();
  SmallVector<DimFactors> logits;
  for (auto [index, size] : llvm::enumerate(shape.drop_back()))
    logits.push_back(
        {builder.factor("t" + std::to_string(index), size, FactorKind::Whole)});
  SmallVector<DimFactors> targets = logits;
  logits.push_back(
      {builder.factor("classes", shape.back(), FactorKind::Whole)});
  return builder.operand(logits).operand(targets).result({}).build();
}

// A maximum, a difference, an exponential, and up to three sums.
Work CrossEntropyOp::getWork() { return {.flopsPerPoint = 6}; }

std::optional<int64_t> CrossEntropyOp::getIndexBound(unsigned number) {
  if (number != 1)
    return std::nullopt;
  return toSigned(getVocabulary())
      .value_or(getLogits().getType().getShape().back());
}

//===- Padding ------------------------------------------------------------===//

LogicalResult MaskPaddingOp::verify() {
  RankedTensorType input = getInput().getType();
  if (input.getRank() == 0)
    return emitOpError() << "a scalar has no columns";
  auto valid = static_cast<int64_t>(getValid());
  int64_t columns = input.getShape().back();
  if (valid < 0 || (!getOrigin() && valid > columns))
    return emitOpError() << valid << " columns of " << columns
                         << " cannot be valid";
  return success();
}

ShardingRule MaskPaddingOp::getShardingRule() {
  ShardingRuleBuilder builder;
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(getInput().getType().getShape()))
    dims.push_back({builder.factor("d" + std::to_string(index), size)});
  return builder.operand(dims)
      .result(dims)
      .dependsOnPosition(dims.back())
      .build();
}

Work MaskPaddingOp::getWork() {
  return {.flopsPerPoint = 1, .kept = KeptForBackward::Nothing};
}

Operation *MaskPaddingOp::writeLocal(LocalWriter &writer) {
  unsigned columns = getInput().getType().getRank() - 1;
  return writer.copy(writer.getOrigin(getInput(), columns));
}
