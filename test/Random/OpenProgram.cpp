// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <vector>

using namespace llvm;
using namespace tp::test;

namespace {

using Shape = SmallVector<int64_t, 4>;

struct Tensor {
  std::string name;
  Shape shape;
  std::string element;

  std::string type() const {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element + ">";
  }
};

constexpr int64_t mostElements = 600;

int64_t product(ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t size : shape)
    result *= size;
  return result;
}

std::string listed(ArrayRef<int64_t> values) {
  std::string text = "[";
  ListSeparator comma;
  for (int64_t value : values)
    text += std::string(StringRef(comma)) + std::to_string(value);
  return text + "]";
}

/// Writes operations on tensors that are there, and new arguments.
class Writer {
public:
  Writer(Chance &chance, Operations operations)
      : chance(chance), operations(operations) {}

  std::string write(int64_t numOps);

private:
  int64_t size() {
    static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 12};
    return chance.of(ArrayRef(sizes));
  }
  Shape shape(int64_t rank);
  Tensor argument(Shape shape, StringRef element, StringRef attributes = "");
  Tensor parameter(Shape shape, StringRef element) {
    return argument(std::move(shape), element, " {tp.parameter}");
  }
  std::optional<Tensor> pick(function_ref<bool(const Tensor &)> fits);
  /// Writes an operation whose result no other one is to take.
  Tensor append(StringRef op, ArrayRef<Tensor> operands, StringRef attributes,
                Shape shape, StringRef element);
  void emit(StringRef op, ArrayRef<Tensor> operands, StringRef attributes,
            Shape shape, StringRef element = "") {
    tensors.push_back(
        append(op, operands, attributes, std::move(shape),
               element.empty() ? operands[0].element : element.str()));
  }

  bool unary(const Tensor &x);
  bool binary(const Tensor &x);
  bool product2(const Tensor &x);
  bool norm(const Tensor &x);
  bool reshape(const Tensor &x);
  bool transpose(const Tensor &x);
  bool slice(const Tensor &x);
  bool broadcast(const Tensor &x);
  bool concat(const Tensor &x);
  bool reduce(const Tensor &x);
  bool softmax(const Tensor &x);
  bool embedding(const Tensor &x);
  bool dropout(const Tensor &x);
  bool mask(const Tensor &x);
  bool target(const Tensor &x);
  bool rope(const Tensor &x);
  bool attention(const Tensor &x);
  bool cast(const Tensor &x);
  bool integers(const Tensor &x);
  bool constant(const Tensor &x);

  Chance &chance;
  Operations operations;
  std::vector<Tensor> tensors;
  std::vector<std::string> arguments;
  std::string body;
  int64_t numValues = 0;
};

} // namespace

Shape Writer::shape(int64_t rank) {
  while (true) {
    Shape result;
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(size());
    if (::product(result) <= mostElements)
      return result;
  }
}

Tensor Writer::argument(Shape shape, StringRef element, StringRef attributes) {
  Tensor tensor{"%a" + std::to_string(arguments.size()), std::move(shape),
                element.str()};
  arguments.push_back(tensor.name + ": " + tensor.type() + attributes.str());
  return tensor;
}

std::optional<Tensor> Writer::pick(function_ref<bool(const Tensor &)> fits) {
  std::vector<Tensor> found;
  copy_if(tensors, std::back_inserter(found), fits);
  if (found.empty())
    return std::nullopt;
  return chance.of(ArrayRef(found));
}

Tensor Writer::append(StringRef op, ArrayRef<Tensor> operands,
                      StringRef attributes, Shape shape, StringRef element) {
  Tensor result{"%v" + std::to_string(numValues++), std::move(shape),
                element.str()};
  raw_string_ostream os(body);
  os << "  " << result.name << " = tp." << op << " ";
  interleaveComma(operands, os, [&](const Tensor &x) { os << x.name; });
  os << " " << attributes << " : (";
  interleaveComma(operands, os, [&](const Tensor &x) { os << x.type(); });
  os << ") -> " << result.type() << "\n";
  return result;
}

//===- Operations ---------------------------------------------------------===//

bool Writer::unary(const Tensor &x) {
  static constexpr StringLiteral all[] = {"relu",    "silu", "tanh", "gelu",
                                          "sigmoid", "exp",  "log"};
  ArrayRef<StringLiteral> names = all;
  if (operations == Operations::Tame)
    names = names.drop_back(2);
  StringRef name = chance.of(names);
  emit(name, {x}, name == "gelu" && chance.oneIn(2) ? "tanh" : "", x.shape);
  return true;
}

bool Writer::binary(const Tensor &x) {
  static constexpr StringLiteral all[] = {"add", "sub", "mul", "maximum",
                                          "div"};
  ArrayRef<StringLiteral> names = all;
  if (operations == Operations::Tame)
    names = names.drop_back(1);
  auto sameType = [&](const Tensor &y) {
    return y.shape == x.shape && y.element == x.element;
  };
  std::optional<Tensor> y = pick(sameType);
  bool isLower = chance.oneIn(3) && x.shape.size() > 1;
  if (isLower)
    y = parameter(Shape(drop_begin(x.shape)), x.element);
  else if (y->name == x.name || chance.oneIn(3))
    y = argument(x.shape, x.element);
  if (chance.oneIn(3))
    emit(chance.of(names), {*y, x}, "", x.shape);
  else
    emit(chance.of(names), {x, *y}, "", x.shape);
  return true;
}

bool Writer::product2(const Tensor &x) {
  if (x.shape.size() < 2)
    return false;
  bool transposeA = chance.oneIn(4), transposeB = chance.oneIn(2);
  Shape batch(drop_end(x.shape, 2));
  int64_t k = *(x.shape.end() - (transposeA ? 2 : 1));
  int64_t m = *(x.shape.end() - (transposeA ? 1 : 2));
  int64_t n = size();
  bool isBatched = !batch.empty() && chance.oneIn(3);
  Shape other = isBatched ? batch : Shape();
  other.push_back(transposeB ? n : k);
  other.push_back(transposeB ? k : n);
  Shape result = batch;
  result.append({m, n});
  if (::product(result) > mostElements || ::product(other) > mostElements)
    return false;
  Tensor y =
      isBatched ? argument(other, x.element) : parameter(other, x.element);
  std::string attributes = "{";
  if (transposeA)
    attributes += "transpose_a";
  if (transposeB)
    attributes += transposeA ? ", transpose_b" : "transpose_b";
  emit("matmul", {x, y}, attributes + "}", result);
  return true;
}

bool Writer::norm(const Tensor &x) {
  if (x.shape.empty())
    return false;
  Shape last = {x.shape.back()};
  SmallVector<Tensor> operands = {x, parameter(last, x.element)};
  // Of a row of nearly equal elements, as a sigmoid makes, the mean leaves
  // little but rounding errors.
  bool isLayer = operations == Operations::All && chance.oneIn(2);
  if (isLayer && chance.oneIn(2))
    operands.push_back(parameter(last, x.element));
  emit(isLayer ? "layer_norm" : "rms_norm", operands,
       "{epsilon = 1.0e-3 : f64}", x.shape);
  return true;
}

/// Splits a dimension in two or joins two.
bool Writer::reshape(const Tensor &x) {
  if (x.shape.empty())
    return false;
  Shape result = x.shape;
  int64_t dim = chance.below(result.size());
  if (dim + 1 < static_cast<int64_t>(result.size()) && chance.oneIn(2)) {
    result[dim] *= result[dim + 1];
    result.erase(result.begin() + dim + 1);
  } else {
    if (result.size() >= 4)
      return false;
    int64_t factor = 2 + chance.below(2);
    if (result[dim] % factor != 0)
      return false;
    result[dim] /= factor;
    result.insert(result.begin() + dim + chance.below(2), factor);
  }
  emit("reshape", {x}, "", result);
  return true;
}

bool Writer::transpose(const Tensor &x) {
  if (x.shape.size() < 2)
    return false;
  SmallVector<int64_t> order = to_vector(seq<int64_t>(0, x.shape.size()));
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[chance.below(i)]);
  Shape result;
  for (int64_t dim : order)
    result.push_back(x.shape[dim]);
  emit("transpose", {x}, "by " + listed(order), result);
  return true;
}

bool Writer::slice(const Tensor &x) {
  if (x.shape.empty())
    return false;
  SmallVector<int64_t> offsets(x.shape.size(), 0);
  Shape result = x.shape;
  int64_t dim = chance.below(result.size());
  result[dim] = 1 + chance.below(result[dim]);
  offsets[dim] = chance.below(x.shape[dim] - result[dim] + 1);
  emit("slice", {x}, "at " + listed(offsets), result);
  return true;
}

bool Writer::broadcast(const Tensor &x) {
  if (x.shape.size() >= 4)
    return false;
  Shape result = x.shape;
  int64_t dim = chance.below(result.size() + 1);
  result.insert(result.begin() + dim, size());
  if (::product(result) > mostElements)
    return false;
  emit("broadcast", {x}, "along " + listed({dim}), result);
  return true;
}

bool Writer::concat(const Tensor &x) {
  if (x.shape.empty())
    return false;
  int64_t dim = chance.below(x.shape.size());
  Shape other = x.shape, result = x.shape;
  other[dim] = size();
  result[dim] += other[dim];
  if (::product(result) > mostElements)
    return false;
  Tensor y = argument(other, x.element);
  bool isFirst = chance.oneIn(2);
  emit("concat", {isFirst ? x : y, isFirst ? y : x},
       "along " + std::to_string(dim), result);
  return true;
}

bool Writer::reduce(const Tensor &x) {
  SmallVector<int64_t> dims;
  Shape result;
  for (auto [dim, size] : enumerate(x.shape))
    if (chance.oneIn(2))
      dims.push_back(dim);
    else
      result.push_back(size);
  if (dims.empty())
    return false;
  std::string attributes = "over " + listed(dims);
  if (dims.size() == 1 && chance.oneIn(3))
    attributes +=
        " {count = " + std::to_string(1 + chance.below(x.shape[dims[0]])) +
        " : i64}";
  emit(chance.oneIn(2) ? "reduce sum" : "reduce max", {x}, attributes, result);
  return true;
}

bool Writer::softmax(const Tensor &x) {
  if (x.shape.empty())
    return false;
  emit("softmax", {x}, "along " + std::to_string(chance.below(x.shape.size())),
       x.shape);
  return true;
}

bool Writer::embedding(const Tensor &x) {
  Shape rows = shape(1 + chance.below(2));
  int64_t width = size();
  if (::product(rows) * width > mostElements)
    return false;
  Tensor table = parameter({2 + chance.below(11), width}, x.element);
  Tensor ids = argument(rows, chance.oneIn(2) ? "i64" : "i32");
  rows.push_back(width);
  emit("embedding", {table, ids}, "", rows);
  return true;
}

bool Writer::dropout(const Tensor &x) {
  emit("dropout", {x, argument({}, "i64")},
       "{rate = 0.25 : f64, site = " + std::to_string(chance.below(3)) +
           " : i64}",
       x.shape);
  return true;
}

/// Where a relation of two integers holds, as numbers.
bool Writer::mask(const Tensor &x) {
  static constexpr StringLiteral relations[] = {"eq", "ne", "lt",
                                                "le", "gt", "ge"};
  Tensor a = argument(x.shape, "i32"), b = argument(x.shape, "i32");
  std::string compare = "compare " + chance.of(ArrayRef(relations)).str();
  Tensor holds = append(compare, {a, b}, "", x.shape, "i1");
  emit("cast", {holds}, "", x.shape, x.element);
  return true;
}

/// The logits of targets, or their loss.
bool Writer::target(const Tensor &x) {
  if (x.shape.empty())
    return false;
  Shape tokens(drop_end(x.shape));
  Tensor targets = argument(tokens, chance.oneIn(2) ? "i64" : "i32");
  std::string attributes;
  if (chance.oneIn(2))
    attributes =
        "{vocabulary = " + std::to_string(1 + chance.below(x.shape.back())) +
        " : i64}";
  if (chance.oneIn(2))
    emit("take_target", {x, targets}, attributes, tokens);
  else
    emit("cross_entropy", {x, targets}, attributes, {});
  return true;
}

bool Writer::rope(const Tensor &x) {
  if (x.shape.size() != 4 || x.shape[3] % 2 != 0)
    return false;
  emit("rope", {x},
       "{theta = 100.0 : f64, offset = " + std::to_string(chance.below(3) * 9) +
           " : i64}",
       x.shape);
  return true;
}

bool Writer::attention(const Tensor &x) {
  if (x.shape.size() != 4)
    return false;
  SmallVector<int64_t> divisors;
  for (int64_t heads = 1; heads <= x.shape[2]; ++heads)
    if (x.shape[2] % heads == 0)
      divisors.push_back(heads);
  bool isCausal = chance.oneIn(2);
  // A mask is aligned to the end: keys in front of it are a cache.
  Shape kv = {x.shape[0], isCausal ? x.shape[1] + chance.below(3) : size(),
              chance.of(ArrayRef(divisors)), x.shape[3]};
  if (::product(kv) > mostElements)
    return false;
  emit("attention", {x, argument(kv, x.element), argument(kv, x.element)},
       isCausal ? "{scale = 0.4 : f64, causal}" : "{scale = 0.4 : f64}",
       x.shape);
  return true;
}

bool Writer::cast(const Tensor &x) {
  static constexpr StringLiteral all[] = {"f32", "f64", "bf16", "f16"};
  ArrayRef<StringLiteral> types = all;
  // Where it matters, a value that lies between two of 16 bits is rounded to
  // either of them.
  if (operations == Operations::Tame)
    types = types.drop_back(2);
  emit("cast", {x}, "", x.shape, chance.of(types));
  return true;
}

/// Integers that wrap around, reduced, as numbers.
bool Writer::integers(const Tensor &x) {
  std::string narrow = chance.oneIn(2) ? "i32" : "i64";
  Shape shape = x.shape;
  int64_t dim = chance.below(shape.size() + 1);
  shape.insert(shape.begin() + dim, size());
  if (::product(shape) > mostElements)
    return false;
  Tensor a = argument(shape, narrow, " {tp.bound = 2000000000 : i64}");
  Tensor b = argument(chance.oneIn(2) ? shape : Shape(drop_begin(shape)),
                      narrow, " {tp.bound = 9 : i64}");
  StringRef op = chance.oneIn(2) ? "mul" : "sub";
  Tensor value = append(op, {a, b}, "", shape, narrow);
  StringRef kind = chance.oneIn(2) ? "reduce sum" : "reduce max";
  value = append(kind, {value}, "over " + listed({dim}), x.shape, narrow);
  if (chance.oneIn(2))
    value = append("cast", {value}, "", x.shape, "i64");
  emit("cast", {value}, "", x.shape, x.element);
  return true;
}

bool Writer::constant(const Tensor &x) {
  Tensor value{"%v" + std::to_string(numValues++), x.shape, x.element};
  body += "  " + value.name + " = tp.constant dense<" +
          (chance.oneIn(3) ? "0.0" : "0.75") + "> : " + value.type() + "\n";
  tensors.push_back(value);
  return true;
}

//===- Programs -----------------------------------------------------------===//

std::string Writer::write(int64_t numOps) {
  using Make = bool (Writer::*)(const Tensor &);
  static constexpr Make makers[] = {
      &Writer::unary,     &Writer::binary,    &Writer::binary,
      &Writer::product2,  &Writer::product2,  &Writer::norm,
      &Writer::reshape,   &Writer::transpose, &Writer::slice,
      &Writer::broadcast, &Writer::concat,    &Writer::reduce,
      &Writer::reduce,    &Writer::softmax,   &Writer::embedding,
      &Writer::dropout,   &Writer::mask,      &Writer::target,
      &Writer::rope,      &Writer::attention, &Writer::cast,
      &Writer::integers,  &Writer::constant};
  tensors.push_back(argument(shape(1 + chance.below(4)), "f32"));
  for (int64_t made = 0; made < numOps;) {
    // Mostly the newest: programs that are deep rather than wide.
    Tensor x = chance.oneIn(3) ? chance.of(ArrayRef(tensors)) : tensors.back();
    made += (this->*chance.of(ArrayRef(makers)))(x);
  }
  SmallVector<Tensor> results = {tensors.back()};
  if (chance.oneIn(3))
    results.push_back(chance.of(ArrayRef(tensors)));
  std::string text;
  raw_string_ostream os(text);
  os << "func.func @main(" << join(arguments, ", ") << ") -> (";
  interleaveComma(results, os, [&](const Tensor &x) { os << x.type(); });
  os << ") {\n" << body << "  return ";
  interleaveComma(results, os, [&](const Tensor &x) { os << x.name; });
  os << " : ";
  interleaveComma(results, os, [&](const Tensor &x) { os << x.type(); });
  os << "\n}\n";
  return text;
}

std::string tp::test::makeOpenProgram(Chance &chance, Operations operations,
                                      int64_t mostOps) {
  return Writer(chance, operations).write(1 + chance.below(mostOps));
}
