// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_SHARDINGSYNTAX_H
#define TP_IR_SHARDINGSYNTAX_H

#include "tp/IR/Sharding.h"

namespace tp {

/// An axis or sub-axis as it is written in shardings: `"dp"`, `"tp":(1)4`.
mlir::FailureOr<AxisRefAttr> parseAxisRef(mlir::AsmParser &parser);
void printAxisRef(mlir::AsmPrinter &printer, AxisRefAttr ref);

} // namespace tp

#endif // TP_IR_SHARDINGSYNTAX_H
