// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Inputs.h"
#include "tp/IR/Stored.h"
#include "tp/IR/TP.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <numbers>
#include <numeric>

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
struct Moments {
  double mean = 0, deviation = 1;
};

} // namespace

static Moments spreadOf(const Port &port) {
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
static void walkRectangle(ArrayRef<int64_t> shape, ArrayRef<Span> ranges,
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
static void fill(const Port &port, ArrayRef<Span> ranges, Array &part,
                 Make make) {
  T *next = part.as<T>().data();
  walkRectangle(port.sourceShape(), ranges, [&](int64_t index) {
    *next++ = static_cast<T>(make(static_cast<uint64_t>(index)));
  });
}

/// What the numbers of an argument depend on besides the seed.
static uint64_t keyOf(const Port &port) {
  return llvm::xxh3_64bits(port.sourceName()) + mix(port.occurrence);
}

namespace {

/// The integers of one draw: first the edges, spread over the tensor, then
/// uniform ones. An edge has several places where there is room, since a rank
/// may hold a part of the tensor only.
class DrawnIntegers {
public:
  DrawnIntegers(const Port &port, const Numbers &numbers, uint64_t draw);

  int64_t at(uint64_t index) const {
    uint64_t place = static_cast<uint64_t>(
        (static_cast<Field::Wide>(index) * factor + shift) % size);
    if (place >= numEdges)
      return static_cast<int64_t>(numbers.bits(index + draw * size) % bound);
    return port.edges[(draw * size + place) % port.edges.size()];
  }

private:
  const Port &port;
  const Numbers &numbers;
  uint64_t draw, bound, size = 1, factor = 1, shift = 0, numEdges = 0;
};

} // namespace

DrawnIntegers::DrawnIntegers(const Port &port, const Numbers &numbers,
                             uint64_t draw)
    : port(port), numbers(numbers), draw(draw), bound(port.bound.value_or(2)) {
  for (int64_t extent : port.sourceShape())
    size *= static_cast<uint64_t>(extent);
  if (port.edges.empty() || size == 0)
    return;
  numEdges = std::max<uint64_t>(port.edges.size(), size / 2);
  // index * factor + shift reaches every place once.
  factor = numbers.bits(~uint64_t(0)) % size;
  while (std::gcd(factor, size) != 1)
    ++factor;
  shift = numbers.bits(~uint64_t(1)) % size;
}

uint64_t Inputs::countDraws(ArrayRef<Port> arguments) const {
  uint64_t draws = 1;
  for (const Port &port : arguments) {
    uint64_t size = 1;
    for (int64_t extent : port.sourceShape())
      size *= static_cast<uint64_t>(extent);
    if (size != 0 && !find(port.sourceName()))
      draws =
          std::max<uint64_t>(draws, llvm::divideCeil(port.edges.size(), size));
  }
  return draws;
}

void Inputs::make(const Port &port, ArrayRef<Span> ranges, Array &part) const {
  Numbers numbers(seed, keyOf(port));
  Moments spread = spreadOf(port);
  auto real = [&](uint64_t index) {
    if (values == MadeValues::Integers)
      return static_cast<double>(numbers.smallInteger(index));
    return spread.mean + spread.deviation * numbers.normal(index);
  };
  DrawnIntegers integers(port, numbers, draw);
  auto whole = [&](uint64_t index) { return integers.at(index); };
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
                              ArrayRef<Span> ranges, Array &part) {
  if (llvm::Error error = checkShape(tensor, port.sourceShape()))
    return error;
  SmallVector<int64_t> offsets =
      llvm::map_to_vector(ranges, [](Span range) { return range.offset; });
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

llvm::Error Inputs::readPiece(const Port &port, ArrayRef<Span> ranges,
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
  SmallVector<Span> source;
  int64_t to = 0;
};

} // namespace

static SmallVector<int64_t> sizesOf(ArrayRef<Span> ranges) {
  return llvm::map_to_vector(ranges, [](Span range) { return range.size; });
}

/// The rectangles of the file's tensor that are the part `ranges` of a value.
static SmallVector<Piece> piecesOf(const Port &port, ArrayRef<Span> ranges) {
  SmallVector<Piece> pieces;
  if (!port.stored) {
    pieces.push_back({llvm::to_vector(ranges)});
    return pieces;
  }
  int64_t dim = port.stored.getDim();
  // The part fits in memory, and there are no more runs than rows in it.
  FailureOr<SmallVector<StoredRun>> runs =
      getStoredRuns(port.stored, Range{ranges[dim].offset, ranges[dim].size},
                    std::numeric_limits<int64_t>::max());
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
                                   ArrayRef<Span> ranges) const {
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

static SmallVector<Span> everything(const Port &port) {
  return llvm::map_to_vector(port.globalShape,
                             [](int64_t size) { return Span{0, size}; });
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
    llvm::Expected<TensorOf<double>> whole = drawn(key).readWhole(port);
    if (!whole)
      return whole.takeError();
    tensor.isInteger = true;
    tensor.integers = std::move(whole->integers);
    return tensor;
  }
  Numbers numbers(mix(seed) ^ key, keyOf(port));
  SmallVector<Span> all = everything(port);
  tensor.values.resize(*numElements(port.globalShape));
  for (const Piece &piece : piecesOf(port, all)) {
    SmallVector<Span> target(all);
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
