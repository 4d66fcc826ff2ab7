// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Plans every shipped config on every mesh and prints a table: how many
/// choices were considered, what the plan takes, how far it is from its lower
/// bound, or why there is none.
///
///     build/bin/bench-plan-table [--filter=TEXT] [--times] > docs/plans.tsv
///
/// Columns, separated by tabs: config, phase, batch, sequence, mesh, axes that
/// split the model, whether shards may be uneven, choices, microseconds a step,
/// gap in microseconds; with --times milliseconds of planning. A refusal is in
/// place of the last ones; what even shards do not allow is planned once more
/// if one axis splits the model.

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tp/Import/Decoder.h"
#include "tp/Passes.h"
#include "tp/Plan/Planner.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace tp;
using llvm::cl::desc;

namespace {

llvm::cl::opt<std::string>
    filter("filter", desc("only rows whose first six columns have this text"));
llvm::cl::opt<bool> times("times", desc("how long planning took, too"));

/// One row before it is planned.
struct Case {
  std::string config;
  Phase phase;
  int64_t batch;
  int64_t sequence;
  StringRef mesh;
  /// Empty: all but dp.
  StringRef modelAxes;
  StringRef uneven = "refuse";

  std::string describe() const {
    return llvm::formatv("{0}\t{1}\t{2}\t{3}\t{4}\t{5}", config,
                         phase == Phase::Decode ? "decode" : "prefill", batch,
                         sequence, mesh, modelAxes.empty() ? "tp" : modelAxes)
        .str();
  }
};

constexpr std::pair<StringRef, StringRef> meshes[] = {
    {"tp=1", ""},           {"tp=2", ""},           {"tp=4", ""},
    {"tp=8", ""},           {"tp=16", ""},          {"tp=32", ""},
    {"tp=64", ""},          {"dp=2,tp=4", ""},      {"dp=4,tp=8", ""},
    {"dp=8,tp=8", ""},      {"dp=16,tp=8", ""},     {"dp=2,tp=4", "dp,tp"},
    {"dp=4,tp=8", "dp,tp"}, {"dp=8,tp=8", "dp,tp"}, {"dp=16,tp=8", "dp,tp"}};

/// What is planned of a model: prompts, and a token after 4095.
constexpr std::pair<Phase, int64_t> loads[] = {
    {Phase::Prefill, 1}, {Phase::Prefill, 8}, {Phase::Decode, 16}};

DecoderConfig readConfig(StringRef name) {
  SmallVector<std::string> warnings;
  return llvm::cantFail(readHFConfig(
      (TP_SOURCE_DIR "/examples/configs/" + name + ".json").str(), warnings));
}

/// The open program, fused weights split.
OwningOpRef<ModuleOp> makeProgram(MLIRContext &context,
                                  const DecoderConfig &config, const Case &c) {
  DecoderOptions options;
  options.phase = c.phase;
  options.batch = c.batch;
  options.sequence = c.sequence;
  options.dtype = "bf16";
  OwningOpRef<ModuleOp> module =
      llvm::cantFail(buildDecoder(context, config, options));
  PassManager manager(&context);
  manager.addPass(createSplitFusedWeights());
  if (failed(manager.run(*module)))
    return nullptr;
  return module;
}

/// Plans one case; the row's columns after the first seven, or nothing and the
/// reason.
std::optional<std::string> plan(ModuleOp module, const Case &c,
                                std::string &reason) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diag) {
    if (reason.empty() && diag.getSeverity() == DiagnosticSeverity::Error)
      reason = diag.str();
    return success();
  });
  PlanSettings settings;
  settings.mesh = c.mesh.str();
  settings.modelAxes = c.modelAxes.str();
  settings.uneven = c.uneven.str();
  auto start = std::chrono::steady_clock::now();
  auto planner = Planner::create(module, settings);
  if (failed(planner))
    return std::nullopt;
  FailureOr<Solution> solution = (*planner)->solve();
  if (failed(solution))
    return std::nullopt;
  std::chrono::duration<double, std::milli> taken =
      std::chrono::steady_clock::now() - start;
  std::string row = llvm::formatv(
      "{0}\t{1:f3}\t{2}", solution->statistics.choices,
      solution->cost.seconds() * 1e6,
      solution->cost == solution->lowerBound
          ? "0"
          : llvm::formatv("{0:f6}", (solution->cost.seconds() -
                                     solution->lowerBound.seconds()) *
                                        1e6)
                .str());
  if (times)
    row += llvm::formatv("\t{0:f1}", taken.count()).str();
  return row;
}

/// Prints the row of one case; whether there is a plan.
bool printRow(const DecoderConfig &config, const Case &c) {
  std::string reason;
  MLIRContext context;
  OwningOpRef<ModuleOp> module = makeProgram(context, config, c);
  std::optional<std::string> figures = plan(*module, c, reason);
  llvm::outs() << c.describe() << "\t" << c.uneven << "\t"
               << figures.value_or(reason) << "\n";
  llvm::outs().flush();
  return figures.has_value();
}

void printConfig(const std::string &name) {
  DecoderConfig config = readConfig(name);
  int64_t positions = std::min<int64_t>(4096, config.maxPositions);
  if (config.slidingWindow)
    positions = std::min(positions, *config.slidingWindow);
  for (auto [phase, batch] : loads)
    for (auto [mesh, modelAxes] : meshes) {
      // The new token has a position, too.
      int64_t sequence = phase == Phase::Decode ? positions - 1 : positions;
      Case c = {name, phase, batch, sequence, mesh, modelAxes};
      if (!StringRef(c.describe()).contains(filter.getValue()) ||
          printRow(config, c) || !modelAxes.empty())
        continue;
      c.uneven = "allow";
      printRow(config, c);
    }
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Plans of all configs.\n");
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           file(TP_SOURCE_DIR "/examples/configs", error),
       end;
       file != end && !error; file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".json")
      names.push_back(llvm::sys::path::stem(file->path()).str());
  if (error) {
    llvm::errs() << "error: cannot list the configs: " << error.message()
                 << "\n";
    return 1;
  }
  llvm::sort(names);
  for (const std::string &name : names)
    printConfig(name);
}
