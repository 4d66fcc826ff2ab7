// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What every operation of the dialect must have.

#include "Programs.h"
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mlir;
using namespace tp;

namespace {

/// The text of all lit tests in `folder` of test/.
std::string readTests(const std::string &folder) {
  std::ostringstream text;
  for (const auto &entry :
       std::filesystem::directory_iterator(TP_SOURCE_DIR "/test/" + folder))
    if (entry.path().extension() == ".mlir" ||
        entry.path().extension() == ".test")
      text << std::ifstream(entry.path()).rdbuf();
  return text.str();
}

/// Calls `visit` with the name of every operation that has a sharding rule.
void forEachRuledOp(llvm::function_ref<void(StringRef)> visit) {
  MLIRContext context;
  context.loadDialect<TPDialect>();
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == "tp" &&
        op.hasInterface<ShardingRuleOpInterface>())
      visit(op.getStringRef());
}

} // namespace

TEST(EveryOp, HasAReferenceKernel) {
  int64_t count = 0;
  forEachRuledOp([&](StringRef name) {
    EXPECT_TRUE(hasReferenceKernel(name)) << name.str();
    ++count;
  });
  EXPECT_GT(count, 25);
}

TEST(EveryOp, IsRunOnSeveralRanks) {
  std::string tests = readTests("Run");
  ASSERT_FALSE(tests.empty());
  forEachRuledOp([&](StringRef name) {
    bool isRun = tests.find("= " + name.str() + " ") != std::string::npos;
    EXPECT_TRUE(isRun) << "no test in test/Run has " << name.str();
  });
}

TEST(EveryOp, HasItsRuleTested) {
  std::string tests = readTests("IR");
  ASSERT_FALSE(tests.empty());
  forEachRuledOp([&](StringRef name) {
    bool isTested = tests.find("= " + name.str() + " ") != std::string::npos;
    EXPECT_TRUE(isTested) << "no test in test/IR has " << name.str();
  });
}
