// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPU/Patterns.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tp;

static bool isContiguous(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
}

/// The last operation of `block` that uses `buffer` or a view of it, other than
/// `free`; null if there is a use that no operation of the block holds.
static Operation *lastUse(memref::DeallocOp free,
                          const BufferViewFlowAnalysis &views) {
  Operation *last = free.getMemref().getDefiningOp();
  for (Value view : views.resolve(free.getMemref()))
    for (Operation *user : view.getUsers()) {
      Operation *inBlock = free->getBlock()->findAncestorOpInBlock(*user);
      if (!inBlock)
        return nullptr;
      if (inBlock != free && (!last || last->isBeforeInBlock(inBlock)))
        last = inBlock;
    }
  return last;
}

/// Moves each deallocation from the end of the block to the last use of its
/// buffer: the peak of a program's memory is what is live at once.
static void freeEarly(func::FuncOp function) {
  BufferViewFlowAnalysis views(function);
  SmallVector<memref::DeallocOp> frees;
  function.walk([&](memref::DeallocOp free) {
    Operation *source = free.getMemref().getDefiningOp();
    if (source && source->getBlock() == free->getBlock())
      frees.push_back(free);
  });
  for (memref::DeallocOp free : frees) {
    Operation *last = lastUse(free, views);
    if (last && last->isBeforeInBlock(free))
      free->moveAfter(last);
  }
}

namespace {

struct TidyBuffers : PassWrapper<TidyBuffers, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TidyBuffers)
  StringRef getName() const final { return "TidyBuffers"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<linalg::LinalgDialect, memref::MemRefDialect>();
  }

  void runOnOperation() final {
    SmallVector<memref::CopyOp> strided;
    getOperation().walk([&](memref::CopyOp copy) {
      if (!isContiguous(copy.getSource()) || !isContiguous(copy.getTarget()))
        strided.push_back(copy);
    });
    for (memref::CopyOp copy : strided) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
    }
    freeEarly(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> tp::createTidyBuffersPass() {
  return std::make_unique<TidyBuffers>();
}
