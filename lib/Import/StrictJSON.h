// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_STRICTJSON_H
#define TP_IMPORT_STRICTJSON_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tp {

/// Longest JSON text that is read, in bytes: the limit that the safetensors
/// format sets for its header.
inline constexpr size_t maxJSONSize = 100'000'000;

/// llvm::json::parse for files from outside: takes Infinity, -Infinity and NaN
/// as Python's json module writes and reads them, as doubles; refuses an object
/// with the same key twice, nesting deeper than 64 (the parser recurses), and
/// text longer than maxJSONSize. Errors read FILE:LINE:COLUMN: message, lines
/// and columns (in bytes) from 1; for syntax errors the parser may have read
/// one byte more than it can use.
llvm::Expected<llvm::json::Value> parseStrictJSON(llvm::StringRef text,
                                                  llvm::StringRef fileName);

/// The line of each key of a text that parseStrictJSON takes, under the keys
/// that lead to it: "rope_scaling.type". Keys of objects in arrays are left
/// out.
llvm::StringMap<size_t> linesOfKeys(llvm::StringRef text);

/// A value as JSON, or as Python's json module writes it if it is not finite,
/// for a message, cut to a readable length.
std::string printed(const llvm::json::Value &value);

/// A string from a file, quoted and escaped for a message.
std::string quoted(llvm::StringRef text);

} // namespace tp

#endif // TP_IMPORT_STRICTJSON_H
