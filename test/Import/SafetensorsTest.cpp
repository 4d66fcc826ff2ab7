// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Safetensors files: what is read, what is refused, slices against a loop over
// all elements.
#include "tp/Import/Safetensors.h"
#include "SafetensorsText.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace llvm;
using namespace tp;

static Expected<SafetensorsFile> parsed(StringRef bytes) {
  return SafetensorsFile::parse(
      MemoryBuffer::getMemBufferCopy(bytes, "t.safetensors"));
}

static SafetensorsFile accepted(StringRef bytes) {
  return cantFail(parsed(bytes));
}

static std::string refusal(StringRef bytes) {
  Expected<SafetensorsFile> file = parsed(bytes);
  return file ? "" : toString(file.takeError());
}

template <typename T>
static std::string sliceError(const StoredTensor &tensor,
                              ArrayRef<int64_t> offsets,
                              ArrayRef<int64_t> sizes, size_t room) {
  std::vector<T> out(room);
  Error error = readSlice(tensor, offsets, sizes, MutableArrayRef<T>(out));
  return error ? toString(std::move(error)) : "";
}

/// All elements of a tensor, as T.
template <typename T>
static std::vector<T> wholeOf(const StoredTensor &tensor) {
  int64_t elements = 1;
  for (int64_t size : tensor.shape)
    elements *= size;
  std::vector<T> out(elements);
  SmallVector<int64_t> offsets(tensor.shape.size(), 0);
  cantFail(readSlice(tensor, offsets, tensor.shape, MutableArrayRef<T>(out)));
  return out;
}

TEST(SafetensorsTest, TensorsHaveTypesShapesAndBytes) {
  SafetensorsFile file = accepted(fileOf({
      {"b", "F32", {2, 3}, bytesOf<float>({1, 2, 3, 4, 5, 6})},
      {"a", "I64", {}, bytesOf<int64_t>({-7})},
      {"empty", "BF16", {0, 5}, ""},
  }));
  EXPECT_EQ(file.metadata().lookup("format"), "pt");
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "b");
  const StoredTensor &b = cantFail(file.lookup("b"));
  EXPECT_EQ(b.type, StoredType::F32);
  EXPECT_EQ(ArrayRef<int64_t>(b.shape), ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(b.file, "t.safetensors");
  EXPECT_EQ(wholeOf<float>(b), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(wholeOf<int64_t>(cantFail(file.lookup("a"))),
            (std::vector<int64_t>{-7}));
  EXPECT_TRUE(wholeOf<double>(cantFail(file.lookup("empty"))).empty());
}

TEST(SafetensorsTest, MissingTensorsAreNamed) {
  SafetensorsFile file = accepted(fileOf({{"a", "U8", {1}, "x"}}));
  Expected<const StoredTensor &> tensor = file.lookup("b");
  ASSERT_FALSE(bool(tensor));
  EXPECT_EQ(toString(tensor.takeError()),
            "t.safetensors: no tensor \"b\" among its 1");
}

TEST(SafetensorsTest, WrongShapesAreShown) {
  SafetensorsFile file = accepted(fileOf({{"a", "U8", {2, 3}, "abcdef"}}));
  const StoredTensor &tensor = cantFail(file.lookup("a"));
  EXPECT_FALSE(bool(checkShape(tensor, {2, 3})));
  EXPECT_EQ(toString(checkShape(tensor, {3, 2})),
            "t.safetensors: tensor \"a\" is U8 [2, 3]: expected shape [3, 2]");
  EXPECT_EQ(toString(checkShape(tensor, {6})),
            "t.safetensors: tensor \"a\" is U8 [2, 3]: expected shape [6]");
}

TEST(SafetensorsTest, IntegersAreReadWithTheirSign) {
  SafetensorsFile file = accepted(fileOf({
      {"i64", "I64", {2}, bytesOf<int64_t>({INT64_MIN, INT64_MAX})},
      {"i32", "I32", {2}, bytesOf<int32_t>({INT32_MIN, INT32_MAX})},
      {"i16", "I16", {2}, bytesOf<int16_t>({-32768, 32767})},
      {"i8", "I8", {2}, bytesOf<int8_t>({-128, 127})},
      {"u8", "U8", {2}, bytesOf<uint8_t>({128, 255})},
      {"bool", "BOOL", {3}, bytesOf<uint8_t>({0, 1, 2})},
  }));
  auto read = [&](StringRef name) {
    return wholeOf<int64_t>(cantFail(file.lookup(name)));
  };
  EXPECT_EQ(read("i64"), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(read("i32"), (std::vector<int64_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(read("i16"), (std::vector<int64_t>{-32768, 32767}));
  EXPECT_EQ(read("i8"), (std::vector<int64_t>{-128, 127}));
  EXPECT_EQ(read("u8"), (std::vector<int64_t>{128, 255}));
  EXPECT_EQ(read("bool"), (std::vector<int64_t>{0, 1, 1}));
}

/// Each of the 65536 values, against LLVM's software arithmetic.
TEST(SafetensorsTest, HalfPrecisionIsExact) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t bits = 0; bits < all.size(); ++bits)
    all[bits] = uint16_t(bits);
  SafetensorsFile file = accepted(fileOf({
      {"F16", "F16", {1 << 16}, bytesOf(all)},
      {"BF16", "BF16", {1 << 16}, bytesOf(all)},
  }));
  for (auto [name, format] : {std::pair("F16", &APFloat::IEEEhalf()),
                              std::pair("BF16", &APFloat::BFloat())}) {
    const StoredTensor &tensor = cantFail(file.lookup(name));
    std::vector<float> floats = wholeOf<float>(tensor);
    std::vector<double> doubles = wholeOf<double>(tensor);
    for (size_t bits = 0; bits < all.size(); ++bits) {
      APFloat value(*format, APInt(16, bits));
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      double expected = value.convertToDouble();
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(floats[bits]) && std::isnan(doubles[bits]));
        continue;
      }
      EXPECT_EQ(doubles[bits], expected) << name << " " << bits;
      EXPECT_EQ(double(floats[bits]), expected) << name << " " << bits;
      EXPECT_EQ(std::signbit(floats[bits]), std::signbit(expected));
    }
  }
}

TEST(SafetensorsTest, WideTypesAreReadAsBothRealTypes) {
  SafetensorsFile file = accepted(fileOf({
      {"f64", "F64", {2}, bytesOf<double>({0.1, -1e300})},
      {"f32", "F32", {2}, bytesOf<float>({0.1f, -3e38f})},
  }));
  const StoredTensor &f64 = cantFail(file.lookup("f64"));
  const StoredTensor &f32 = cantFail(file.lookup("f32"));
  EXPECT_EQ(wholeOf<double>(f64), (std::vector<double>{0.1, -1e300}));
  EXPECT_EQ(wholeOf<float>(f64), (std::vector<float>{0.1f, -INFINITY}));
  EXPECT_EQ(wholeOf<float>(f32), (std::vector<float>{0.1f, -3e38f}));
  EXPECT_EQ(wholeOf<double>(f32), (std::vector<double>{0.1f, -3e38f}));
}

TEST(SafetensorsTest, SlicesAgreeWithALoopOverAllElements) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    size_t rank = random() % 5;
    std::vector<int64_t> shape, offsets, sizes;
    size_t total = 1;
    for (size_t dim = 0; dim < rank; ++dim) {
      shape.push_back(random() % 5);
      offsets.push_back(random() % (shape[dim] + 1));
      sizes.push_back(random() % (shape[dim] - offsets[dim] + 1));
      total *= shape[dim];
    }
    std::vector<int32_t> values(total);
    for (size_t i = 0; i < total; ++i)
      values[i] = int32_t(random());
    // One byte in front, so that the elements are not aligned.
    SafetensorsFile file = accepted(fileOf(
        {{"byte", "U8", {1}, "x"}, {"t", "I32", shape, bytesOf(values)}}));

    std::vector<int64_t> expected;
    for (size_t i = 0; i < total; ++i) {
      size_t rest = i;
      bool inside = true;
      for (size_t dim = rank; dim-- > 0; rest /= shape[dim]) {
        int64_t index = int64_t(rest) % shape[dim] - offsets[dim];
        inside &= index >= 0 && index < sizes[dim];
      }
      if (inside)
        expected.push_back(values[i]);
    }
    std::vector<int64_t> out(expected.size());
    cantFail(readSlice(cantFail(file.lookup("t")), offsets, sizes,
                       MutableArrayRef<int64_t>(out)));
    EXPECT_EQ(out, expected) << round;
  }
}

// By the tables of the OCP 8-bit floating point specification, 1.0.
TEST(SafetensorsTest, EightBitFloats) {
  SafetensorsFile file = accepted(
      fileOf({{"a", "F8_E4M3", {5}, std::string("\x7e\x01\xb8\x00\x7f", 5)},
              {"b", "F8_E5M2", {5}, std::string("\x7b\x01\xbc\x7c\xfe", 5)}}));
  auto read = [&](StringRef name) {
    std::vector<float> out(5);
    cantFail(readSlice(cantFail(file.lookup(name)), {0}, {5},
                       MutableArrayRef<float>(out)));
    return out;
  };
  std::vector<float> a = read("a"), b = read("b");
  EXPECT_EQ(ArrayRef(a).take_front(4), ArrayRef<float>({448, 0x1p-9f, -1, 0}));
  EXPECT_TRUE(std::isnan(a[4]));
  EXPECT_EQ(ArrayRef(b).take_front(4),
            ArrayRef<float>({57344, 0x1p-16f, -1, HUGE_VALF}));
  EXPECT_TRUE(std::isnan(b[4]));
}

TEST(SafetensorsTest, UnsignedIntegers) {
  SafetensorsFile file = accepted(
      fileOf({{"a", "U16", {2}, bytesOf<uint16_t>({65535, 3})},
              {"b", "U32", {2}, bytesOf<uint32_t>({4294967295, 5})},
              {"c", "U64", {2}, bytesOf<uint64_t>({INT64_MAX, 7})},
              {"d", "U64", {2}, bytesOf<uint64_t>({uint64_t(1) << 63, 7})}}));
  auto read = [&](StringRef name) {
    std::vector<int64_t> out(2);
    cantFail(readSlice(cantFail(file.lookup(name)), {0}, {2},
                       MutableArrayRef<int64_t>(out)));
    return out;
  };
  EXPECT_EQ(read("a"), (std::vector<int64_t>{65535, 3}));
  EXPECT_EQ(read("b"), (std::vector<int64_t>{4294967295, 5}));
  EXPECT_EQ(read("c"), (std::vector<int64_t>{INT64_MAX, 7}));
  const StoredTensor &d = cantFail(file.lookup("d"));
  EXPECT_EQ(sliceError<int64_t>(d, {0}, {2}, 2),
            "t.safetensors: tensor \"d\", U64 [2]: a value exceeds 2^63 - 1");
  EXPECT_EQ(sliceError<int64_t>(d, {1}, {1}, 1), "");
}

TEST(SafetensorsTest, SlicesOutsideOfTheTensorAreRefused) {
  SafetensorsFile file =
      accepted(fileOf({{"a", "U8", {2, 3}, "abcdef"}, {"h", "F16", {0}, ""}}));
  const StoredTensor &a = cantFail(file.lookup("a"));
  std::string where = "t.safetensors: tensor \"a\", U8 [2, 3]: ";
  EXPECT_EQ(sliceError<int64_t>(a, {1, 0}, {1, 3}, 3), "");
  EXPECT_EQ(sliceError<int64_t>(a, {1, 1}, {1, 3}, 3),
            where + "no slice of sizes [1, 3] at offsets [1, 1]");
  EXPECT_EQ(sliceError<int64_t>(a, {-1, 0}, {1, 3}, 3),
            where + "no slice of sizes [1, 3] at offsets [-1, 0]");
  EXPECT_EQ(sliceError<int64_t>(a, {0, 0}, {1, -1}, 0),
            where + "no slice of sizes [1, -1] at offsets [0, 0]");
  EXPECT_EQ(sliceError<int64_t>(a, {0}, {6}, 6),
            where + "no slice of sizes [6] at offsets [0]");
  EXPECT_EQ(sliceError<int64_t>(a, {INT64_MAX, 0}, {INT64_MAX, 3}, 3),
            where + "no slice of sizes [9223372036854775807, 3] at offsets "
                    "[9223372036854775807, 0]");
  EXPECT_EQ(sliceError<int64_t>(a, {0, 0}, {2, 2}, 6),
            where + "a slice of sizes [2, 2] has 4 elements, the place for it "
                    "6");
  EXPECT_EQ(sliceError<float>(a, {0, 0}, {2, 3}, 6),
            where + "expected a tensor of a floating-point type");
  EXPECT_EQ(sliceError<int64_t>(cantFail(file.lookup("h")), {0}, {0}, 0),
            "t.safetensors: tensor \"h\", F16 [0]: expected a tensor of "
            "integers or BOOL");
}

TEST(SafetensorsTest, EmptyTensorsOfHugeShapesAreReadSafely) {
  SafetensorsFile file = accepted(
      fileWith(R"({"a":{"dtype":"U8","shape":[0,4611686018427387904,8],)"
               R"("data_offsets":[0,0]}})",
               ""));
  EXPECT_EQ(sliceError<int64_t>(cantFail(file.lookup("a")), {0, 0, 0},
                                {0, 4611686018427387904, 8}, 0),
            "");
}

TEST(SafetensorsTest, DamagedFrames) {
  EXPECT_EQ(refusal(""), "t.safetensors: 0 bytes: expected the length of a "
                         "safetensors header in the first 8");
  EXPECT_EQ(refusal(StringRef("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            "t.safetensors: header of 18446744073709551615 bytes: expected at "
            "most 2: not a safetensors file, or cut off");
  EXPECT_EQ(refusal(fileWith(" {}", "")),
            "t.safetensors: the header does not start with \"{\": not a "
            "safetensors file");
  EXPECT_EQ(refusal(fileWith("", "")),
            "t.safetensors: the header does not start with \"{\": not a "
            "safetensors file");
  EXPECT_EQ(refusal(fileWith("{]", "")),
            "t.safetensors (header):1:3: not valid JSON: expected object key");
  EXPECT_EQ(refusal(fileWith("{\"a\":" + std::string(100'000, '['), "")),
            "t.safetensors (header):1:69: nested deeper than 64 objects and "
            "arrays");
  EXPECT_EQ(refusal(fileWith("{" + std::string(100'000'000, ' '), "")),
            "t.safetensors (header): 100000001 bytes of JSON: at most "
            "100000000 are read");
  // Padding with spaces is a part of the format.
  EXPECT_EQ(refusal(fileWith("{}     ", "")), "");
}

/// A header of one tensor "a" with this entry, in front of four bytes.
static std::string entryRefusal(StringRef entry) {
  return refusal(fileWith(("{\"a\":" + entry + "}").str(), "wxyz"));
}

TEST(SafetensorsTest, WrongEntries) {
  std::string a = "t.safetensors: tensor \"a\"";
  std::string types = "expected one of F64, F32, F16, BF16, F8_E5M2, F8_E4M3, "
                      "I64, I32, I16, I8, U64, U32, U16, U8, BOOL";
  std::string shape = "expected an array of integers from 0 to 2^63 - 1";
  std::string offsets = "expected begin and end within the 4 bytes of data";
  auto with = [](StringRef dtype, StringRef shape, StringRef offsets) {
    return entryRefusal(("{\"dtype\":" + dtype + ",\"shape\":" + shape +
                         ",\"data_offsets\":" + offsets + "}")
                            .str());
  };
  EXPECT_EQ(with("\"U8\"", "[4]", "[0,4]"), "");
  EXPECT_EQ(entryRefusal("4"), a + " is 4: expected an object");
  EXPECT_EQ(entryRefusal("{}"), a + ": no \"dtype\": " + types);
  for (std::string type :
       {"F8_E8M0", "F6_E2M3", "F6_E3M2", "F4", "C64", "f32", "F128", "I4"})
    EXPECT_EQ(with("\"" + type + "\"", "[4]", "[0,4]"),
              a + ": \"dtype\" is \"" + type + "\": " + types);
  EXPECT_EQ(with("\"\"", "[4]", "[0,4]"), a + ": \"dtype\" is \"\": " + types);
  EXPECT_EQ(with("8", "[4]", "[0,4]"), a + ": \"dtype\" is 8: " + types);
  EXPECT_EQ(with("\"U8\"", "4", "[0,4]"), a + ": \"shape\" is 4: " + shape);
  EXPECT_EQ(with("\"U8\"", "[-4]", "[0,4]"),
            a + ": \"shape\" is [-4]: " + shape);
  EXPECT_EQ(with("\"U8\"", "[4.0]", "[0,4]"),
            a + ": \"shape\" is [4]: " + shape);
  EXPECT_EQ(with("\"U8\"", "[9223372036854775808]", "[0,4]"),
            a + ": \"shape\" is [9223372036854775808]: " + shape);
  EXPECT_EQ(with("\"U8\"", "[4]", "[0]"),
            a + ": \"data_offsets\" is [0]: " + offsets);
  EXPECT_EQ(with("\"U8\"", "[4]", "[0,5]"),
            a + ": \"data_offsets\" is [0,5]: " + offsets);
  EXPECT_EQ(with("\"U8\"", "[4]", "[4,0]"),
            a + ": \"data_offsets\" is [4,0]: " + offsets);
  EXPECT_EQ(with("\"U8\"", "[4]", "[-4,0]"),
            a + ": \"data_offsets\" is [-4,0]: " + offsets);
  EXPECT_EQ(with("\"U8\"", "[4]", "[0,4],\"stride\":[1]"),
            a + " has 4 fields: expected \"dtype\", \"shape\" and "
                "\"data_offsets\" only");
  EXPECT_EQ(with("\"F32\"", "[2,1]", "[0,4]"),
            a + " is F32 [2, 1] and needs 8 bytes, but its \"data_offsets\" "
                "hold 4");
  EXPECT_EQ(with("\"F32\"", "[2305843009213693952]", "[0,4]"),
            a + " is F32 [2305843009213693952] and needs more than 2^63 - 1 "
                "bytes, but its \"data_offsets\" hold 4");
}

TEST(SafetensorsTest, TensorsMustFillTheDataWithoutGapAndOverlap) {
  auto layout = [](StringRef a, StringRef b) {
    auto entry = [](StringRef offsets) {
      return ("{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" + offsets +
              "}")
          .str();
    };
    return refusal(
        fileWith("{\"b\":" + entry(b) + ",\"a\":" + entry(a) + "}", "wxyz"));
  };
  std::string end = ": expected tensors without gap and overlap";
  EXPECT_EQ(layout("[0,2]", "[2,4]"), "");
  EXPECT_EQ(layout("[2,4]", "[0,2]"), "");
  EXPECT_EQ(layout("[0,2]", "[1,3]"),
            "t.safetensors: tensor \"b\" starts at byte 1 of the data, but "
            "tensor \"a\" ends at byte 2" +
                end);
  EXPECT_EQ(layout("[0,2]", "[0,2]"),
            "t.safetensors: tensor \"b\" starts at byte 0 of the data, but "
            "tensor \"a\" ends at byte 2" +
                end);
  EXPECT_EQ(layout("[1,3]", "[2,4]"),
            "t.safetensors: tensor \"a\" starts at byte 1 of the data, but "
            "the data start at byte 0" +
                end);
  EXPECT_EQ(refusal(fileWith("{}", "x")),
            "t.safetensors: the tensors end at byte 0 of 1 bytes of data: "
            "expected no bytes behind them");
}

TEST(SafetensorsTest, DuplicatedNamesAndWrongMetadata) {
  EXPECT_EQ(refusal(fileWith("{\"a\":{},\"a\":{}}", "")),
            "t.safetensors (header):1:9: key \"a\" is given twice, first on "
            "line 1: keep one of them");
  EXPECT_EQ(refusal(fileWith("{\"__metadata__\":[]}", "")),
            "t.safetensors: \"__metadata__\" is []: expected an object of "
            "strings");
  EXPECT_EQ(refusal(fileWith("{\"__metadata__\":{\"x\":1}}", "")),
            "t.safetensors: \"__metadata__\" has \"x\": 1: expected an object "
            "of strings");
}

/// A small file with tensors of several types.
static std::string smallFile() {
  return fileOf({
      {"weight", "F32", {2, 3}, bytesOf<float>({1, 2, 3, 4, 5, 6})},
      {"bias", "BF16", {3}, "uvwxyz"},
      {"ids", "I64", {1}, bytesOf<int64_t>({-5})},
      {"empty", "U8", {0}, ""},
  });
}

TEST(SafetensorsTest, EveryTruncationIsRefused) {
  std::string bytes = smallFile();
  ASSERT_EQ(refusal(bytes), "");
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(refusal(StringRef(bytes).take_front(length)), "") << length;
}

TEST(SafetensorsTest, DamagedFilesAreReadOrRefused) {
  std::string bytes = smallFile();
  std::mt19937 random(20240608);
  int read = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    for (unsigned change = 0; change <= random() % 3; ++change)
      damaged[random() % damaged.size()] = char(random());
    Expected<SafetensorsFile> file = parsed(damaged);
    ++(file ? read : refused);
    if (!file) {
      EXPECT_NE(toString(file.takeError()), "");
      continue;
    }
    // Whatever was accepted can be read without leaving the buffer.
    for (const StoredTensor &tensor : file->tensors()) {
      if (tensor.type <= StoredType::BF16)
        wholeOf<double>(tensor);
      else
        wholeOf<int64_t>(tensor);
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 1000);
}
