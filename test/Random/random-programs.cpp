// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Draws well-typed programs and holds what becomes of them against the
/// unsharded ones: exactly, in the field of 2^61 - 1 elements, or by running
/// them. With --mutate each is changed, and must then be refused or still be
/// equal. A program is named by its seed; one that fails is printed.

#include "Layouts.h"
#include "Mutation.h"
#include "OpenProgram.h"
#include "Run/Exact.h"
#include "Run/Program.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tp/Check/Legality.h"
#include "tp/InitAll.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace tp;
using namespace tp::test;
namespace cl = llvm::cl;

namespace {

enum class Mode { Exact, Run, Mutate };

cl::opt<uint64_t> firstSeed("seed", cl::init(1), cl::desc("First seed"));
cl::opt<uint64_t> count("count", cl::init(1), cl::desc("Number of programs"));
cl::opt<int64_t> mostOps("ops", cl::init(12), cl::desc("Most operations"));
cl::opt<bool> uneven("uneven", cl::desc("Draw uneven shards too"));
cl::opt<bool> print("print", cl::desc("Print every program"));
cl::opt<Mode> mode("mode", cl::init(Mode::Exact), cl::desc("What to do"),
                   cl::values(clEnumValN(Mode::Exact, "exact", "in the field"),
                              clEnumValN(Mode::Run, "run", "run the ranks"),
                              clEnumValN(Mode::Mutate, "mutate",
                                         "change it, then in the field")));

/// How a program fared.
enum class Outcome { Equal, Refused, Different, Failed, Undecided };

struct Tally {
  uint64_t equal = 0, refused = 0, undecided = 0, bad = 0;
};

} // namespace

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << module;
  return text;
}

static LogicalResult runPasses(ModuleOp module, StringRef passes) {
  PassManager manager(module.getContext());
  manager.enableVerifier(true);
  if (failed(parsePassPipeline(passes, manager)))
    llvm::report_fatal_error("the pipeline is not understood");
  return manager.run(module);
}

/// In the field; `why` says what is wrong.
static Outcome compareInField(ModuleOp open, ModuleOp local, uint64_t seed,
                              std::string &why) {
  auto openEntry = findEntry(open);
  auto localEntry = findRankFunctions(local);
  if (!openEntry || !localEntry)
    llvm::report_fatal_error("the entry is lost");
  auto signature = readSignature(*localEntry);
  if (!signature) {
    why = llvm::toString(signature.takeError());
    return Outcome::Failed;
  }
  inferBounds(*openEntry, *signature);
  Inputs inputs(seed);
  ExactRun run{*openEntry, *localEntry, *signature, inputs, seed};
  auto differences = run.differences();
  if (!differences) {
    llvm::Error error = differences.takeError();
    bool isChance = error.isA<ZeroDenominatorError>();
    why = llvm::toString(std::move(error));
    return isChance ? Outcome::Undecided : Outcome::Failed;
  }
  why = llvm::join(*differences, ", ");
  return differences->empty() ? Outcome::Equal : Outcome::Different;
}

static Outcome checkExact(ModuleOp open, ModuleOp typed, uint64_t seed,
                          std::string &why) {
  OwningOpRef<ModuleOp> local = typed.clone();
  if (failed(runPasses(*local, "tp-check,tp-insert-collectives,tp-check,"
                               "tp-partition,tp-check")))
    return Outcome::Refused;
  return compareInField(open, *local, seed, why);
}

/// Before the collectives are inserted, or after.
static Outcome checkMutant(ModuleOp open, ModuleOp typed, uint64_t seed,
                           Chance &chance, std::string &why) {
  bool isLate = chance.oneIn(2);
  if (isLate && failed(runPasses(typed, "tp-insert-collectives")))
    return Outcome::Failed;
  std::string what = mutate(typed, chance);
  Outcome outcome = Outcome::Refused;
  if (succeeded(verify(typed)))
    outcome = checkExact(open, typed, seed, why);
  why = what + ": " + why;
  return outcome;
}

static Outcome checkRun(ModuleOp open, ModuleOp typed, uint64_t seed,
                        std::string &why) {
  OwningOpRef<ModuleOp> local = typed.clone();
  if (failed(runPasses(*local, "tp-insert-collectives,tp-partition")))
    return Outcome::Refused;
  RunOptions options;
  auto program = compileProgram(*local, options);
  if (!program) {
    why = llvm::toString(program.takeError());
    return Outcome::Failed;
  }
  inferBounds(llvm::cantFail(findEntry(open)), program->signature);
  Inputs inputs(seed);
  auto results = runRanks(*program->engine, program->signature, inputs);
  if (!results) {
    why = llvm::toString(results.takeError());
    return Outcome::Failed;
  }
  llvm::raw_string_ostream out(why);
  Checks checks(*program, *results, out);
  if (llvm::Error error = checks.againstReferences(open, inputs, options)) {
    why += llvm::toString(std::move(error));
    return Outcome::Failed;
  }
  return checks.passed() ? Outcome::Equal : Outcome::Different;
}

/// Whether the program fares as it must.
static bool checkSeed(MLIRContext &context, uint64_t seed, Tally &tally) {
  Chance chance(seed);
  Operations operations =
      mode == Mode::Run ? Operations::Tame : Operations::All;
  std::string text = makeOpenProgram(chance, operations, mostOps);
  std::string errors, why;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return success();
  });
  auto open = parseSourceString<ModuleOp>(text, &context);
  if (!open) {
    llvm::errs() << "seed " << seed << " makes no program:\n" << text << errors;
    return false;
  }
  OwningOpRef<ModuleOp> typed = open->clone();
  assignLayouts(*typed, chance, uneven);
  std::string before = textOf(*typed);
  if (print)
    llvm::outs() << "// seed " << seed << "\n" << before;
  Outcome outcome;
  if (mode == Mode::Mutate)
    outcome = checkMutant(*open, *typed, seed, chance, why);
  else if (mode == Mode::Run)
    outcome = checkRun(*open, *typed, seed, why);
  else
    outcome = checkExact(*open, *typed, seed, why);
  tally.equal += outcome == Outcome::Equal;
  tally.refused += outcome == Outcome::Refused;
  tally.undecided += outcome == Outcome::Undecided;
  bool isGood = outcome == Outcome::Equal || outcome == Outcome::Undecided ||
                (outcome == Outcome::Refused && mode == Mode::Mutate);
  if (isGood)
    return true;
  ++tally.bad;
  llvm::errs() << "seed " << seed << ": "
               << (outcome == Outcome::Refused     ? "refused"
                   : outcome == Outcome::Different ? "DIFFERENT"
                                                   : "failed")
               << ": " << why << "\n"
               << errors << before << "\n";
  return false;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Random typed programs.\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  Tally tally;
  uint64_t end = firstSeed + count;
  constexpr uint64_t mostFailures = 10;
  for (uint64_t seed = firstSeed; seed < end && tally.bad < mostFailures;) {
    // A context keeps every type and attribute that was ever made in it.
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    uint64_t batchEnd = std::min(end, seed + 100);
    for (; seed < batchEnd && tally.bad < mostFailures; ++seed)
      checkSeed(context, seed, tally);
  }
  llvm::outs() << tally.equal << " equal, " << tally.refused << " refused, "
               << tally.undecided << " undecided, " << tally.bad << " bad\n";
  // Programs that are all refused, or divide by zero, would prove nothing.
  uint64_t needed = mode == Mode::Mutate ? count / 10 : count - count / 10;
  return tally.bad == 0 && tally.equal >= needed ? 0 : 1;
}
