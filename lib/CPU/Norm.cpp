// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"

using namespace mlir;
using namespace tp;

/// Rows of the normalised tensor.
static int64_t countRows(RankedTensorType type) {
  int64_t rows = 1;
  for (int64_t size : type.getShape().drop_back())
    rows *= size;
  return rows;
}

namespace {

struct RMSNormModel : KernelModel<RMSNormModel, RMSNormOp> {
  LogicalResult write(RMSNormOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    std::string suffix = kernelSuffix(type.getElementType());
    call.tensor(op.getInput());
    call.tensor(op.getGain());
    call.integer(countRows(type));
    call.integer(type.getShape().back());
    call.real(op.getEpsilon().convertToDouble());
    return call.finish("tp_rms_norm" + suffix);
  }
};

struct LayerNormModel : KernelModel<LayerNormModel, LayerNormOp> {
  LogicalResult write(LayerNormOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    std::string suffix = kernelSuffix(type.getElementType());
    call.tensor(op.getInput());
    call.tensor(op.getGain());
    // Without a bias its place is taken by what is there, and not read.
    call.tensor(op.getBias() ? op.getBias() : op.getGain());
    call.integer(countRows(type));
    call.integer(type.getShape().back());
    call.real(op.getEpsilon().convertToDouble());
    call.integer(op.getBias() != nullptr);
    return call.finish("tp_layer_norm" + suffix);
  }
};

} // namespace

void tp::addNormModels(MLIRContext &context) {
  RMSNormOp::attachInterface<RMSNormModel>(context);
  LayerNormOp::attachInterface<LayerNormModel>(context);
}
