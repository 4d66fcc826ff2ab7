// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConfigFields.h"
#include "StrictJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tp;

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

int64_t Fields::size(StringRef key, int64_t byDefault, int64_t max) {
  if (!find(key))
    findings.warning("", "no " + path(key) + ": " + Twine(byDefault) +
                             " is assumed");
  return integer(key, byDefault, max);
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
  // The object is a hash table.
  sort(unknown);
  for (StringRef key : unknown)
    findings.warning(dotted(key),
                     "ignored " + path(key) + ": not a field of " + owner);
}
