// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_CONFIGFIELDS_H
#define TP_IMPORT_CONFIGFIELDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace tp {

/// Largest size that is believed.
inline constexpr int64_t maxSize = int64_t(1) << 40;

/// What is wrong or odd in one file.
class Findings {
public:
  /// `lines` are those of the file's keys, as linesOfKeys gives them.
  Findings(llvm::StringRef file, llvm::StringMap<size_t> lines,
           llvm::SmallVectorImpl<std::string> &warnings)
      : file(file), lines(std::move(lines)), warnings(warnings) {}

  /// `key` is what is wrong, after the keys that lead to it: "a.b". Empty, or
  /// absent from the file, if nothing in it can be pointed at.
  void problem(llvm::StringRef key, const llvm::Twine &message);
  void warning(llvm::StringRef key, const llvm::Twine &message);
  bool hasProblems() const { return !problems.empty(); }

  /// All problems, one line each.
  llvm::Error takeError();

private:
  std::string located(llvm::StringRef key, const llvm::Twine &message) const;

  llvm::StringRef file;
  llvm::StringMap<size_t> lines;
  std::vector<std::string> problems;
  llvm::SmallVectorImpl<std::string> &warnings;
};

/// Typed access to the fields of a JSON object. A value that is not what was
/// asked for becomes a problem and the default is returned; fields that were
/// never asked for can be listed at the end.
class Fields {
public:
  /// `prefix` is the key of the object in its parent, empty at the top.
  Fields(const llvm::json::Object &object, llvm::StringRef prefix,
         Findings &findings)
      : object(object), prefix(prefix), findings(findings) {}

  /// The value, or a null pointer if the key is absent.
  const llvm::json::Value *find(llvm::StringRef key);

  /// The value, or a null pointer if the key is absent or its value is null.
  const llvm::json::Value *findSet(llvm::StringRef key);

  /// An integer from `min` to `max`.
  int64_t integer(llvm::StringRef key, int64_t byDefault, int64_t max,
                  int64_t min = 1);

  /// The same, with a warning if the default is used.
  int64_t assumed(llvm::StringRef key, int64_t byDefault, int64_t max);

  /// The same for a field that must be there. If it is not, 1 is returned, and
  /// the problem names fields that may have been meant: those with a near name
  /// and those in `aliases`.
  int64_t size(llvm::StringRef key, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases);

  /// A finite number above zero.
  double positive(llvm::StringRef key, double byDefault);

  bool flag(llvm::StringRef key, bool byDefault);

  /// A string; `expected` ends the message if it is something else.
  std::optional<llvm::StringRef> text(llvm::StringRef key,
                                      const llvm::Twine &expected);

  /// Reports `"key" is VALUE: reason`, for a key that is present.
  void wrong(llvm::StringRef key, const llvm::Twine &reason);

  /// Reports `message` at the line of the key.
  void problemAt(llvm::StringRef key, const llvm::Twine &message);

  /// The quoted key with the prefix, for messages.
  std::string path(llvm::StringRef key) const;

  /// Warns once of all fields that were neither asked for nor are in
  /// `harmless`; `owner` says whose fields are known.
  void warnOfUnknown(llvm::ArrayRef<llvm::StringRef> harmless,
                     const llvm::Twine &owner);

private:
  std::string dotted(llvm::StringRef key) const;
  std::vector<llvm::StringRef>
  nearNames(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> aliases) const;

  const llvm::json::Object &object;
  llvm::StringRef prefix;
  Findings &findings;
  llvm::StringSet<> asked;
};

} // namespace tp

#endif // TP_IMPORT_CONFIGFIELDS_H
