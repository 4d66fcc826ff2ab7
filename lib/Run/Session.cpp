// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Session.h"
#include "Run/Program.h"
#include "tp/IR/TP.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tp;

namespace {

/// The files that a session reads; `inputs` refers to them.
struct Sources {
  std::optional<SafetensorsFile> expected;
  std::optional<Checkpoint> checkpoint;
  Inputs inputs;

  explicit Sources(const RunOptions &options)
      : inputs(options.seed, options.values) {}
  llvm::Error open(const RunOptions &options, raw_ostream &out);
};

} // namespace

llvm::Error Sources::open(const RunOptions &options, raw_ostream &out) {
  if (!options.expect.empty()) {
    auto file = SafetensorsFile::open(options.expect);
    if (!file)
      return file.takeError();
    expected = std::move(*file);
    inputs.useFile(*expected);
  }
  if (!llvm::sys::fs::is_directory(options.input))
    return llvm::Error::success();
  if (!hasWeights(options.input)) {
    out << "note: the folder holds no weights; they are made from seed "
        << options.seed << "\n";
    return llvm::Error::success();
  }
  auto folder = Checkpoint::open(options.input);
  if (!folder)
    return folder.takeError();
  checkpoint = std::move(*folder);
  inputs.useCheckpoint(*checkpoint);
  return llvm::Error::success();
}

static void printRun(const Program &program, const RankResults &results,
                     const RunOptions &options, raw_ostream &out) {
  int64_t ranks = program.signature.numRanks;
  out << "@" << program.signature.entry << " on " << ranks
      << (ranks == 1 ? " rank" : " ranks");
  if (program.signature.mesh)
    out << " " << program.signature.mesh;
  out << llvm::format(": %.3f ms", results.seconds * 1e3);
  if (options.repeats > 0)
    out << " (fastest of " << options.repeats + 1 << " runs, median "
        << llvm::format("%.3f ms)", results.medianSeconds * 1e3);
  out << llvm::format(", at most %.3f MiB of buffers on a rank\n",
                      results.peakBytes / 1048576.0);
}

/// Shapes of the ranks that do not fit together are what a comparison finds,
/// and elsewhere a reason why the program cannot run.
static llvm::Expected<bool> judge(llvm::Error error, bool isCompared,
                                  raw_ostream &out) {
  if (!isCompared || !error.isA<ShapeFaultError>())
    return std::move(error);
  out << "FAILED: " << llvm::toString(std::move(error)) << "\n";
  return false;
}

llvm::Expected<bool> tp::runSession(ModuleOp program, const RunOptions &options,
                                    raw_ostream &out) {
  Sources sources(options);
  if (llvm::Error error = sources.open(options, out))
    return std::move(error);
  auto source = findRankFunctions(program, options.entry);
  if (!source)
    return source.takeError();
  bool isCompared = options.check || !options.expect.empty();
  auto compiled = compileProgram(program, options);
  if (!compiled)
    return judge(compiled.takeError(), isCompared, out);
  auto whole = readWholeSignature(source->functions.front());
  if (!whole)
    return whole.takeError();
  findEdges(source->functions.front(), compiled->signature, *whole);
  takeBounds(*whole, compiled->signature);
  auto results =
      runRanks(*compiled->engine, compiled->signature, sources.inputs,
               {options.deadline, options.threadsPerRank, options.repeats});
  if (!results)
    return results.takeError();
  printRun(*compiled, *results, options, out);
  Checks checks(*compiled, *results, out);
  if (!isCompared)
    checks.summarise();
  if (options.check)
    if (llvm::Error error =
            checks.againstReferences(program, sources.inputs, options))
      return std::move(error);
  if (sources.expected)
    if (llvm::Error error = checks.againstFile(*sources.expected))
      return std::move(error);
  return checks.passed();
}
