// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Check/SourceText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// What follows the string literal that begins `text`.
static StringRef skipString(StringRef text) {
  text = text.drop_front();
  while (!text.empty() && text.front() != '"' && text.front() != '\n')
    text = text.drop_front(text.front() == '\\' && text.size() > 1 ? 2 : 1);
  return text.drop_front(!text.empty());
}

std::optional<size_t> tp::findDeepNesting(StringRef whole) {
  StringRef text = whole;
  unsigned depth = 0;
  while (!text.empty()) {
    if (text.front() == '"') {
      text = skipString(text);
      continue;
    }
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    if (text.consume_front("->") || text.consume_front(">=") ||
        text.consume_front("<="))
      continue;
    if (StringRef("([{<").contains(text.front()) && ++depth > tp::maxNesting)
      return text.data() - whole.data();
    if (StringRef(")]}>").contains(text.front()) && depth > 0)
      --depth;
    text = text.drop_front();
  }
  return std::nullopt;
}

LogicalResult tp::checkSourceText(const SourceMgr &sources) {
  const MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  StringRef text = buffer->getBuffer();
  if (text.starts_with("ML\xefR"))
    return success();
  auto refuse = [&](const char *place, const Twine &message) {
    sources.PrintMessage(errs(), SMLoc::getFromPointer(place),
                         SourceMgr::DK_Error, message);
    return failure();
  };
  if (size_t nul = text.find('\0'); nul != StringRef::npos)
    return refuse(text.data() + nul, "a NUL byte");
  if (std::optional<size_t> place = findDeepNesting(text))
    return refuse(text.data() + *place, "brackets are nested more than " +
                                            Twine(maxNesting) + " deep");
  return success();
}
