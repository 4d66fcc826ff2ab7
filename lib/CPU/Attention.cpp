// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"

using namespace mlir;
using namespace tp;

namespace {

struct RopeModel : KernelModel<RopeModel, RopeOp> {
  LogicalResult write(RopeOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    std::string suffix = kernelSuffix(type.getElementType());
    call.tensor(op.getInput());
    for (int64_t size : type.getShape())
      call.integer(size);
    call.index(op.getOrigin(), static_cast<int64_t>(op.getOffset()));
    call.real(op.getTheta().convertToDouble());
    // A factor of 0 says that nothing is scaled.
    static constexpr double unscaled[4] = {0, 0, 0, 0};
    for (double value : op.getLlama3().value_or(unscaled))
      call.real(value);
    return call.finish("tp_rope" + suffix);
  }
};

struct AttentionModel : KernelModel<AttentionModel, AttentionOp> {
  LogicalResult write(AttentionOp op, KernelCall &call) const {
    ArrayRef<int64_t> query = op.getQuery().getType().getShape();
    ArrayRef<int64_t> key = op.getKey().getType().getShape();
    std::string suffix = kernelSuffix(op.getQuery().getType().getElementType());
    for (Value tensor : {op.getQuery(), op.getKey(), op.getValue()})
      call.tensor(tensor);
    for (int64_t size :
         {query[0], query[1], key[1], query[2], key[2], query[3]})
      call.integer(size);
    call.real(op.getScale().convertToDouble());
    call.integer(op.getCausal());
    call.index(op.getOrigin(), key[1] - query[1]);
    return call.finish("tp_attention" + suffix);
  }
};

} // namespace

void tp::addAttentionModels(MLIRContext &context) {
  RopeOp::attachInterface<RopeModel>(context);
  AttentionOp::attachInterface<AttentionModel>(context);
}
