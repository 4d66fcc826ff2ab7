// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_ENGINE_H
#define TP_RUN_ENGINE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "tp/Run/Signature.h"

namespace tp {

/// Machine code of one program, compiled for this processor. All ranks share
/// it.
class Engine {
public:
  /// Lowers a module of the local phase (which is changed) and compiles it at
  /// O3. Errors have been reported as diagnostics where they belong to an
  /// operation.
  static llvm::Expected<std::unique_ptr<Engine>>
  create(mlir::ModuleOp localModule, const Signature &signature);

  /// Runs the program on the current thread, which must be a rank of the
  /// run-time library (RankScope), and copies its results out.
  std::vector<Array> call(llvm::ArrayRef<Array> arguments) const;

private:
  Engine() = default;

  std::unique_ptr<mlir::ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
  std::vector<Port> results;
};

} // namespace tp

#endif // TP_RUN_ENGINE_H
