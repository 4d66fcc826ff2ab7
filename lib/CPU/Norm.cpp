// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"

using namespace mlir;
using namespace tp;

namespace {

struct RMSNormModel : KernelModel<RMSNormModel, RMSNormOp> {
  LogicalResult write(RMSNormOp op, KernelCall &call) const {
    RankedTensorType type = op.getInput().getType();
    FailureOr<std::string> suffix = kernelSuffix(op, type.getElementType());
    if (failed(suffix))
      return failure();
    int64_t rows = 1;
    for (int64_t size : type.getShape().drop_back())
      rows *= size;
    call.tensor(op.getInput());
    call.tensor(op.getGain());
    call.integer(rows);
    call.integer(type.getShape().back());
    call.real(op.getEpsilon().convertToDouble());
    return call.finish("tp_rms_norm" + *suffix);
  }
};

} // namespace

void tp::addNormModels(MLIRContext &context) {
  RMSNormOp::attachInterface<RMSNormModel>(context);
}
