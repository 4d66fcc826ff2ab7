// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Runs a program on the ranks of a mesh, as threads of this process.

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tp/InitAll.h"
#include "tp/Run/Session.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using tp::ExactCheck;
using tp::MadeValues;
using tp::Phase;
using tp::RunOptions;

namespace {

cl::OptionCategory category("Options of tp-run");

cl::opt<std::string> input(cl::Positional, cl::init("-"),
                           cl::desc("<program.mlir, model folder or ->"),
                           cl::cat(category));
cl::opt<std::string> mesh("mesh", cl::cat(category), cl::value_desc("axes"),
                          cl::desc("Mesh to plan for, as tp=4 or dp=2,tp=2"));
cl::opt<std::string> machine("machine", cl::cat(category),
                             cl::desc("Machine to plan for"));
cl::opt<std::string>
    sequenceParallel("sequence-parallel", cl::cat(category),
                     cl::desc("off, on or auto, as tp-plan takes it"));
cl::opt<std::string>
    weights("weights", cl::cat(category),
            cl::desc("stationary, stored or free, as tp-plan takes it"));
cl::opt<std::string> modelAxes("model-axes", cl::cat(category),
                               cl::desc("Axes that split the model"));
cl::opt<std::string> uneven("uneven", cl::cat(category),
                            cl::desc("refuse or allow shards that differ in "
                                     "size, as tp-plan takes it"));
cl::opt<std::string> entry("entry", cl::cat(category),
                           cl::desc("Function to run; default: the only "
                                    "public one"));
cl::opt<std::string>
    expect("expect", cl::cat(category), cl::value_desc("file.safetensors"),
           cl::desc("Take the arguments that the file names from it, and "
                    "compare the outputs that it names"));
cl::opt<int64_t> batch("batch", cl::cat(category),
                       cl::desc("For a model folder: sequences at once"));
cl::opt<int64_t> sequence("sequence", cl::cat(category),
                          cl::desc("For a model folder: tokens a sequence"));
cl::opt<int64_t> layers("layers", cl::cat(category),
                        cl::desc("For a model folder: the first so many "
                                 "layers only"));
cl::opt<Phase> phase(
    "phase", cl::init(Phase::Prefill), cl::cat(category),
    cl::desc("For a model folder: which program"),
    cl::values(clEnumValN(Phase::Prefill, "prefill", "all tokens (default)"),
               clEnumValN(Phase::Decode, "decode",
                          "one token after a cache of --sequence tokens")));
cl::opt<int64_t>
    padVocabulary("pad-vocabulary", cl::cat(category), cl::value_desc("ranks"),
                  cl::desc("For a model folder: pad the vocabulary "
                           "to a multiple of 128 times ranks"));
cl::opt<uint64_t> seed("seed", cl::init(0), cl::cat(category),
                       cl::desc("Seed of the inputs that are made"));
cl::opt<MadeValues>
    values("inputs", cl::init(MadeValues::Normal), cl::cat(category),
           cl::desc("Inputs that are made"),
           cl::values(clEnumValN(MadeValues::Normal, "normal",
                                 "normal, as a fresh model has them"),
                      clEnumValN(MadeValues::Integers, "integers",
                                 "whole numbers from -2 to 2")));
cl::opt<bool> check("check", cl::cat(category),
                    cl::desc("Compare with the unsharded program, the f64 "
                             "reference and, exactly, in a finite field"));
cl::opt<ExactCheck> exact(
    "exact", cl::init(ExactCheck::Auto), cl::cat(category),
    cl::desc("Exact comparison of --check"),
    cl::values(clEnumValN(ExactCheck::Auto, "auto", "if it takes seconds"),
               clEnumValN(ExactCheck::Always, "always", "always"),
               clEnumValN(ExactCheck::Never, "never", "never")));
cl::opt<double> deadline("deadline", cl::init(60), cl::cat(category),
                         cl::desc("Seconds that a rank waits for another in a "
                                  "collective"));
cl::opt<int64_t> threadsPerRank(
    "threads-per-rank", cl::init(1), cl::cat(category),
    cl::desc("Threads that compute the products and the attention of a rank"));
cl::opt<int64_t> repeats("repeats", cl::init(0), cl::cat(category),
                         cl::desc("Further runs, for the time"));

} // namespace

template <class T> static std::optional<T> given(const cl::opt<T> &option) {
  if (option.getNumOccurrences() == 0)
    return std::nullopt;
  return option.getValue();
}

static RunOptions readOptions() {
  RunOptions options;
  options.input = input;
  options.mesh = mesh;
  options.machine = machine;
  options.sequenceParallel = sequenceParallel;
  options.weights = weights;
  options.modelAxes = modelAxes;
  options.uneven = uneven;
  options.entry = entry;
  options.expect = expect;
  options.batch = given(batch);
  options.sequence = given(sequence);
  options.layers = given(layers);
  options.phase = phase;
  options.padVocabulary = given(padVocabulary);
  options.seed = seed;
  options.values = values;
  options.check = check;
  options.exact = exact;
  options.deadline = deadline;
  options.threadsPerRank = threadsPerRank;
  options.repeats = repeats;
  return options;
}

static Expected<bool> run() {
  mlir::DialectRegistry registry;
  tp::registerAllDialects(registry);
  tp::registerAllPasses();
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  RunOptions options = readOptions();
  auto module = tp::loadProgram(context, options, outs());
  if (!module)
    return module.takeError();
  // Prints the notes too: causes and fixes.
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  return tp::runSession(**module, options, outs());
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles a tensor program for each rank of a mesh, runs the ranks and "
      "checks what they give.\n");
  Expected<bool> passed = run();
  if (!passed) {
    logAllUnhandledErrors(passed.takeError(), errs(), "error: ");
    return 1;
  }
  return *passed ? 0 : 1;
}
