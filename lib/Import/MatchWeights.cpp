// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/MatchWeights.h"
#include "Families.h"
#include "ModuleNames.h"
#include "StrictJSON.h"
#include "WeightFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tp;

/// Most problems of one kind in a message.
static constexpr size_t maxShown = 8;
/// Most names that are compared with a missing one: what a checkpoint has more
/// of is another model's.
static constexpr size_t maxCompared = 4096;

namespace {

/// Compares the tensors of a checkpoint with those of a model.
class WeightMatch {
public:
  WeightMatch(const Checkpoint &checkpoint, const DecoderConfig &config,
              int64_t layers)
      : checkpoint(checkpoint), config(config), names(moduleNames(config)),
        layers(layers) {
    for (StringRef name : checkpoint.names())
      tensors[name] = &cantFail(checkpoint.lookup(name));
  }

  Error run(std::vector<std::string> &said);

private:
  StringRef modelPrefix() const;
  std::string storedName(StringRef name) const;
  bool isFurther(StringRef name) const;
  bool isBuffer(StringRef name) const;
  void takeParameters();
  void takeParameter(const WeightSpec &spec);
  void takeTiedCopy();
  void takeBuffers();
  void reportMissing();
  void reportUnused();
  std::string nearNames(StringRef missing) const;
  std::string tieOf(StringRef missing) const;
  std::string fieldThatGives(const StoredTensor &tensor, StringRef name) const;
  std::string configOfUnused() const;
  bool hasAll(const DecoderConfig &other) const;
  void problem(const Twine &message) { problems.push_back(message.str()); }

  const Checkpoint &checkpoint;
  const DecoderConfig &config;
  const ModuleNames &names;
  int64_t layers;
  /// What no parameter has taken yet, by its name in the checkpoint.
  StringMap<const StoredTensor *> tensors;
  std::vector<std::string> missing;
  size_t wrong = 0;
  int64_t further = 0, buffers = 0, copies = 0;
  std::vector<std::string> problems;
};

} // namespace

static std::string printedShape(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t size) { return itostr(size); }),
              ", ") +
         "]";
}

/// "model." or "transformer.": names in a checkpoint without the head lack it.
StringRef WeightMatch::modelPrefix() const {
  return names.layers.take_front(names.layers.find('.') + 1);
}

/// The name under which the checkpoint has a parameter, or "".
std::string WeightMatch::storedName(StringRef name) const {
  if (tensors.contains(name))
    return name.str();
  StringRef inner = name;
  if (inner.consume_front(modelPrefix()) && tensors.contains(inner))
    return inner.str();
  return "";
}

/// Whether a parameter is of a layer behind those that are wanted.
bool WeightMatch::isFurther(StringRef name) const {
  int64_t layer = 0;
  return name.consume_front(names.layers) && !name.consumeInteger(10, layer) &&
         layer >= layers;
}

/// Buffers that transformers computes anew and, where a checkpoint has them,
/// ignores. Rotary frequencies: modeling_utils adds "rotary_emb.inv_freq" to
/// _keys_to_ignore_on_load_unexpected of every model that has that buffer, for
/// it was stored until 4.31, once a layer; the tables of cosines and sines
/// made from it were registered with persistent=False until 4.44. GPT-2: the
/// causal mask "bias" and "masked_bias" of each layer are registered with
/// persistent=False and in _keys_to_ignore_on_load_unexpected as
/// "h.N.attn.bias" and "h.N.attn.masked_bias".
bool WeightMatch::isBuffer(StringRef name) const {
  StringRef prefix = modelPrefix(), inner = name, inLayers = names.layers;
  inner.consume_front(prefix);
  inLayers.consume_front(prefix);
  static constexpr StringLiteral rotary[] = {
      "rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached"};
  bool rotates = !config.learnedPositions;
  if (rotates && is_contained(rotary, inner))
    return true;
  uint64_t layer = 0;
  if (!inner.consume_front(inLayers) || inner.consumeInteger(10, layer))
    return false;
  if (!rotates)
    return inner == ".attn.bias" || inner == ".attn.masked_bias";
  return inner.consume_front(".self_attn.") && is_contained(rotary, inner);
}

//===- What the checkpoint has --------------------------------------------===//

void WeightMatch::takeParameter(const WeightSpec &spec) {
  std::string name = storedName(spec.name);
  bool isWanted = !isFurther(spec.name);
  if (name.empty()) {
    if (isWanted)
      missing.push_back(spec.name);
    return;
  }
  const StoredTensor &tensor = *tensors.lookup(name);
  tensors.erase(name);
  further += !isWanted;
  if (!isWanted)
    return;
  bool hasShape = ArrayRef(tensor.shape) == ArrayRef(spec.shape);
  if ((hasShape && isFloat(tensor.type)) || ++wrong > maxShown)
    return;
  if (!hasShape)
    problem(tensor.file + ": tensor " + quoted(name) + " is " +
            printedShape(tensor.shape) + ", the config makes it " +
            printedShape(spec.shape) + fieldThatGives(tensor, spec.name));
  else
    problem(tensor.file + ": tensor " + quoted(name) + " is " +
            tp::name(tensor.type) + ": expected a floating-point type");
}

void WeightMatch::takeParameters() {
  for (const WeightSpec &spec : weights(config))
    takeParameter(spec);
  if (wrong > maxShown)
    problem(checkpoint.path() + ": " + Twine(wrong - maxShown) +
            " more tensors of another shape or type");
}

/// A model that is said to share its table with the output projection, but has
/// two that differ, is not the one that either of them gives.
void WeightMatch::takeTiedCopy() {
  std::string name = (headModule + ".weight").str();
  const StoredTensor *head = tensors.lookup(name);
  if (!config.tiedEmbeddings || !head)
    return;
  auto table = checkpoint.lookup((names.embedding + ".weight").str());
  if (!table) {
    consumeError(table.takeError());
    StringRef inner = names.embedding;
    inner.consume_front(modelPrefix());
    table = checkpoint.lookup((inner + ".weight").str());
  }
  if (!table)
    return consumeError(table.takeError());
  tensors.erase(name);
  bool equal = head->type == table->type && head->shape == table->shape &&
               head->bytes == table->bytes;
  copies += equal;
  if (!equal)
    problem(head->file +
            ": \"tie_word_embeddings\" is true, but the checkpoint has an "
            "\"lm_head.weight\" that differs from the embedding: set the "
            "field to false, or take out the tensor");
}

void WeightMatch::takeBuffers() {
  for (StringRef name : checkpoint.names())
    if (isBuffer(name) && tensors.erase(name))
      ++buffers;
}

//===- Reports ------------------------------------------------------------===//

/// Whether the checkpoint has exactly the parameters of another model, as far
/// as names and shapes say.
bool WeightMatch::hasAll(const DecoderConfig &other) const {
  WeightMatch match(checkpoint, other, other.layers);
  match.takeParameters();
  match.takeTiedCopy();
  match.takeBuffers();
  return match.missing.empty() && match.tensors.empty() &&
         match.problems.empty();
}

/// The same parameter in the first layer.
static std::string inFirstLayer(StringRef name, StringRef inLayers) {
  StringRef rest = name;
  uint64_t layer = 0;
  if (!rest.consume_front(inLayers) || rest.consumeInteger(10, layer))
    return name.str();
  return (inLayers + "0" + rest).str();
}

static bool givesShape(DecoderConfig config, StringRef name,
                       ArrayRef<int64_t> shape) {
  config.layers = 1;
  if (Expected<int64_t> count = parameterCount(config); !count) {
    consumeError(count.takeError());
    return false;
  }
  return any_of(weights(config), [&](const WeightSpec &spec) {
    return spec.name == name && ArrayRef(spec.shape) == shape;
  });
}

static const Family &familyOf(const DecoderConfig &config) {
  return *find_if(families(), [&](const Family &family) {
    return family.name == config.modelType;
  });
}

/// The field of the config with which the parameter has the tensor's shape.
std::string WeightMatch::fieldThatGives(const StoredTensor &tensor,
                                        StringRef name) const {
  const Family &family = familyOf(config);
  using Field = std::pair<StringRef, int64_t DecoderConfig::*>;
  SmallVector<Field> fields = {
      {"vocab_size", &DecoderConfig::vocabulary},
      {family.keys.ffn, &DecoderConfig::ffnSize},
      {family.keys.hidden, &DecoderConfig::hiddenSize},
      {family.keys.positions, &DecoderConfig::maxPositions}};
  if (family.hasHeadFields)
    fields.append({{"num_key_value_heads", &DecoderConfig::kvHeads},
                   {"head_dim", &DecoderConfig::headDim},
                   {family.keys.heads, &DecoderConfig::heads}});
  std::string first = inFirstLayer(name, names.layers);
  int64_t queries = config.heads * config.headDim;
  for (auto [key, field] : fields)
    for (int64_t size : tensor.shape)
      for (int64_t value :
           {size, size / 2, size / config.headDim, size / config.heads,
            size / config.kvHeads, (size - queries) / (2 * config.headDim)}) {
        DecoderConfig other = config;
        other.*field = value;
        if (value >= 1 && givesShape(other, first, tensor.shape))
          return ": " + quoted(key) + " of " + itostr(value) +
                 " would make it so";
      }
  return "";
}

/// Up to three names that nothing has taken, the nearest first.
std::string WeightMatch::nearNames(StringRef name) const {
  unsigned most = std::max<size_t>(2, name.size() / 6);
  std::vector<std::pair<unsigned, std::string>> near;
  if (tensors.size() <= maxCompared)
    for (StringRef other : tensors.keys()) {
      unsigned distance =
          name.edit_distance(other, /*AllowReplacements=*/true, most);
      if (distance <= most)
        near.push_back({distance, quoted(other)});
    }
  if (near.empty())
    return "";
  sort(near);
  near.resize(std::min<size_t>(near.size(), 3));
  return "; near names: " + join(make_second_range(near), ", ");
}

std::string WeightMatch::tieOf(StringRef name) const {
  std::string head = (headModule + ".weight").str();
  std::string table = (names.embedding + ".weight").str();
  if (name == head && !is_contained(missing, table))
    return "; with \"tie_word_embeddings\" true it is the embedding";
  if (name == table && tensors.contains(head))
    return config.tiedEmbeddings
               ? "; the table is tied, and \"lm_head.weight\" is there: store "
                 "it as the embedding"
               : "";
  return "";
}

void WeightMatch::reportMissing() {
  for (StringRef name : ArrayRef(missing).take_front(maxShown))
    problem(checkpoint.path() + ": no tensor " + quoted(name) + " among its " +
            Twine(checkpoint.names().size()) + tieOf(name) + nearNames(name));
  if (missing.size() > maxShown)
    problem(checkpoint.path() + ": " + Twine(missing.size() - maxShown) +
            " more tensors are missing");
}

/// What in the config makes it that of the checkpoint, or "".
std::string WeightMatch::configOfUnused() const {
  const Family &family = familyOf(config);
  auto with = [&](auto change) {
    DecoderConfig other = config;
    change(other);
    return other != config && hasAll(other);
  };
  if (family.biases.attentionField &&
      with([](DecoderConfig &c) { c.qkvBias = c.outputBias = true; }))
    return "\"attention_bias\" true";
  if (family.biases.mlpField &&
      with([](DecoderConfig &c) { c.mlpBias = true; }))
    return "\"mlp_bias\" true";
  if (with([](DecoderConfig &c) { c.tiedEmbeddings = !c.tiedEmbeddings; }))
    return std::string("\"tie_word_embeddings\" ") +
           (config.tiedEmbeddings ? "false" : "true");
  for (const Family &other : families())
    if (with([&](DecoderConfig &c) {
          c.modelType = other.name.str();
          c.qkvBias = other.biases.qkv;
          c.outputBias = other.biases.output;
          c.qkNorm = other.name == "qwen3";
        }))
      return "\"model_type\" " + quoted(other.name);
  return "";
}

void WeightMatch::reportUnused() {
  if (tensors.empty())
    return;
  std::vector<std::string> unused;
  for (StringRef name : tensors.keys())
    unused.push_back(name.str());
  sort(unused);
  problem(checkpoint.path() + ": " + Twine(unused.size()) +
          (unused.size() == 1 ? " tensor has" : " tensors have") +
          " no place in this " + config.modelType +
          " model: " + listed(unused));
}

Error WeightMatch::run(std::vector<std::string> &said) {
  takeParameters();
  takeTiedCopy();
  takeBuffers();
  reportMissing();
  reportUnused();
  if (!problems.empty()) {
    if (std::string fix = configOfUnused(); !fix.empty())
      problem("fix: with " + fix + " the config is that of these tensors");
    return createStringError(Twine(join(problems, "\n")));
  }
  if (further)
    said.push_back(itostr(further) + " tensors of layers from " +
                   itostr(layers) + " on are left out");
  if (buffers)
    said.push_back(itostr(buffers) +
                   " buffers of the checkpoint are made anew");
  if (copies)
    said.push_back("\"lm_head.weight\" equals the embedding, to which it is "
                   "tied");
  if (!checkpoint.filesBeside().empty())
    said.push_back("weights are read from " + quoted(checkpoint.path()) +
                   "; beside it: " + listed(checkpoint.filesBeside()));
  return Error::success();
}

Error tp::matchWeights(const Checkpoint &checkpoint,
                       const DecoderConfig &config, int64_t layers,
                       std::vector<std::string> &said) {
  return WeightMatch(checkpoint, config, layers).run(said);
}
