// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Writes a solved plan into the module.

#ifndef TP_PLAN_WRITER_H
#define TP_PLAN_WRITER_H

#include "tp/Plan/Builder.h"

namespace tp {

/// Gives every tensor its encoding and puts a tp.reshard before each use that
/// wants another layout. Functions get one copy for each distinct plan.
void writePlan(mlir::ModuleOp module, const Graph &graph,
               const ProblemBuilder &builder, llvm::ArrayRef<unsigned> choices,
               MeshAttr mesh, mlir::FlatSymbolRefAttr meshName);

} // namespace tp

#endif // TP_PLAN_WRITER_H
