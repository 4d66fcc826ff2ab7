// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_ENGINE_H
#define TP_RUN_ENGINE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "tp/Run/Signature.h"

namespace tp {

/// Machine code of one program, compiled for this processor. The ranks share
/// it; each runs the function that is its own.
class Engine {
public:
  /// Lowers a module of the local phase (which is changed) and compiles it at
  /// O3. Errors have been reported as diagnostics where they belong to an
  /// operation.
  static llvm::Expected<std::unique_ptr<Engine>>
  create(mlir::ModuleOp localModule, const Signature &signature);

  class Call;

private:
  Engine() = default;

  std::unique_ptr<mlir::ExecutionEngine> engine;
  using Entry = void (*)(void **);
  /// By number of the function.
  llvm::SmallVector<Entry> entries;
  Signature signature;
};

/// One call of the program by one rank. Generated code that fails is left
/// without running destructors (runtime::runRank), so what the call needs is
/// packed before it and copied out after it, here.
class Engine::Call {
public:
  /// `arguments` are those of `rank` and must outlive the call.
  Call(const Engine &engine, int64_t rank, llvm::ArrayRef<Array> arguments);
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// Runs the program on the current thread, which must be a rank of the
  /// run-time library (RankScope).
  void run() { entry(packed.data()); }

  /// Copies of the results of a run that has ended well, which lie in the
  /// rank's memory: to be taken before its scope ends.
  std::vector<Array> results() const;

private:
  using Words = llvm::SmallVector<int64_t>;
  const Engine &engine;
  int64_t rank;
  Entry entry;
  /// The memref descriptors of the results, row by row, and of each argument.
  Words resultWords;
  llvm::SmallVector<Words> argumentWords;
  llvm::SmallVector<void *> pointers, packed;
};

} // namespace tp

#endif // TP_RUN_ENGINE_H
