// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Every fix that tp-check offers for the programs of the error tests is
/// applied to a copy, which must then have one violation less and no new one.

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tp/Check/Legality.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace tp;

namespace {

/// How often each rule is violated at `op`.
using Counts = std::map<std::string, int>;

class FixesTest : public testing::Test {
protected:
  FixesTest() {
    context.loadDialect<TPDialect, func::FuncDialect, arith::ArithDialect>();
    context.printOpOnDiagnostic(false);
    handler = context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }

  /// Tries the fixes of all programs in `path`.
  void tryFile(StringRef path);

  MLIRContext context;
  DiagnosticEngine::HandlerID handler;
  int numFixes = 0;

private:
  void tryProgram(StringRef text, const std::string &name);
  void tryOperation(ModuleOp module, unsigned number, const std::string &name);
  void tryFix(ModuleOp module, unsigned number, const Violation &violation,
              const Fix &fix, const std::string &name);
};

} // namespace

static Operation *findOperation(ModuleOp module, unsigned number) {
  Operation *found = nullptr;
  unsigned next = 0;
  module.walk([&](Operation *op) {
    if (next++ == number)
      found = op;
  });
  return found;
}

/// The mesh of `op`, if its tensors are all laid out, rightly, on one.
static MeshAttr findMesh(Operation *op) {
  MeshAttr mesh;
  auto visit = [&](Type type) {
    if (!findLayout(type, op))
      return false;
    MeshAttr own = lookupMesh(op, getSharding(type).getMesh());
    bool same = !mesh || own == mesh;
    mesh = own;
    return same;
  };
  bool good = llvm::all_of(op->getOperandTypes(), visit) &&
              llvm::all_of(op->getResultTypes(), visit);
  return good ? mesh : MeshAttr();
}

static std::vector<Violation> check(Operation *op, MeshAttr mesh) {
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    return checkOperation(ruled, mesh);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return checkCollective(collective, mesh);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return checkReshard(reshard, mesh);
  return {};
}

static Counts countByRule(const std::vector<Violation> &violations) {
  Counts counts;
  for (const Violation &violation : violations)
    ++counts[violation.label];
  return counts;
}

void FixesTest::tryFix(ModuleOp module, unsigned number,
                       const Violation &violation, const Fix &fix,
                       const std::string &name) {
  ++numFixes;
  OwningOpRef<ModuleOp> copy = module.clone();
  Operation *op = findOperation(*copy, number);
  MeshAttr mesh = findMesh(op);
  Counts before = countByRule(check(op, mesh));
  std::string where = name + ": [" + violation.label + "] " + fix.text;
  OpBuilder builder(op);
  std::vector<Value> tensors(op->operand_begin(), op->operand_end());
  llvm::append_range(tensors, op->getResults());
  ASSERT_EQ(tensors.size(), fix.layouts.size()) << where;
  FlatSymbolRefAttr meshName = getSharding(tensors[0]).getMesh();
  bool isConversion = !isa<ShardingRuleOpInterface>(op);
  for (auto [index, value] : llvm::enumerate(tensors)) {
    Type type = withSharding(value.getType(),
                             toAttr(fix.layouts[index], mesh, meshName));
    if (index >= op->getNumOperands())
      value.setType(type);
    else if (type != value.getType())
      op->setOperand(index,
                     ReshardOp::create(builder, op->getLoc(), type, value));
  }
  if (isConversion) {
    // The conversion that the fix names stands for the operation; of its own
    // declaration only the result may be wrong.
    builder.setInsertionPoint(op);
    auto reshard = ReshardOp::create(builder, op->getLoc(),
                                     op->getResult(0).getType(), tensors[0]);
    EXPECT_TRUE(checkReshard(reshard, mesh).empty()) << where;
    return;
  }
  std::vector<Violation> left = check(op, mesh);
  Counts after = countByRule(left);
  EXPECT_LT(left.size(), check(findOperation(module, number), mesh).size())
      << where;
  for (auto [label, count] : after)
    EXPECT_LE(count, before[label]) << where << " brings " << label;
}

void FixesTest::tryOperation(ModuleOp module, unsigned number,
                             const std::string &name) {
  Operation *op = findOperation(module, number);
  MeshAttr mesh = findMesh(op);
  if (!mesh || !isa_and_nonnull<TPDialect>(op->getDialect()))
    return;
  for (const Violation &violation : check(op, mesh)) {
    EXPECT_FALSE(violation.causes.empty() && op->getNumOperands() > 0)
        << name << ": " << violation.message;
    bool hasFix = llvm::any_of(
        violation.fixes, [](const Fix &fix) { return !fix.layouts.empty(); });
    EXPECT_TRUE(hasFix) << name << ": " << violation.message;
    for (const Fix &fix : violation.fixes)
      if (!fix.layouts.empty())
        tryFix(module, number, violation, fix, name);
  }
}

void FixesTest::tryProgram(StringRef text, const std::string &name) {
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config);
  if (!module)
    return;
  for (const SignatureMismatch &mismatch : findSignatureMismatches(*module))
    bridge(mismatch);
  if (failed(verify(*module)))
    return;
  unsigned numOps = 0;
  module->walk([&](Operation *) { ++numOps; });
  for (unsigned number = 0; number < numOps; ++number)
    tryOperation(*module, number, name);
}

void FixesTest::tryFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(buffer)) << path.str();
  SmallVector<StringRef> programs;
  (*buffer)->getBuffer().split(programs, "// -----");
  for (auto [index, program] : llvm::enumerate(programs))
    tryProgram(program, path.str() + " program " + std::to_string(index));
}

TEST_F(FixesTest, EveryFixTypeChecks) {
  for (StringRef folder : {"/test/IR", "/test/Check", "/test/Cases"}) {
    std::error_code error;
    std::string path = (TP_SOURCE_DIR + folder).str();
    for (llvm::sys::fs::directory_iterator entry(path, error), end;
         entry != end && !error; entry.increment(error))
      if (StringRef(entry->path()).ends_with(".mlir"))
        tryFile(entry->path());
  }
  EXPECT_GT(numFixes, 60);
}
