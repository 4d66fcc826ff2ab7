// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Writes the tp program of a model that is described in another format.

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "tp/Import/Decoder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace tp;

static cl::OptionCategory category("tp-translate options");

static cl::opt<std::string>
    configPath("import-hf-config", cl::Required, cl::cat(category),
               cl::value_desc("path"),
               cl::desc("Hugging Face config.json, or a folder that has one"));
static cl::opt<int64_t>
    layers("layers", cl::cat(category), cl::value_desc("n"),
           cl::desc("the first n layers only (default: all)"));
static cl::opt<int64_t> batch("batch", cl::cat(category), cl::value_desc("n"),
                              cl::init(1), cl::desc("sequences (default: 1)"));
static cl::opt<int64_t> sequence(
    "sequence", cl::cat(category), cl::value_desc("n"),
    cl::desc("tokens of a sequence (default: 2048, with --shrink 128, or as "
             "many as the model takes)"));
static cl::opt<std::string> dtype(
    "dtype", cl::cat(category), cl::value_desc("type"),
    cl::desc("bf16, f16, f32 or f64 (default: the config's, with --shrink "
             "f32)"));
static cl::opt<Phase> phase(
    "phase", cl::cat(category), cl::init(Phase::Prefill),
    cl::desc("which program"),
    cl::values(clEnumValN(Phase::Prefill, "prefill", "all tokens (default)"),
               clEnumValN(Phase::Decode, "decode",
                          "one token after a cache of --sequence tokens")));
static cl::opt<int64_t> padVocabulary(
    "pad-vocabulary", cl::cat(category), cl::value_desc("ranks"),
    cl::desc("pad the vocabulary to a multiple of 128 times this many ranks"));
static cl::opt<int64_t> shrinkFactor(
    "shrink", cl::cat(category), cl::value_desc("k"),
    cl::desc("divide the sizes by about k: a model for trying things out"));
static cl::opt<std::string>
    outputPath("o", cl::cat(category), cl::value_desc("file"), cl::init("-"),
               cl::desc("output file (default: -, standard output)"));

/// One line of standard error for each line of `message`.
static void report(StringRef kind, StringRef message) {
  SmallVector<StringRef> lines;
  message.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    errs() << kind << ": " << line << "\n";
}

static Expected<DecoderConfig> readConfig() {
  SmallString<128> path(configPath);
  if (sys::fs::is_directory(path))
    sys::path::append(path, "config.json");
  SmallVector<std::string> warnings;
  Expected<DecoderConfig> config = readHFConfig(path, warnings);
  for (StringRef warning : warnings)
    report("warning", warning);
  if (!config || shrinkFactor.getNumOccurrences() == 0)
    return config;
  std::vector<std::string> said;
  Expected<DecoderConfig> small = shrink(*config, shrinkFactor, said);
  for (StringRef line : said)
    report("shrink", line);
  return small;
}

static DecoderOptions chooseOptions(const DecoderConfig &config) {
  bool shrunk = shrinkFactor.getNumOccurrences() > 0;
  DecoderOptions options;
  options.batch = batch;
  options.sequence =
      std::min<int64_t>(shrunk ? 128 : 2048, config.maxPositions);
  if (config.slidingWindow)
    options.sequence = std::min(options.sequence, *config.slidingWindow);
  options.phase = phase;
  // The new token has a position, too.
  if (phase == Phase::Decode)
    options.sequence = std::max<int64_t>(1, options.sequence - 1);
  if (padVocabulary.getNumOccurrences() > 0)
    options.padVocabulary = padVocabulary;
  if (sequence.getNumOccurrences() > 0)
    options.sequence = sequence;
  options.dtype = shrunk ? "f32" : config.dtype;
  if (dtype.getNumOccurrences() > 0)
    options.dtype = dtype;
  if (layers.getNumOccurrences() > 0)
    options.layers = layers;
  return options;
}

static Error writeModule(mlir::ModuleOp module) {
  std::error_code code;
  ToolOutputFile file(outputPath, code, sys::fs::OF_Text);
  if (code)
    return createStringError(code, outputPath + ": " + code.message());
  module->print(file.os());
  file.os().flush();
  // The stream aborts if it is closed with an error that nobody looked at.
  if (std::error_code failure = file.os().error()) {
    file.os().clear_error();
    return createStringError(failure, outputPath + ": " + failure.message());
  }
  file.keep();
  return Error::success();
}

static Error run() {
  Expected<DecoderConfig> config = readConfig();
  if (!config)
    return config.takeError();
  mlir::MLIRContext context;
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      buildDecoder(context, *config, chooseOptions(*config));
  if (!module)
    return module.takeError();
  if (padVocabulary.getNumOccurrences() > 0)
    report("pad-vocabulary",
           describePadding(config->vocabulary, padVocabulary));
  return writeModule(**module);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  mlir::registerAsmPrinterCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "imports a model into the tp "
                              "dialect\n");
  Error error = run();
  if (!error)
    return 0;
  report("error", toString(std::move(error)));
  return 1;
}
