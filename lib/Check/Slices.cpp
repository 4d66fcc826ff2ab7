// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Check/Slices.h"
#include "tp/IR/Stored.h"

using namespace mlir;
using namespace tp;

/// Rectangles that one rank may hold of one parameter.
static constexpr int64_t maxRuns = 1 << 16;

namespace {

/// Reads the parameters of a function.
class Reader {
public:
  Reader(func::FuncOp function, MeshAttr mesh, StringRef flag)
      : function(function), mesh(mesh), flag(flag) {}

  FailureOr<std::vector<HeldParameter>> run();

private:
  FailureOr<HeldParameter> read(unsigned number);
  FailureOr<SmallVector<StoredSlice>>
  slicesOf(StoredAttr stored, ArrayRef<Range> ranges, unsigned number);

  func::FuncOp function;
  MeshAttr mesh;
  StringRef flag;
};

} // namespace

FailureOr<SmallVector<StoredSlice>>
Reader::slicesOf(StoredAttr stored, ArrayRef<Range> ranges, unsigned number) {
  SmallVector<StoredSlice> slices;
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
    StoredSlice &slice = slices.emplace_back(llvm::to_vector(ranges), origin);
    slice.from[dim] = {run.from, run.size};
    slice.to[dim] = run.to;
  }
  return slices;
}

FailureOr<HeldParameter> Reader::read(unsigned number) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[number]);
  if (!type || !getSharding(type))
    return function.emitError()
           << "argument " << number
           << " has no layout; fix: run tp-plan before " << flag;
  auto stored = function.getArgAttrOfType<StoredAttr>(number, storedAttrName);
  auto name = function.getArgAttrOfType<StringAttr>(number, nameAttrName);
  HeldParameter parameter;
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
    FailureOr<SmallVector<StoredSlice>> slices =
        slicesOf(stored, ranges, number);
    if (failed(slices))
      return failure();
    parameter.holdings.push_back({{rank}, ranges, std::move(*slices)});
  }
  return parameter;
}

FailureOr<std::vector<HeldParameter>> Reader::run() {
  std::vector<HeldParameter> parameters;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, parameterAttrName))
      continue;
    FailureOr<HeldParameter> parameter = read(i);
    if (failed(parameter))
      return failure();
    parameters.push_back(std::move(*parameter));
  }
  return parameters;
}

FailureOr<std::vector<HeldParameter>>
tp::readHeldParameters(func::FuncOp function, MeshAttr mesh, StringRef flag) {
  return Reader(function, mesh, flag).run();
}

void tp::printSlice(const StoredSlice &slice, raw_ostream &os) {
  os << " [";
  llvm::interleaveComma(slice.from, os, [&](Range range) {
    os << range.offset << ":" << range.offset + range.size;
  });
  os << "]";
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
      for (const StoredSlice &slice : holding.slices)
        json.object([&] {
          json.attribute("from", offsetsOf(slice.from));
          json.attribute("sizes", sizesOf(slice.from));
          json.attribute("to", llvm::json::Array(slice.to));
        });
    });
  });
}

void tp::writeHoldings(const HeldParameter &parameter,
                       llvm::json::OStream &json) {
  json.attribute("tensor", llvm::json::fixUTF8(parameter.tensor));
  json.attribute("tensor_shape", llvm::json::Array(parameter.storedShape));
  json.attributeArray("held", [&] {
    for (const Holding &holding : parameter.holdings)
      writeHolding(holding, json);
  });
}

//===- Mesh ---------------------------------------------------------------===//

FailureOr<MeshAttr> tp::findListedMesh(ModuleOp module, StringRef flag) {
  auto meshes = module.getOps<MeshOp>();
  if (!llvm::hasSingleElement(meshes))
    return module.emitError()
           << "has " << std::distance(meshes.begin(), meshes.end())
           << " meshes, " << flag
           << " lists the ranks of one; fix: run tp-plan first";
  MeshAttr mesh = (*meshes.begin()).getMesh();
  if (mesh.getNumRanks() > maxTableRanks)
    return module.emitError() << "has " << mesh.getNumRanks() << " ranks; "
                              << flag << " lists up to " << maxTableRanks;
  return mesh;
}
