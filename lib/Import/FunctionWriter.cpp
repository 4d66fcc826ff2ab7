// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FunctionWriter.h"

using namespace mlir;
using namespace tp;

StringRef tp::label(StringRef module) {
  for (StringRef folder : {"model.", "transformer.", "self_attn.", "mlp."})
    module.consume_front(folder);
  return module;
}

void FunctionWriter::markStream(Operation *op) {
  op->setAttr(streamAttrName, builder.getUnitAttr());
}

func::FuncOp FunctionWriter::begin(ModuleOp module, StringRef name,
                                   ArrayRef<NamedTensor> activations,
                                   ArrayRef<WeightSpec> specs,
                                   ArrayRef<NamedTensor> results) {
  SmallVector<Type> types, resultTypes;
  SmallVector<DictionaryAttr> attrs, resultAttrs;
  for (const NamedTensor &tensor : activations) {
    types.push_back(tensor.type);
    attrs.push_back(builder.getDictionaryAttr(tensor.attributes));
  }
  for (const NamedTensor &tensor : results) {
    resultTypes.push_back(tensor.type);
    resultAttrs.push_back(builder.getDictionaryAttr(tensor.attributes));
  }
  NamedAttribute parameter =
      builder.getNamedAttr(parameterAttrName, builder.getUnitAttr());
  for (const WeightSpec &spec : specs) {
    types.push_back(type(spec.shape));
    NamedAttrList attributes({named(nameAttrName, spec.name), parameter});
    if (StoredAttr part = stored.lookup(spec.name))
      attributes.set(storedAttrName, part);
    attrs.push_back(attributes.getDictionary(builder.getContext()));
  }
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(
      builder, at(name), name, builder.getFunctionType(types, resultTypes),
      /*attrs=*/{}, attrs);
  for (auto [index, attributes] : llvm::enumerate(resultAttrs))
    function.setResultAttrs(index, attributes);
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (auto [spec, argument] : llvm::zip_equal(
           specs, function.getArguments().drop_front(activations.size())))
    weights[spec.name] = argument;
  return function;
}

Value FunctionWriter::project(Value input, StringRef module) {
  Value matrix = weight(module + ".weight");
  SmallVector<int64_t> shape(tensorType(input).getShape());
  shape.back() = tensorType(matrix).getDimSize(config.storedInOut ? 1 : 0);
  Value result =
      MatmulOp::create(builder, at(label(module)), type(shape), input, matrix,
                       /*transpose_a=*/false,
                       /*transpose_b=*/!config.storedInOut);
  Value bias = weight(module + ".bias");
  if (!bias)
    return result;
  return AddOp::create(builder, at(label(module) + ".bias"), result.getType(),
                       result, bias);
}

Value FunctionWriter::number(double value, const Twine &name) {
  FloatAttr rounded = builder.getFloatAttr(element, value);
  return ConstantOp::create(builder, at(name), type({}),
                            DenseElementsAttr::get(type({}), rounded));
}

Value FunctionWriter::normalise(Value input, StringRef module) {
  StringRef name = label(module);
  Value gain = weight(module + ".weight");
  if (config.gainOffset != 0)
    gain = AddOp::create(builder, at(name + ".gain"), gain.getType(), gain,
                         number(config.gainOffset, name + ".gain_offset"));
  FloatAttr epsilon = builder.getF64FloatAttr(config.normEpsilon);
  if (config.norm == NormKind::Layer)
    return LayerNormOp::create(builder, at(name), input.getType(), input, gain,
                               weight(module + ".bias"), epsilon);
  return RMSNormOp::create(builder, at(name), input.getType(), input, gain,
                           epsilon);
}

Value FunctionWriter::reshape(Value input, ArrayRef<int64_t> shape,
                              const Twine &name) {
  return ReshapeOp::create(builder, at(name), type(shape), input);
}

Value FunctionWriter::columns(Value input, int64_t offset, int64_t size,
                              const Twine &name) {
  SmallVector<int64_t> shape(tensorType(input).getShape());
  SmallVector<int64_t> offsets(shape.size(), 0);
  shape.back() = size;
  offsets.back() = offset;
  return SliceOp::create(builder, at(name), type(shape), input, offsets);
}

Operation *FunctionWriter::scaled(Value input, double factor,
                                  const Twine &name) {
  Value by = number(factor, name + ".factor");
  return MulOp::create(builder, at(name), input.getType(), input, by);
}

Value FunctionWriter::activate(Value input) {
  Type type = input.getType();
  switch (config.activation) {
  case Activation::SiLU:
    return SiluOp::create(builder, at("silu"), type, input);
  case Activation::GELU:
    return GeluOp::create(builder, at("gelu"), type, input, /*tanh=*/false);
  case Activation::GELUTanh:
    return GeluOp::create(builder, at("gelu"), type, input, /*tanh=*/true);
  case Activation::ReLU:
    return ReluOp::create(builder, at("relu"), type, input);
  case Activation::Tanh:
    return TanhOp::create(builder, at("tanh"), type, input);
  }
  llvm_unreachable("all activations are covered");
}
