// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/HFConfig.h"
#include "ConfigFields.h"
#include "Families.h"
#include "RopeConfig.h"
#include "StrictJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace tp;

/// Largest number of layers and of heads: both are walked one by one.
static constexpr int64_t maxCount = int64_t(1) << 16;

namespace {

/// Reads the fields of one config.json into a DecoderConfig.
class ConfigReader {
public:
  ConfigReader(const json::Object &object, Findings &findings)
      : fields(object, "", findings), findings(findings) {}

  DecoderConfig read();

private:
  const Family *readFamily();
  void refuseAliases();
  void readSizes();
  void readPositions();
  void readHeads();
  void readFlags();
  void readBiases();
  void readActivation();
  void refuseScaledScores();
  void readType();
  void readWindow();
  bool readLayerTypes();
  void refuseOtherClasses();
  void refuseUnsupported();
  void checkHeads();
  void checkRotation(StringRef source);

  Fields fields;
  Findings &findings;
  const Family *family = nullptr;
  /// Of each head, as readRope gives it.
  double rotatedPart = 1;
  DecoderConfig config;
};

} // namespace

const Family *ConfigReader::readFamily() {
  std::string names = join(
      map_range(families(), [](const Family &f) { return quoted(f.name); }),
      ", ");
  std::string expected = "expected one of " + names;
  std::optional<StringRef> type = fields.text("model_type", expected);
  if (!type) {
    if (!fields.find("model_type"))
      findings.problem("", "no \"model_type\": " + expected);
    return nullptr;
  }
  const Family *found =
      find_if(families(), [&](const Family &f) { return f.name == *type; });
  if (found != families().end())
    return found;
  fields.wrong("model_type", "not a supported model type: " + expected);
  return nullptr;
}

/// transformers takes the common names of sizes for a family's own, too.
void ConfigReader::refuseAliases() {
  const SizeKeys &common = families().front().keys, &own = family->keys;
  for (auto [alias, key] : {std::pair(common.hidden, own.hidden),
                            std::pair(common.layers, own.layers),
                            std::pair(common.heads, own.heads),
                            std::pair(common.positions, own.positions)})
    if (alias != key && fields.findSet(alias))
      fields.wrong(alias, quoted(family->name) + " calls it " + quoted(key));
}

void ConfigReader::readSizes() {
  const SizeKeys &keys = family->keys;
  config.hiddenSize =
      fields.size(keys.hidden, maxSize,
                  {"d_model", "dim", "embed_dim", "hidden_dim", "hidden_size",
                   "model_dim", "n_embd", "n_embed"});
  config.layers =
      fields.size(keys.layers, maxCount,
                  {"depth", "n_layer", "n_layers", "num_blocks",
                   "num_decoder_layers", "num_hidden_layers", "num_layers"});
  if (!family->ffnByHidden)
    config.ffnSize =
        fields.size(keys.ffn, maxSize,
                    {"d_ff", "ffn_dim", "ffn_hidden_size", "ffn_size",
                     "hidden_dim", "inner_dim", "n_inner"});
  else if (fields.findSet(keys.ffn))
    config.ffnSize = fields.integer(keys.ffn, 1, maxSize);
  else
    config.ffnSize = 4 * config.hiddenSize;
  config.vocabulary =
      fields.size("vocab_size", maxSize,
                  {"n_vocab", "padded_vocab_size", "vocabulary_size"});
  readPositions();
  config.normEpsilon = fields.positive(keys.epsilon, family->epsilon);
  if (fields.findSet("pretraining_tp") &&
      fields.integer("pretraining_tp", 1, maxSize) > 1)
    fields.wrong("pretraining_tp",
                 "projections computed in slices are not supported: write 1, "
                 "which is the same model up to rounding");
}

/// Where positions are rotated, their number only bounds the sequence.
void ConfigReader::readPositions() {
  StringRef key = family->keys.positions;
  if (family->positions)
    config.maxPositions = fields.assumed(key, *family->positions, maxSize);
  else
    config.maxPositions =
        fields.size(key, maxSize,
                    {"block_size", "max_position_embeddings", "max_seq_len",
                     "n_ctx", "n_positions", "seq_length"});
}

void ConfigReader::readHeads() {
  config.heads =
      fields.size(family->keys.heads, maxCount,
                  {"n_head", "n_heads", "num_attention_heads", "num_heads"});
  config.kvHeads = config.heads;
  if (!family->hasHeadFields)
    return;
  // Null stands for the number of heads even where the default differs.
  if (fields.findSet("num_key_value_heads"))
    config.kvHeads = fields.integer("num_key_value_heads", 0, maxCount);
  else if (family->kvHeads && !fields.find("num_key_value_heads"))
    config.kvHeads =
        fields.assumed("num_key_value_heads", *family->kvHeads, maxCount);
  // Where the family has a size of its own there is no null.
  if (family->headDim)
    config.headDim = fields.assumed("head_dim", *family->headDim, maxSize);
  else if (fields.findSet("head_dim"))
    config.headDim = fields.integer("head_dim", 0, maxSize);
}

void ConfigReader::readFlags() {
  config.tiedEmbeddings = fields.flag("tie_word_embeddings", family->tied);
  bool isGPT2 = family->name == "gpt2", isPhi3 = family->name == "phi3",
       isGemma = family->name == "gemma";
  config.qkNorm = family->name == "qwen3";
  config.norm = isGPT2 ? NormKind::Layer : NormKind::RMS;
  config.learnedPositions = isGPT2;
  config.storedInOut = isGPT2;
  config.feedForward = isGPT2 ? FeedForward::Plain : FeedForward::Gated;
  config.fusedQKV = isGPT2 || isPhi3;
  config.fusedGateUp = isPhi3;
  config.gainOffset = isGemma ? 1 : 0;
  config.scaledEmbedding = isGemma;
}

void ConfigReader::readBiases() {
  const BiasRule &rule = family->biases;
  bool attention = fields.flag("attention_bias", false);
  if (attention && !rule.attentionField)
    fields.wrong("attention_bias",
                 "the biases of " + quoted(family->name) +
                     " are not switched by this field: expected false");
  config.qkvBias = attention || rule.qkv;
  config.outputBias = attention || rule.output;

  bool mlp = fields.flag("mlp_bias", false);
  if (mlp && !rule.mlpField)
    fields.wrong("mlp_bias", quoted(family->name) +
                                 (rule.mlp ? " always has biases there"
                                           : " has no biases there") +
                                 ": expected false");
  config.mlpBias = mlp || rule.mlp;
}

/// The function that transformers has under this name.
static std::optional<Activation> parseActivation(StringRef name) {
  return StringSwitch<std::optional<Activation>>(name)
      .Cases({"silu", "swish"}, Activation::SiLU)
      .Cases({"gelu", "gelu_python"}, Activation::GELU)
      .Cases({"gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh",
              "gelu_accurate", "gelu_fast"},
             Activation::GELUTanh)
      .Case("relu", Activation::ReLU)
      .Case("tanh", Activation::Tanh)
      .Default(std::nullopt);
}

void ConfigReader::readActivation() {
  config.activation = family->activation;
  std::string expected =
      "not a supported activation: expected \"silu\", \"gelu\", "
      "\"gelu_new\", \"gelu_pytorch_tanh\", \"relu\" or \"tanh\"";
  StringRef key = family->keys.activation;
  // An older name of Gemma's field.
  StringRef older = "hidden_activation";
  for (StringRef field : {key, older}) {
    if (field == older && !fields.findSet(older))
      continue;
    std::optional<StringRef> name = fields.text(field, expected);
    if (!name)
      continue;
    std::optional<Activation> found = parseActivation(*name);
    // The first releases of Gemma say "gelu" and mean the approximation.
    if (family->name == "gemma" && found == Activation::GELU)
      found = Activation::GELUTanh;
    if (!found)
      fields.wrong(field, expected);
    else if (field == older && *found != config.activation)
      fields.wrong(field, "another function than " + quoted(key) +
                              " has: keep one of them");
    else
      config.activation = *found;
  }
}

void ConfigReader::refuseScaledScores() {
  if (family->name != "gpt2")
    return;
  config.scaledScores = fields.flag("scale_attn_weights", true);
  if (fields.flag("scale_attn_by_inverse_layer_idx", false))
    fields.wrong("scale_attn_by_inverse_layer_idx",
                 "layers that differ are not supported: expected false");
  // Where the scores are rounded: without effect in f32.
  fields.flag("reorder_and_upcast_attn", false);
}

void ConfigReader::readType() {
  StringRef expected = "expected \"bfloat16\", \"float16\" or \"float32\"";
  std::optional<std::string> types[2];
  StringRef keys[2] = {"dtype", "torch_dtype"};
  for (auto [key, type] : zip(keys, types)) {
    if (!fields.findSet(key))
      continue;
    std::optional<StringRef> text = fields.text(key, expected);
    if (!text)
      continue;
    type = StringSwitch<std::string>(*text)
               .Case("bfloat16", "bf16")
               .Case("float16", "f16")
               .Case("float32", "f32")
               .Default("");
    if (type->empty())
      fields.wrong(key, expected);
  }
  if (types[0] && types[1] && *types[0] != *types[1])
    findings.problem("dtype", "\"dtype\" is " + printed(*fields.find("dtype")) +
                                  " and \"torch_dtype\" is " +
                                  printed(*fields.find("torch_dtype")) +
                                  ": keep one of them");
  if (!types[0] && !types[1])
    findings.warning("", "no \"dtype\": f32 is assumed");
  config.dtype = types[0].value_or(types[1].value_or("f32"));
}

/// Returns whether "layer_types" asks for a sliding window in some layer.
bool ConfigReader::readLayerTypes() {
  const json::Value *value = fields.findSet("layer_types");
  if (!value)
    return false;
  const json::Array *types = value->getAsArray();
  if (!types) {
    fields.wrong("layer_types", "expected an array of strings or null");
    return false;
  }
  // With a wrong field this would compare a default.
  if (!findings.hasProblems() && int64_t(types->size()) != config.layers)
    findings.problem("layer_types", "\"layer_types\" has " +
                                        Twine(types->size()) + " entries and " +
                                        quoted(family->keys.layers) + " is " +
                                        Twine(config.layers) +
                                        ": one entry a layer is needed");
  bool sliding = false;
  for (auto [index, type] : enumerate(*types)) {
    std::optional<StringRef> text = type.getAsString();
    bool slides = text && *text == "sliding_attention";
    sliding |= slides;
    if (text && *text == "full_attention")
      continue;
    if (slides && family->window == WindowRule::SomeLayers)
      continue;
    findings.problem("layer_types",
                     "\"layer_types\" has " + printed(type) + " at " +
                         Twine(index) + ": " + quoted(family->name) +
                         " supports \"full_attention\"" +
                         (family->window == WindowRule::SomeLayers
                              ? " and \"sliding_attention\""
                              : ""));
    break;
  }
  return sliding;
}

void ConfigReader::readWindow() {
  bool listed = readLayerTypes();
  bool isNull =
      fields.find("sliding_window") && !fields.findSet("sliding_window");
  if (family->window == WindowRule::Never) {
    if (fields.findSet("sliding_window"))
      fields.wrong("sliding_window", quoted(family->name) +
                                         " attends to all positions: expected "
                                         "null, or no such field");
    return;
  }
  if (family->window == WindowRule::EveryLayer) {
    config.slidingWindow = family->windowByDefault;
    if (isNull)
      config.slidingWindow = std::nullopt;
    if (fields.findSet("sliding_window"))
      config.slidingWindow = fields.integer("sliding_window", 0, maxSize);
    return;
  }

  bool used = fields.flag("use_sliding_window", false);
  // Known, and without effect unless the window is used.
  fields.find("max_window_layers");
  if (listed && (!used || isNull))
    findings.problem(
        "layer_types",
        "\"layer_types\" has \"sliding_attention\", but no window is set: "
        "give \"sliding_window\" and \"use_sliding_window\" true");
  if (!used || isNull)
    return;
  int64_t window =
      fields.integer("sliding_window", *family->windowByDefault, maxSize);
  int64_t firstLayer =
      fields.integer("max_window_layers", 28, maxSize, /*min=*/0);
  if (fields.findSet("layer_types") ? listed : firstLayer < config.layers)
    config.slidingWindow = window;
}

/// A classifier, a reward model and a draft model have other parts under the
/// same model type, and a base model has no head.
void ConfigReader::refuseOtherClasses() {
  const json::Value *value = fields.findSet("architectures");
  std::string own = quoted(family->architecture);
  const json::Array *names = value ? value->getAsArray() : nullptr;
  if (!value || (names && names->empty())) {
    findings.warning("", "no \"architectures\": " + own + " is assumed");
    return;
  }
  auto isOwn = [&](const json::Value &item) {
    return item.getAsString() == family->architecture;
  };
  if (!names || !all_of(*names, isOwn))
    fields.wrong("architectures", "expected [" + own +
                                      "], the language model "
                                      "of " +
                                      quoted(family->name));
}

void ConfigReader::refuseUnsupported() {
  refuseOtherClasses();
  for (const UnsupportedField &field : unsupportedFields()) {
    const json::Value *value = fields.findSet(field.key);
    if (!value || value->getAsBoolean() == false)
      continue;
    if (value->getAsObject() && value->getAsObject()->empty())
      continue;
    if (value->getAsArray() && value->getAsArray()->empty())
      continue;
    if (field.neutral && value->getAsNumber() == field.neutral)
      continue;
    fields.wrong(field.key, field.reason);
  }
  if (fields.findSet("is_causal") && !fields.flag("is_causal", true))
    fields.wrong("is_causal", "only causal attention is supported");
}

void ConfigReader::checkHeads() {
  std::string heads = quoted(family->keys.heads);
  std::string hidden = quoted(family->keys.hidden);
  if (config.heads % config.kvHeads != 0) {
    std::string divisors;
    for (int64_t kv = 1; kv <= config.heads; ++kv)
      if (config.heads % kv == 0)
        divisors += (kv == 1 ? "" : ", ") + std::to_string(kv);
    findings.problem("num_key_value_heads",
                     heads + " " + Twine(config.heads) +
                         " is not a multiple of \"num_key_value_heads\" " +
                         Twine(config.kvHeads) + ": expected one of " +
                         divisors);
  }
  if (config.headDim != 0)
    return checkRotation("\"head_dim\" is ");
  config.headDim = config.hiddenSize / config.heads;
  if (config.hiddenSize % config.heads == 0)
    return checkRotation(hidden + " / " + heads + " is ");
  findings.problem(family->keys.heads,
                   hidden + " " + Twine(config.hiddenSize) +
                       " is not a multiple of " + heads + " " +
                       Twine(config.heads) + ": " +
                       (family->hasHeadFields ? "give \"head_dim\""
                                              : "heads are equal parts of it"));
}

/// `source` says where the size of a head is from.
void ConfigReader::checkRotation(StringRef source) {
  if (config.learnedPositions)
    return;
  // Truncated, as transformers does it.
  config.rotaryDim =
      static_cast<int64_t>(static_cast<double>(config.headDim) * rotatedPart);
  std::string size = (source + Twine(config.headDim)).str();
  if (config.rotaryDim != config.headDim)
    size += ", of which " + std::to_string(config.rotaryDim) + " are rotated";
  if (config.rotaryDim % 2 != 0 || config.rotaryDim == 0)
    findings.problem("head_dim",
                     size + ": expected an even number, rotary embeddings turn "
                            "pairs");
}

DecoderConfig ConfigReader::read() {
  family = readFamily();
  if (!family)
    return config;
  config.modelType = family->name.str();
  refuseAliases();
  readSizes();
  readHeads();
  readFlags();
  readBiases();
  readActivation();
  refuseScaledScores();
  readType();
  if (!config.learnedPositions)
    rotatedPart = readRope(*family, fields, findings, config);
  readWindow();
  refuseUnsupported();
  fields.warnOfUnknown(harmlessFields(), "model type " + quoted(family->name));
  // With a wrong size the contradictions would be between defaults.
  if (!findings.hasProblems())
    checkHeads();
  return config;
}

Expected<DecoderConfig>
tp::parseHFConfig(StringRef text, StringRef fileName,
                  SmallVectorImpl<std::string> &warnings) {
  Expected<json::Value> value = parseStrictJSON(text, fileName);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError(fileName + ": expected a JSON object, found " +
                             printed(*value));
  Findings findings(fileName, linesOfKeys(text), warnings);
  DecoderConfig config = ConfigReader(*object, findings).read();
  if (findings.hasProblems())
    return findings.takeError();
  if (Expected<int64_t> count = parameterCount(config); !count)
    return createStringError(fileName + ": " + toString(count.takeError()));
  return config;
}

Expected<DecoderConfig>
tp::readHFConfig(StringRef path, SmallVectorImpl<std::string> &warnings) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  return parseHFConfig((*buffer)->getBuffer(), path, warnings);
}
