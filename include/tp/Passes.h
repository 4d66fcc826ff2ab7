// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The passes; Passes.td says what each does.

#ifndef TP_PASSES_H
#define TP_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tp {

#define GEN_PASS_DECL
#include "tp/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tp/Passes.h.inc"

} // namespace tp

#endif // TP_PASSES_H
