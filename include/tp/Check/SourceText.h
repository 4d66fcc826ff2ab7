// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A guard in front of parsers that recurse on brackets.

#ifndef TP_CHECK_SOURCETEXT_H
#define TP_CHECK_SOURCETEXT_H

#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>

namespace tp {

/// Brackets deeper than this are refused. Programs nest a dozen deep; the
/// parser's stack takes thousands.
inline constexpr unsigned maxNesting = 256;

/// Where bracket number `maxNesting` + 1 opens, outside strings and comments;
/// nothing if none does.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

/// Failure, and an error at the place, if the text of the main buffer has a NUL
/// byte, which MLIR's lexer takes for a space, or opens more than `maxNesting`
/// brackets that are not closed. Bytecode is let through.
llvm::LogicalResult checkSourceText(const llvm::SourceMgr &sources);

} // namespace tp

#endif // TP_CHECK_SOURCETEXT_H
