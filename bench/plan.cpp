// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// How long plans of real models take: reading the graph into a problem,
/// solving it, checking its certificate.
///
///     build/bin/bench-plan [--benchmark_filter=REGEX]
///
/// Arguments of a benchmark: config, phase, batch, sequence, mesh.

#include "mlir/IR/MLIRContext.h"
#include "tp/Import/Decoder.h"
#include "tp/Plan/Planner.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <benchmark/benchmark.h>

using namespace mlir;
using namespace tp;

namespace {

/// What is planned.
struct Case {
  StringRef name;
  StringRef config;
  Phase phase;
  int64_t batch;
  int64_t sequence;
  StringRef mesh;
  StringRef modelAxes;
  StringRef weights = "stationary";
  StringRef memoryLimit = "";
};

constexpr Case cases[] = {
    {"llama-3-8b/b8/8x8", "llama-3-8b", Phase::Prefill, 8, 4096, "dp=8,tp=8",
     "dp,tp"},
    {"llama-3-8b/b1/8x8", "llama-3-8b", Phase::Prefill, 1, 4096, "dp=8,tp=8",
     "dp,tp"},
    {"llama-3-8b/decode/8x8", "llama-3-8b", Phase::Decode, 8, 4096, "dp=8,tp=8",
     "dp,tp"},
    {"llama-3-8b/b8/8", "llama-3-8b", Phase::Prefill, 8, 4096, "tp=8", ""},
    {"llama-3.1-405b/b1/8x8", "llama-3.1-405b", Phase::Prefill, 1, 4096,
     "dp=8,tp=8", "dp,tp"},
    {"llama-3-8b/b8/2x4x8", "llama-3-8b", Phase::Prefill, 8, 4096,
     "a=2,b=4,c=8", ""},
    {"llama-3-8b/b8/8x8/6GB", "llama-3-8b", Phase::Prefill, 8, 4096,
     "dp=8,tp=8", "dp,tp", "free", "6GB"},
    {"llama-3-8b/b8/8x8/2GB", "llama-3-8b", Phase::Prefill, 8, 4096,
     "dp=8,tp=8", "dp,tp", "free", "2GB"},
    {"llama-3-70b/b8/2x4/40GB", "llama-3-70b", Phase::Prefill, 8, 4096,
     "dp=2,tp=4", "dp,tp", "free", "40GB"},
    {"llama-3.1-405b/b8/8x8/200GB", "llama-3.1-405b", Phase::Prefill, 8, 4096,
     "dp=8,tp=8", "dp,tp", "free", "200GB"},
    {"llama-3.1-405b/b8/8x8/20GB", "llama-3.1-405b", Phase::Prefill, 8, 4096,
     "dp=8,tp=8", "dp,tp", "free", "20GB"},
};

OwningOpRef<ModuleOp> import(MLIRContext &context, const Case &c) {
  SmallVector<std::string> warnings;
  std::string path =
      TP_SOURCE_DIR "/examples/configs/" + c.config.str() + ".json";
  DecoderConfig config = llvm::cantFail(readHFConfig(path, warnings));
  DecoderOptions options;
  options.phase = c.phase;
  options.batch = c.batch;
  options.sequence = c.sequence;
  options.dtype = "bf16";
  return llvm::cantFail(buildDecoder(context, config, options));
}

PlanSettings settingsOf(const Case &c) {
  PlanSettings settings;
  settings.mesh = c.mesh.str();
  settings.modelAxes = c.modelAxes.str();
  settings.weights = c.weights.str();
  settings.memoryLimit = c.memoryLimit.str();
  settings.machine = TP_SOURCE_DIR "/share/machines/h100.yaml";
  return settings;
}

void build(benchmark::State &state, const Case &c) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = import(context, c);
  for (auto _ : state)
    if (failed(Planner::create(*module, settingsOf(c))))
      state.SkipWithError("no planner");
}

void plan(benchmark::State &state, const Case &c) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = import(context, c);
  std::optional<Solution> solution;
  for (auto _ : state) {
    // A planner remembers: each time a new one.
    state.PauseTiming();
    auto planner = Planner::create(*module, settingsOf(c));
    if (failed(planner))
      return state.SkipWithError("no planner");
    state.ResumeTiming();
    FailureOr<Solution> solved = (*planner)->solve();
    if (failed(solved))
      return state.SkipWithError("no plan");
    solution = std::move(*solved);
  }
  state.counters["choices"] = solution->statistics.choices;
  state.counters["us a step"] = solution->cost.seconds() * 1e6;
  state.counters["gap"] =
      1 - solution->lowerBound.seconds() / solution->cost.seconds();
  state.counters["passes"] = solution->statistics.passes;
  state.counters["kept"] = solution->statistics.keptChoices;
  state.counters["bytes"] = solution->certificate.getSize();
}

void check(benchmark::State &state, const Case &c) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = import(context, c);
  auto planner = Planner::create(*module, settingsOf(c));
  if (failed(planner))
    return state.SkipWithError("no planner");
  FailureOr<Solution> solution = (*planner)->solve();
  if (failed(solution))
    return state.SkipWithError("no plan");
  const Problem &problem = (*planner)->getProblem();
  for (auto _ : state)
    if (solution->memoryCertificate)
      llvm::cantFail(checkMemoryCertificate(problem, solution->cost,
                                            *solution->memoryCertificate));
    else
      llvm::cantFail(
          checkCertificate(problem, solution->cost, solution->certificate));
}

} // namespace

int main(int argc, char **argv) {
  for (const Case &c : cases) {
    benchmark::RegisterBenchmark(("build/" + c.name).str().c_str(), build, c);
    benchmark::RegisterBenchmark(("plan/" + c.name).str().c_str(), plan, c);
    benchmark::RegisterBenchmark(("check/" + c.name).str().c_str(), check, c);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
}
