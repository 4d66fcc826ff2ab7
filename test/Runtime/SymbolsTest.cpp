// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The symbol table holds what the header declares, no more and no less.

#include "tp/Runtime/Symbols.h"
#include "tp/Runtime/Abi.h"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

using namespace tp::runtime;

TEST(Symbols, AreThoseOfTheHeader) {
  std::ifstream file(TP_SOURCE_DIR "/include/tp/Runtime/Abi.h");
  ASSERT_TRUE(file.is_open());
  std::set<std::string> declared;
  const std::regex declaration(R"(^\w[\w ]*[ *](\w+)\()");
  for (std::string line; std::getline(file, line);)
    if (std::smatch match; std::regex_search(line, match, declaration))
      declared.insert(match[1]);
  std::set<std::string> listed;
  std::set<void *> addresses;
  for (const Symbol &symbol : abiSymbols()) {
    listed.insert(symbol.name);
    addresses.insert(symbol.address);
  }
  EXPECT_EQ(listed, declared);
  EXPECT_GT(listed.size(), 20u);
  EXPECT_EQ(addresses.size(), listed.size());
}
