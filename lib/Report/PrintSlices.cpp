// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-print-slices: from ranks to the tensors of a checkpoint.

#include "tp/IR/ReportFile.h"
#include "tp/IR/Stored.h"
#include "tp/IR/TP.h"
#include "tp/Passes.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PRINTSLICES
#include "tp/Passes.h.inc"
} // namespace tp

/// Rectangles that one rank may hold of one parameter.
static constexpr int64_t maxRuns = 1 << 16;

namespace {

/// A rectangle of a stored tensor, and where in the rank's tensor it goes.
struct Slice {
  SmallVector<Range> from;
  SmallVector<int64_t> to;
};

/// What some ranks hold of a parameter.
struct Holding {
  SmallVector<int64_t> ranks;
  SmallVector<Range> ranges;
  SmallVector<Slice> slices;
};

struct Parameter {
  /// In the program, and in the checkpoint.
  std::string name, tensor;
  SmallVector<int64_t> storedShape;
  std::vector<Holding> holdings;
};

/// Reads the parameters of a function.
class Reader {
public:
  Reader(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh) {}

  LogicalResult run(std::vector<Parameter> &parameters);

private:
  FailureOr<Parameter> read(unsigned number);
  FailureOr<SmallVector<Slice>>
  slicesOf(StoredAttr stored, ArrayRef<Range> ranges, unsigned number);

  func::FuncOp function;
  MeshAttr mesh;
};

} // namespace

FailureOr<SmallVector<Slice>>
Reader::slicesOf(StoredAttr stored, ArrayRef<Range> ranges, unsigned number) {
  SmallVector<Slice> slices;
  SmallVector<int64_t> origin(ranges.size(), 0);
  if (!stored) {
    slices.push_back({llvm::to_vector(ranges), origin});
    return slices;
  }
  int64_t dim = stored.getDim();
  FailureOr<SmallVector<StoredRun>> runs =
      getStoredRuns(stored, ranges[dim], maxRuns);
  if (failed(runs))
    return function.emitError()
           << "argument " << number << " consists of more than " << maxRuns
           << " parts of \"" << stored.getName() << "\" on one rank";
  for (const StoredRun &run : *runs) {
    Slice &slice = slices.emplace_back(llvm::to_vector(ranges), origin);
    slice.from[dim] = {run.from, run.size};
    slice.to[dim] = run.to;
  }
  return slices;
}

FailureOr<Parameter> Reader::read(unsigned number) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[number]);
  if (!type || !getSharding(type))
    return function.emitError()
           << "argument " << number
           << " has no layout; fix: run tp-plan before tp-print-slices";
  auto stored = function.getArgAttrOfType<StoredAttr>(number, storedAttrName);
  auto name = function.getArgAttrOfType<StringAttr>(number, nameAttrName);
  Parameter parameter;
  parameter.name =
      name ? name.getValue().str() : "argument " + std::to_string(number);
  parameter.tensor = stored ? stored.getName().str() : parameter.name;
  parameter.storedShape =
      llvm::to_vector(stored ? stored.getShape() : type.getShape());
  Layout layout = getCheckedLayout(type, function);
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    SmallVector<Range> ranges = getRanges(type.getShape(), layout, mesh, rank);
    auto same = llvm::find_if(parameter.holdings, [&](const Holding &holding) {
      return holding.ranges == ranges;
    });
    if (same != parameter.holdings.end()) {
      same->ranks.push_back(rank);
      continue;
    }
    FailureOr<SmallVector<Slice>> slices = slicesOf(stored, ranges, number);
    if (failed(slices))
      return failure();
    parameter.holdings.push_back({{rank}, ranges, std::move(*slices)});
  }
  return parameter;
}

LogicalResult Reader::run(std::vector<Parameter> &parameters) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, parameterAttrName))
      continue;
    FailureOr<Parameter> parameter = read(i);
    if (failed(parameter))
      return failure();
    parameters.push_back(std::move(*parameter));
  }
  return success();
}

//===- Text ---------------------------------------------------------------===//

static void printSlice(const Slice &slice, raw_ostream &os) {
  os << " [";
  llvm::interleaveComma(slice.from, os, [&](Range range) {
    os << range.offset << ":" << range.offset + range.size;
  });
  os << "]";
}

/// One tensor of the checkpoint: all parameters that are parts of it.
static void printTensor(ArrayRef<const Parameter *> parts, int64_t numRanks,
                        raw_ostream &os) {
  os << parts.front()->tensor << " [";
  llvm::interleaveComma(parts.front()->storedShape, os);
  os << "]\n";
  std::vector<std::string> held(numRanks);
  for (const Parameter *parameter : parts)
    for (const Holding &holding : parameter->holdings) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      for (const Slice &slice : holding.slices)
        printSlice(slice, stream);
      for (int64_t rank : holding.ranks)
        held[rank] += text;
    }
  llvm::MapVector<StringRef, SmallVector<int64_t>> ranksOf;
  for (auto [rank, text] : llvm::enumerate(held))
    ranksOf[text].push_back(static_cast<int64_t>(rank));
  for (const auto &[text, ranks] : ranksOf) {
    os << (ranks.size() == 1 ? "  rank " : "  ranks ");
    llvm::interleaveComma(ranks, os);
    os << ":" << (text.empty() ? " nothing" : text) << "\n";
  }
}

static void printText(ArrayRef<Parameter> parameters, int64_t numRanks,
                      raw_ostream &os) {
  llvm::MapVector<StringRef, SmallVector<const Parameter *>> tensors;
  for (const Parameter &parameter : parameters)
    tensors[parameter.tensor].push_back(&parameter);
  for (const auto &[name, parts] : tensors)
    printTensor(parts, numRanks, os);
}

//===- JSON ---------------------------------------------------------------===//

static llvm::json::Array offsetsOf(ArrayRef<Range> ranges) {
  return llvm::json::Array(
      llvm::map_range(ranges, [](Range range) { return range.offset; }));
}

static llvm::json::Array sizesOf(ArrayRef<Range> ranges) {
  return llvm::json::Array(
      llvm::map_range(ranges, [](Range range) { return range.size; }));
}

static void writeHolding(const Holding &holding, llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("ranks", llvm::json::Array(holding.ranks));
    json.attribute("local_shape", sizesOf(holding.ranges));
    json.attributeArray("slices", [&] {
      for (const Slice &slice : holding.slices)
        json.object([&] {
          json.attribute("from", offsetsOf(slice.from));
          json.attribute("sizes", sizesOf(slice.from));
          json.attribute("to", llvm::json::Array(slice.to));
        });
    });
  });
}

static void printJSON(ArrayRef<Parameter> parameters, int64_t numRanks,
                      raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("ranks", numRanks);
    json.attributeArray("parameters", [&] {
      for (const Parameter &parameter : parameters)
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(parameter.name));
          json.attribute("tensor", llvm::json::fixUTF8(parameter.tensor));
          json.attribute("tensor_shape",
                         llvm::json::Array(parameter.storedShape));
          json.attributeArray("held", [&] {
            for (const Holding &holding : parameter.holdings)
              writeHolding(holding, json);
          });
        });
    });
  });
  os << "\n";
}

//===- Pass ---------------------------------------------------------------===//

/// The mesh of the module, small enough to list its ranks.
static FailureOr<MeshAttr> findMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  if (!llvm::hasSingleElement(meshes))
    return module.emitError()
           << "has " << std::distance(meshes.begin(), meshes.end())
           << " meshes, tp-print-slices lists the ranks of one; fix: run "
              "tp-plan first";
  MeshAttr mesh = (*meshes.begin()).getMesh();
  if (mesh.getNumRanks() > maxTableRanks)
    return module.emitError()
           << "has " << mesh.getNumRanks()
           << " ranks; tp-print-slices lists up to " << maxTableRanks;
  return mesh;
}

namespace {

struct PrintSlicesPass : tp::impl::PrintSlicesBase<PrintSlicesPass> {
  using PrintSlicesBase::PrintSlicesBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (failed(checkReportFormat(module, getArgument(), format)))
      return failure();
    FailureOr<MeshAttr> mesh = findMesh(module);
    if (failed(mesh))
      return failure();
    std::vector<Parameter> parameters;
    llvm::Expected<func::FuncOp> entry = findEntry(module);
    if (!entry)
      return module.emitError() << llvm::toString(entry.takeError());
    if (failed(Reader(*entry, *mesh).run(parameters)))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      printJSON(parameters, mesh->getNumRanks(), os);
    else
      printText(parameters, mesh->getNumRanks(), os);
    return writeReport(module, output, text);
  }
};

} // namespace
