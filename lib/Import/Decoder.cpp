// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/Decoder.h"
#include "FunctionWriter.h"
#include "ModuleNames.h"
#include "OptionsCheck.h"
#include "mlir/IR/Verifier.h"
#include <cmath>

using namespace mlir;
using namespace tp;
using llvm::createStringError;
using llvm::Expected;

static constexpr llvm::StringLiteral layerName = "decoder_layer";

namespace {

/// Which tokens a program computes.
struct TokenShape {
  int64_t batch, tokens;
  /// Position of the first one: that many are in the cache.
  int64_t first = 0;
  bool hasCache = false;

  explicit TokenShape(const DecoderOptions &options)
      : batch(options.batch), tokens(options.sequence) {
    if (options.phase == Phase::Prefill)
      return;
    first = std::exchange(tokens, 1);
    hasCache = true;
  }
};

} // namespace

/// Keys or values of so many tokens.
static SmallVector<int64_t> cacheShape(const DecoderConfig &config,
                                       const TokenShape &shape,
                                       int64_t tokens) {
  return {shape.batch, tokens, config.kvHeads, config.headDim};
}

//===- Layer --------------------------------------------------------------===//

namespace {

/// Writes the function of a layer.
class LayerWriter {
public:
  LayerWriter(MLIRContext *context, Type element, const DecoderConfig &config,
              const DecoderOptions &options)
      : config(config), names(moduleNames(config)), shape(options),
        function(context, element, config, "layer/") {}

  /// Weights bear the names within the layer.
  func::FuncOp write(ModuleOp module, ArrayRef<WeightSpec> weights);

private:
  /// Queries, keys and values, [batch, sequence, heads, head_dim].
  struct Heads {
    Value query, key, value;
  };

  Heads prepareHeads(Value input);
  Heads withCache(Heads heads, Value key, Value value);
  Value writeAttention(Heads heads);
  Value writeFeedForward(Value input);
  Heads projectHeads(Value input);
  Value cut(Value flat, int64_t heads, StringRef name);
  Value rotate(Value input, const Twine &name);
  Value addToStream(Value stream, Value branch, StringRef name);

  const DecoderConfig &config;
  const ModuleNames &names;
  TokenShape shape;
  FunctionWriter function;
};

} // namespace

/// A projection, cut into heads.
Value LayerWriter::cut(Value flat, int64_t heads, StringRef name) {
  return function.reshape(flat,
                          {shape.batch, shape.tokens, heads, config.headDim},
                          name + ".heads");
}

LayerWriter::Heads LayerWriter::projectHeads(Value input) {
  int64_t queries = config.heads * config.headDim;
  int64_t keys = config.kvHeads * config.headDim;
  if (!config.fusedQKV) {
    Value query = cut(function.project(input, names.query), config.heads, "q");
    Value key = cut(function.project(input, names.key), config.kvHeads, "k");
    Value value =
        cut(function.project(input, names.value), config.kvHeads, "v");
    return {query, key, value};
  }
  Value all = function.project(input, names.qkv);
  Value query = function.columns(all, 0, queries, "q");
  Value key = function.columns(all, queries, keys, "k");
  Value value = function.columns(all, queries + keys, keys, "v");
  return {cut(query, config.heads, "q"), cut(key, config.kvHeads, "k"),
          cut(value, config.kvHeads, "v")};
}

/// Turns the first elements of each head, as many as the config says.
Value LayerWriter::rotate(Value input, const Twine &name) {
  OpBuilder &builder = function.builder;
  DenseF64ArrayAttr scaling;
  if (const std::optional<Llama3RopeScaling> &rope = config.ropeScaling)
    scaling = builder.getDenseF64ArrayAttr(
        {rope->factor, rope->lowFrequency, rope->highFrequency,
         static_cast<double>(rope->originalContext)});
  int64_t turned = config.rotaryDim, rest = config.headDim - turned;
  Value part = input;
  if (rest > 0)
    part = function.columns(input, 0, turned, name + ".turned");
  IntegerAttr offset;
  if (shape.first > 0)
    offset = builder.getI64IntegerAttr(shape.first);
  Value result = RopeOp::create(
      builder, function.at(name), part.getType(), part, /*origin=*/Value(),
      builder.getF64FloatAttr(config.ropeTheta), scaling, offset);
  if (rest == 0)
    return result;
  Value kept = function.columns(input, turned, rest, name + ".kept");
  return ConcatOp::create(builder, function.at(name + ".joined"),
                          input.getType(), ValueRange{result, kept},
                          builder.getI64IntegerAttr(3));
}

LayerWriter::Heads LayerWriter::prepareHeads(Value input) {
  Heads heads = projectHeads(input);
  if (config.qkNorm) {
    heads.query = function.normalise(heads.query, names.queryNorm);
    heads.key = function.normalise(heads.key, names.keyNorm);
  }
  if (!config.learnedPositions) {
    heads.query = rotate(heads.query, "q.rope");
    heads.key = rotate(heads.key, "k.rope");
  }
  return heads;
}

/// The keys and values of the cache, and behind them those of the new token.
LayerWriter::Heads LayerWriter::withCache(Heads heads, Value key, Value value) {
  OpBuilder &builder = function.builder;
  SmallVector<int64_t> all(tensorType(key).getShape());
  all[1] += shape.tokens;
  auto append = [&](Value past, Value next, StringRef name) -> Value {
    return ConcatOp::create(builder, function.at(name), function.type(all),
                            ValueRange{past, next},
                            builder.getI64IntegerAttr(1));
  };
  return {heads.query, append(key, heads.key, "k.all"),
          append(value, heads.value, "v.all")};
}

Value LayerWriter::writeAttention(Heads heads) {
  OpBuilder &builder = function.builder;
  double scale = config.scaledScores
                     ? 1 / std::sqrt(static_cast<double>(config.headDim))
                     : 1;
  Value mixed = AttentionOp::create(
      builder, function.at("attention"), heads.query.getType(), heads.query,
      heads.key, heads.value, /*origin=*/Value(),
      builder.getF64FloatAttr(scale), /*causal=*/builder.getUnitAttr());
  Value flat = function.reshape(
      mixed, {shape.batch, shape.tokens, config.heads * config.headDim},
      "attention.flat");
  return function.project(flat, names.output);
}

Value LayerWriter::writeFeedForward(Value input) {
  if (config.feedForward == FeedForward::Plain)
    return function.project(
        function.activate(function.project(input, names.up)), names.down);
  Value gate, up;
  if (config.fusedGateUp) {
    Value both = function.project(input, names.gateUp);
    gate = function.columns(both, 0, config.ffnSize, "gate");
    up = function.columns(both, config.ffnSize, config.ffnSize, "up");
  } else {
    gate = function.project(input, names.gate);
    up = function.project(input, names.up);
  }
  Value active = function.activate(gate);
  Value gated = MulOp::create(function.builder, function.at("gated"),
                              up.getType(), active, up);
  return function.project(gated, names.down);
}

Value LayerWriter::addToStream(Value stream, Value branch, StringRef name) {
  auto sum = AddOp::create(function.builder, function.at(name),
                           stream.getType(), stream, branch);
  function.markStream(sum);
  return sum;
}

func::FuncOp LayerWriter::write(ModuleOp module, ArrayRef<WeightSpec> weights) {
  OpBuilder &builder = function.builder;
  NamedAttribute streamAttr =
      builder.getNamedAttr(streamAttrName, builder.getUnitAttr());
  NamedTensor stream = {
      function.type({shape.batch, shape.tokens, config.hiddenSize}),
      {streamAttr}};
  SmallVector<NamedTensor> arguments{stream}, results{stream};
  arguments[0].attributes.push_back(
      function.named(nameAttrName, "hidden_states"));
  if (shape.hasCache) {
    auto past = function.type(cacheShape(config, shape, shape.first));
    auto next = function.type(cacheShape(config, shape, shape.tokens));
    arguments.push_back({past, {function.named(nameAttrName, "past_key")}});
    arguments.push_back({past, {function.named(nameAttrName, "past_value")}});
    results.append(2, {next, {}});
  }
  func::FuncOp op =
      function.begin(module, layerName, arguments, weights, results);
  op.setPrivate();

  Value input = function.normalise(op.getArgument(0), names.attentionNorm);
  Heads heads = prepareHeads(input), all = heads;
  if (shape.hasCache)
    all = withCache(heads, op.getArgument(1), op.getArgument(2));
  Value middle =
      addToStream(op.getArgument(0), writeAttention(all), "attention.residual");
  input = function.normalise(middle, names.feedForwardNorm);
  SmallVector<Value> outputs{
      addToStream(middle, writeFeedForward(input), "mlp.residual")};
  if (shape.hasCache)
    outputs.append({heads.key, heads.value});
  func::ReturnOp::create(builder, function.at("return"), outputs);
  return op;
}

//===- Model --------------------------------------------------------------===//

/// The weights of the first layer, under the names within a layer.
static std::vector<WeightSpec> layerWeights(const DecoderConfig &config,
                                            ArrayRef<WeightSpec> all) {
  std::vector<WeightSpec> layer;
  std::string prefix = (moduleNames(config).layers + "0.").str();
  for (const WeightSpec &spec : all) {
    StringRef name = spec.name;
    if (name.consume_front(prefix))
      layer.push_back({name.str(), spec.shape});
  }
  return layer;
}

namespace {

/// Writes @main.
class ModelWriter {
public:
  ModelWriter(MLIRContext *context, Type element, const DecoderConfig &config,
              const DecoderOptions &options)
      : config(config), names(moduleNames(config)), shape(options),
        columns(config.vocabulary),
        function(context, element, config, "model/") {
    // The options have been checked.
    if (options.padVocabulary)
      columns = llvm::cantFail(
          paddedVocabulary(config.vocabulary, *options.padVocabulary));
  }

  void write(ModuleOp module, ArrayRef<WeightSpec> weights, func::FuncOp layer,
             ArrayRef<WeightSpec> layerWeights);

private:
  func::FuncOp begin(ModuleOp module, ArrayRef<WeightSpec> weights);
  std::vector<WeightSpec> padTables(ArrayRef<WeightSpec> weights);
  void addCache(SmallVectorImpl<NamedTensor> &arguments,
                SmallVectorImpl<NamedTensor> &results);
  Value embed(Value ids);
  Operation *addPositions(Value embedding);
  func::CallOp callLayer(Value stream, ValueRange cache, int64_t number,
                         func::FuncOp layer, ArrayRef<WeightSpec> layerWeights);
  Value writeLogits(Value input);

  Value tableOf(StringRef module) const {
    return function.weight(module + ".weight");
  }

  const DecoderConfig &config;
  const ModuleNames &names;
  TokenShape shape;
  /// Of the logits and rows of the tables, padding included.
  int64_t columns;
  FunctionWriter function;
};

} // namespace

/// The weights with as many rows in the tables as there are columns.
std::vector<WeightSpec> ModelWriter::padTables(ArrayRef<WeightSpec> weights) {
  std::vector<WeightSpec> padded(weights);
  if (columns == config.vocabulary)
    return padded;
  std::string tables[] = {(names.embedding + ".weight").str(),
                          (headModule + ".weight").str()};
  for (WeightSpec &spec : padded) {
    if (!llvm::is_contained(tables, spec.name))
      continue;
    function.stored[spec.name] =
        StoredAttr::get(function.builder.getContext(), spec.name, spec.shape,
                        /*dim=*/0, /*from=*/0, config.vocabulary);
    spec.shape[0] = columns;
  }
  return padded;
}

/// The keys and values of each layer's cache, and those of the new token.
void ModelWriter::addCache(SmallVectorImpl<NamedTensor> &arguments,
                           SmallVectorImpl<NamedTensor> &results) {
  OpBuilder &builder = function.builder;
  auto past = function.type(cacheShape(config, shape, shape.first));
  auto next = function.type(cacheShape(config, shape, shape.tokens));
  for (int64_t layer = 0; layer < config.layers; ++layer)
    for (StringRef kind : {"key", "value"}) {
      std::string path =
          "_key_values." + std::to_string(layer) + "." + kind.str();
      auto like = builder.getNamedAttr(
          likeAttrName, builder.getI64IntegerAttr(arguments.size()));
      arguments.push_back(
          {past, {function.named(nameAttrName, "past" + path)}});
      results.push_back(
          {next, {function.named(nameAttrName, "new" + path), like}});
    }
}

func::FuncOp ModelWriter::begin(ModuleOp module, ArrayRef<WeightSpec> weights) {
  OpBuilder &builder = function.builder;
  NamedAttribute bound = builder.getNamedAttr(
      boundAttrName, builder.getI64IntegerAttr(config.vocabulary));
  auto ids =
      RankedTensorType::get({shape.batch, shape.tokens}, builder.getI64Type());
  SmallVector<NamedTensor> arguments = {
      {ids, {function.named(nameAttrName, "input_ids"), bound}}};
  SmallVector<NamedTensor> results = {
      {function.type({shape.batch, shape.tokens, columns}),
       {function.named(nameAttrName, "logits")}}};
  if (columns != config.vocabulary)
    results[0].attributes.push_back(builder.getNamedAttr(
        storedAttrName,
        StoredAttr::get(builder.getContext(), "logits",
                        {shape.batch, shape.tokens, config.vocabulary},
                        /*dim=*/2, /*from=*/0, config.vocabulary)));
  if (shape.hasCache)
    addCache(arguments, results);
  return function.begin(module, "main", arguments, padTables(weights), results);
}

/// The rows of the table of positions, added to each sequence.
Operation *ModelWriter::addPositions(Value embedding) {
  OpBuilder &builder = function.builder;
  Value rows = SliceOp::create(builder, function.at(label(names.positions)),
                               function.type({shape.tokens, config.hiddenSize}),
                               tableOf(names.positions),
                               builder.getDenseI64ArrayAttr({shape.first, 0}));
  return AddOp::create(builder, function.at("positions"), embedding.getType(),
                       embedding, rows);
}

Value ModelWriter::embed(Value ids) {
  IntegerAttr vocabulary;
  if (columns != config.vocabulary)
    vocabulary = function.builder.getI64IntegerAttr(config.vocabulary);
  Operation *stream = EmbeddingOp::create(
      function.builder, function.at(label(names.embedding)),
      function.type({shape.batch, shape.tokens, config.hiddenSize}),
      tableOf(names.embedding), ids, /*origin=*/Value(), vocabulary);
  // transformers rounds the root to f32 first.
  if (config.scaledEmbedding)
    stream = function.scaled(stream->getResult(0),
                             std::sqrt(static_cast<double>(config.hiddenSize)),
                             "embed_scale");
  if (config.learnedPositions)
    stream = addPositions(stream->getResult(0));
  function.markStream(stream);
  return stream->getResult(0);
}

func::CallOp ModelWriter::callLayer(Value stream, ValueRange cache,
                                    int64_t number, func::FuncOp layer,
                                    ArrayRef<WeightSpec> layerWeights) {
  SmallVector<Value> operands{stream};
  llvm::append_range(operands, cache);
  for (const WeightSpec &spec : layerWeights)
    operands.push_back(
        function.weight(names.layers + Twine(number) + "." + spec.name));
  return func::CallOp::create(function.builder,
                              function.at("layers." + Twine(number)), layer,
                              operands);
}

Value ModelWriter::writeLogits(Value input) {
  OpBuilder &builder = function.builder;
  StringRef table = config.tiedEmbeddings ? names.embedding : headModule;
  RankedTensorType type = function.type({shape.batch, shape.tokens, columns});
  Value logits = MatmulOp::create(builder, function.at(headModule), type, input,
                                  tableOf(table), /*transpose_a=*/false,
                                  /*transpose_b=*/true);
  if (columns == config.vocabulary)
    return logits;
  return MaskPaddingOp::create(builder, function.at("mask_padding"), type,
                               logits, /*origin=*/Value(),
                               builder.getI64IntegerAttr(config.vocabulary));
}

void ModelWriter::write(ModuleOp module, ArrayRef<WeightSpec> weights,
                        func::FuncOp layer, ArrayRef<WeightSpec> layerWeights) {
  func::FuncOp op = begin(module, weights);
  Value stream = embed(op.getArgument(0));
  SmallVector<Value> results(1);
  for (int64_t number = 0; number < config.layers; ++number) {
    ValueRange cache;
    if (shape.hasCache)
      cache = op.getArguments().slice(1 + 2 * number, 2);
    func::CallOp call = callLayer(stream, cache, number, layer, layerWeights);
    stream = call.getResult(0);
    llvm::append_range(results, call.getResults().drop_front());
  }
  results[0] = writeLogits(function.normalise(stream, names.lastNorm));
  func::ReturnOp::create(function.builder, function.at("return"), results);
}

Expected<OwningOpRef<ModuleOp>>
tp::buildDecoder(MLIRContext &context, const DecoderConfig &config,
                 const DecoderOptions &options) {
  context.loadDialect<TPDialect, func::FuncDialect>();
  Type element = parseElementType(Builder(&context), options.dtype);
  if (llvm::Error error = checkOptions(config, options, element))
    return std::move(error);
  DecoderConfig built = config;
  built.layers = options.layers.value_or(config.layers);
  std::vector<WeightSpec> all = weights(built);
  std::vector<WeightSpec> ofLayer = layerWeights(built, all);

  Location loc = NameLoc::get(StringAttr::get(&context, config.modelType));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  func::FuncOp layer =
      LayerWriter(&context, element, built, options).write(*module, ofLayer);
  ModelWriter(&context, element, built, options)
      .write(*module, all, layer, ofLayer);
  if (failed(verify(*module)))
    return createStringError("the program of this " + config.modelType +
                             " model is not valid: see the messages before");
  return module;
}
