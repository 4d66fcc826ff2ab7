// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_PLAN_MINIMALCONFLICT_H
#define TP_PLAN_MINIMALCONFLICT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tp {

/// Of demands 0 to `count` - 1, which together cannot be met, a set that cannot
/// be met either, though any one left out lets the others be met; in ascending
/// order. `canBeMet` says whether a set can; a subset of one that can must be
/// able to, and the empty set is.
///
/// QuickXplain (U. Junker, "QUICKXPLAIN: Preferred Explanations and Relaxations
/// for Over-Constrained Problems", AAAI 2004): of k members found among n it
/// asks about 2 k log2(n / k) + 2 k times.
llvm::SmallVector<unsigned> findMinimalConflict(
    unsigned count,
    llvm::function_ref<bool(llvm::ArrayRef<unsigned>)> canBeMet);

} // namespace tp

#endif // TP_PLAN_MINIMALCONFLICT_H
