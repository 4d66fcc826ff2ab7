// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_PROGRAM_H
#define TP_RUN_PROGRAM_H

#include "tp/Run/Compare.h"
#include "tp/Run/Engine.h"
#include "tp/Run/Ranks.h"
#include "tp/Run/Session.h"

namespace tp {

/// A program, ready to run.
struct Program {
  /// In the local phase.
  mlir::OwningOpRef<mlir::ModuleOp> local;
  Signature signature;
  std::unique_ptr<Engine> engine;

  /// The entry of `local`.
  RankFunctions entry() const;
};

/// Compiles a copy of `module`; one that is not yet in the local phase is
/// planned and partitioned first.
llvm::Expected<Program> compileProgram(mlir::ModuleOp module,
                                       const RunOptions &options);

/// Compiles a copy of `module` for one rank, without layouts and collectives.
llvm::Expected<Program> compileUnsharded(mlir::ModuleOp module,
                                         MeshAttr shardedMesh,
                                         const RunOptions &options);

/// What the outputs of a run are compared with, and how it went. Each output is
/// put together from the ranks: every element must be held, and be the same on
/// all ranks that hold it.
class Checks {
public:
  Checks(const Program &program, const RankResults &results,
         llvm::raw_ostream &out);

  /// Prints every output alone: shape, largest magnitude, whether finite.
  void summarise();
  /// Against the unsharded program, the f64 reference and the field. Where the
  /// results are of `inputs` as they are, further draws are run here.
  llvm::Error againstReferences(mlir::ModuleOp module, const Inputs &inputs,
                                const RunOptions &options);
  /// Against the outputs that a file names.
  llvm::Error againstFile(const SafetensorsFile &file);
  bool passed() const { return ok; }

private:
  bool reportFault(unsigned output);
  void reportDifference(unsigned output, const class NumericCheck &numeric,
                        bool isExact);
  llvm::Error checkExactly(mlir::func::FuncOp open, const Inputs &inputs,
                           uint64_t draws);

  const Program &program;
  /// One entry an output.
  std::vector<Assembled<double>> outputs;
  llvm::raw_ostream &out;
  bool ok = true;
};

} // namespace tp

#endif // TP_RUN_PROGRAM_H
