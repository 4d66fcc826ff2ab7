// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What a program's choices take of a rank's memory, and what it may take.

#ifndef TP_PLAN_MEMORYNEEDS_H
#define TP_PLAN_MEMORYNEEDS_H

#include "tp/Plan/Builder.h"
#include "tp/Solver/MemoryLimit.h"

namespace tp {

/// The options memory-limit and bytes-per-parameter, read.
struct MemoryWishes {
  /// As written.
  std::string limitText;
  /// Bytes; nothing if there is no limit.
  std::optional<uint64_t> limit;
  /// Bytes of an element of a parameter, with all that a step keeps for it as
  /// gradients and moments; 0 for those of its type.
  uint64_t bytesPerParameter = 0;

  /// Diagnoses what cannot be read.
  static mlir::FailureOr<MemoryWishes> parse(mlir::ModuleOp module,
                                             const PlanSettings &settings,
                                             const Machine &machine);
};

/// Sets the limit of the builder's problem and the memory of all choices; does
/// nothing without a limit.
///
/// Persistent: the largest shard of each argument of the entry. Working: the
/// largest shards of an operation's operands and results. An operand that is
/// such an argument counts only where it takes more than the argument's
/// smallest shard might: then it is a gathered copy. Values that merely live
/// on while an operation runs are not counted.
void addMemoryNeeds(const Graph &graph, const MemoryWishes &wishes,
                    ProblemBuilder &builder);

/// Reports that no plan fits, with what takes how much and what would fit.
mlir::LogicalResult diagnoseMemory(mlir::ModuleOp module, const Graph &graph,
                                   const MemoryWishes &wishes,
                                   const Problem &problem,
                                   const MemoryLimitError &error);

} // namespace tp

#endif // TP_PLAN_MEMORYNEEDS_H
