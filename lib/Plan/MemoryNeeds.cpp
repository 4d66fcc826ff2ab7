// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryNeeds.h"
#include "tp/IR/LocalShape.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tp;

//===- Options ------------------------------------------------------------===//

/// "80GB" or "85899345920"; nothing if it is no size or is 2^63 bytes or more.
static std::optional<uint64_t> parseBytes(StringRef text) {
  uint64_t number = 0;
  if (text.consumeInteger(10, number))
    return std::nullopt;
  std::optional<uint64_t> unit =
      llvm::StringSwitch<std::optional<uint64_t>>(text)
          .Cases({"", "B"}, 1)
          .Case("KB", 1000)
          .Case("MB", 1000 * 1000)
          .Case("GB", 1000 * 1000 * 1000)
          .Case("TB", uint64_t(1000) * 1000 * 1000 * 1000)
          .Case("KiB", uint64_t(1) << 10)
          .Case("MiB", uint64_t(1) << 20)
          .Case("GiB", uint64_t(1) << 30)
          .Case("TiB", uint64_t(1) << 40)
          .Default(std::nullopt);
  if (!unit)
    return std::nullopt;
  uint64_t bytes = llvm::SaturatingMultiply(number, *unit);
  if (bytes == 0 || bytes >> 63)
    return std::nullopt;
  return bytes;
}

FailureOr<MemoryWishes> MemoryWishes::parse(ModuleOp module,
                                            const PlanSettings &settings,
                                            const Machine &machine) {
  MemoryWishes wishes;
  wishes.limitText = settings.memoryLimit;
  if (settings.bytesPerParameter < 0)
    return module.emitError()
           << "bytes-per-parameter=" << settings.bytesPerParameter
           << " must be positive, as 16 for weights with Adam in mixed "
              "precision";
  wishes.bytesPerParameter = settings.bytesPerParameter;
  if (settings.memoryLimit.empty()) {
    if (settings.bytesPerParameter != 0)
      return module.emitError()
             << "bytes-per-parameter=" << settings.bytesPerParameter
             << " has no effect without memory-limit";
    if (settings.memorySearch != PlanSettings().memorySearch)
      return module.emitError() << "memory-search=" << settings.memorySearch
                                << " has no effect without memory-limit";
    return wishes;
  }
  if (settings.memoryLimit == "machine")
    wishes.limit = machine.memoryBytes;
  else
    wishes.limit = parseBytes(settings.memoryLimit);
  if (!wishes.limit)
    return module.emitError()
           << "memory-limit='" << settings.memoryLimit
           << "' must be machine or from 1 to 2^63 - 1 bytes, as 80000000000, "
              "80GB or 80GiB";
  return wishes;
}

//===- Needs --------------------------------------------------------------===//

namespace {
class NeedsFinder {
public:
  NeedsFinder(const Graph &graph, const MemoryWishes &wishes,
              ProblemBuilder &builder)
      : graph(graph), wishes(wishes), builder(builder) {}

  void run();

private:
  using Memories = std::vector<Problem::Memory>;

  /// By layout number: bytes of the largest shard of a value.
  const std::vector<uint64_t> &getShardBytes(unsigned value);
  uint64_t getPersistent(unsigned value, uint64_t shardBytes) const;
  Memories findHome(unsigned node);
  Memories findOperation(unsigned node);
  /// The bytes of the smallest shard that an argument may have; nothing for a
  /// value that is no argument.
  std::optional<uint64_t> getSmallestHome(unsigned value);

  const Graph &graph;
  const MemoryWishes &wishes;
  ProblemBuilder &builder;
  llvm::DenseMap<const LayoutSpace *, std::vector<uint64_t>> shardBytes;
  llvm::DenseMap<unsigned, uint64_t> smallestHomes;
};
} // namespace

const std::vector<uint64_t> &NeedsFinder::getShardBytes(unsigned value) {
  const LayoutSpace &space = builder.getSpace(value);
  std::vector<uint64_t> &bytes = shardBytes[&space];
  if (!bytes.empty())
    return bytes;
  RankedTensorType type = graph.values[value].type;
  uint64_t elementBytes = getElementBytes(type.getElementType());
  for (unsigned layout = 0; layout < space.size(); ++layout)
    bytes.push_back(llvm::SaturatingMultiply(
        countLargestShard(type.getShape(), space[layout]), elementBytes));
  return bytes;
}

uint64_t NeedsFinder::getPersistent(unsigned value, uint64_t bytes) const {
  const GraphValue &info = graph.values[value];
  if (!info.isParameter || wishes.bytesPerParameter == 0)
    return bytes;
  uint64_t elements = bytes / getElementBytes(info.type.getElementType());
  return llvm::SaturatingMultiply(elements, wishes.bytesPerParameter);
}

NeedsFinder::Memories NeedsFinder::findHome(unsigned node) {
  unsigned value = graph.nodes[node].results[0];
  const std::vector<uint64_t> &bytes = getShardBytes(value);
  Memories memories;
  for (const auto &layouts : builder.choices[node].layouts)
    memories.push_back({getPersistent(value, bytes[layouts[0]]), 0});
  return memories;
}

std::optional<uint64_t> NeedsFinder::getSmallestHome(unsigned value) {
  unsigned producer = graph.values[value].producer;
  // Into functions, an argument goes through passages.
  while (graph.nodes[producer].kind == GraphNode::Passage) {
    value = graph.nodes[producer].operands[0];
    producer = graph.values[value].producer;
  }
  if (graph.nodes[producer].kind != GraphNode::Home)
    return std::nullopt;
  auto [it, isNew] = smallestHomes.try_emplace(value, ~uint64_t(0));
  if (isNew) {
    const std::vector<uint64_t> &bytes = getShardBytes(value);
    for (const auto &layouts : builder.choices[producer].layouts)
      it->second = std::min(it->second, bytes[layouts[0]]);
  }
  return it->second;
}

NeedsFinder::Memories NeedsFinder::findOperation(unsigned node) {
  const GraphNode &info = graph.nodes[node];
  SmallVector<unsigned> tensors(ArrayRef<unsigned>(info.operands));
  llvm::append_range(tensors, info.results);
  // A value that is used twice is there once.
  Memories memories(builder.choices[node].layouts.size());
  for (auto [tensor, value] : llvm::enumerate(tensors)) {
    const std::vector<uint64_t> &bytes = getShardBytes(value);
    uint64_t free = getSmallestHome(value).value_or(0);
    for (auto [memory, layouts] :
         llvm::zip_equal(memories, builder.choices[node].layouts)) {
      uint64_t needed = bytes[layouts[tensor]];
      bool isHeld = needed <= free;
      for (size_t earlier = 0; earlier < tensor; ++earlier)
        isHeld |=
            tensors[earlier] == value && layouts[earlier] == layouts[tensor];
      if (!isHeld)
        memory.working = llvm::SaturatingAdd(memory.working, needed);
    }
  }
  return memories;
}

void NeedsFinder::run() {
  Problem &problem = builder.problem;
  problem.memoryLimit = wishes.limit;
  std::map<std::vector<std::pair<uint64_t, uint64_t>>, unsigned> known;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    Memories memories;
    if (node.kind == GraphNode::Home)
      memories = findHome(number);
    else if (node.kind == GraphNode::Operation)
      memories = findOperation(number);
    else
      continue;
    std::vector<std::pair<uint64_t, uint64_t>> key;
    for (const Problem::Memory &memory : memories)
      key.push_back({memory.persistent, memory.working});
    auto [it, isNew] =
        known.try_emplace(std::move(key), problem.memoryVectors.size());
    if (isNew)
      problem.memoryVectors.push_back(std::move(memories));
    problem.variables[number].memoryVector = it->second;
  }
}

void tp::addMemoryNeeds(const Graph &graph, const MemoryWishes &wishes,
                        ProblemBuilder &builder) {
  if (wishes.limit)
    NeedsFinder(graph, wishes, builder).run();
}

//===- Diagnosis ----------------------------------------------------------===//

/// "145123456789 bytes (145.1 GB)".
static std::string describeBytes(uint64_t bytes) {
  std::string text = llvm::formatv("{0} bytes", bytes);
  if (bytes >= 100 * 1000 * 1000)
    text += llvm::formatv(" ({0:f1} GB)", static_cast<double>(bytes) / 1e9);
  return text;
}

LogicalResult tp::diagnoseMemory(ModuleOp module, const Graph &graph,
                                 const MemoryWishes &wishes,
                                 const Problem &problem,
                                 const MemoryLimitError &error) {
  uint64_t parameters = 0, inputs = 0;
  Operation *busiest = nullptr;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    Problem::Memory memory =
        problem.getMemory(number, error.getChoices()[number]);
    bool isHome = node.kind == GraphNode::Home;
    bool isParameter = isHome && graph.values[node.results[0]].isParameter;
    (isParameter ? parameters : inputs) += memory.persistent;
    if (memory.working > 0 && memory.working == error.getLeast().working &&
        !busiest)
      busiest = node.op;
  }
  uint64_t total = error.getLeast().getTotal();
  // At the place of the module, without its text.
  InFlightDiagnostic diag =
      mlir::emitError(module.getLoc())
      << "cannot be planned within memory-limit=" << wishes.limitText
      << ": every plan takes at least " << describeBytes(total) << " a rank, "
      << describeBytes(parameters) << " for parameters";
  if (wishes.bytesPerParameter != 0)
    diag << " at " << wishes.bytesPerParameter << " bytes each";
  diag << ", " << describeBytes(inputs) << " for other inputs and "
       << describeBytes(error.getLeast().working) << " of working memory";
  if (busiest)
    diag.attachNote(busiest->getLoc())
        << "this operation works with the most: its operands and results, at "
           "their largest shards";
  diag.attachNote() << "fix: use memory-limit=" << total
                    << " or more, or more ranks";
  uint64_t rest = inputs + error.getLeast().working;
  if (wishes.bytesPerParameter == 0 || rest >= *wishes.limit)
    return diag;
  // The same plan with fewer bytes an element fits.
  uint64_t elements = parameters / wishes.bytesPerParameter;
  uint64_t bytes = elements == 0 ? 0 : (*wishes.limit - rest) / elements;
  if (bytes > 0)
    diag.attachNote() << "fix: use bytes-per-parameter=" << bytes << " or less";
  return diag;
}
