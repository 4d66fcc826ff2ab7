// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From steps between layouts to collectives.

#ifndef TP_IR_COLLECTIVE_H
#define TP_IR_COLLECTIVE_H

#include "tp/IR/TP.h"

namespace tp {

/// Writes the operation of `step`; the result type is given.
mlir::Value createStep(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, const LayoutStep &step,
                       mlir::Type result);

} // namespace tp

#endif // TP_IR_COLLECTIVE_H
