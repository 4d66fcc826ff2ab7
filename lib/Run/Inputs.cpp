// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Inputs.h"
#include "tp/IR/Stored.h"
#include "tp/IR/TP.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tp;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that
/// spreads neighbouring counters.
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

namespace {

/// The random numbers of one argument, by index.
struct Numbers {
  uint64_t key;

  Numbers(uint64_t seed, uint64_t argument) : key(mix(mix(seed) + argument)) {}

  uint64_t bits(uint64_t index) const { return mix(key ^ mix(index)); }
  /// In (0, 1).
  double uniform(uint64_t index) const {
    return (static_cast<double>(bits(index) >> 11) + 0.5) * 0x1p-53;
  }
  /// Standard normal (Box and Muller 1958).
  double normal(uint64_t index) const {
    double radius = std::sqrt(-2 * std::log(uniform(2 * index)));
    return radius * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  }
  /// Uniform in [-2, 2].
  int64_t smallInteger(uint64_t index) const {
    return static_cast<int64_t>(bits(index) % 5) - 2;
  }
};

/// Mean and deviation of a made floating-point argument.
struct Spread {
  double mean = 0, deviation = 1;
};

} // namespace

static Spread spreadOf(const Port &port) {
  ArrayRef<int64_t> shape = port.sourceShape();
  if (!port.isParameter)
    return {};
  if (shape.size() == 1)
    return {port.sourceName().ends_with("bias") ? 0.0 : 1.0, 0.1};
  if (shape.empty() || shape.back() == 0)
    return {};
  return {0, 1 / std::sqrt(static_cast<double>(shape.back()))};
}

/// Calls `take` with the row-major index of each element of a rectangle.
static void walkRectangle(ArrayRef<int64_t> shape, ArrayRef<Range> ranges,
                          llvm::function_ref<void(int64_t)> take) {
  SmallVector<int64_t> strides = rowMajorStrides(shape), sizes;
  int64_t offset = 0;
  for (auto [range, stride] : llvm::zip_equal(ranges, strides)) {
    offset += range.offset * stride;
    sizes.push_back(range.size);
  }
  walkStrided(sizes, strides, offset, take);
}

template <class T, class Make>
static void fill(const Port &port, ArrayRef<Range> ranges, Array &part,
                 Make make) {
  T *next = part.as<T>().data();
  walkRectangle(port.sourceShape(), ranges, [&](int64_t index) {
    *next++ = static_cast<T>(make(static_cast<uint64_t>(index)));
  });
}

/// What the numbers of an argument depend on besides the seed.
static uint64_t keyOf(const Port &port) {
  return llvm::xxh3_64bits(port.sourceName());
}

void Inputs::make(const Port &port, ArrayRef<Range> ranges, Array &part) const {
  Numbers numbers(seed, keyOf(port));
  Spread spread = spreadOf(port);
  auto real = [&](uint64_t index) {
    if (values == MadeValues::Integers)
      return static_cast<double>(numbers.smallInteger(index));
    return spread.mean + spread.deviation * numbers.normal(index);
  };
  uint64_t bound = port.bound.value_or(2);
  auto whole = [&](uint64_t index) { return numbers.bits(index) % bound; };
  auto bit = [&](uint64_t index) { return numbers.bits(index) & 1; };
  switch (part.kind) {
  case ElementKind::F32:
    return fill<float>(port, ranges, part, real);
  case ElementKind::F64:
    return fill<double>(port, ranges, part, real);
  case ElementKind::I32:
    return fill<int32_t>(port, ranges, part, whole);
  case ElementKind::I64:
    return fill<int64_t>(port, ranges, part, whole);
  case ElementKind::I1:
    return fill<uint8_t>(port, ranges, part, bit);
  }
}

void Inputs::useCheckpoint(const Checkpoint &checkpoint) {
  hasCheckpoint = true;
  for (StringRef name : checkpoint.names())
    if (auto tensor = checkpoint.lookup(name))
      stored[name] = &*tensor;
    else
      llvm::consumeError(tensor.takeError());
}

const StoredTensor *Inputs::find(StringRef name) const {
  if (file)
    for (const StoredTensor &tensor : file->tensors())
      if (tensor.name == name)
        return &tensor;
  if (const StoredTensor *tensor = stored.lookup(name))
    return tensor;
  // Checkpoints of a model without its head leave out its name.
  return stored.lookup(name.split('.').second);
}

/// Integers are stored as 64 bits and handed on as the program wants them.
static llvm::Error narrow(ArrayRef<int64_t> wide, const Port &port,
                          Array &part) {
  for (auto [index, value] : llvm::enumerate(wide)) {
    bool fits = part.kind == ElementKind::I64 ||
                (part.kind == ElementKind::I32 && llvm::isInt<32>(value)) ||
                (part.kind == ElementKind::I1 && (value == 0 || value == 1));
    if (!fits)
      return llvm::createStringError(port.name + ": the value " + Twine(value) +
                                     " does not fit the argument's type");
    if (part.kind == ElementKind::I64)
      part.as<int64_t>()[index] = value;
    else if (part.kind == ElementKind::I32)
      part.as<int32_t>()[index] = static_cast<int32_t>(value);
    else
      part.as<uint8_t>()[index] = static_cast<uint8_t>(value);
  }
  return llvm::Error::success();
}

static llvm::Error readStored(const StoredTensor &tensor, const Port &port,
                              ArrayRef<Range> ranges, Array &part) {
  if (llvm::Error error = checkShape(tensor, port.sourceShape()))
    return error;
  SmallVector<int64_t> offsets =
      llvm::map_to_vector(ranges, [](Range range) { return range.offset; });
  if (part.kind == ElementKind::F32)
    return readSlice(tensor, offsets, part.shape, part.as<float>());
  if (part.kind == ElementKind::F64)
    return readSlice(tensor, offsets, part.shape, part.as<double>());
  std::vector<int64_t> wide(part.size());
  if (llvm::Error error = readSlice(tensor, offsets, part.shape,
                                    MutableArrayRef<int64_t>(wide)))
    return error;
  return narrow(wide, port, part);
}

llvm::Error Inputs::readPiece(const Port &port, ArrayRef<Range> ranges,
                              Array &piece) const {
  StringRef name = port.sourceName();
  if (const StoredTensor *tensor = find(name))
    return readStored(*tensor, port, ranges, piece);
  if (port.isParameter && hasCheckpoint)
    return llvm::createStringError("the checkpoint has no tensor '" + name +
                                   "'");
  make(port, ranges, piece);
  return llvm::Error::success();
}

namespace {

/// A rectangle of the file's tensor, and the row of the value's part along the
/// stored dimension at which it begins.
struct Piece {
  SmallVector<Range> source;
  int64_t to = 0;
};

} // namespace

static SmallVector<int64_t> sizesOf(ArrayRef<Range> ranges) {
  return llvm::map_to_vector(ranges, [](Range range) { return range.size; });
}

/// The rectangles of the file's tensor that are the part `ranges` of a value.
static SmallVector<Piece> piecesOf(const Port &port, ArrayRef<Range> ranges) {
  SmallVector<Piece> pieces;
  if (!port.stored) {
    pieces.push_back({llvm::to_vector(ranges)});
    return pieces;
  }
  int64_t dim = port.stored.getDim();
  // The part fits in memory, and there are no more runs than rows in it.
  FailureOr<SmallVector<StoredRun>> runs = getStoredRuns(
      port.stored, ranges[dim], std::numeric_limits<int64_t>::max());
  for (const StoredRun &run : *runs) {
    Piece &piece = pieces.emplace_back(llvm::to_vector(ranges), run.to);
    piece.source[dim] = {run.from, run.size};
  }
  return pieces;
}

/// Copies `piece` into `part`, at row `to` of dimension `dim`.
static void place(const Array &piece, int64_t dim, int64_t to, Array &part) {
  int64_t inner = sizeInBytes(part.kind), outer = 1;
  for (int64_t size : ArrayRef(part.shape).drop_front(dim + 1))
    inner *= size;
  for (int64_t size : ArrayRef(part.shape).take_front(dim))
    outer *= size;
  int64_t rows = piece.shape[dim] * inner, stride = part.shape[dim] * inner;
  for (int64_t i = 0; i < outer; ++i)
    std::copy_n(piece.bytes.data() + i * rows, rows,
                part.bytes.data() + i * stride + to * inner);
}

llvm::Expected<Array> Inputs::read(const Port &port,
                                   ArrayRef<Range> ranges) const {
  Array part(port.kind, sizesOf(ranges));
  for (const Piece &piece : piecesOf(port, ranges)) {
    Array values(port.kind, sizesOf(piece.source));
    if (llvm::Error error = readPiece(port, piece.source, values))
      return std::move(error);
    if (values.shape == part.shape)
      return values;
    place(values, port.stored.getDim(), piece.to, part);
  }
  return part;
}

static SmallVector<Range> everything(const Port &port) {
  return llvm::map_to_vector(port.globalShape,
                             [](int64_t size) { return Range{0, size}; });
}

TensorOf<double> tp::toReference(const Array &array) {
  TensorOf<double> tensor;
  tensor.shape = array.shape;
  auto copy = [](auto from, auto &to) { to.assign(from.begin(), from.end()); };
  switch (array.kind) {
  case ElementKind::F32:
    copy(array.as<float>(), tensor.values);
    break;
  case ElementKind::F64:
    copy(array.as<double>(), tensor.values);
    break;
  case ElementKind::I32:
    copy(array.as<int32_t>(), tensor.integers);
    break;
  case ElementKind::I64:
    copy(array.as<int64_t>(), tensor.integers);
    break;
  case ElementKind::I1:
    copy(array.as<uint8_t>(), tensor.integers);
    break;
  }
  tensor.isInteger =
      array.kind != ElementKind::F32 && array.kind != ElementKind::F64;
  return tensor;
}

llvm::Expected<TensorOf<double>> Inputs::readWhole(const Port &port) const {
  llvm::Expected<Array> whole = read(port, everything(port));
  if (!whole)
    return whole.takeError();
  return toReference(*whole);
}

llvm::Expected<TensorOf<Field>> Inputs::readField(const Port &port,
                                                  uint64_t key) const {
  TensorOf<Field> tensor;
  tensor.shape = port.globalShape;
  if (port.kind != ElementKind::F32 && port.kind != ElementKind::F64) {
    llvm::Expected<TensorOf<double>> whole = readWhole(port);
    if (!whole)
      return whole.takeError();
    tensor.isInteger = true;
    tensor.integers = std::move(whole->integers);
    return tensor;
  }
  Numbers numbers(mix(seed) ^ key, keyOf(port));
  SmallVector<Range> all = everything(port);
  tensor.values.resize(*numElements(port.globalShape));
  for (const Piece &piece : piecesOf(port, all)) {
    SmallVector<Range> target(all);
    if (port.stored)
      target[port.stored.getDim()] = {piece.to,
                                      piece.source[port.stored.getDim()].size};
    SmallVector<int64_t> places;
    walkRectangle(port.globalShape, target,
                  [&](int64_t index) { places.push_back(index); });
    const int64_t *next = places.data();
    walkRectangle(port.sourceShape(), piece.source, [&](int64_t index) {
      tensor.values[*next++] = Field::reduce(numbers.bits(index));
    });
  }
  return tensor;
}

//===- Bounds -------------------------------------------------------------===//

/// The least bound on `value` as an index, in this function and those called.
static std::optional<int64_t> indexBound(Value value) {
  std::optional<int64_t> least;
  auto take = [&](std::optional<int64_t> bound) {
    if (bound && (!least || *bound < *least))
      least = bound;
  };
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    bool movesData = isa<CollectiveOpInterface, ReshardOp>(user);
    if (auto ruled = dyn_cast<ShardingRuleOpInterface>(user)) {
      take(ruled.getIndexBound(use.getOperandNumber()));
      movesData = ruled.getShardingRule().movesData;
    }
    if (movesData)
      take(indexBound(user->getResult(0)));
    auto call = dyn_cast<func::CallOp>(user);
    auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                             call, call.getCalleeAttr())
                       : nullptr;
    if (callee && !callee.isDeclaration())
      take(indexBound(callee.getArgument(use.getOperandNumber())));
  }
  return least;
}

void tp::inferBounds(func::FuncOp entry, Signature &signature) {
  for (auto [port, argument] :
       llvm::zip_equal(signature.arguments, entry.getArguments())) {
    bool isIndex =
        port.kind == ElementKind::I32 || port.kind == ElementKind::I64;
    if (isIndex && !port.bound)
      port.bound = indexBound(argument);
  }
}

void tp::takeBounds(const Signature &from, Signature &to) {
  llvm::StringMap<std::optional<int64_t>> bounds;
  for (const Port &port : from.arguments)
    bounds[port.name] = port.bound;
  for (Port &port : to.arguments)
    if (auto bound = bounds.find(port.name); bound != bounds.end())
      port.bound = bound->second;
}
