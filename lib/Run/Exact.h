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

  /// What differs: an output with the rank and the index of its first element
  /// that does, ranks that disagree, or what keeps the ranks from being
  /// evaluated. Errors are those of the unsharded program and of its inputs,
  /// and `ZeroDenominatorError`.
  llvm::Expected<std::vector<std::string>> differences();

private:
  using Tensors = std::vector<TensorOf<Field>>;

  llvm::Expected<Tensors> drawWhole(llvm::ArrayRef<Port> ports) const;
  llvm::Expected<std::vector<Tensors>> drawParts(llvm::ArrayRef<Port> openPorts,
                                                 const Tensors &whole) const;
  std::string differenceOf(unsigned output, const TensorOf<Field> &expected,
                           llvm::ArrayRef<Tensors> actual) const;
};

} // namespace tp

#endif // TP_RUN_EXACT_H
