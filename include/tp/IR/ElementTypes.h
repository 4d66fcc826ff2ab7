// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What element types hold.

#ifndef TP_IR_ELEMENTTYPES_H
#define TP_IR_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace tp {

/// Whether every value of `from` is a value of `to`, so that a cast changes
/// nothing but the type. Integers have a sign; i1 is 0 or 1. No integer type
/// holds a floating-point one.
bool holdsEveryValue(mlir::Type to, mlir::Type from);

} // namespace tp

#endif // TP_IR_ELEMENTTYPES_H
