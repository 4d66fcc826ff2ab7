// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of whole models: every parameter once, text that reads back, and
// options that do not fit.
#include "tp/Import/Decoder.h"
#include "SmallConfig.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tp;

namespace {
/// The program of a config, or what the options are told.
struct Built {
  OwningOpRef<ModuleOp> module;
  std::string error;
};
} // namespace

static Built build(MLIRContext &context, const DecoderConfig &config,
                   const DecoderOptions &options) {
  Built built;
  auto module = buildDecoder(context, config, options);
  if (module)
    built.module = std::move(*module);
  else
    built.error = llvm::toString(module.takeError());
  return built;
}

static DecoderOptions optionsOf(int64_t sequence) {
  DecoderOptions options;
  options.batch = 2;
  options.sequence = sequence;
  options.dtype = "f32";
  return options;
}

/// Paths of the configs in examples/configs.
static std::vector<std::string> shippedConfigs() {
  std::vector<std::string> paths;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator
           entry(TP_SOURCE_DIR "/examples/configs", code),
       end;
       entry != end && !code; entry.increment(code))
    if (llvm::sys::path::extension(entry->path()) == ".json")
      paths.push_back(entry->path());
  EXPECT_FALSE(code) << code.message();
  return paths;
}

static DecoderConfig readShipped(StringRef path) {
  SmallVector<std::string> warnings;
  llvm::Expected<DecoderConfig> config = readHFConfig(path, warnings);
  if (config)
    return *config;
  ADD_FAILURE() << llvm::toString(config.takeError());
  return DecoderConfig();
}

/// Elements of the arguments of @main that are marked as parameters.
static int64_t countParameters(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  int64_t count = 0;
  llvm::StringSet<> names;
  for (BlockArgument argument : main.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!main.getArgAttr(number, parameterAttrName))
      continue;
    auto name = main.getArgAttrOfType<StringAttr>(number, nameAttrName);
    EXPECT_TRUE(name && names.insert(name.getValue()).second);
    count += cast<RankedTensorType>(argument.getType()).getNumElements();
  }
  return count;
}

TEST(DecoderTest, ParametersOfShippedModelsAreAllThereOnce) {
  std::vector<std::string> paths = shippedConfigs();
  ASSERT_GE(paths.size(), 21u);
  for (const std::string &path : paths) {
    SCOPED_TRACE(path);
    MLIRContext context;
    DecoderConfig config = readShipped(path);
    Built built = build(context, config, optionsOf(1024));
    ASSERT_EQ(built.error, "");
    EXPECT_EQ(countParameters(*built.module),
              llvm::cantFail(parameterCount(config)));
  }
}

TEST(DecoderTest, EveryParameterIsUsed) {
  for (const std::string &path : shippedConfigs()) {
    SCOPED_TRACE(path);
    MLIRContext context;
    Built built = build(context, readShipped(path), optionsOf(7));
    ASSERT_EQ(built.error, "");
    built.module->walk([](func::FuncOp function) {
      for (BlockArgument argument : function.getArguments())
        EXPECT_FALSE(argument.use_empty())
            << function.getName().str() << " " << argument.getArgNumber();
    });
  }
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

TEST(DecoderTest, PrintedProgramsReadBack) {
  const char *variants[][2] = {
      {"llama", "{\"attention_bias\": true, \"mlp_bias\": true}"},
      {"llama", "{\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, "
                "\"low_freq_factor\": 1, \"high_freq_factor\": 4, "
                "\"original_max_position_embeddings\": 16}}"},
      {"mistral", "{}"},
      {"qwen2", "{\"tie_word_embeddings\": true}"},
      {"qwen3", "{\"head_dim\": 10}"},
      {"gemma", "{\"attention_bias\": true}"},
      {"phi3", "{\"pad_token_id\": 0}"},
      {"gpt2", gpt2Fields}};
  for (auto [family, changes] : variants) {
    SCOPED_TRACE(family);
    SCOPED_TRACE(changes);
    MLIRContext context;
    Built built = build(context, accepted(family, changes), optionsOf(5));
    ASSERT_EQ(built.error, "");
    std::string text = printed(*built.module);
    OwningOpRef<ModuleOp> again =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(again);
    EXPECT_EQ(printed(*again), text);
  }
}

/// The names of all operations, each of which is another.
static llvm::StringSet<> namesIn(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](Operation *op) {
    auto name = dyn_cast<NameLoc>(op->getLoc());
    ASSERT_TRUE(name);
    // A module and its functions may share a name with what they hold.
    if (isa<ModuleOp, func::FuncOp>(op))
      return;
    EXPECT_TRUE(names.insert(name.getName().getValue()).second)
        << name.getName().str();
  });
  return names;
}

TEST(DecoderTest, OperationsBearNames) {
  MLIRContext context;
  Built gpt2 = build(context, accepted("gpt2", gpt2Fields), optionsOf(5));
  ASSERT_EQ(gpt2.error, "");
  llvm::StringSet<> fused = namesIn(*gpt2.module);
  for (StringRef name :
       {"model/wte", "model/wpe", "layer/attn.c_attn", "layer/q.heads",
        "layer/attn.c_proj.bias", "layer/c_fc", "layer/c_proj", "model/ln_f"})
    EXPECT_TRUE(fused.contains(name)) << name.str();
  Built built = build(context, accepted("qwen3"), optionsOf(5));
  ASSERT_EQ(built.error, "");
  llvm::StringSet<> names = namesIn(*built.module);
  for (StringRef name : {"model/embed_tokens", "model/layers.1", "layer/q_norm",
                         "layer/q_proj", "model/lm_head"})
    EXPECT_TRUE(names.contains(name)) << name.str();
}

TEST(DecoderTest, SlidingWindowBoundsTheSequence) {
  MLIRContext context;
  DecoderConfig config = accepted("mistral", "{\"sliding_window\": 9}");
  EXPECT_EQ(build(context, config, optionsOf(9)).error, "");
  EXPECT_EQ(build(context, config, optionsOf(10)).error,
            "sequence is 10, but the model attends to the last "
            "\"sliding_window\" 9 positions only, which is not supported: give "
            "a sequence of at most 9");
}

TEST(DecoderTest, PositionsBoundTheSequence) {
  MLIRContext context;
  DecoderConfig config = accepted("llama");
  EXPECT_EQ(build(context, config, optionsOf(64)).error, "");
  EXPECT_EQ(build(context, config, optionsOf(65)).error,
            "sequence is 65, but the model has 64 positions: "
            "give a sequence of at most 64");
}

TEST(DecoderTest, AllWrongOptionsAreNamed) {
  MLIRContext context;
  DecoderOptions options;
  options.batch = 0;
  options.sequence = -3;
  options.layers = 3;
  options.dtype = "fp8";
  EXPECT_EQ(build(context, accepted("llama"), options).error,
            "batch is 0: expected an integer from 1 to 1099511627776\n"
            "sequence is -3: expected an integer from 1 to 1099511627776\n"
            "layers is 3: expected an integer from 1 to 2, the number that the "
            "config has\n"
            "dtype is \"fp8\": expected \"bf16\", \"f16\", \"f32\" or \"f64\"");
}

/// The numbers for GPT-2 are those of Megatron-LM.
TEST(DecoderTest, VocabulariesArePaddedInStepsOf128ForEachRank) {
  auto padded = [](int64_t vocabulary, int64_t ranks) {
    return llvm::cantFail(paddedVocabulary(vocabulary, ranks));
  };
  EXPECT_EQ(padded(50257, 1), 50304);
  EXPECT_EQ(padded(50257, 2), 50432);
  EXPECT_EQ(padded(50257, 4), 50688);
  EXPECT_EQ(padded(50257, 8), 51200);
  EXPECT_EQ(padded(1, 1), 128);
  EXPECT_EQ(padded(128, 1), 128);
  EXPECT_EQ(padded(129, 1), 256);
  EXPECT_EQ(padded(1, int64_t(1) << 55), int64_t(1) << 62);
  for (int64_t ranks : {int64_t(0), int64_t(-4), int64_t(1) << 56}) {
    auto refused = paddedVocabulary(1, ranks);
    EXPECT_FALSE(bool(refused));
    llvm::consumeError(refused.takeError());
  }
}

TEST(DecoderTest, TensorsMustFit63Bits) {
  MLIRContext context;
  // 2^40 * 2^18 * 2^4 is 2^62; with a vocabulary of 2^5 it is one too many.
  std::string changes = "{\"max_position_embeddings\": 262144, "
                        "\"hidden_size\": 4, \"num_attention_heads\": 1, "
                        "\"num_key_value_heads\": 1, "
                        "\"intermediate_size\": 4, \"vocab_size\": ";
  DecoderOptions options = optionsOf(262144);
  options.batch = int64_t(1) << 40;
  EXPECT_EQ(build(context, accepted("llama", changes + "16}"), options).error,
            "");
  EXPECT_EQ(build(context, accepted("llama", changes + "32}"), options).error,
            "a tensor of batch 1099511627776, sequence 262144 and width 32 has "
            "more than 2^63 - 1 elements: give a smaller batch or sequence");
}
