// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConfigFields.h"
#include "StrictJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tp;

/// Most names in a message.
static constexpr size_t maxNames = 12;

std::string Findings::located(StringRef key, const Twine &message) const {
  if (auto line = lines.find(key); line != lines.end())
    return (file + ":" + Twine(line->second) + ": " + message).str();
  return (file + ": " + message).str();
}

void Findings::problem(StringRef key, const Twine &message) {
  problems.push_back(located(key, message));
}

void Findings::warning(StringRef key, const Twine &message) {
  warnings.push_back(located(key, message));
}

Error Findings::takeError() {
  return createStringError(Twine(join(problems, "\n")));
}

const json::Value *Fields::find(StringRef key) {
  asked.insert(key);
  return object.get(key);
}

const json::Value *Fields::findSet(StringRef key) {
  const json::Value *value = find(key);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

int64_t Fields::integer(StringRef key, int64_t byDefault, int64_t max,
                        int64_t min) {
  const json::Value *value = find(key);
  if (!value)
    return byDefault;
  // Not getAsInteger: it takes 4096.0, and 2^63 in a way that C++ leaves
  // undefined.
  std::optional<uint64_t> number = value->getAsUINT64();
  if (number && *number >= uint64_t(min) && *number <= uint64_t(max))
    return int64_t(*number);
  wrong(key, "expected an integer from " + Twine(min) + " to " + Twine(max));
  return byDefault;
}

int64_t Fields::assumed(StringRef key, int64_t byDefault, int64_t max) {
  if (!find(key))
    findings.warning("", "no " + path(key) + ": " + Twine(byDefault) +
                             " is assumed");
  return integer(key, byDefault, max);
}

/// Whether one name is the other with a letter or two changed, or has all words
/// of the other: "num_layers" and "num_hidden_layers".
static bool isNear(StringRef a, StringRef b) {
  if (a.edit_distance(b, /*AllowReplacements=*/true, /*MaxEditDistance=*/2) <=
      2)
    return true;
  SmallVector<StringRef> few, many;
  a.split(few, '_');
  b.split(many, '_');
  if (few.size() > many.size())
    std::swap(few, many);
  return few.size() > 1 &&
         all_of(few, [&](StringRef word) { return is_contained(many, word); });
}

std::vector<StringRef> Fields::nearNames(StringRef key,
                                         ArrayRef<StringRef> aliases) const {
  std::vector<StringRef> names;
  for (const auto &entry : object) {
    StringRef name = entry.first;
    if (!asked.contains(name) &&
        (is_contained(aliases, name) || isNear(name, key)))
      names.push_back(name);
  }
  // The object is a hash table.
  sort(names);
  return names;
}

int64_t Fields::size(StringRef key, int64_t max, ArrayRef<StringRef> aliases) {
  if (find(key))
    return integer(key, 1, max);
  std::vector<StringRef> names = nearNames(key, aliases);
  findings.problem("",
                   "no " + path(key) + ", a size that has no default" +
                       (names.empty() ? std::string()
                                      : ": did you mean " +
                                            join(map_range(names,
                                                           [&](StringRef name) {
                                                             return path(name);
                                                           }),
                                                 " or ") +
                                            "?"));
  return 1;
}

double Fields::positive(StringRef key, double byDefault) {
  const json::Value *value = find(key);
  if (!value)
    return byDefault;
  std::optional<double> number = value->getAsNumber();
  if (number && std::isfinite(*number) && *number > 0)
    return *number;
  wrong(key, "expected a finite number above 0");
  return byDefault;
}

bool Fields::flag(StringRef key, bool byDefault) {
  const json::Value *value = find(key);
  if (!value)
    return byDefault;
  if (std::optional<bool> boolean = value->getAsBoolean())
    return *boolean;
  wrong(key, "expected true or false");
  return byDefault;
}

std::optional<StringRef> Fields::text(StringRef key, const Twine &expected) {
  const json::Value *value = find(key);
  if (!value)
    return std::nullopt;
  if (std::optional<StringRef> string = value->getAsString())
    return string;
  wrong(key, expected);
  return std::nullopt;
}

void Fields::wrong(StringRef key, const Twine &reason) {
  problemAt(key, path(key) + " is " + printed(*find(key)) + ": " + reason);
}

void Fields::problemAt(StringRef key, const Twine &message) {
  findings.problem(dotted(key), message);
}

std::string Fields::dotted(StringRef key) const {
  return prefix.empty() ? key.str() : (prefix + "." + key).str();
}

std::string Fields::path(StringRef key) const { return quoted(dotted(key)); }

void Fields::warnOfUnknown(ArrayRef<StringRef> harmless, const Twine &owner) {
  std::vector<StringRef> unknown;
  for (const auto &entry : object) {
    StringRef key = entry.first;
    if (!asked.contains(key) && !is_contained(harmless, key))
      unknown.push_back(key);
  }
  if (unknown.empty())
    return;
  // The object is a hash table.
  sort(unknown);
  ArrayRef<StringRef> shown = ArrayRef(unknown).take_front(maxNames);
  std::string names =
      join(map_range(shown, [&](StringRef key) { return path(key); }), ", ");
  if (size_t hidden = unknown.size() - shown.size())
    names += " and " + std::to_string(hidden) + " more";
  findings.warning(
      dotted(unknown.front()),
      "ignored " + names +
          (unknown.size() == 1 ? ": not a field of " : ": not fields of ") +
          owner);
}
