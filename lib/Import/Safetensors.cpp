// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Import/Safetensors.h"
#include "StrictJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace tp;

/// Bytes before the header: its length.
static constexpr uint64_t prefixSize = 8;

namespace {

struct TypeInfo {
  StringRef name;
  int64_t size;
};

/// A tensor with its place in the data, in bytes.
struct PlacedTensor {
  StoredTensor tensor;
  uint64_t begin = 0, end = 0;
};

/// Reads the entries of a header.
class HeaderReader {
public:
  HeaderReader(StringRef file, StringRef data) : file(file), data(data) {}

  Expected<std::vector<StoredTensor>> readTensors(const json::Object &header);
  Error readMetadata(const json::Value &value, StringMap<std::string> &notes);

private:
  Expected<PlacedTensor> readTensor(StringRef name, const json::Value &value);
  Error readType(const json::Value *value, StoredTensor &tensor);
  Error readShape(const json::Value *value, StoredTensor &tensor);
  Error readOffsets(const json::Value *value, PlacedTensor &placed);
  Error checkLayout(ArrayRef<PlacedTensor> tensors);
  Error wrong(StringRef tensor, StringRef key, const json::Value *value,
              const Twine &expected);

  StringRef file, data;
};

} // namespace

/// In the order of the enumeration.
static const TypeInfo types[] = {
    {"F64", 8},     {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F8_E5M2", 1},
    {"F8_E4M3", 1}, {"I64", 8}, {"I32", 4}, {"I16", 2},  {"I8", 1},
    {"U64", 8},     {"U32", 4}, {"U16", 2}, {"U8", 1},   {"BOOL", 1},
};

bool tp::isFloat(StoredType type) { return type <= StoredType::F8E4M3; }

int64_t tp::sizeInBytes(StoredType type) { return types[size_t(type)].size; }

StringRef tp::name(StoredType type) { return types[size_t(type)].name; }

static std::string printedShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  raw_string_ostream stream(text);
  interleaveComma(shape, stream);
  return text + "]";
}

/// `"NAME" is F32 [2, 3]`.
static std::string described(const StoredTensor &tensor) {
  return quoted(tensor.name) + " is " + name(tensor.type).str() + " " +
         printedShape(tensor.shape);
}

Error HeaderReader::wrong(StringRef tensor, StringRef key,
                          const json::Value *value, const Twine &expected) {
  return createStringError(
      file + ": tensor " + quoted(tensor) + ": " +
      (value ? quoted(key) + " is " + printed(*value) : "no " + quoted(key)) +
      ": expected " + expected);
}

Error HeaderReader::readType(const json::Value *value, StoredTensor &tensor) {
  StringRef text =
      value ? value->getAsString().value_or(StringRef()) : StringRef();
  for (auto [index, info] : enumerate(types))
    if (info.name == text) {
      tensor.type = StoredType(index);
      return Error::success();
    }
  return wrong(
      tensor.name, "dtype", value,
      "one of " +
          join(map_range(types, [](const TypeInfo &info) { return info.name; }),
               ", "));
}

Error HeaderReader::readShape(const json::Value *value, StoredTensor &tensor) {
  StringRef expected = "an array of integers from 0 to 2^63 - 1";
  const json::Array *sizes = value ? value->getAsArray() : nullptr;
  if (!sizes)
    return wrong(tensor.name, "shape", value, expected);
  for (const json::Value &size : *sizes) {
    std::optional<uint64_t> number = size.getAsUINT64();
    if (!number || *number > uint64_t(INT64_MAX))
      return wrong(tensor.name, "shape", value, expected);
    tensor.shape.push_back(int64_t(*number));
  }
  return Error::success();
}

Error HeaderReader::readOffsets(const json::Value *value,
                                PlacedTensor &placed) {
  const json::Array *pair = value ? value->getAsArray() : nullptr;
  std::optional<uint64_t> begin, end;
  if (pair && pair->size() == 2) {
    begin = (*pair)[0].getAsUINT64();
    end = (*pair)[1].getAsUINT64();
  }
  if (!begin || !end || *begin > *end || *end > data.size())
    return wrong(placed.tensor.name, "data_offsets", value,
                 "begin and end within the " + Twine(data.size()) +
                     " bytes of data");
  placed.begin = *begin;
  placed.end = *end;
  return Error::success();
}

/// Bytes of a tensor, nothing if they do not fit in 63 bits.
static std::optional<int64_t> bytesNeeded(const StoredTensor &tensor) {
  std::optional<int64_t> bytes = sizeInBytes(tensor.type);
  for (int64_t size : tensor.shape)
    if (bytes)
      bytes = checkedMul(*bytes, size);
  return bytes;
}

Expected<PlacedTensor> HeaderReader::readTensor(StringRef name,
                                                const json::Value &value) {
  const json::Object *entry = value.getAsObject();
  if (!entry)
    return createStringError(file + ": tensor " + quoted(name) + " is " +
                             printed(value) + ": expected an object");
  PlacedTensor placed;
  placed.tensor.name = name.str();
  placed.tensor.file = file;
  if (Error error = readType(entry->get("dtype"), placed.tensor))
    return error;
  if (Error error = readShape(entry->get("shape"), placed.tensor))
    return error;
  if (Error error = readOffsets(entry->get("data_offsets"), placed))
    return error;
  // All three are there, so a fourth would change what they mean.
  if (entry->size() != 3)
    return createStringError(file + ": tensor " + quoted(name) + " has " +
                             Twine(entry->size()) +
                             " fields: expected \"dtype\", \"shape\" and "
                             "\"data_offsets\" only");
  std::optional<int64_t> bytes = bytesNeeded(placed.tensor);
  uint64_t stored = placed.end - placed.begin;
  if (!bytes || uint64_t(*bytes) != stored)
    return createStringError(
        file + ": tensor " + described(placed.tensor) + " and needs " +
        (bytes ? std::to_string(*bytes) : "more than 2^63 - 1") +
        " bytes, but its \"data_offsets\" hold " + Twine(stored));
  placed.tensor.bytes = data.slice(placed.begin, placed.end);
  return placed;
}

/// `tensors` are sorted by their place.
Error HeaderReader::checkLayout(ArrayRef<PlacedTensor> tensors) {
  uint64_t end = 0;
  StringRef last;
  for (const PlacedTensor &placed : tensors) {
    if (placed.begin != end)
      return createStringError(
          file + ": tensor " + quoted(placed.tensor.name) + " starts at byte " +
          Twine(placed.begin) + " of the data, but " +
          (last.empty() ? "the data start at byte "
                        : "tensor " + quoted(last) + " ends at byte ") +
          Twine(end) + ": expected tensors without gap and overlap");
    end = placed.end;
    last = placed.tensor.name;
  }
  if (end == data.size())
    return Error::success();
  return createStringError(file + ": the tensors end at byte " + Twine(end) +
                           " of " + Twine(data.size()) +
                           " bytes of data: expected no bytes behind them");
}

Expected<std::vector<StoredTensor>>
HeaderReader::readTensors(const json::Object &header) {
  // The object is a hash table; errors must not depend on its order.
  std::vector<const json::Object::value_type *> entries;
  for (const auto &entry : header)
    if (StringRef(entry.first) != "__metadata__")
      entries.push_back(&entry);
  sort(entries, [](const auto *a, const auto *b) {
    return StringRef(a->first) < StringRef(b->first);
  });

  std::vector<PlacedTensor> placed;
  for (const auto *entry : entries) {
    Expected<PlacedTensor> tensor = readTensor(entry->first, entry->second);
    if (!tensor)
      return tensor.takeError();
    placed.push_back(std::move(*tensor));
  }
  sort(placed, [](const PlacedTensor &a, const PlacedTensor &b) {
    return std::tie(a.begin, a.end, a.tensor.name) <
           std::tie(b.begin, b.end, b.tensor.name);
  });
  if (Error error = checkLayout(placed))
    return error;
  std::vector<StoredTensor> tensors;
  for (PlacedTensor &tensor : placed)
    tensors.push_back(std::move(tensor.tensor));
  return tensors;
}

Error HeaderReader::readMetadata(const json::Value &value,
                                 StringMap<std::string> &notes) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return createStringError(file + ": \"__metadata__\" is " + printed(value) +
                             ": expected an object of strings");
  for (const auto &entry : *object) {
    std::optional<StringRef> text = entry.second.getAsString();
    if (!text)
      return createStringError(
          file + ": \"__metadata__\" has " + quoted(entry.first) + ": " +
          printed(entry.second) + ": expected an object of strings");
    notes[entry.first] = text->str();
  }
  return Error::success();
}

Expected<SafetensorsFile> SafetensorsFile::open(StringRef path) {
  // A pipe would be waited for, and a device has no end.
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path))
    return createStringError(path + ": not a regular file");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  return parse(std::move(*buffer));
}

Expected<SafetensorsFile>
SafetensorsFile::parse(std::unique_ptr<MemoryBuffer> buffer) {
  SafetensorsFile file;
  file.buffer = std::move(buffer);
  StringRef bytes = file.buffer->getBuffer();
  StringRef path = file.buffer->getBufferIdentifier();
  if (bytes.starts_with("version https://git-lfs"))
    return createStringError(path + ": a Git LFS pointer in place of the file: "
                                    "fetch it with 'git lfs pull'");
  if (bytes.size() < prefixSize)
    return createStringError(path + ": " + Twine(bytes.size()) +
                             " bytes: expected the length of a safetensors "
                             "header in the first 8");
  uint64_t length = support::endian::read64le(bytes.data());
  StringRef rest = bytes.drop_front(prefixSize);
  if (length > rest.size())
    return createStringError(path + ": header of " + Twine(length) +
                             " bytes: expected at most " + Twine(rest.size()) +
                             ": not a safetensors file, or cut off");
  StringRef text = rest.take_front(length);
  if (!text.starts_with("{"))
    return createStringError(path +
                             ": the header does not start with \"{\": not a "
                             "safetensors file");

  Expected<json::Value> header =
      parseStrictJSON(text, (path + " (header)").str());
  if (!header)
    return header.takeError();
  HeaderReader reader(path, rest.drop_front(length));
  const json::Object &object = *header->getAsObject();
  if (const json::Value *metadata = object.get("__metadata__"))
    if (Error error = reader.readMetadata(*metadata, file.notes))
      return error;
  Expected<std::vector<StoredTensor>> tensors = reader.readTensors(object);
  if (!tensors)
    return tensors.takeError();
  file.stored = std::move(*tensors);
  for (auto [index, tensor] : enumerate(file.stored))
    file.indices[tensor.name] = index;
  return file;
}

Expected<const StoredTensor &> SafetensorsFile::lookup(StringRef name) const {
  if (auto found = indices.find(name); found != indices.end())
    return stored[found->second];
  return createStringError(buffer->getBufferIdentifier() + ": no tensor " +
                           quoted(name) + " among its " + Twine(stored.size()));
}

Error tp::checkShape(const StoredTensor &tensor, ArrayRef<int64_t> shape) {
  if (shape == ArrayRef<int64_t>(tensor.shape))
    return Error::success();
  return createStringError(tensor.file + ": tensor " + described(tensor) +
                           ": expected shape " + printedShape(shape));
}
