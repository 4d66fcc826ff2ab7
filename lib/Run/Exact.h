// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_EXACT_H
#define TP_RUN_EXACT_H

#include "tp/Reference/Evaluator.h"
#include "tp/Run/Inputs.h"

namespace tp {

/// One comparison in the field: the unsharded program and all ranks of the
/// local one, on the same random inputs.
struct ExactRun {
  mlir::func::FuncOp open;
  RankFunctions local;
  /// Of `local`.
  const Signature &signature;
  const Inputs &inputs;
  uint64_t key;
  EvaluationCounts whole = {}, sharded = {};

  /// Names of the outputs that differ, with a rank.
  llvm::Expected<std::vector<std::string>> differences();
};

} // namespace tp

#endif // TP_RUN_EXACT_H
