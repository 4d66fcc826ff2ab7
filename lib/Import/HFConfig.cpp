// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/HFConfig.h"
#include "ConfigFields.h"
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

enum class WindowRule {
  /// The family has no sliding window.
  Never,
  /// All layers, if "sliding_window" is not null.
  EveryLayer,
  /// Some layers, if "use_sliding_window" is true.
  SomeLayers,
};

/// What the configuration class of a family in transformers fixes. All four
/// have 32 layers, 32 heads and a hidden size of 4096 by default.
struct Family {
  StringRef name;
  int64_t ffnSize, vocabulary, maxPositions;
  /// As many as heads if absent here.
  std::optional<int64_t> kvHeads;
  /// Hidden size / heads if absent here.
  std::optional<int64_t> headDim;
  /// "attention_bias" switches the biases of q, k, v and o.
  bool hasAttentionBias;
  /// "mlp_bias" switches the biases of gate, up and down.
  bool hasMLPBias;
  WindowRule window;
};

const Family families[] = {
    {"llama", 11008, 32000, 2048, {}, {}, true, true, WindowRule::Never},
    {"mistral",
     14336,
     32000,
     131072,
     8,
     {},
     false,
     false,
     WindowRule::EveryLayer},
    {"qwen2",
     22016,
     151936,
     32768,
     32,
     {},
     false,
     false,
     WindowRule::SomeLayers},
    {"qwen3", 22016, 151936, 32768, 32, 128, true, false,
     WindowRule::SomeLayers},
};

/// A field that changes what the model computes in a way that is not
/// supported, unless it is absent, null, false or empty.
struct UnsupportedField {
  StringRef key, reason;
};

const UnsupportedField unsupportedFields[] = {
    {"quantization_config", "quantized weights are not supported: import the "
                            "checkpoint before quantization"},
    {"compression_config", "compressed weights are not supported: import the "
                           "checkpoint before compression"},
    {"num_experts", "mixture-of-experts layers are not supported"},
    {"num_local_experts", "mixture-of-experts layers are not supported"},
    {"num_experts_per_tok", "mixture-of-experts layers are not supported"},
    {"n_routed_experts", "mixture-of-experts layers are not supported"},
    {"moe_intermediate_size", "mixture-of-experts layers are not supported"},
    {"per_layer_config", "layers that differ are not supported"},
    {"pruned_heads", "pruned heads are not supported"},
    {"is_encoder_decoder", "only decoders are supported"},
    {"add_cross_attention", "cross-attention is not supported"},
    {"use_bidirectional_attention", "only causal attention is supported"},
    {"use_mrope", "multimodal rotary embeddings are not supported"},
};

/// Fields that say nothing about the graph of a training step or its sizes.
const StringRef harmlessFields[] = {
    "_attn_implementation",
    "_commit_hash",
    "_name_or_path",
    "architectures",
    "attention_dropout",
    "attn_implementation",
    "bos_token_id",
    "chunk_size_feed_forward",
    "eos_token_id",
    "finetuning_task",
    "id2label",
    "initializer_range",
    "is_decoder",
    "label2id",
    "name_or_path",
    "output_attentions",
    "output_hidden_states",
    "pad_token_id",
    "problem_type",
    "return_dict",
    "tokenizer_class",
    "torchscript",
    "transformers_version",
    "use_cache",
};

/// Reads the fields of one config.json into a DecoderConfig.
class ConfigReader {
public:
  ConfigReader(const json::Object &object, Findings &findings)
      : fields(object, "", findings), findings(findings) {}

  DecoderConfig read();

private:
  const Family *readFamily();
  void readSizes();
  void readHeads();
  void readFlags();
  void readType();
  void readWindow();
  bool readLayerTypes();
  void refuseUnsupported();
  void checkHeads();

  Fields fields;
  Findings &findings;
  const Family *family = nullptr;
  DecoderConfig config;
};

} // namespace

const Family *ConfigReader::readFamily() {
  std::string names =
      join(map_range(families, [](const Family &f) { return quoted(f.name); }),
           ", ");
  std::string expected = "expected one of " + names;
  std::optional<StringRef> type = fields.text("model_type", expected);
  if (!type) {
    if (!fields.find("model_type"))
      findings.problem("no \"model_type\": " + expected);
    return nullptr;
  }
  const Family *found =
      find_if(families, [&](const Family &f) { return f.name == *type; });
  if (found != std::end(families))
    return found;
  fields.wrong("model_type", "not a supported model type: " + expected);
  return nullptr;
}

void ConfigReader::readSizes() {
  config.hiddenSize = fields.size("hidden_size", 4096, maxSize);
  config.layers = fields.size("num_hidden_layers", 32, maxCount);
  config.ffnSize = fields.size("intermediate_size", family->ffnSize, maxSize);
  config.vocabulary = fields.size("vocab_size", family->vocabulary, maxSize);
  config.maxPositions =
      fields.integer("max_position_embeddings", family->maxPositions, maxSize);
  config.normEpsilon = fields.positive("rms_norm_eps", 1e-6);
  if (fields.findSet("pretraining_tp") &&
      fields.integer("pretraining_tp", 1, maxSize) > 1)
    fields.wrong("pretraining_tp",
                 "projections computed in slices are not supported: write 1, "
                 "which is the same model up to rounding");
}

void ConfigReader::readHeads() {
  config.heads = fields.size("num_attention_heads", 32, maxCount);
  // Null stands for the number of heads even where the default differs.
  int64_t kvDefault = family->kvHeads.value_or(config.heads);
  if (fields.find("num_key_value_heads") &&
      !fields.findSet("num_key_value_heads"))
    kvDefault = config.heads;
  config.kvHeads = fields.findSet("num_key_value_heads")
                       ? fields.integer("num_key_value_heads", 0, maxCount)
                       : kvDefault;
  // Qwen3 alone has no null here.
  if (family->headDim)
    config.headDim = fields.integer("head_dim", *family->headDim, maxSize);
  else if (fields.findSet("head_dim"))
    config.headDim = fields.integer("head_dim", 0, maxSize);
}

void ConfigReader::readFlags() {
  config.tiedEmbeddings = fields.flag("tie_word_embeddings", false);
  config.qkNorm = family->name == "qwen3";

  bool attentionBias = fields.flag("attention_bias", false);
  if (attentionBias && !family->hasAttentionBias)
    fields.wrong("attention_bias",
                 "the biases of " + quoted(family->name) +
                     " are not switched by this field: expected false");
  config.qkvBias = attentionBias || family->name == "qwen2";
  config.outputBias = attentionBias;

  config.mlpBias = fields.flag("mlp_bias", false);
  if (config.mlpBias && !family->hasMLPBias)
    fields.wrong("mlp_bias",
                 quoted(family->name) + " has no biases there: expected false");

  std::string expected = "not a supported activation: expected \"silu\"";
  std::optional<StringRef> activation = fields.text("hidden_act", expected);
  // "swish" is another name of the same function.
  if (activation && *activation != "silu" && *activation != "swish")
    fields.wrong("hidden_act", expected);
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
    findings.problem("\"dtype\" is " + printed(*fields.find("dtype")) +
                     " and \"torch_dtype\" is " +
                     printed(*fields.find("torch_dtype")) +
                     ": keep one of them");
  if (!types[0] && !types[1])
    findings.warning("no \"dtype\": f32 is assumed");
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
    findings.problem("\"layer_types\" has " + Twine(types->size()) +
                     " entries and \"num_hidden_layers\" is " +
                     Twine(config.layers) + ": one entry a layer is needed");
  bool sliding = false;
  for (auto [index, type] : enumerate(*types)) {
    std::optional<StringRef> text = type.getAsString();
    bool slides = text && *text == "sliding_attention";
    sliding |= slides;
    if (text && *text == "full_attention")
      continue;
    if (slides && family->window == WindowRule::SomeLayers)
      continue;
    findings.problem(
        "\"layer_types\" has " + printed(type) + " at " + Twine(index) + ": " +
        quoted(family->name) + " supports \"full_attention\"" +
        (family->window == WindowRule::SomeLayers ? " and \"sliding_attention\""
                                                  : ""));
    break;
  }
  return sliding;
}

void ConfigReader::readWindow() {
  bool listed = readLayerTypes();
  if (family->window == WindowRule::Never)
    return;
  if (family->window == WindowRule::EveryLayer) {
    bool isNull =
        fields.find("sliding_window") && !fields.findSet("sliding_window");
    if (!isNull)
      config.slidingWindow = fields.integer("sliding_window", 4096, maxSize);
    return;
  }

  bool used = fields.flag("use_sliding_window", false);
  // Known, and without effect unless the window is used.
  fields.find("max_window_layers");
  bool isNull =
      fields.find("sliding_window") && !fields.findSet("sliding_window");
  if (listed && (!used || isNull))
    findings.problem(
        "\"layer_types\" has \"sliding_attention\", but no window is set: "
        "give \"sliding_window\" and \"use_sliding_window\" true");
  if (!used || isNull)
    return;
  int64_t window = fields.integer("sliding_window", 4096, maxSize);
  int64_t firstLayer =
      fields.integer("max_window_layers", 28, maxSize, /*min=*/0);
  if (fields.findSet("layer_types") ? listed : firstLayer < config.layers)
    config.slidingWindow = window;
}

void ConfigReader::refuseUnsupported() {
  for (const UnsupportedField &field : unsupportedFields) {
    const json::Value *value = fields.findSet(field.key);
    if (!value || value->getAsBoolean() == false)
      continue;
    if (value->getAsObject() && value->getAsObject()->empty())
      continue;
    fields.wrong(field.key, field.reason);
  }
  if (fields.findSet("is_causal") && !fields.flag("is_causal", true))
    fields.wrong("is_causal", "only causal attention is supported");
}

void ConfigReader::checkHeads() {
  if (config.heads % config.kvHeads != 0) {
    std::string divisors;
    for (int64_t kv = 1; kv <= config.heads; ++kv)
      if (config.heads % kv == 0)
        divisors += (kv == 1 ? "" : ", ") + std::to_string(kv);
    findings.problem("\"num_attention_heads\" " + Twine(config.heads) +
                     " is not a multiple of \"num_key_value_heads\" " +
                     Twine(config.kvHeads) + ": expected one of " + divisors);
  }
  std::string source = "\"head_dim\" is ";
  if (config.headDim == 0) {
    source = "\"hidden_size\" / \"num_attention_heads\" is ";
    config.headDim = config.hiddenSize / config.heads;
    if (config.hiddenSize % config.heads != 0) {
      findings.problem("\"hidden_size\" " + Twine(config.hiddenSize) +
                       " is not a multiple of \"num_attention_heads\" " +
                       Twine(config.heads) + ": give \"head_dim\"");
      return;
    }
  }
  if (config.headDim % 2 != 0)
    findings.problem(source + Twine(config.headDim) +
                     ": expected an even number, rotary embeddings turn "
                     "pairs");
}

DecoderConfig ConfigReader::read() {
  family = readFamily();
  if (!family)
    return config;
  config.modelType = family->name.str();
  readSizes();
  readHeads();
  readFlags();
  readType();
  readRope(fields, findings, config);
  readWindow();
  refuseUnsupported();
  fields.warnOfUnknown(harmlessFields, "model type " + quoted(family->name));
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
  Findings findings(fileName, warnings);
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
