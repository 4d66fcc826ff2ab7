// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_SHARDINGSYNTAX_H
#define TP_IR_SHARDINGSYNTAX_H

#include "tp/IR/Sharding.h"

namespace tp {

/// An axis or sub-axis as it is written in shardings: `"dp"`, `"tp":(1)4`.
mlir::FailureOr<AxisRefAttr> parseAxisRef(mlir::AsmParser &parser);
void printAxisRef(mlir::AsmPrinter &printer, AxisRefAttr ref);

/// Several of them: `{"dp", "tp":(1)4}`.
mlir::ParseResult parseAxisList(mlir::AsmParser &parser,
                                llvm::SmallVectorImpl<AxisRefAttr> &axes);
void printAxisList(mlir::AsmPrinter &printer, llvm::ArrayRef<AxisRefAttr> axes);

/// The axes of a mesh: `["dp"=2, "tp"=4]`.
mlir::ParseResult parseMeshAxes(mlir::AsmParser &parser,
                                llvm::SmallVectorImpl<MeshAxisAttr> &axes);
void printMeshAxes(mlir::AsmPrinter &printer,
                   llvm::ArrayRef<MeshAxisAttr> axes);

} // namespace tp

#endif // TP_IR_SHARDINGSYNTAX_H
