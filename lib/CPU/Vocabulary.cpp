// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/KernelCall.h"
#include "CPU/Patterns.h"

using namespace mlir;
using namespace tp;

namespace {

struct EmbeddingModel : KernelModel<EmbeddingModel, EmbeddingOp> {
  LogicalResult write(EmbeddingOp op, KernelCall &call) const {
    RankedTensorType table = op.getTable().getType();
    RankedTensorType ids = op.getIds().getType();
    FailureOr<std::string> suffix = kernelSuffix(op, table.getElementType());
    if (failed(suffix))
      return failure();
    call.tensor(op.getTable());
    call.tensor(op.getIds());
    call.integer(ids.getNumElements());
    call.integer(table.getDimSize(0));
    call.integer(table.getDimSize(1));
    call.index(op.getOrigin());
    call.integer(op.getVocabulary() ? static_cast<int64_t>(*op.getVocabulary())
                                    : table.getDimSize(0));
    bool isWide = ids.getElementType().isInteger(64);
    return call.finish("tp_embedding" + *suffix + (isWide ? "_i64" : "_i32"));
  }
};

} // namespace

void tp::addVocabularyModels(MLIRContext &context) {
  EmbeddingOp::attachInterface<EmbeddingModel>(context);
}
