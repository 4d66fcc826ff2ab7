// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"

using namespace mlir;
using namespace tp;

namespace {

struct MatmulModel : KernelModel<MatmulModel, MatmulOp> {
  LogicalResult write(MatmulOp op, KernelCall &call) const {
    std::string suffix =
        kernelSuffix(op.getResult().getType().getElementType());
    ArrayRef<int64_t> out = op.getResult().getType().getShape();
    ArrayRef<int64_t> lhs = op.getLhs().getType().getShape();
    bool batched = op.getRhs().getType().getRank() > 2;
    int64_t batch = 1, rows = out[out.size() - 2], columns = out.back();
    for (int64_t size : out.drop_back(2))
      batch *= size;
    int64_t depth = lhs[lhs.size() - (op.getTransposeA() ? 2 : 1)];
    // One tall product beats many small ones that share the right operand.
    if (!batched && !op.getTransposeA()) {
      rows *= batch;
      batch = 1;
    }
    call.tensor(op.getLhs());
    call.tensor(op.getRhs());
    for (int64_t size : {batch, rows, columns, depth})
      call.integer(size);
    for (bool flag : {batched, op.getTransposeA(), op.getTransposeB()})
      call.integer(flag);
    return call.finish("tp_matmul" + suffix);
  }
};

} // namespace

void tp::addMatmulModels(MLIRContext &context) {
  MatmulOp::attachInterface<MatmulModel>(context);
}
