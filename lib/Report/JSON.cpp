// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "llvm/Support/JSON.h"
#include "tp/Report/Report.h"

using namespace mlir;
using namespace tp;
using llvm::json::OStream;

static void writePlace(OStream &json, const Place &place, StringRef kindKey) {
  json.attribute("function", place.function);
  json.attribute(kindKey, place.operation);
  json.attribute("name", place.name);
}

static void writeMesh(OStream &json, MeshAttr mesh) {
  json.attributeObject("mesh", [&] {
    json.attribute("ranks", mesh ? mesh.getNumRanks() : 1);
    json.attributeArray("axes", [&] {
      for (MeshAxisAttr axis : mesh ? mesh.getAxes() : ArrayRef<MeshAxisAttr>())
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(axis.getName()));
          json.attribute("ranks", axis.getSize());
        });
    });
  });
}

static void writeOperation(OStream &json, const OperationFigures &figures) {
  double times = static_cast<double>(figures.count);
  json.object([&] {
    writePlace(json, figures.place, "operation");
    json.attribute("count", figures.count);
    json.attribute("flops", figures.cost.flops);
    json.attribute("memory_bytes", figures.cost.memoryBytes);
    json.attribute("seconds", figures.cost.seconds);
    json.attribute("total_flops", times * figures.cost.flops);
    json.attribute("total_memory_bytes", times * figures.cost.memoryBytes);
    json.attribute("total_seconds", times * figures.cost.seconds);
  });
}

static llvm::json::Value toJSON(std::optional<unsigned> dim) {
  return dim ? llvm::json::Value(*dim) : llvm::json::Value(nullptr);
}

static void writeTensor(OStream &json, RankedTensorType type) {
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  json.attributeObject("tensor", [&] {
    json.attribute("shape", llvm::json::Array(type.getShape()));
    json.attribute("element_type", element);
  });
}

static void writeCollective(OStream &json, const CollectiveFigures &figures) {
  double times = static_cast<double>(figures.count);
  json.object([&] {
    writePlace(json, figures.place, "kind");
    json.attribute("count", figures.count);
    json.attribute("axes", llvm::json::Array(figures.axes));
    json.attribute("group_ranks", figures.ranks);
    writeTensor(json, figures.type);
    json.attribute("dimension", toJSON(figures.dim));
    json.attribute("target_dimension", toJSON(figures.target));
    json.attribute("link", figures.link);
    json.attribute("bytes_sent_per_rank", figures.cost.sentBytes);
    json.attribute("seconds", figures.cost.seconds);
    json.attribute("total_bytes_sent_per_rank", times * figures.cost.sentBytes);
    json.attribute("total_seconds", times * figures.cost.seconds);
    if (!figures.firstUser)
      return json.attribute("first_user", nullptr);
    json.attributeObject("first_user", [&] {
      writePlace(json, *figures.firstUser, "operation");
    });
  });
}

static void writeTotals(OStream &json, const Totals &totals) {
  json.attributeObject("totals", [&] {
    json.attribute("seconds", totals.seconds());
    json.attribute("compute_seconds", totals.computeSeconds);
    json.attribute("communication_seconds", totals.communicationSeconds);
    json.attribute("flops", totals.flops);
    json.attribute("memory_bytes", totals.memoryBytes);
    json.attribute("bytes_sent_per_rank", totals.sentBytes);
    json.attributeObject("collectives", [&] {
      for (auto &[kind, count] : totals.collectives)
        json.attribute(kind, count);
    });
  });
}

static void writeParameters(OStream &json, const ParameterFigures &figures) {
  double bytes = static_cast<double>(figures.bytesPerRank);
  json.attributeObject("parameters", [&] {
    json.attribute("tensors", figures.tensors);
    json.attribute("count", figures.total);
    json.attribute("padding", figures.padding);
    json.attribute("count_per_rank", figures.perRank);
    json.attribute("fewest_per_rank", figures.fewestPerRank);
    json.attribute("bytes_per_rank", figures.bytesPerRank);
    json.attribute("gigabytes_per_rank", bytes / 1e9);
    json.attribute("gibibytes_per_rank", bytes / (1 << 30));
  });
}

void tp::printJSON(const Report &report, llvm::raw_ostream &os) {
  OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("kind", "predicted");
    json.attributeObject("convention", [&] {
      json.attribute("bytes", "sent per rank");
      json.attribute("algorithm", "ring");
      json.attribute("rank", "largest shards");
      json.attribute("overlap", "none");
    });
    json.attribute("machine", report.machine);
    json.attribute("device_memory_bytes", report.deviceBytes);
    writeMesh(json, report.mesh);
    writeTotals(json, report.totals);
    writeParameters(json, report.parameters);
    json.attributeArray("collectives", [&] {
      for (const CollectiveFigures &figures : report.collectives)
        writeCollective(json, figures);
    });
    json.attributeArray("operations", [&] {
      for (const OperationFigures &figures : report.operations)
        writeOperation(json, figures);
    });
  });
  os << "\n";
}
