// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Places.h"
#include "tp/IR/TP.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tp;

static std::string getName(Location loc) {
  if (auto named = loc->findInstanceOf<NameLoc>())
    return llvm::json::fixUTF8(named.getName().getValue());
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  StringRef fileName = llvm::sys::path::filename(file.getFilename());
  return llvm::formatv("{0}:{1}:{2}", llvm::json::fixUTF8(fileName),
                       file.getLine(), file.getColumn());
}

Place tp::getPlace(Operation *op) {
  OperationName name = op->getName();
  bool isOurs = isa_and_nonnull<TPDialect, func::FuncDialect>(op->getDialect());
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  return {llvm::json::fixUTF8(function),
          (isOurs ? name.stripDialect() : name.getStringRef()).str(),
          getName(op->getLoc())};
}
