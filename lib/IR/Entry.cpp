// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

llvm::Expected<func::FuncOp> tp::findEntry(ModuleOp module, StringRef name) {
  if (!name.empty()) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function || function.isDeclaration())
      return llvm::createStringError("there is no function @" + name +
                                     " with a body");
    return function;
  }
  SmallVector<func::FuncOp> found;
  std::string names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isDeclaration())
      continue;
    found.push_back(function);
    names += (names.empty() ? "@" : ", @") + function.getSymName().str();
  }
  if (found.size() == 1)
    return found.front();
  if (found.empty())
    return llvm::createStringError(
        "the module has no public function with a body to start from");
  return llvm::createStringError("the module has " + Twine(found.size()) +
                                 " public functions (" + names +
                                 "); make all but the entry private");
}
