// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrictJSON.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <limits>

using namespace llvm;

static constexpr size_t maxDepth = 64;
static constexpr size_t maxPrintedValue = 60;
static constexpr size_t maxPrintedName = 200;

static Error errorAt(StringRef text, size_t offset, StringRef fileName,
                     const Twine &message) {
  StringRef before = text.take_front(offset);
  size_t line = before.count('\n') + 1;
  size_t column = offset - (before.rfind('\n') + 1) + 1;
  return createStringError(fileName + ":" + Twine(line) + ":" + Twine(column) +
                           ": " + message);
}

/// Offset behind the string whose opening quote is at `begin`.
static size_t endOfString(StringRef text, size_t begin) {
  for (size_t pos = begin + 1; pos < text.size(); ++pos) {
    if (text[pos] == '"')
      return pos + 1;
    if (text[pos] == '\\')
      ++pos;
  }
  return text.size();
}

static Error checkDepth(StringRef text, StringRef fileName) {
  size_t depth = 0;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    char c = text[pos];
    if (c == '"')
      pos = endOfString(text, pos) - 1;
    else if ((c == '}' || c == ']') && depth > 0)
      --depth;
    else if ((c == '{' || c == '[') && ++depth > maxDepth)
      return errorAt(text, pos, fileName,
                     "nested deeper than " + Twine(maxDepth) +
                         " objects and arrays");
  }
  return Error::success();
}

/// What a quoted string stands for.
static std::string unescaped(StringRef literal) {
  StringRef body = literal.drop_front().drop_back();
  if (!body.contains('\\'))
    return body.str();
  Expected<json::Value> value = json::parse(literal);
  if (!value) {
    consumeError(value.takeError());
    return body.str();
  }
  return value->getAsString().value_or(body).str();
}

/// The parser keeps one of two equal keys and says nothing. `text` is valid.
static Error checkKeys(StringRef text, StringRef fileName) {
  SmallVector<StringMap<size_t>, 8> open;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    char c = text[pos];
    if (c == '{' || c == '[')
      open.emplace_back();
    if (c == '}' || c == ']')
      open.pop_back();
    if (c != '"')
      continue;
    size_t begin = pos, end = endOfString(text, pos);
    pos = end - 1;
    if (!text.substr(end).ltrim().starts_with(":"))
      continue;
    std::string key = unescaped(text.slice(begin, end));
    auto [first, isNew] = open.back().try_emplace(key, begin);
    if (!isNew)
      return errorAt(text, begin, fileName,
                     "key " + tp::quoted(key) +
                         " is given twice, first on line " +
                         Twine(text.take_front(first->second).count('\n') + 1) +
                         ": keep one of them");
  }
  return Error::success();
}

StringMap<size_t> tp::linesOfKeys(StringRef text) {
  StringMap<size_t> lines;
  // The key in front of each open object or array, "" for that of the text; no
  // value inside of an array.
  SmallVector<std::optional<std::string>, 8> open;
  std::string last;
  size_t line = 1;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    char c = text[pos];
    line += c == '\n';
    if (c == '{')
      open.push_back(std::exchange(last, ""));
    if (c == '[')
      open.push_back(std::nullopt);
    if ((c == '}' || c == ']') && !open.empty())
      open.pop_back();
    if (c != '"')
      continue;
    size_t begin = pos, end = endOfString(text, pos);
    pos = end - 1;
    if (!text.substr(end).ltrim().starts_with(":") ||
        is_contained(open, std::nullopt))
      continue;
    StringRef prefix = open.empty() ? StringRef() : StringRef(*open.back());
    last = unescaped(text.slice(begin, end));
    if (!prefix.empty())
      last = (prefix + "." + last).str();
    lines.try_emplace(last, line);
  }
  return lines;
}

namespace {

/// A text in which every number is one that JSON has.
class FiniteText {
public:
  explicit FiniteText(StringRef text);

  StringRef get() const { return text; }
  /// The place in the original text of one in this.
  size_t original(size_t offset) const;

private:
  std::string text;
  /// Where replacements end, and how many characters they are longer.
  SmallVector<std::pair<size_t, size_t>> longer;
};

} // namespace

/// Stands for NaN, which no number of JSON is read as.
static constexpr StringLiteral notANumber = "\"\\u0000NaN\"";

static bool isWordCharacter(char c) { return isAlnum(c) || c == '_'; }

FiniteText::FiniteText(StringRef whole) {
  static constexpr std::pair<StringLiteral, StringLiteral> words[] = {
      {"Infinity", "1e999999"}, {"NaN", notANumber}};
  if (!whole.contains(words[0].first) && !whole.contains(words[1].first)) {
    text = whole.str();
    return;
  }
  for (size_t pos = 0; pos < whole.size();) {
    size_t end = whole[pos] == '"' ? endOfString(whole, pos) : pos + 1;
    bool startsWord =
        pos == 0 || (!isWordCharacter(whole[pos - 1]) && whole[pos - 1] != '+');
    StringRef put = whole.slice(pos, end);
    for (auto [word, number] : words) {
      StringRef behind = whole.substr(pos);
      if (!startsWord || !behind.consume_front(word) ||
          (!behind.empty() && isWordCharacter(behind.front())))
        continue;
      put = number;
      end = pos + word.size();
    }
    text += put;
    if (put.size() > end - pos)
      longer.push_back({text.size(), put.size() - (end - pos)});
    pos = end;
  }
}

size_t FiniteText::original(size_t offset) const {
  size_t shift = 0;
  for (auto [end, more] : longer)
    if (end <= offset)
      shift += more;
  return offset - std::min(shift, offset);
}

/// Puts NaN where the text has what stands for it.
static void restoreNaN(json::Value &value) {
  if (value.getAsString() == StringRef("\0NaN", 4))
    value = std::numeric_limits<double>::quiet_NaN();
  if (json::Array *array = value.getAsArray())
    for (json::Value &item : *array)
      restoreNaN(item);
  if (json::Object *object = value.getAsObject())
    for (auto &entry : *object)
      restoreNaN(entry.second);
}

/// llvm::json::ParseError shows its position in its message only:
/// "[LINE:COLUMN, byte=OFFSET]: message".
static Error located(Error error, const FiniteText &finite, StringRef text,
                     StringRef fileName) {
  std::string full = toString(std::move(error));
  StringRef message = full;
  size_t offset = finite.get().size();
  StringRef rest = message;
  if (rest.consume_front("[") &&
      !(rest = rest.split("byte=").second).consumeInteger(10, offset) &&
      rest.consume_front("]: "))
    message = rest;
  std::string lower = message.str();
  if (!lower.empty())
    lower[0] = toLower(lower[0]);
  return errorAt(text, std::min(finite.original(offset), text.size()), fileName,
                 "not valid JSON: " + lower);
}

Expected<json::Value> tp::parseStrictJSON(StringRef text, StringRef fileName) {
  if (text.size() > maxJSONSize)
    return createStringError(fileName + ": " + Twine(text.size()) +
                             " bytes of JSON: at most " + Twine(maxJSONSize) +
                             " are read");
  if (text.starts_with("\xef\xbb\xbf"))
    return createStringError(fileName + ":1:1: not valid JSON: starts with a "
                                        "byte order mark");
  if (Error error = checkDepth(text, fileName))
    return error;
  FiniteText finite(text);
  Expected<json::Value> value = json::parse(finite.get());
  if (!value)
    return located(value.takeError(), finite, text, fileName);
  restoreNaN(*value);
  if (Error error = checkKeys(text, fileName))
    return error;
  return value;
}

static std::string printedUpTo(const json::Value &value, size_t length) {
  std::string text;
  raw_string_ostream(text) << value;
  if (text.size() <= length)
    return text;
  text.resize(length);
  // The cut may have split a character.
  return json::fixUTF8(text) + "...";
}

std::string tp::printed(const json::Value &value) {
  if (std::optional<double> number = value.getAsNumber())
    if (!std::isfinite(*number))
      return std::isnan(*number) ? "NaN"
                                 : (*number < 0 ? "-Infinity" : "Infinity");
  return printedUpTo(value, maxPrintedValue);
}

std::string tp::quoted(StringRef text) {
  return printedUpTo(json::Value(json::fixUTF8(text)), maxPrintedName);
}
