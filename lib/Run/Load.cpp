// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Parser/Parser.h"
#include "tp/Check/Legality.h"
#include "tp/Check/SourceText.h"
#include "tp/Import/Decoder.h"
#include "tp/Import/MatchWeights.h"
#include "tp/Import/Safetensors.h"
#include "tp/Run/Session.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tp;

bool tp::hasWeights(StringRef folder) { return Checkpoint::isIn(folder); }

/// Whether some value is f16 or bf16.
static bool hasNarrowFloats(ModuleOp module) {
  bool found = false;
  AttrTypeWalker walker;
  walker.addWalk([&](FloatType type) { found |= type.getWidth() == 16; });
  auto look = [&](TypeRange types) {
    for (Type type : types)
      walker.walk(type);
  };
  module.walk([&](Operation *op) {
    look(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        look(block.getArgumentTypes());
  });
  return found;
}

/// Sizes of `input_ids`, or of the cache, in the file to expect, if it has
/// them.
static llvm::Error takeSizes(const RunOptions &options,
                             DecoderOptions &decoder) {
  decoder.batch = 1;
  decoder.sequence = 16;
  bool hasCache = options.phase == Phase::Decode;
  StringRef source = hasCache ? "past_key_values.0.key" : "input_ids";
  size_t rank = hasCache ? 4 : 2;
  if (!options.expect.empty()) {
    auto file = SafetensorsFile::open(options.expect);
    if (!file)
      return file.takeError();
    for (const StoredTensor &tensor : file->tensors())
      if (tensor.name == source && tensor.shape.size() == rank) {
        decoder.batch = tensor.shape[0];
        decoder.sequence = tensor.shape[1];
      }
  }
  decoder.batch = options.batch.value_or(decoder.batch);
  decoder.sequence = options.sequence.value_or(decoder.sequence);
  return llvm::Error::success();
}

/// The tensors of the folder must be those of the model, where it has any.
static llvm::Error checkWeights(const RunOptions &options,
                                const DecoderConfig &config, raw_ostream &out) {
  if (!hasWeights(options.input))
    return llvm::Error::success();
  auto checkpoint = Checkpoint::open(options.input);
  if (!checkpoint)
    return checkpoint.takeError();
  std::vector<std::string> said;
  llvm::Error error = matchWeights(
      *checkpoint, config, options.layers.value_or(config.layers), said);
  for (const std::string &line : said)
    out << "note: " << line << "\n";
  return error;
}

static llvm::Expected<OwningOpRef<ModuleOp>>
loadFolder(MLIRContext &context, const RunOptions &options, raw_ostream &out) {
  llvm::SmallString<128> path(options.input);
  llvm::sys::path::append(path, "config.json");
  SmallVector<std::string> warnings;
  llvm::Expected<DecoderConfig> config = readHFConfig(path, warnings);
  for (const std::string &warning : warnings)
    llvm::errs() << "warning: " << warning << "\n";
  if (!config)
    return config.takeError();
  DecoderOptions decoder;
  decoder.dtype = config->dtype;
  decoder.layers = options.layers;
  decoder.padVocabulary = options.padVocabulary;
  decoder.phase = options.phase;
  if (llvm::Error error = takeSizes(options, decoder))
    return std::move(error);
  if (config->dtype == "bf16" || config->dtype == "f16")
    out << "note: " << config->dtype << " is planned as such and runs as f32\n";
  auto program = buildDecoder(context, *config, decoder);
  if (!program)
    return program;
  if (llvm::Error error = checkWeights(options, *config, out))
    return std::move(error);
  if (options.padVocabulary)
    out << "note: "
        << describePadding(config->vocabulary, *options.padVocabulary) << "\n";
  return program;
}

llvm::Expected<OwningOpRef<ModuleOp>> tp::loadProgram(MLIRContext &context,
                                                      const RunOptions &options,
                                                      raw_ostream &out) {
  if (llvm::sys::fs::is_directory(options.input))
    return loadFolder(context, options, out);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer)
    return llvm::createStringError("cannot read '" + Twine(options.input) +
                                   "': " + buffer.getError().message());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto refuse = [&] {
    return llvm::createStringError("'" + Twine(options.input) +
                                   "' is no valid program");
  };
  if (failed(checkSourceText(sources)))
    return refuse();
  // The verifier runs inside the check, which says more of some errors.
  ParserConfig unverified(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, unverified);
  if (!module || failed(checkUnverifiedModule(*module)))
    return refuse();
  if (hasNarrowFloats(*module))
    out << "note: 16-bit floating-point types run as f32; casts to them "
           "round\n";
  return module;
}
