// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Registration for the tools.

#ifndef TP_INITALL_H
#define TP_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace tp {

/// The dialects that programs of any phase use, with the inliner's extension
/// of func.
void registerAllDialects(mlir::DialectRegistry &registry);

/// The tp passes and the upstream ones that are useful beside them.
void registerAllPasses();

} // namespace tp

#endif // TP_INITALL_H
