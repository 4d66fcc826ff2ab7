// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/HFConfig.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <numeric>

using namespace llvm;
using namespace tp;

namespace {

/// Appends the weights of one layer.
class LayerWeights {
public:
  LayerWeights(const DecoderConfig &config, int64_t layer,
               std::vector<WeightSpec> &list)
      : config(config), list(list),
        prefix("model.layers." + std::to_string(layer) + ".") {}

  void append() {
    norm("input_layernorm", config.hiddenSize);
    int64_t queries = config.heads * config.headDim;
    int64_t keys = config.kvHeads * config.headDim;
    projection("self_attn.q_proj", queries, config.hiddenSize, config.qkvBias);
    projection("self_attn.k_proj", keys, config.hiddenSize, config.qkvBias);
    projection("self_attn.v_proj", keys, config.hiddenSize, config.qkvBias);
    if (config.qkNorm) {
      norm("self_attn.q_norm", config.headDim);
      norm("self_attn.k_norm", config.headDim);
    }
    projection("self_attn.o_proj", config.hiddenSize, queries,
               config.outputBias);
    norm("post_attention_layernorm", config.hiddenSize);
    int64_t ffn = config.ffnSize;
    projection("mlp.gate_proj", ffn, config.hiddenSize, config.mlpBias);
    projection("mlp.up_proj", ffn, config.hiddenSize, config.mlpBias);
    projection("mlp.down_proj", config.hiddenSize, ffn, config.mlpBias);
  }

private:
  void norm(StringRef module, int64_t size) {
    list.push_back({prefix + module.str() + ".weight", {size}});
  }

  void projection(StringRef module, int64_t outputs, int64_t inputs,
                  bool hasBias) {
    list.push_back({prefix + module.str() + ".weight", {outputs, inputs}});
    if (hasBias)
      list.push_back({prefix + module.str() + ".bias", {outputs}});
  }

  const DecoderConfig &config;
  std::vector<WeightSpec> &list;
  std::string prefix;
};

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

std::vector<WeightSpec> tp::weights(const DecoderConfig &config) {
  std::vector<WeightSpec> list;
  int64_t hidden = config.hiddenSize;
  list.push_back({"model.embed_tokens.weight", {config.vocabulary, hidden}});
  for (int64_t layer = 0; layer < config.layers; ++layer)
    LayerWeights(config, layer, list).append();
  list.push_back({"model.norm.weight", {hidden}});
  if (!config.tiedEmbeddings)
    list.push_back({"lm_head.weight", {config.vocabulary, hidden}});
  return list;
}

Expected<int64_t> tp::parameterCount(const DecoderConfig &config) {
  Checked hidden = config.hiddenSize, ffn = config.ffnSize;
  Checked queries = Checked(config.heads) * config.headDim;
  Checked keys = Checked(config.kvHeads) * config.headDim;
  Checked qkv = queries + keys * 2;

  Checked layer =
      hidden * 2 + hidden * qkv + queries * hidden + hidden * ffn * 3;
  if (config.qkvBias)
    layer = layer + qkv;
  if (config.outputBias)
    layer = layer + hidden;
  if (config.mlpBias)
    layer = layer + ffn * 2 + hidden;
  if (config.qkNorm)
    layer = layer + Checked(config.headDim) * 2;

  Checked tables =
      Checked(config.vocabulary) * hidden * (config.tiedEmbeddings ? 1 : 2);
  Checked total = tables + layer * config.layers + hidden;
  if (total.value)
    return *total.value;
  return createStringError(
      Twine("the number of parameters exceeds 2^63 - 1: hidden size ") +
      Twine(config.hiddenSize) + ", " + Twine(config.layers) + " layers, " +
      Twine(config.heads) + " heads and " + Twine(config.kvHeads) +
      " key-value heads of " + Twine(config.headDim) + ", feed-forward size " +
      Twine(config.ffnSize) + ", vocabulary " + Twine(config.vocabulary));
}

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

  // Half of head_dim, so that the other half leaves it even.
  int64_t divisor =
      largestDivisor(std::gcd(config.hiddenSize, config.headDim / 2), factor);
  divide("hidden_size", config.hiddenSize, divisor);
  divide("head_dim", config.headDim, divisor);
  divide("intermediate_size", config.ffnSize,
         largestDivisor(config.ffnSize, factor));
  divide("vocab_size", config.vocabulary,
         largestDivisor(config.vocabulary, factor));
  return config;
}
