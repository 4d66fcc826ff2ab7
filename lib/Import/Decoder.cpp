// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/Decoder.h"
#include "ConfigFields.h"
#include "mlir/IR/Verifier.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace tp;
using llvm::createStringError;
using llvm::Expected;

static constexpr llvm::StringLiteral layerName = "decoder_layer";

//===- Options ------------------------------------------------------------===//

namespace {

/// Collects what is wrong with the options.
class OptionsCheck {
public:
  /// `element` is the type that the options name, or null.
  OptionsCheck(const DecoderConfig &config, const DecoderOptions &options,
               Type element)
      : config(config), options(options), element(element) {}

  llvm::Error run() {
    range("batch", options.batch, maxSize, "");
    if (range("sequence", options.sequence, maxSize, ""))
      checkPositions();
    if (options.layers)
      range("layers", *options.layers, config.layers,
            ", the number that the config has");
    if (!element)
      problem("dtype is \"" + options.dtype +
              "\": expected \"bf16\", \"f16\", \"f32\" or \"f64\"");
    // With an option out of range the sizes would mean nothing.
    if (problems.empty())
      checkElements();
    if (problems.empty())
      return llvm::Error::success();
    return createStringError(Twine(llvm::join(problems, "\n")));
  }

private:
  void problem(const Twine &message) { problems.push_back(message.str()); }

  bool range(StringRef name, int64_t value, int64_t max, StringRef reason) {
    if (value >= 1 && value <= max)
      return true;
    problem(name + " is " + Twine(value) + ": expected an integer from 1 to " +
            Twine(max) + reason);
    return false;
  }

  void checkPositions() {
    if (options.sequence > config.maxPositions)
      problem("sequence is " + Twine(options.sequence) +
              ", but the model has \"max_position_embeddings\" " +
              Twine(config.maxPositions) + ": give a sequence of at most " +
              Twine(config.maxPositions));
    // A layer with a window of w positions sees the token itself and the w - 1
    // before it. Up to w tokens that is all of them, so that the window has no
    // effect and plain causal attention is exact.
    if (config.slidingWindow && options.sequence > *config.slidingWindow)
      problem("sequence is " + Twine(options.sequence) +
              ", but the model attends to the last \"sliding_window\" " +
              Twine(*config.slidingWindow) +
              " positions only, which is not supported: give a sequence of at "
              "most " +
              Twine(*config.slidingWindow));
  }

  /// Weights fit, as the config is checked; activations need not.
  void checkElements() {
    int64_t widths[] = {config.hiddenSize, config.heads * config.headDim,
                        config.ffnSize, config.vocabulary};
    int64_t widest = *llvm::max_element(widths);
    if (numElements({options.batch, options.sequence, widest}))
      return;
    problem("a tensor of batch " + Twine(options.batch) + ", sequence " +
            Twine(options.sequence) + " and width " + Twine(widest) +
            " has more than 2^63 - 1 elements: give a smaller batch or "
            "sequence");
  }

  const DecoderConfig &config;
  const DecoderOptions &options;
  Type element;
  std::vector<std::string> problems;
};

} // namespace

//===- Functions ----------------------------------------------------------===//

namespace {

/// Writes one function, whose first argument is followed by weights.
/// Operations name their weights as the checkpoint does.
class FunctionWriter {
public:
  /// `prefix` begins the location of every operation.
  FunctionWriter(MLIRContext *context, Type element, StringRef prefix)
      : builder(context), element(element), prefix(prefix) {}

  RankedTensorType type(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, element);
  }
  Location at(const Twine &name) {
    return NameLoc::get(builder.getStringAttr(prefix + name));
  }

  /// Appends the function to `module` and goes to its body.
  func::FuncOp begin(ModuleOp module, StringRef name, RankedTensorType first,
                     ArrayRef<NamedAttribute> firstAttrs,
                     ArrayRef<WeightSpec> specs, RankedTensorType result);

  /// Null if the function has no such weight.
  Value weight(const Twine &name) const { return weights.lookup(name.str()); }

  /// `input` times the weight of `module`, as in "self_attn.q_proj", plus its
  /// bias if there is one.
  Value project(Value input, StringRef module);
  Value normalise(Value input, StringRef module, double epsilon);
  Value reshape(Value input, ArrayRef<int64_t> shape, const Twine &name);

  OpBuilder builder;

private:
  Type element;
  StringRef prefix;
  llvm::StringMap<Value> weights;
};

} // namespace

/// The last part of a dotted path: "q_proj".
static StringRef shortName(StringRef module) {
  return module.rsplit('.').second.empty() ? module : module.rsplit('.').second;
}

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

func::FuncOp FunctionWriter::begin(ModuleOp module, StringRef name,
                                   RankedTensorType first,
                                   ArrayRef<NamedAttribute> firstAttrs,
                                   ArrayRef<WeightSpec> specs,
                                   RankedTensorType result) {
  SmallVector<Type> types{first};
  SmallVector<DictionaryAttr> attrs{builder.getDictionaryAttr(firstAttrs)};
  NamedAttribute parameter =
      builder.getNamedAttr(parameterAttrName, builder.getUnitAttr());
  for (const WeightSpec &spec : specs) {
    types.push_back(type(spec.shape));
    attrs.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(nameAttrName, builder.getStringAttr(spec.name)),
         parameter}));
  }
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, at(name), name,
                                       builder.getFunctionType(types, result),
                                       /*attrs=*/{}, attrs);
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (auto [spec, argument] :
       llvm::zip_equal(specs, function.getArguments().drop_front()))
    weights[spec.name] = argument;
  return function;
}

Value FunctionWriter::project(Value input, StringRef module) {
  Value matrix = weight(module + ".weight");
  SmallVector<int64_t> shape(tensorType(input).getShape());
  shape.back() = tensorType(matrix).getDimSize(0);
  Value result =
      MatmulOp::create(builder, at(shortName(module)), type(shape), input,
                       matrix, /*transpose_a=*/false, /*transpose_b=*/true);
  Value bias = weight(module + ".bias");
  if (!bias)
    return result;
  return AddOp::create(builder, at(shortName(module) + ".bias"),
                       result.getType(), result, bias);
}

Value FunctionWriter::normalise(Value input, StringRef module, double epsilon) {
  return RMSNormOp::create(builder, at(shortName(module)), input.getType(),
                           input, weight(module + ".weight"),
                           builder.getF64FloatAttr(epsilon));
}

Value FunctionWriter::reshape(Value input, ArrayRef<int64_t> shape,
                              const Twine &name) {
  return ReshapeOp::create(builder, at(name), type(shape), input);
}

//===- Layer --------------------------------------------------------------===//

namespace {

/// Writes the function of a layer.
class LayerWriter {
public:
  LayerWriter(MLIRContext *context, Type element, const DecoderConfig &config,
              const DecoderOptions &options)
      : config(config), batch(options.batch), sequence(options.sequence),
        function(context, element, "layer/") {}

  /// Weights bear the names within the layer.
  func::FuncOp write(ModuleOp module, ArrayRef<WeightSpec> weights);

private:
  Value writeAttention(Value input);
  Value writeFeedForward(Value input);
  Value projectHeads(Value input, StringRef name, int64_t heads);
  Value rotate(Value input, const Twine &name);
  Value addToStream(Value stream, Value branch, StringRef name);

  const DecoderConfig &config;
  int64_t batch, sequence;
  FunctionWriter function;
};

} // namespace

/// The projection `name` of the attention, cut into heads.
Value LayerWriter::projectHeads(Value input, StringRef name, int64_t heads) {
  Value flat = function.project(input, ("self_attn." + name + "_proj").str());
  return function.reshape(flat, {batch, sequence, heads, config.headDim},
                          name + ".heads");
}

Value LayerWriter::rotate(Value input, const Twine &name) {
  OpBuilder &builder = function.builder;
  DenseF64ArrayAttr scaling;
  if (const std::optional<Llama3RopeScaling> &rope = config.ropeScaling)
    scaling = builder.getDenseF64ArrayAttr(
        {rope->factor, rope->lowFrequency, rope->highFrequency,
         static_cast<double>(rope->originalContext)});
  return RopeOp::create(builder, function.at(name), input.getType(), input,
                        /*origin=*/Value(),
                        builder.getF64FloatAttr(config.ropeTheta), scaling,
                        /*offset=*/{});
}

Value LayerWriter::writeAttention(Value input) {
  OpBuilder &builder = function.builder;
  Value query = projectHeads(input, "q", config.heads);
  Value key = projectHeads(input, "k", config.kvHeads);
  Value value = projectHeads(input, "v", config.kvHeads);
  if (config.qkNorm) {
    query = function.normalise(query, "self_attn.q_norm", config.normEpsilon);
    key = function.normalise(key, "self_attn.k_norm", config.normEpsilon);
  }
  query = rotate(query, "q.rope");
  key = rotate(key, "k.rope");
  double scale = 1 / std::sqrt(static_cast<double>(config.headDim));
  Value mixed = AttentionOp::create(
      builder, function.at("attention"), query.getType(), query, key, value,
      /*origin=*/Value(), builder.getF64FloatAttr(scale),
      /*causal=*/builder.getUnitAttr());
  Value flat =
      function.reshape(mixed, {batch, sequence, config.heads * config.headDim},
                       "attention.flat");
  return function.project(flat, "self_attn.o_proj");
}

Value LayerWriter::writeFeedForward(Value input) {
  OpBuilder &builder = function.builder;
  Value gate = function.project(input, "mlp.gate_proj");
  Value up = function.project(input, "mlp.up_proj");
  Value active =
      SiluOp::create(builder, function.at("silu"), gate.getType(), gate);
  Value gated =
      MulOp::create(builder, function.at("gated"), up.getType(), active, up);
  return function.project(gated, "mlp.down_proj");
}

Value LayerWriter::addToStream(Value stream, Value branch, StringRef name) {
  OpBuilder &builder = function.builder;
  auto sum = AddOp::create(builder, function.at(name), stream.getType(), stream,
                           branch);
  sum->setAttr(streamAttrName, builder.getUnitAttr());
  return sum;
}

func::FuncOp LayerWriter::write(ModuleOp module, ArrayRef<WeightSpec> weights) {
  OpBuilder &builder = function.builder;
  RankedTensorType type = function.type({batch, sequence, config.hiddenSize});
  NamedAttribute streamAttr =
      builder.getNamedAttr(streamAttrName, builder.getUnitAttr());
  func::FuncOp op =
      function.begin(module, layerName, type,
                     {builder.getNamedAttr(
                          nameAttrName, builder.getStringAttr("hidden_states")),
                      streamAttr},
                     weights, type);
  op.setPrivate();
  op.setResultAttrs(0, builder.getDictionaryAttr(streamAttr));

  double epsilon = config.normEpsilon;
  Value stream = op.getArgument(0);
  Value input = function.normalise(stream, "input_layernorm", epsilon);
  stream = addToStream(stream, writeAttention(input), "attention.residual");
  input = function.normalise(stream, "post_attention_layernorm", epsilon);
  stream = addToStream(stream, writeFeedForward(input), "mlp.residual");
  func::ReturnOp::create(builder, function.at("return"), stream);
  return op;
}

//===- Model --------------------------------------------------------------===//

/// The weights of the first layer, under the names within a layer.
static std::vector<WeightSpec> layerWeights(ArrayRef<WeightSpec> all) {
  std::vector<WeightSpec> layer;
  for (const WeightSpec &spec : all) {
    StringRef name = spec.name;
    if (name.consume_front("model.layers.0."))
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
      : config(config), batch(options.batch), sequence(options.sequence),
        function(context, element, "model/") {}

  void write(ModuleOp module, ArrayRef<WeightSpec> weights, func::FuncOp layer,
             ArrayRef<WeightSpec> layerWeights);

private:
  func::FuncOp begin(ModuleOp module, ArrayRef<WeightSpec> weights);
  Value embed(Value ids);
  Value callLayer(Value stream, int64_t number, func::FuncOp layer,
                  ArrayRef<WeightSpec> layerWeights);
  Value writeLogits(Value input);

  const DecoderConfig &config;
  int64_t batch, sequence;
  FunctionWriter function;
};

} // namespace

func::FuncOp ModelWriter::begin(ModuleOp module, ArrayRef<WeightSpec> weights) {
  OpBuilder &builder = function.builder;
  auto name = [&](StringRef text) {
    return builder.getNamedAttr(nameAttrName, builder.getStringAttr(text));
  };
  NamedAttribute bound = builder.getNamedAttr(
      boundAttrName, builder.getI64IntegerAttr(config.vocabulary));
  auto ids = RankedTensorType::get({batch, sequence}, builder.getI64Type());
  func::FuncOp op =
      function.begin(module, "main", ids, {name("input_ids"), bound}, weights,
                     function.type({batch, sequence, config.vocabulary}));
  op.setResultAttrs(0, builder.getDictionaryAttr(name("logits")));
  return op;
}

Value ModelWriter::embed(Value ids) {
  OpBuilder &builder = function.builder;
  auto embedding = EmbeddingOp::create(
      builder, function.at("embed_tokens"),
      function.type({batch, sequence, config.hiddenSize}),
      function.weight("model.embed_tokens.weight"), ids, /*origin=*/Value(),
      /*vocabulary=*/IntegerAttr());
  embedding->setAttr(streamAttrName, builder.getUnitAttr());
  return embedding;
}

Value ModelWriter::callLayer(Value stream, int64_t number, func::FuncOp layer,
                             ArrayRef<WeightSpec> layerWeights) {
  SmallVector<Value> operands{stream};
  for (const WeightSpec &spec : layerWeights)
    operands.push_back(
        function.weight("model.layers." + Twine(number) + "." + spec.name));
  return func::CallOp::create(function.builder,
                              function.at("layers." + Twine(number)), layer,
                              operands)
      .getResult(0);
}

Value ModelWriter::writeLogits(Value input) {
  Value table = function.weight(
      config.tiedEmbeddings ? "model.embed_tokens.weight" : "lm_head.weight");
  return MatmulOp::create(function.builder, function.at("lm_head"),
                          function.type({batch, sequence, config.vocabulary}),
                          input, table,
                          /*transpose_a=*/false, /*transpose_b=*/true);
}

void ModelWriter::write(ModuleOp module, ArrayRef<WeightSpec> weights,
                        func::FuncOp layer, ArrayRef<WeightSpec> layerWeights) {
  func::FuncOp op = begin(module, weights);
  Value stream = embed(op.getArgument(0));
  for (int64_t number = 0; number < config.layers; ++number)
    stream = callLayer(stream, number, layer, layerWeights);
  Value last = function.normalise(stream, "model.norm", config.normEpsilon);
  func::ReturnOp::create(function.builder, function.at("return"),
                         writeLogits(last));
}

/// One of the four names that the options may have.
static Type parseType(Builder builder, StringRef name) {
  if (name == "bf16")
    return builder.getBF16Type();
  if (name == "f16")
    return builder.getF16Type();
  if (name == "f32")
    return builder.getF32Type();
  return name == "f64" ? builder.getF64Type() : Type();
}

Expected<OwningOpRef<ModuleOp>>
tp::buildDecoder(MLIRContext &context, const DecoderConfig &config,
                 const DecoderOptions &options) {
  context.loadDialect<TPDialect, func::FuncDialect>();
  Type element = parseType(Builder(&context), options.dtype);
  if (llvm::Error error = OptionsCheck(config, options, element).run())
    return std::move(error);
  DecoderConfig built = config;
  built.layers = options.layers.value_or(config.layers);
  std::vector<WeightSpec> all = weights(built);
  std::vector<WeightSpec> ofLayer = layerWeights(all);

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
