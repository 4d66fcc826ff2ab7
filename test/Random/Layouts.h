// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_TEST_RANDOM_LAYOUTS_H
#define TP_TEST_RANDOM_LAYOUTS_H

#include "OpenProgram.h"
#include "tp/IR/TP.h"

namespace tp::test {

/// Gives every value of an open program a layout, with reshards where uses want
/// another one, such that tp-check accepts each operation: layouts are drawn,
/// and drawn again when it does not. Adds a mesh to the module.
void assignLayouts(mlir::ModuleOp module, Chance &chance, bool allowUneven);

/// A layout for a tensor of `type`, legal by itself.
ShardingAttr randomSharding(mlir::RankedTensorType type, MeshAttr mesh,
                            mlir::FlatSymbolRefAttr meshName, Chance &chance,
                            bool allowUneven);

} // namespace tp::test

#endif // TP_TEST_RANDOM_LAYOUTS_H
