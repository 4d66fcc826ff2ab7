// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tp;

//===- Rope ---------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  RankedTensorType input = getInput().getType();
  if (input.getRank() != 4)
    return emitOpError() << "operand of rank " << input.getRank()
                         << "; [batch, sequence, heads, d] is wanted";
  if (input.getDimSize(3) % 2 != 0)
    return emitOpError() << "turns pairs, but a head has "
                         << input.getDimSize(3) << " elements";
  double theta = getTheta().convertToDouble();
  if (!(theta > 0) || !std::isfinite(theta))
    return emitOpError() << "theta = " << theta
                         << " must be positive and finite";
  int64_t offset = getOffset();
  if (offset < 0 || !llvm::checkedAdd(offset, input.getDimSize(1)))
    return emitOpError() << "offset = " << offset << " is no position of a "
                         << "sequence of " << input.getDimSize(1);
  if (!getLlama3())
    return success();
  ArrayRef<double> scaling = *getLlama3();
  bool valid = scaling.size() == 4 && llvm::all_of(scaling, [](double value) {
                 return value > 0 && std::isfinite(value);
               });
  if (!valid || scaling[1] >= scaling[2])
    return emitOpError() << "llama3 must be [factor, low, high, original], all "
                            "positive, low < high";
  return success();
}

ShardingRule RopeOp::getShardingRule() {
  ShardingRuleBuilder builder;
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  unsigned batch = builder.factor("batch", shape[0]);
  unsigned sequence = builder.factor("sequence", shape[1]);
  unsigned heads = builder.factor("heads", shape[2]);
  unsigned headDim = builder.factor("head_dim", shape[3], FactorKind::Whole);
  SmallVector<DimFactors> dims = {{batch}, {sequence}, {heads}, {headDim}};
  return builder.operand(dims)
      .result(dims)
      .linearIn({0})
      .dependsOnPosition({sequence})
      .build();
}

Work RopeOp::getWork() { return {.flopsPerPoint = 3}; }

Operation *RopeOp::writeLocal(LocalWriter &writer) {
  Extent offset = writer.getNumber(static_cast<int64_t>(getOffset()));
  return writer.copy(writer.shift(writer.getOrigin(getInput(), 1), offset));
}

//===- Attention ----------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType(),
                   value = getValue().getType(), result = getResult().getType();
  for (RankedTensorType type : {query, key, value, result})
    if (type.getRank() != 4)
      return emitOpError() << "tensor of rank " << type.getRank()
                           << "; [batch, sequence, heads, d] is wanted";
  if (key.getShape() != value.getShape())
    return emitOpError() << "key shape [" << key.getShape()
                         << "] differs from value shape [" << value.getShape()
                         << "]";
  if (query.getShape() != result.getShape())
    return emitOpError() << "result shape [" << result.getShape()
                         << "] differs from query shape [" << query.getShape()
                         << "]";
  if (query.getDimSize(0) != key.getDimSize(0) ||
      query.getDimSize(3) != key.getDimSize(3))
    return emitOpError() << "query [" << query.getShape() << "] and key ["
                         << key.getShape() << "] differ in batch or head size";
  int64_t heads = query.getDimSize(2), kvHeads = key.getDimSize(2);
  bool grouped = kvHeads == 0 ? heads == 0 : heads % kvHeads == 0;
  if (!grouped)
    return emitOpError() << heads << " query heads are not a multiple of "
                         << kvHeads << " KV heads";
  if (!std::isfinite(getScale().convertToDouble()))
    return emitOpError() << "scale must be finite";
  return success();
}

/// Keys that a query sees on average. A causal mask is aligned to the end; half
/// of its diagonal is left out, so that as many keys as queries are half seen.
static double countVisibleKeys(AttentionOp op) {
  auto queries = static_cast<double>(op.getQuery().getType().getDimSize(1));
  auto keys = static_cast<double>(op.getKey().getType().getDimSize(1));
  if (!op.getCausal())
    return keys;
  return queries <= keys ? keys - queries / 2 : keys * keys / (2 * queries);
}

namespace {

/// The factors of attention's rule, by number.
enum AttentionFactor : unsigned {
  Batch,
  Queries,
  Keys,
  Groups,
  HeadsOfGroup,
  HeadDim
};

} // namespace

ShardingRule AttentionOp::getShardingRule() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  int64_t kvHeads = key.getDimSize(2);
  int64_t groupSize = kvHeads == 0 ? 1 : query.getDimSize(2) / kvHeads;
  ShardingRuleBuilder builder;
  builder.factor("batch", query.getDimSize(0));
  builder.factor("queries", query.getDimSize(1));
  builder.factor("keys", key.getDimSize(1), FactorKind::Whole);
  builder.factor("kv_heads", kvHeads);
  builder.factor("heads_of_group", groupSize);
  // Values could be split along it, but then the local operation would not have
  // keys and values of one shape.
  builder.factor("head_dim", query.getDimSize(3), FactorKind::Whole);
  SmallVector<DimFactors> ofQuery = {
      {Batch}, {Queries}, {Groups, HeadsOfGroup}, {HeadDim}};
  SmallVector<DimFactors> ofKey = {{Batch}, {Keys}, {Groups}, {HeadDim}};
  if (getCausal())
    builder.dependsOnPosition({Queries});
  return builder.operand(ofQuery)
      .operand(ofKey)
      .operand(ofKey)
      .result(ofQuery)
      .linearIn({2})
      .build();
}

FactorGrouping AttentionOp::getGrouping() { return {Groups, HeadsOfGroup}; }

/// Two products of 2 FLOPs for each pair that the mask leaves. Keys are summed
/// here, so that the count is a whole number.
Work AttentionOp::getWork() {
  return {.flopsPerPoint = 4 * countVisibleKeys(*this),
          .summedFactors = {Keys}};
}

/// The mask is aligned to the end: the first query sees the keys before it.
Operation *AttentionOp::writeLocal(LocalWriter &writer) {
  if (!getCausal())
    return writer.copy();
  Extent earlier = writer.getSize(getKey(), 1) - writer.getSize(getQuery(), 1);
  return writer.copy(writer.shift(writer.getOrigin(getQuery(), 1), earlier));
}
