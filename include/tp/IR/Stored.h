// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From the rows of a value to those of the file's tensor that it is a part of.

#ifndef TP_IR_STORED_H
#define TP_IR_STORED_H

#include "tp/IR/LocalShape.h"

namespace tp {

/// Rows [from, from + size) of the file's tensor are rows [to, to + size) of
/// the value.
struct StoredRun {
  int64_t from = 0, to = 0, size = 0;
  bool operator==(const StoredRun &) const = default;
};

/// The runs of which `rows` of the value consist, as long as possible and in
/// order, at most `limit`; failure if there are more. Rows that are not in the
/// file are in none of them.
mlir::FailureOr<llvm::SmallVector<StoredRun>>
getStoredRuns(StoredAttr stored, Range rows, int64_t limit);

/// Nothing, or why `stored` cannot be a part of a tensor of this shape.
std::optional<std::string> getStoredMismatch(StoredAttr stored,
                                             llvm::ArrayRef<int64_t> shape);

} // namespace tp

#endif // TP_IR_STORED_H
