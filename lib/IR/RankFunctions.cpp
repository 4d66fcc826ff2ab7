// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/RankFunctions.h"
#include "tp/IR/LocalShape.h"

using namespace mlir;
using namespace tp;

LogicalResult RankTableOp::verify() {
  int64_t numFunctions = getFunctions().size();
  ArrayRef<int64_t> table = getFunctionOfRank();
  if (table.empty() || static_cast<int64_t>(table.size()) > maxTableRanks)
    return emitOpError() << "is for " << table.size() << " ranks; 1 to "
                         << maxTableRanks << " can be listed";
  for (auto [rank, number] : llvm::enumerate(table))
    if (number < 0 || number >= numFunctions)
      return emitOpError() << "gives rank " << rank << " function number "
                           << number << " of " << numFunctions;
  return success();
}

LogicalResult RankTableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto name : getFunctions().getAsRange<FlatSymbolRefAttr>()) {
    auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, name);
    if (!function || function.isExternal() || !function->hasAttr(localAttrName))
      return emitOpError() << "names " << name
                           << ", which is no tp.local function with a body";
  }
  return success();
}

static RankFunctions readTable(ModuleOp module, RankTableOp table) {
  RankFunctions ranks{table.getSymName().str(), {}, {}};
  for (auto name : table.getFunctions().getAsRange<FlatSymbolRefAttr>())
    ranks.functions.push_back(
        module.lookupSymbol<func::FuncOp>(name.getAttr()));
  llvm::append_range(ranks.ofRank, table.getFunctionOfRank());
  return ranks;
}

llvm::Expected<RankFunctions> tp::findRankFunctions(ModuleOp module,
                                                    StringRef name) {
  bool hasFunction =
      llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return function.isPublic() && !function.isDeclaration();
      });
  for (auto table : module.getOps<RankTableOp>())
    if (name.empty() ? table.isPublic() && !hasFunction
                     : table.getSymName() == name)
      return readTable(module, table);
  llvm::Expected<func::FuncOp> entry = findEntry(module, name);
  if (!entry)
    return entry.takeError();
  return RankFunctions{entry->getSymName().str(), {*entry}, {}};
}
