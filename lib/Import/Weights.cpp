// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ModuleNames.h"
#include "tp/Import/HFConfig.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <numeric>

using namespace llvm;
using namespace tp;

//===- Names --------------------------------------------------------------===//

static constexpr ModuleNames llamaNames = {.embedding = "model.embed_tokens",
                                           .positions = "",
                                           .layers = "model.layers.",
                                           .lastNorm = "model.norm",
                                           .attentionNorm = "input_layernorm",
                                           .qkv = "",
                                           .query = "self_attn.q_proj",
                                           .key = "self_attn.k_proj",
                                           .value = "self_attn.v_proj",
                                           .queryNorm = "self_attn.q_norm",
                                           .keyNorm = "self_attn.k_norm",
                                           .output = "self_attn.o_proj",
                                           .feedForwardNorm =
                                               "post_attention_layernorm",
                                           .gateUp = "",
                                           .gate = "mlp.gate_proj",
                                           .up = "mlp.up_proj",
                                           .down = "mlp.down_proj"};

static constexpr ModuleNames phi3Names = [] {
  ModuleNames names = llamaNames;
  names.qkv = "self_attn.qkv_proj";
  names.gateUp = "mlp.gate_up_proj";
  return names;
}();

static constexpr ModuleNames gpt2Names = {.embedding = "transformer.wte",
                                          .positions = "transformer.wpe",
                                          .layers = "transformer.h.",
                                          .lastNorm = "transformer.ln_f",
                                          .attentionNorm = "ln_1",
                                          .qkv = "attn.c_attn",
                                          .query = "",
                                          .key = "",
                                          .value = "",
                                          .queryNorm = "",
                                          .keyNorm = "",
                                          .output = "attn.c_proj",
                                          .feedForwardNorm = "ln_2",
                                          .gateUp = "",
                                          .gate = "",
                                          .up = "mlp.c_fc",
                                          .down = "mlp.c_proj"};

const ModuleNames &tp::moduleNames(const DecoderConfig &config) {
  if (config.modelType == "gpt2")
    return gpt2Names;
  return config.modelType == "phi3" ? phi3Names : llamaNames;
}

//===- Weights ------------------------------------------------------------===//

namespace {

/// Appends the weights of one module after the other.
class WeightList {
public:
  WeightList(const DecoderConfig &config, std::vector<WeightSpec> &list)
      : config(config), names(moduleNames(config)), list(list) {}

  void append();

private:
  void appendLayer();
  void appendFeedForward();

  void add(StringRef module, StringRef kind, ArrayRef<int64_t> shape) {
    list.push_back(
        {(prefix + module + "." + kind).str(), SmallVector<int64_t, 2>(shape)});
  }

  void norm(StringRef module, int64_t size) {
    add(module, "weight", {size});
    if (config.norm == NormKind::Layer)
      add(module, "bias", {size});
  }

  void projection(StringRef module, int64_t outputs, int64_t inputs,
                  bool hasBias) {
    if (config.storedInOut)
      add(module, "weight", {inputs, outputs});
    else
      add(module, "weight", {outputs, inputs});
    if (hasBias)
      add(module, "bias", {outputs});
  }

  const DecoderConfig &config;
  const ModuleNames &names;
  std::vector<WeightSpec> &list;
  /// Of the layer that is being written.
  std::string prefix;
};

} // namespace

void WeightList::appendFeedForward() {
  int64_t hidden = config.hiddenSize, ffn = config.ffnSize;
  bool gated = config.feedForward == FeedForward::Gated;
  if (config.fusedGateUp)
    projection(names.gateUp, 2 * ffn, hidden, config.mlpBias);
  if (gated && !config.fusedGateUp)
    projection(names.gate, ffn, hidden, config.mlpBias);
  if (!config.fusedGateUp)
    projection(names.up, ffn, hidden, config.mlpBias);
  projection(names.down, hidden, ffn, config.mlpBias);
}

void WeightList::appendLayer() {
  int64_t hidden = config.hiddenSize;
  int64_t queries = config.heads * config.headDim;
  int64_t keys = config.kvHeads * config.headDim;
  norm(names.attentionNorm, hidden);
  if (config.fusedQKV) {
    projection(names.qkv, queries + 2 * keys, hidden, config.qkvBias);
  } else {
    projection(names.query, queries, hidden, config.qkvBias);
    projection(names.key, keys, hidden, config.qkvBias);
    projection(names.value, keys, hidden, config.qkvBias);
  }
  if (config.qkNorm) {
    norm(names.queryNorm, config.headDim);
    norm(names.keyNorm, config.headDim);
  }
  projection(names.output, hidden, queries, config.outputBias);
  norm(names.feedForwardNorm, hidden);
  appendFeedForward();
}

void WeightList::append() {
  int64_t hidden = config.hiddenSize;
  add(names.embedding, "weight", {config.vocabulary, hidden});
  if (config.learnedPositions)
    add(names.positions, "weight", {config.maxPositions, hidden});
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    prefix = (names.layers + Twine(layer) + ".").str();
    appendLayer();
  }
  prefix.clear();
  norm(names.lastNorm, hidden);
  if (!config.tiedEmbeddings)
    add(headModule, "weight", {config.vocabulary, hidden});
}

std::vector<WeightSpec> tp::weights(const DecoderConfig &config) {
  std::vector<WeightSpec> list;
  WeightList(config, list).append();
  return list;
}

//===- Number of parameters -----------------------------------------------===//

namespace {

/// A non-negative number that remembers whether it overflowed.
struct Checked {
  std::optional<int64_t> value;

  Checked(int64_t number) : value(number) {}
  Checked(std::optional<int64_t> number) : value(number) {}

  Checked operator+(Checked other) const {
    if (!value || !other.value)
      return std::optional<int64_t>();
    return checkedAdd(*value, *other.value);
  }

  Checked operator*(Checked other) const {
    if (!value || !other.value)
      return std::optional<int64_t>();
    return checkedMul(*value, *other.value);
  }
};

} // namespace

Expected<int64_t> tp::parameterCount(const DecoderConfig &config) {
  Checked hidden = config.hiddenSize, ffn = config.ffnSize;
  Checked queries = Checked(config.heads) * config.headDim;
  Checked keys = Checked(config.kvHeads) * config.headDim;
  Checked qkv = queries + keys * 2;
  int64_t perNorm = config.norm == NormKind::Layer ? 2 : 1;
  int64_t wide = config.feedForward == FeedForward::Gated ? 2 : 1;

  Checked layer = hidden * 2 * perNorm + hidden * qkv + queries * hidden +
                  hidden * ffn * (wide + 1);
  if (config.qkvBias)
    layer = layer + qkv;
  if (config.outputBias)
    layer = layer + hidden;
  if (config.mlpBias)
    layer = layer + ffn * wide + hidden;
  if (config.qkNorm)
    layer = layer + Checked(config.headDim) * 2 * perNorm;

  Checked tables =
      Checked(config.vocabulary) * hidden * (config.tiedEmbeddings ? 1 : 2);
  if (config.learnedPositions)
    tables = tables + Checked(config.maxPositions) * hidden;
  Checked total = tables + layer * config.layers + hidden * perNorm;
  if (total.value)
    return *total.value;
  return createStringError(
      Twine("the number of parameters exceeds 2^63 - 1: hidden size ") +
      Twine(config.hiddenSize) + ", " + Twine(config.layers) + " layers, " +
      Twine(config.heads) + " heads and " + Twine(config.kvHeads) +
      " key-value heads of " + Twine(config.headDim) + ", feed-forward size " +
      Twine(config.ffnSize) + ", vocabulary " + Twine(config.vocabulary));
}

//===- Smaller models -----------------------------------------------------===//

/// Largest divisor of `number` that is at most `limit`, both positive.
static int64_t largestDivisor(int64_t number, int64_t limit) {
  int64_t best = 1;
  for (int64_t low = 1; low <= number / low; ++low) {
    if (number % low != 0)
      continue;
    for (int64_t divisor : {low, number / low})
      if (divisor <= limit && divisor > best)
        best = divisor;
  }
  return best;
}

Expected<DecoderConfig> tp::shrink(DecoderConfig config, int64_t factor,
                                   std::vector<std::string> &said) {
  if (factor < 1)
    return createStringError("cannot shrink by " + Twine(factor) +
                             ": expected an integer of at least 1");
  auto divide = [&](StringRef name, int64_t &size, int64_t divisor) {
    std::string line = name.str() + " ";
    if (divisor == 1)
      line += "stays " + std::to_string(size);
    else
      line += std::to_string(size) + " -> " + std::to_string(size / divisor);
    if (divisor == 1 && factor > 1)
      line += " (cannot be divided by 2 to " + std::to_string(factor) + ")";
    else if (divisor != factor)
      line += " (divided by " + std::to_string(divisor) + ", not by " +
              std::to_string(factor) + ")";
    size /= divisor;
    said.push_back(line);
  };

  // Half of what is rotated, so that the other half leaves it even.
  int64_t common = std::gcd(config.hiddenSize, config.headDim);
  if (config.rotaryDim > 0)
    common = std::gcd(common, config.rotaryDim / 2);
  int64_t divisor = largestDivisor(common, factor);
  divide("hidden_size", config.hiddenSize, divisor);
  divide("head_dim", config.headDim, divisor);
  config.rotaryDim /= divisor;
  divide("intermediate_size", config.ffnSize,
         largestDivisor(config.ffnSize, factor));
  divide("vocab_size", config.vocabulary,
         largestDivisor(config.vocabulary, factor));
  return config;
}
