// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_TEST_IMPORT_SAFETENSORSTEXT_H
#define TP_TEST_IMPORT_SAFETENSORSTEXT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <string>
#include <vector>

/// The bytes of values in memory; the host is little-endian as the format is.
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

/// The bytes of a file with this header, whatever it says.
inline std::string fileWith(llvm::StringRef header, llvm::StringRef data) {
  uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header.str() + data.str();
}

/// A tensor to write.
struct Written {
  std::string name, type;
  std::vector<int64_t> shape;
  std::string bytes;
};

/// The bytes of a correct file.
inline std::string fileOf(const std::vector<Written> &tensors) {
  llvm::json::Object header{
      {"__metadata__", llvm::json::Object{{"format", "pt"}}}};
  std::string data, text;
  for (const Written &tensor : tensors) {
    int64_t begin = int64_t(data.size());
    data += tensor.bytes;
    header[tensor.name] = llvm::json::Object{
        {"dtype", tensor.type},
        {"shape", llvm::json::Array(tensor.shape)},
        {"data_offsets", llvm::json::Array{begin, int64_t(data.size())}}};
  }
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  return fileWith(text, data);
}

#endif // TP_TEST_IMPORT_SAFETENSORSTEXT_H
