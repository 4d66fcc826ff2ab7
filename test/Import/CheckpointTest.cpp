// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of weights: one file, shards under an index, and wrong indices.
#include "SafetensorsText.h"
#include "tp/Import/Safetensors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tp;

namespace {

/// A folder that is removed when the test ends.
class CheckpointTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("checkpoint", folder));
  }

  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string pathOf(StringRef name) const {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    return path.str().str();
  }

  void write(StringRef name, StringRef bytes) {
    std::error_code code;
    raw_fd_ostream stream(pathOf(name), code);
    ASSERT_FALSE(code) << code.message();
    stream << bytes;
  }

  void writeIndex(StringRef text) {
    write("model.safetensors.index.json", text);
  }

  std::string openError() {
    Expected<Checkpoint> checkpoint = Checkpoint::open(folder);
    return checkpoint ? "" : toString(checkpoint.takeError());
  }

  std::string indexError(StringRef text) {
    writeIndex(text);
    return openError();
  }

  SmallString<128> folder;
};

} // namespace

static int64_t firstOf(const Checkpoint &checkpoint, StringRef name) {
  int64_t value = 0;
  const StoredTensor &tensor = cantFail(checkpoint.lookup(name));
  cantFail(readSlice(tensor, {0}, {1}, MutableArrayRef<int64_t>(value)));
  return value;
}

TEST_F(CheckpointTest, SingleFile) {
  write("model.safetensors",
        fileOf({{"b", "U8", {2}, "pq"}, {"a", "U8", {1}, "r"}}));
  Checkpoint checkpoint = cantFail(Checkpoint::open(folder));
  EXPECT_EQ(checkpoint.names(), (std::vector<StringRef>{"a", "b"}));
  EXPECT_EQ(firstOf(checkpoint, "a"), 'r');
  EXPECT_EQ(firstOf(checkpoint, "b"), 'p');
  // Tensors stay where they are when the checkpoint moves.
  Checkpoint moved = std::move(checkpoint);
  EXPECT_EQ(firstOf(moved, "b"), 'p');
}

TEST_F(CheckpointTest, FilesLargeEnoughToBeMapped) {
  std::vector<int64_t> values(1 << 16);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(i * i);
  write("model.safetensors",
        fileOf({{"a", "I64", {256, 256}, bytesOf(values)}}));
  Checkpoint checkpoint = cantFail(Checkpoint::open(folder));
  std::vector<int64_t> out(2);
  cantFail(readSlice(cantFail(checkpoint.lookup("a")), {255, 254}, {1, 2},
                     MutableArrayRef<int64_t>(out)));
  EXPECT_EQ(out, (std::vector<int64_t>{values[65534], values[65535]}));
}

TEST_F(CheckpointTest, ShardsUnderAnIndex) {
  write("one.safetensors", fileOf({{"a", "U8", {1}, "r"}}));
  write("two.safetensors",
        fileOf({{"b", "U8", {1}, "s"}, {"c", "U8", {1}, "t"}}));
  writeIndex(R"({"metadata": {"total_size": 3}, "weight_map": {
      "a": "one.safetensors", "b": "two.safetensors",
      "c": "two.safetensors"}})");
  Checkpoint checkpoint = cantFail(Checkpoint::open(folder));
  EXPECT_EQ(checkpoint.names(), (std::vector<StringRef>{"a", "b", "c"}));
  EXPECT_EQ(firstOf(checkpoint, "a"), 'r');
  EXPECT_EQ(firstOf(checkpoint, "c"), 't');

  Expected<const StoredTensor &> missing = checkpoint.lookup("d");
  ASSERT_FALSE(bool(missing));
  EXPECT_EQ(toString(missing.takeError()),
            pathOf("model.safetensors.index.json") +
                ": no tensor \"d\" among its 3");
}

TEST_F(CheckpointTest, EmptyFolder) {
  EXPECT_EQ(openError(), folder.str().str() +
                             ": neither model.safetensors nor "
                             "model.safetensors.index.json is there");
}

TEST_F(CheckpointTest, DamagedSingleFile) {
  write("model.safetensors", "short");
  EXPECT_EQ(openError(), pathOf("model.safetensors") +
                             ": 5 bytes: expected the length of a "
                             "safetensors header in the first 8");
}

TEST_F(CheckpointTest, ShardNamesMustStayInTheFolder) {
  write("one.safetensors", fileOf({{"a", "U8", {1}, "r"}}));
  std::string index = pathOf("model.safetensors.index.json");
  for (StringRef name :
       {"../one.safetensors", "/etc/passwd", "x/one.safetensors", "..", ".", "",
        "./one.safetensors", "x\\\\one.safetensors", "C:one.safetensors",
        "one.safetensors\\u0000"}) {
    SCOPED_TRACE(name.str());
    std::string error =
        indexError(("{\"weight_map\": {\"a\": \"" + name + "\"}}").str());
    EXPECT_TRUE(StringRef(error).starts_with(index + ": tensor \"a\" is in \""))
        << error;
    EXPECT_TRUE(StringRef(error).ends_with(
        ": expected the plain name of a file in the same folder"))
        << error;
  }
}

TEST_F(CheckpointTest, WrongIndices) {
  write("one.safetensors", fileOf({{"a", "U8", {1}, "r"}}));
  std::string index = pathOf("model.safetensors.index.json");
  std::string noMap = index + ": no object \"weight_map\": expected one from "
                              "tensor names to file names";
  EXPECT_EQ(indexError("{}"), noMap);
  EXPECT_EQ(indexError("[]"), noMap);
  EXPECT_EQ(indexError(R"({"weight_map": []})"), noMap);
  EXPECT_EQ(indexError("{"),
            index + ":1:2: not valid JSON: expected object key");
  EXPECT_EQ(indexError(R"({"weight_map": {"a": 1}})"),
            index + ": tensor \"a\" is in 1: expected the name of a file");
  EXPECT_EQ(indexError(R"({"weight_map": {"a": "two.safetensors"}})"),
            pathOf("two.safetensors") + ": No such file or directory");
  EXPECT_EQ(indexError(R"({"weight_map": {"b": "one.safetensors"}})"),
            index + ": " + pathOf("one.safetensors") +
                ": no tensor \"b\" among its 1");
  EXPECT_EQ(indexError(R"({"weight_map": {"a": "one.safetensors",
                                          "a": "one.safetensors"}})"),
            index + ":2:43: key \"a\" is given twice, first on line 1: keep "
                    "one of them");
}

TEST_F(CheckpointTest, FoldersWithoutWeights) {
  EXPECT_FALSE(Checkpoint::isIn(folder));
  for (StringRef name :
       {"config.json", "tokenizer.json", "tokenizer.model", "README.md",
        "generation_config.json", "training_args.bin", "optimizer.pt",
        "rng_state_0.pth", "merges.txt"})
    write(name, "x");
  ASSERT_FALSE(sys::fs::create_directory(pathOf("empty")));
  EXPECT_FALSE(Checkpoint::isIn(folder));
}

// Each alone in a folder: weights that are not read are not passed over.
TEST_F(CheckpointTest, WeightsThatAreNotReadAreNamed) {
  std::pair<StringRef, StringRef> rows[] = {
      {"pytorch_model.bin", "in a format that is not read"},
      {"pytorch_model-00001-of-00002.bin", "in a format that is not read"},
      {"pytorch_model.bin.index.json", "in a format that is not read"},
      {"anything.BIN", "in a format that is not read"},
      {"consolidated.00.pth", "in a format that is not read"},
      {"model.pt", "in a format that is not read"},
      {"last.ckpt", "in a format that is not read"},
      {"model-Q4_K_M.gguf", "in a format that is not read"},
      {"tf_model.h5", "in a format that is not read"},
      {"flax_model.msgpack", "in a format that is not read"},
      {"model.onnx", "in a format that is not read"},
      {"weights.npz", "in a format that is not read"},
      {"model.nemo", "in a format that is not read"},
      {"model-00001-of-00004.safetensors", "without an index"},
      {"consolidated.safetensors", "without an index"},
      {"Model.safetensors", "without an index"},
      {"model.SafeTensors", "without an index"},
      {"model.fp16.safetensors", "without an index"},
      {"diffusion_pytorch_model.safetensors", "without an index"},
      {"model.safetensors.part", "without an index"},
      {"model.safetensors.gz", "without an index"}};
  for (auto [name, reason] : rows) {
    SCOPED_TRACE(name.str());
    write(name, "x");
    EXPECT_TRUE(Checkpoint::isIn(folder));
    EXPECT_EQ(openError(),
              (folder + ": \"" + name + "\": weights " + reason +
               ": expected model.safetensors, or model.safetensors.index.json "
               "that names the shards")
                  .str());
    sys::fs::remove(pathOf(name));
  }
  for (StringRef name : {"adapter_model.safetensors", "adapter_model.bin",
                         "adapter_config.json"}) {
    SCOPED_TRACE(name.str());
    write(name, "{}");
    EXPECT_EQ(
        openError(),
        (folder + ": \"" + name +
         "\": an adapter (LoRA), not a model: expected the weights of the "
         "model with the adapter merged into them")
            .str());
    sys::fs::remove(pathOf(name));
  }
  ASSERT_FALSE(sys::fs::create_directory(pathOf("original")));
  write("original/consolidated.00.pth", "x");
  write("original/model.safetensors", "x");
  EXPECT_EQ(openError(),
            folder.str().str() +
                ": \"original/consolidated.00.pth\", "
                "\"original/model.safetensors\": weights in a folder below: "
                "expected model.safetensors, or model.safetensors.index.json "
                "that names the shards");
}

TEST_F(CheckpointTest, WhatModelSafetensorsMayBe) {
  std::string path = pathOf("model.safetensors");
  ASSERT_FALSE(sys::fs::create_directory(path));
  EXPECT_TRUE(Checkpoint::isIn(folder));
  EXPECT_EQ(openError(), path + ": not a regular file");
  sys::fs::remove(path);
  ASSERT_FALSE(sys::fs::create_link(pathOf("nowhere"), path));
  EXPECT_TRUE(Checkpoint::isIn(folder));
  EXPECT_EQ(openError(), path + ": No such file or directory");
  sys::fs::remove(path);
  ASSERT_FALSE(sys::fs::create_link("/dev/zero", path));
  EXPECT_EQ(openError(), path + ": not a regular file");
  sys::fs::remove(path);
  write("model.safetensors", "");
  EXPECT_TRUE(StringRef(openError()).starts_with(path + ": 0 bytes: "));
  write("model.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_EQ(openError(), path + ": a Git LFS pointer in place of the file: "
                                "fetch it with 'git lfs pull'");
  // A link to a file is what a cache holds.
  write("blob", fileOf({{"a", "U8", {1}, "r"}}));
  sys::fs::remove(path);
  ASSERT_FALSE(sys::fs::create_link(pathOf("blob"), path));
  EXPECT_EQ(openError(), "");
}

TEST_F(CheckpointTest, OtherFilesBesideTheWeights) {
  write("model.safetensors", fileOf({{"a", "U8", {1}, "r"}}));
  for (StringRef name : {"pytorch_model.bin", "consolidated.safetensors",
                         "expected.safetensors", "tf_model.h5"})
    write(name, "x");
  Checkpoint checkpoint = cantFail(Checkpoint::open(folder));
  EXPECT_EQ(
      checkpoint.filesBeside(),
      ArrayRef<std::string>({"consolidated.safetensors", "expected.safetensors",
                             "pytorch_model.bin", "tf_model.h5"}));
  for (StringRef name :
       {"model-00001-of-00002.safetensors", "model.fp16.safetensors",
        "pytorch_model.safetensors"}) {
    write(name, "x");
    EXPECT_EQ(openError(), (folder + ": \"" + name +
                            "\" beside model.safetensors: which of them holds "
                            "the model is not said: keep one")
                               .str());
    sys::fs::remove(pathOf(name));
  }
  writeIndex(R"({"weight_map": {"a": "model.safetensors"}})");
  EXPECT_EQ(openError(), folder.str().str() +
                             ": both model.safetensors and "
                             "model.safetensors.index.json are there: keep "
                             "one of them");
}

TEST_F(CheckpointTest, IndicesThatLeaveSomethingOut) {
  write("model-1.safetensors",
        fileOf({{"a", "U8", {1}, "r"}, {"b", "U8", {1}, "s"}}));
  write("model-2.safetensors", fileOf({{"c", "U8", {1}, "t"}}));
  EXPECT_EQ(indexError(R"({"weight_map": {"a": "model-1.safetensors",
                                          "b": "model-1.safetensors"}})"),
            folder.str().str() +
                ": \"model-2.safetensors\": not among the files that "
                "model.safetensors.index.json names");
  EXPECT_EQ(indexError(R"({"weight_map": {"a": "model-1.safetensors",
                                          "c": "model-2.safetensors"}})"),
            pathOf("model.safetensors.index.json") +
                ": the index does not place 1 tensors of its files: \"b\"");
  // The same tensor in two shards: one of them would be dropped.
  write("model-2.safetensors", fileOf({{"a", "U8", {1}, "t"}}));
  EXPECT_EQ(indexError(R"({"weight_map": {"a": "model-1.safetensors",
                                          "b": "model-1.safetensors"}})"),
            folder.str().str() +
                ": \"model-2.safetensors\": not among the files that "
                "model.safetensors.index.json names");
}

TEST_F(CheckpointTest, FoldersThatCannotBeRead) {
  std::string absent = pathOf("absent");
  EXPECT_TRUE(Checkpoint::isIn(absent));
  Expected<Checkpoint> checkpoint = Checkpoint::open(absent);
  ASSERT_FALSE(bool(checkpoint));
  EXPECT_EQ(toString(checkpoint.takeError()),
            absent + ": No such file or directory");
}
