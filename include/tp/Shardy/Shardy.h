// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Shardy's annotations as a dialect.

#ifndef TP_SHARDY_SHARDY_H
#define TP_SHARDY_SHARDY_H

#include "tp/IR/TP.h"

#include "tp/Shardy/Dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tp/Shardy/Attributes.h.inc"
#define GET_OP_CLASSES
#include "tp/Shardy/Ops.h.inc"

namespace tp::sdy {

/// On arguments and results of functions a TensorShardingAttr, on operations a
/// TensorShardingPerValueAttr.
inline constexpr llvm::StringLiteral shardingAttrName = "sdy.sharding";

} // namespace tp::sdy

#endif // TP_SHARDY_SHARDY_H
