// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The parts of a cross entropy.

#ifndef TP_IR_DECOMPOSECROSSENTROPY_H
#define TP_IR_DECOMPOSECROSSENTROPY_H

#include "mlir/IR/Operation.h"

namespace tp {

/// Replaces every tp.cross_entropy in `root`. Values in between have no
/// encoding, as in open IR.
void decomposeCrossEntropy(mlir::Operation *root);

} // namespace tp

#endif // TP_IR_DECOMPOSECROSSENTROPY_H
