// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Machine files: what they may say, and the line of what they may not.

#include "tp/Cost/Machine.h"
#include "llvm/ADT/Twine.h"
#include "gtest/gtest.h"

using namespace tp;

namespace {

const std::string head = "name: tiny\n"
                         "peaks: [{type: f32, flops: 1.0e12}]\n"
                         "memory_bandwidth: 1.0e11\n"
                         "memory_bytes: 1000000\n";
const std::string links = "links:\n"
                          "  - {name: wire, ranks: 0, bandwidth: 1.0e9, "
                          "latency: 1.0e-6}\n";

/// The error of a description, or "".
std::string errorOf(const std::string &text) {
  llvm::Expected<Machine> machine = Machine::parse(text, "m.yaml");
  return machine ? "" : llvm::toString(machine.takeError());
}

/// The line of the error must be `line`, its text contain `message`.
void expectError(const std::string &text, int line, llvm::StringRef message) {
  std::string error = errorOf(text);
  EXPECT_NE(error.find("m.yaml:" + std::to_string(line) + ":"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find(message), std::string::npos) << error;
}

std::string oneLink(const std::string &rest) {
  return head +
         "links:\n"
         "  - name: wire\n"
         "    ranks: 0\n"
         "    bandwidth: 1.0e9\n"
         "    latency: 1.0e-6\n" +
         rest;
}

} // namespace

TEST(MachineFile, EverythingThatCanBeSaid) {
  llvm::Expected<Machine> read = Machine::parse(
      head + "vector_flops: 2.0e11\n"
             "products: {efficiency: 0.8, half_m: 3, half_n: 5, half_k: 7, "
             "attention: 0.6, attention_half_head: 9}\n"
             "launch_floor: {seconds: 4.0e-6, on: true}\n"
             "links:\n"
             "  - name: inside\n"
             "    ranks: 8\n"
             "    bandwidth: 2.0e9\n"
             "    latency: 1.0e-6\n"
             "    algorithms:\n"
             "      - {algorithm: tree, bandwidth: 1.0e9, latency: 3.0e-6}\n"
             "      - {algorithm: in_switch, group_ranks: 8, bandwidth: 5.0e9, "
             "latency: 0, base: 2.5e-5}\n"
             "    measured:\n"
             "      - collective: all_reduce\n"
             "        group_ranks: 2\n"
             "        points:\n"
             "          - {bytes: 1024, seconds: 5.0e-6}\n"
             "          - {bytes: 2048, seconds: 4.0e-6}\n"
             "  - name: between\n"
             "    ranks: 0\n"
             "    bandwidth: 1.0e9\n"
             "    latency: 1.0e-6\n"
             "    algorithms:\n"
             "      - {algorithm: hierarchical}\n"
             "      - {algorithm: ring, bandwidth: 1.0e9, latency: 3.0e-6, "
             "multi_rail: true}\n",
      "m.yaml");
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->vectorFlops, 2e11);
  EXPECT_EQ(read->products.halfDepth, 7);
  EXPECT_EQ(read->products.attention, 0.6);
  EXPECT_EQ(read->products.attentionHalfHead, 9);
  EXPECT_TRUE(read->launch.on);
  ASSERT_EQ(read->links.size(), 2u);
  EXPECT_EQ(read->links[0].algorithms[1].algorithm, Algorithm::InSwitch);
  EXPECT_EQ(read->links[0].algorithms[1].groupRanks, 8);
  EXPECT_EQ(read->links[0].algorithms[1].base, 2.5e-5);
  // A time that is smaller for more bytes is noise.
  EXPECT_EQ(read->links[0].measured[0].points[1].seconds, 5e-6);
  EXPECT_TRUE(read->links[1].algorithms[1].multiRail);
}

TEST(MachineFile, DefaultsLeavePricesAlone) {
  llvm::Expected<Machine> read = Machine::parse(head + links, "m.yaml");
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->products.efficiency, 1);
  EXPECT_EQ(read->products.halfRows, 0);
  EXPECT_EQ(read->products.attention, 1);
  EXPECT_EQ(read->products.attentionHalfHead, 0);
  EXPECT_FALSE(read->launch.on);
}

TEST(MachineFile, KeysAndNumbers) {
  expectError(head + "colour: red\n" + links, 5, "unknown key 'colour'");
  expectError(head, 1, "missing required key 'links'");
  expectError(head + "vector_flops: -1\n" + links, 5,
              "the number must be above 0");
  expectError("name: tiny\n"
              "peaks:\n"
              "  - {type: f32, flops: -1}\n" +
                  head.substr(head.find("memory")) + links,
              3, "the number must be above 0");
  expectError(head + "products: {efficiency: 1.5}\n" + links, 5,
              "a share of the peak is above 0 and at most 1");
  expectError(head + "products: {efficiency: 1, half_m: 1e999}\n" + links, 5,
              "the number must be finite");
  expectError(head + "products: {efficiency: 1, half_m: -3}\n" + links, 5,
              "the number must not be negative");
  expectError(head + "launch_floor: {seconds: 0, on: true}\n" + links, 5,
              "the number must be above 0");
  expectError("name: tiny\n"
              "peaks: [{type: f32, flops: 1.0e12}]\n"
              "memory_bandwidth: 1.0e11\n"
              "memory_bytes: 0\n" +
                  links,
              4, "bytes are a whole number from 1 to 2^63 - 1");
  for (const char *bytes : {"-5", "1.5", "1e11", "9223372036854775808"})
    expectError("name: tiny\n"
                "peaks: [{type: f32, flops: 1.0e12}]\n"
                "memory_bandwidth: 1.0e11\n"
                "memory_bytes: " +
                    std::string(bytes) + "\n" + links,
                4, "bytes are a whole number from 1 to 2^63 - 1");
}

// What would be read in silence, or overwritten.
TEST(MachineFile, NamesAndDocuments) {
  auto peaks = [](const std::string &list) {
    return "name: tiny\npeaks: [" + list + "]\n" +
           head.substr(head.find("memory")) + links;
  };
  expectError(peaks("{type: bfloat16, flops: 1}"), 2,
              "'bfloat16' is not one of the types of products, bf16, f16, f32, "
              "f64");
  expectError(peaks("{type: f32, flops: 1}, {type: f32, flops: 2}"), 1,
              "two peaks of f32");
  const std::string link = ", bandwidth: 1.0e9, latency: 1.0e-6}\n";
  expectError(head + "links:\n  - {name: a, ranks: 8" + link +
                  "  - {name: a, ranks: 0" + link,
              1, "two links are called 'a'");
  expectError(head + "links:\n  - {name: '', ranks: 0" + link, 6,
              "the name of a link is empty");
  expectError("name: ''\n" + head.substr(head.find("peaks")) + links, 1,
              "the name of the machine is empty");
  for (const char *nothing : {"", " \n\n"})
    EXPECT_EQ(errorOf(nothing), "m.yaml is empty; a machine description has a "
                                "name, peaks and links");
  EXPECT_EQ(errorOf(head + links + "---\n" + head + links),
            "m.yaml has more than one YAML document; a machine description "
            "has one");
}

/// A value that cannot be read is not missing as well.
TEST(MachineFile, OneFaultOneError) {
  std::string error = errorOf(oneLink(
      "    algorithms: [{algorithm: star, latency: 1}]\n"
      "    measured: [{collective: gather, group_ranks: 1, points: []}]\n"));
  EXPECT_EQ(llvm::StringRef(error).count("error:"), 1u) << error;
}

TEST(MachineFile, DevicesHaveNoEnd) {
  llvm::Expected<Machine> machine = Machine::load("/dev/zero");
  ASSERT_FALSE(bool(machine));
  EXPECT_EQ(llvm::toString(machine.takeError()),
            "machine file '/dev/zero' is a device");
}

TEST(MachineFile, Levels) {
  expectError(head + "links: []\n", 1,
              "a machine needs at least one peak and one link");
  const std::string link = ", bandwidth: 1.0e9, latency: 1.0e-6}\n";
  expectError(head + "links:\n  - {name: wire, ranks: 8" + link, 1,
              "the last level of links, wire, joins 8 ranks; it must be 0");
  expectError(
      head + "links:\n  - {name: a, ranks: 8" + link +
          "  - {name: b, ranks: 12" + link + "  - {name: c, ranks: 0" + link,
      7, "joins 12 ranks, the level before 8; blocks must be multiples");
  expectError(head + "links:\n  - {name: a, ranks: 0" + link +
                  "  - {name: b, ranks: 0" + link,
              7, "follows a level that joins all ranks");
  expectError(head + "links:\n  - {name: a, ranks: -1" + link, 6,
              "joins -1 ranks");
}

TEST(MachineFile, Algorithms) {
  auto algorithm = [](const std::string &text) {
    return oneLink("    algorithms:\n      - {algorithm: " + text + "}\n");
  };
  expectError(algorithm("star, bandwidth: 1"), 11,
              "an algorithm is ring, tree, hierarchical or in_switch");
  expectError(algorithm("tree, latency: 1"), 11, "the bandwidth is missing");
  expectError(algorithm("ring, bandwidth: 1, base: -1"), 11,
              "the number must not be negative");
  expectError(algorithm("ring, bandwidth: 1, group_ranks: 1"), 11,
              "group_ranks is 1; a group has at least 2");
  expectError(algorithm("hierarchical, bandwidth: 1"), 11,
              "hierarchical takes the constants of the levels");
  expectError(algorithm("tree, bandwidth: 1, multi_rail: true"), 11,
              "multi_rail is for rings");
  EXPECT_EQ(errorOf(algorithm("hierarchical")), "");
}

TEST(MachineFile, Tables) {
  auto table = [](const std::string &points) {
    return oneLink("    measured:\n"
                   "      - collective: all_gather\n"
                   "        group_ranks: 4\n"
                   "        points: [" +
                   points + "]\n");
  };
  const std::string one = "{bytes: 8, seconds: 1.0e-6}";
  EXPECT_EQ(errorOf(table(one + ", {bytes: 9, seconds: 1.0e-6}")), "");
  expectError(table(one), 11, "1 points; a table has at least 2");
  expectError(table(one + ", " + one), 11,
              "a point of 8 bytes follows one of 8; sizes must grow");
  expectError(table(one + ", {bytes: -1, seconds: 1}"), 13,
              "bytes are a whole number from 1 to 2^63 - 1");
  expectError(table(one + ", {bytes: 9, seconds: 0}"), 13,
              "the number must be above 0");
  expectError(table(one + ", {bytes: 9, seconds: 1}") +
                  "      - collective: all_gather\n"
                  "        group_ranks: 4\n"
                  "        points: [" +
                  one + ", {bytes: 9, seconds: 1}]\n",
              6, "two tables of all_gather for groups of 4");
}

// Every machine that comes with the program can be read.
TEST(MachineFile, Presets) {
  for (const char *name : {"a100", "b200", "h100", "h200", "v100"}) {
    std::string file =
        std::string(TP_SOURCE_DIR) + "/share/machines/" + name + ".yaml";
    llvm::Expected<Machine> machine = Machine::load(file);
    ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
    EXPECT_EQ(machine->name, name);
  }
}
