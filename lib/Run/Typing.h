// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What a program that is not yet local says of its layouts.

#ifndef TP_RUN_TYPING_H
#define TP_RUN_TYPING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tp {

/// The layouts of an entry and of all that it calls.
struct Typing {
  /// A tensor without a layout, in words, and where it is.
  struct OpenValue {
    std::string name;
    mlir::Location location;
  };
  std::optional<OpenValue> firstOpen;
  mlir::Operation *firstCollective = nullptr;
  bool hasLayout = false;

  /// Whether every tensor has a layout: nothing is left to plan.
  bool isTyped() const { return hasLayout && !firstOpen; }
};

Typing readTyping(mlir::func::FuncOp entry);

/// Leaves of the program in the global phase what `entry` reaches, and takes
/// out the meshes that only the rest was laid out on: the module has no other
/// entry then. Local functions stay.
void keepReachable(mlir::func::FuncOp entry);

/// Whether a typed program can be fed and read: what enters and leaves is
/// finished. Emits the errors.
mlir::LogicalResult checkEdges(mlir::func::FuncOp entry);

/// Whether a program that is to be planned leaves the collectives to the
/// planner. Emits the error: which value is still open.
mlir::LogicalResult checkPlannable(const Typing &typing);

} // namespace tp

#endif // TP_RUN_TYPING_H
