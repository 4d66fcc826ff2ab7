// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrictJSON.h"
#include "tp/Import/Safetensors.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace llvm;
using namespace tp;

namespace {
/// A rectangle of a tensor. Every constructed one has been checked, so sizes
/// and strides fit.
struct Rectangle {
  ArrayRef<int64_t> offsets, sizes;
};
} // namespace

static std::string printedList(ArrayRef<int64_t> list) {
  std::string text = "[";
  raw_string_ostream stream(text);
  interleaveComma(list, stream);
  return text + "]";
}

static Error sliceError(const StoredTensor &tensor, const Twine &message) {
  return createStringError(tensor.file + ": tensor " + quoted(tensor.name) +
                           ", " + name(tensor.type) + " " +
                           printedList(tensor.shape) + ": " + message);
}

/// Checks that the rectangle is inside of the tensor and has `room` elements.
static Error check(const StoredTensor &tensor, Rectangle slice, size_t room) {
  ArrayRef<int64_t> shape = tensor.shape;
  bool inside = slice.offsets.size() == shape.size() &&
                slice.sizes.size() == shape.size();
  for (size_t dim = 0; inside && dim < shape.size(); ++dim)
    inside = slice.offsets[dim] >= 0 && slice.offsets[dim] <= shape[dim] &&
             slice.sizes[dim] >= 0 &&
             slice.sizes[dim] <= shape[dim] - slice.offsets[dim];
  if (!inside)
    return sliceError(tensor, "no slice of sizes " + printedList(slice.sizes) +
                                  " at offsets " + printedList(slice.offsets));
  // At most the elements of the tensor, unless one of the sizes is 0.
  uint64_t elements = is_contained(slice.sizes, 0) ? 0 : 1;
  if (elements > 0)
    for (int64_t size : slice.sizes)
      elements *= uint64_t(size);
  if (elements != room)
    return sliceError(tensor, "a slice of sizes " + printedList(slice.sizes) +
                                  " has " + Twine(elements) +
                                  " elements, the place for it " + Twine(room));
  return Error::success();
}

/// Calls `row(first, count, place)` for each run of neighbours in the last
/// dimension: the index of its first element in the tensor and in the slice.
static void forEachRow(ArrayRef<int64_t> shape, Rectangle slice,
                       function_ref<void(int64_t, int64_t, int64_t)> row) {
  if (is_contained(slice.sizes, 0))
    return;
  if (shape.empty())
    return row(0, 1, 0);
  size_t last = shape.size() - 1;
  int64_t count = slice.sizes[last];
  SmallVector<int64_t> index(slice.offsets);
  for (int64_t place = 0;; place += count) {
    int64_t first = 0;
    for (size_t dim = 0; dim <= last; ++dim)
      first = first * shape[dim] + index[dim];
    row(first, count, place);
    size_t dim = last;
    while (dim > 0 &&
           ++index[dim - 1] == slice.offsets[dim - 1] + slice.sizes[dim - 1]) {
      index[dim - 1] = slice.offsets[dim - 1];
      --dim;
    }
    if (dim == 0)
      return;
  }
}

/// Reads elements of the little-endian type Raw and converts each.
template <typename Raw, typename T, typename Convert>
static void readRows(const StoredTensor &tensor, Rectangle slice, T *out,
                     Convert convert) {
  const char *bytes = tensor.bytes.data();
  forEachRow(tensor.shape, slice,
             [&](int64_t first, int64_t count, int64_t place) {
               const char *source = bytes + first * int64_t(sizeof(Raw));
               for (int64_t i = 0; i < count; ++i)
                 out[place + i] =
                     T(convert(support::endian::read<Raw, endianness::little>(
                         source + i * int64_t(sizeof(Raw)))));
             });
}

/// IEEE binary16: 1 sign bit, 5 bits of exponent (bias 15), 10 of fraction.
static float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0) {
    float magnitude = float(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  // Infinities and NaNs keep the highest exponent, others change the bias.
  uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// The numbers that the bytes stand for. E4M3 is the one without infinities.
static std::array<float, 256> floatsOfBytes(const fltSemantics &semantics) {
  std::array<float, 256> table;
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    APFloat value(semantics, APInt(8, byte));
    bool loses = false;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
    table[byte] = value.convertToFloat();
  }
  return table;
}

static float float8E5M2(uint8_t byte) {
  static const auto table = floatsOfBytes(APFloat::Float8E5M2());
  return table[byte];
}

static float float8E4M3(uint8_t byte) {
  static const auto table = floatsOfBytes(APFloat::Float8E4M3FN());
  return table[byte];
}

/// The upper half of a binary32.
static float bfloatToFloat(uint16_t bits) {
  return bit_cast<float>(uint32_t(bits) << 16);
}

template <typename T>
static Error readReals(const StoredTensor &tensor, Rectangle slice,
                       MutableArrayRef<T> out) {
  if (Error error = check(tensor, slice, out.size()))
    return error;
  auto same = [](auto value) { return value; };
  switch (tensor.type) {
  case StoredType::F64:
    readRows<double>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::F32:
    readRows<float>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::F16:
    readRows<uint16_t>(tensor, slice, out.data(), halfToFloat);
    return Error::success();
  case StoredType::BF16:
    readRows<uint16_t>(tensor, slice, out.data(), bfloatToFloat);
    return Error::success();
  case StoredType::F8E5M2:
    readRows<uint8_t>(tensor, slice, out.data(), float8E5M2);
    return Error::success();
  case StoredType::F8E4M3:
    readRows<uint8_t>(tensor, slice, out.data(), float8E4M3);
    return Error::success();
  default:
    return sliceError(tensor, "expected a tensor of a floating-point type");
  }
}

Error tp::readSlice(const StoredTensor &tensor, ArrayRef<int64_t> offsets,
                    ArrayRef<int64_t> sizes, MutableArrayRef<float> out) {
  return readReals(tensor, {offsets, sizes}, out);
}

Error tp::readSlice(const StoredTensor &tensor, ArrayRef<int64_t> offsets,
                    ArrayRef<int64_t> sizes, MutableArrayRef<double> out) {
  return readReals(tensor, {offsets, sizes}, out);
}

Error tp::readSlice(const StoredTensor &tensor, ArrayRef<int64_t> offsets,
                    ArrayRef<int64_t> sizes, MutableArrayRef<int64_t> out) {
  Rectangle slice = {offsets, sizes};
  if (Error error = check(tensor, slice, out.size()))
    return error;
  auto same = [](auto value) { return value; };
  switch (tensor.type) {
  case StoredType::I64:
    readRows<int64_t>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::I32:
    readRows<int32_t>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::I16:
    readRows<int16_t>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::I8:
    readRows<uint8_t>(tensor, slice, out.data(),
                      [](uint8_t byte) { return SignExtend64<8>(byte); });
    return Error::success();
  case StoredType::U64: {
    bool fits = true;
    readRows<uint64_t>(tensor, slice, out.data(), [&](uint64_t value) {
      fits &= value <= uint64_t(INT64_MAX);
      return int64_t(value);
    });
    if (!fits)
      return sliceError(tensor, "a value exceeds 2^63 - 1");
    return Error::success();
  }
  case StoredType::U32:
    readRows<uint32_t>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::U16:
    readRows<uint16_t>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::U8:
    readRows<uint8_t>(tensor, slice, out.data(), same);
    return Error::success();
  case StoredType::Bool:
    readRows<uint8_t>(tensor, slice, out.data(),
                      [](uint8_t byte) { return byte != 0; });
    return Error::success();
  default:
    return sliceError(tensor, "expected a tensor of integers or BOOL");
  }
}
