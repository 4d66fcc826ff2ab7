// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/InitAll.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Transforms/Passes.h"
#include "tp/IR/TP.h"
#include "tp/Passes.h"
#include "tp/Shardy/Shardy.h"

void tp::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<TPDialect, sdy::SDYDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect>();
  mlir::func::registerInlinerExtension(registry);
}

void tp::registerAllPasses() {
  registerTPPasses();
  mlir::registerTransformsPasses();
}
