// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_CPU_KERNELCALL_H
#define TP_CPU_KERNELCALL_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "tp/IR/TP.h"

namespace tp {

/// On the declaration of a call on buffers: the function of Runtime/Abi.h that
/// it stands for.
inline constexpr llvm::StringLiteral runtimeAttrName = "tp.runtime";
/// On a collective of the local phase: which one of the program it is.
inline constexpr llvm::StringLiteral siteAttrName = "tp.site";

/// Writes the call that replaces one operation. The result is a fresh buffer
/// and the first argument; the others follow in the order in which they are
/// added. Buffers are passed as unranked memrefs until RuntimeCalls.cpp takes
/// their pointers, so that the passes in between see who uses which buffer.
class KernelCall {
public:
  KernelCall(mlir::RewriterBase &rewriter, mlir::Operation *op,
             const mlir::bufferization::BufferizationOptions &options,
             mlir::bufferization::BufferizationState &state)
      : rewriter(rewriter), op(op), options(options), state(state) {}

  /// A tensor operand; it is copied if its buffer is not contiguous.
  void tensor(mlir::Value operand);
  void integer(int64_t value);
  /// A value of type index; `otherwise` if null.
  void index(mlir::Value value, int64_t otherwise = 0);
  void real(double value);
  /// The numbers of a table, by pointer.
  void numbers(mlir::DenseIntElementsAttr table);
  /// A table of ranks: pointer, rows and, if `withColumns`, columns.
  void table(mlir::DenseIntElementsAttr ranks, bool withColumns);

  /// Calls `function` and replaces the operation.
  llvm::LogicalResult finish(llvm::StringRef function);
  /// The same for a collective, which takes its site too.
  llvm::LogicalResult finishCollective(llvm::StringRef function);

private:
  void buffer(mlir::Value memref);
  mlir::func::FuncOp declare(llvm::StringRef function);

  mlir::RewriterBase &rewriter;
  mlir::Operation *op;
  const mlir::bufferization::BufferizationOptions &options;
  mlir::bufferization::BufferizationState &state;
  llvm::SmallVector<mlir::Value> arguments;
  bool broken = false;
};

/// "_f32" or "_f64". Programs have no other floating-point types after
/// widenFloats.
std::string kernelSuffix(mlir::Type elementType);

/// Bufferization model of an operation that reads its tensor operands and fills
/// a fresh buffer by one call. `Derived` writes the call:
/// `LogicalResult write(Op, KernelCall &) const`.
template <class Derived, class ConcreteOp>
struct KernelModel
    : mlir::bufferization::BufferizableOpInterface::ExternalModel<Derived,
                                                                  ConcreteOp> {
  bool bufferizesToAllocation(mlir::Operation *, mlir::Value) const {
    return true;
  }
  bool
  bufferizesToMemoryRead(mlir::Operation *, mlir::OpOperand &,
                         const mlir::bufferization::AnalysisState &) const {
    return true;
  }
  bool
  bufferizesToMemoryWrite(mlir::Operation *, mlir::OpOperand &,
                          const mlir::bufferization::AnalysisState &) const {
    return false;
  }
  mlir::bufferization::AliasingValueList
  getAliasingValues(mlir::Operation *, mlir::OpOperand &,
                    const mlir::bufferization::AnalysisState &) const {
    return {};
  }
  mlir::FailureOr<mlir::bufferization::BufferLikeType>
  getBufferType(mlir::Operation *, mlir::Value value,
                const mlir::bufferization::BufferizationOptions &,
                const mlir::bufferization::BufferizationState &,
                llvm::SmallVector<mlir::Value> &) const {
    auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
    return mlir::cast<mlir::bufferization::BufferLikeType>(
        mlir::MemRefType::get(type.getShape(), type.getElementType()));
  }
  llvm::LogicalResult
  bufferize(mlir::Operation *op, mlir::RewriterBase &rewriter,
            const mlir::bufferization::BufferizationOptions &options,
            mlir::bufferization::BufferizationState &state) const {
    KernelCall call(rewriter, op, options, state);
    return static_cast<const Derived *>(this)->write(mlir::cast<ConcreteOp>(op),
                                                     call);
  }
};

} // namespace tp

#endif // TP_CPU_KERNELCALL_H
