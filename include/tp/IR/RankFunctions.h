// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which function of the local phase each rank runs.

#ifndef TP_IR_RANKFUNCTIONS_H
#define TP_IR_RANKFUNCTIONS_H

#include "tp/IR/TP.h"

namespace tp {

/// The local functions that stand for one function of the program: one for all
/// ranks, or one for each distinct set of local shapes.
struct RankFunctions {
  /// Of the table, or of the only function.
  std::string name;
  llvm::SmallVector<mlir::func::FuncOp> functions;
  /// By rank: index into `functions`. Empty if all run the only one.
  llvm::SmallVector<unsigned> ofRank;

  unsigned indexOf(int64_t rank) const {
    return ofRank.empty() ? 0 : ofRank[rank];
  }
  mlir::func::FuncOp of(int64_t rank) const { return functions[indexOf(rank)]; }
};

/// The entry of a program in whatever phase: the tp.rank_table or the function
/// called `name`, or the only public one. The error says what is there instead.
llvm::Expected<RankFunctions> findRankFunctions(mlir::ModuleOp module,
                                                llvm::StringRef name = "");

} // namespace tp

#endif // TP_IR_RANKFUNCTIONS_H
