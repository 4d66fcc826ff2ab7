// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_TEST_RUN_LOCALPROGRAM_H
#define TP_TEST_RUN_LOCALPROGRAM_H

#include "mlir/Parser/Parser.h"
#include "tp/IR/TP.h"
#include "tp/Run/Ranks.h"
#include "gtest/gtest.h"

namespace tp::test {

/// A context that holds what local programs use.
struct ProgramContext {
  mlir::MLIRContext context;

  ProgramContext() {
    context.loadDialect<TPDialect, mlir::arith::ArithDialect,
                        mlir::func::FuncDialect>();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
};

/// Compiles and runs a module in the local phase.
inline llvm::Expected<RankResults> run(mlir::ModuleOp module,
                                       Signature &signature,
                                       const Inputs &inputs,
                                       RankOptions options = {}) {
  auto entry = findRankFunctions(module);
  if (!entry)
    return entry.takeError();
  auto read = readSignature(*entry);
  if (!read)
    return read.takeError();
  signature = std::move(*read);
  inferBounds(entry->functions.front(), signature);
  mlir::OwningOpRef<mlir::ModuleOp> lowered = module.clone();
  for (const std::string &function : signature.functions)
    lowered->lookupSymbol<mlir::func::FuncOp>(function).setPublic();
  auto engine = Engine::create(*lowered, signature);
  if (!engine)
    return engine.takeError();
  return runRanks(**engine, signature, inputs, options);
}

/// What each rank of a local program returns.
inline std::vector<std::vector<Array>> outputs(llvm::StringRef text,
                                               const Inputs &inputs) {
  ProgramContext programs;
  auto module = programs.parse(text);
  if (!module) {
    ADD_FAILURE() << "the program does not parse";
    return {};
  }
  Signature signature;
  auto results = run(*module, signature, inputs);
  if (!results) {
    ADD_FAILURE() << llvm::toString(results.takeError());
    return {};
  }
  return results->outputs;
}

} // namespace tp::test

#endif // TP_TEST_RUN_LOCALPROGRAM_H
