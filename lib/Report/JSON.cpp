// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "llvm/Support/JSON.h"
#include "Compare.h"
#include "Table.h"
#include <cmath>

using namespace mlir;
using namespace tp;
using llvm::json::OStream;

//===- Values -------------------------------------------------------------===//

/// A time says where it is from: the cost model, unless that reads it off a
/// table of measurements.
static void writeTime(OStream &json, StringRef key, double seconds,
                      StringRef kind = "predicted") {
  json.attributeObject(key, [&] {
    json.attribute("seconds", seconds);
    json.attribute("kind", kind);
  });
}

static void writeBytes(OStream &json, StringRef key, uint64_t bytes) {
  json.attributeObject(key, [&] {
    json.attribute("bytes", bytes);
    json.attribute("gigabytes", toGB(bytes));
    json.attribute("gibibytes", toGiB(bytes));
  });
}

static void writePlace(OStream &json, const Place &place, StringRef kindKey) {
  json.attribute("function", place.function);
  json.attribute(kindKey, place.operation);
  json.attribute("name", place.name);
}

static void writePlace(OStream &json, StringRef key,
                       const std::optional<Place> &place) {
  if (!place)
    return json.attribute(key, nullptr);
  json.attributeObject(key, [&] { writePlace(json, *place, "operation"); });
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

//===- Sections -----------------------------------------------------------===//

static void writeConvention(OStream &json) {
  json.attributeObject("convention", [&] {
    json.attribute("rank", "largest shards");
    json.attribute("bytes", "sent per rank");
    json.attribute("gigabyte_bytes", 1000 * 1000 * 1000);
    json.attribute("gibibyte_bytes", 1 << 30);
  });
}

static void writeMesh(OStream &json, const Report &report) {
  MeshAttr mesh = report.mesh;
  json.attributeObject("mesh", [&] {
    json.attribute("ranks", report.countRanks());
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
    writeTime(json, "time", figures.cost.seconds);
    json.attribute("total_flops", times * figures.cost.flops);
    json.attribute("total_memory_bytes", times * figures.cost.memoryBytes);
    writeTime(json, "total_time", times * figures.cost.seconds);
  });
}

static void writeCollective(OStream &json, const CollectiveFigures &figures) {
  double times = static_cast<double>(figures.count);
  bool isMeasured = figures.cost.algorithm == Algorithm::Measured;
  StringRef kind = isMeasured ? "measured" : "predicted";
  json.object([&] {
    writePlace(json, figures.place, "kind");
    json.attribute("part", toString(figures.part));
    json.attribute("count", figures.count);
    json.attribute("axes", llvm::json::Array(figures.axes));
    json.attribute("group_ranks", figures.ranks);
    writeTensor(json, figures.type);
    json.attribute("sharded_dimension", toJSON(figures.dim));
    json.attribute("target_dimension", toJSON(figures.target));
    json.attribute("algorithm", toString(figures.cost.algorithm));
    json.attribute("link", figures.link);
    json.attribute("bytes_convention", "sent");
    json.attribute("bytes_sent_per_rank", figures.cost.sentBytes);
    json.attribute("bytes_received_per_rank",
                   std::round(figures.cost.receivedBytes));
    writeTime(json, "time", figures.cost.seconds, kind);
    json.attribute("total_bytes_sent_per_rank", times * figures.cost.sentBytes);
    writeTime(json, "total_time", times * figures.cost.seconds, kind);
    json.attribute("blocking_count", figures.blocking);
    writeTime(json, "held_time", figures.heldSeconds);
    writePlace(json, "first_user", figures.firstUser);
  });
}

static void writeUtilisation(OStream &json, const Report &report) {
  auto write = [&](FlopConvention convention, const Twine &suffix) {
    Report::Utilisation shares = report.getUtilisation(convention);
    double flops = report.getProducts(convention).flops;
    json.attribute(("model_flops" + suffix).str(), flops);
    json.attribute(("mfu" + suffix).str(), shares.model);
    json.attribute(("hfu" + suffix).str(), shares.hardware);
  };
  json.attributeObject("utilisation", [&] {
    json.attribute("flops_convention", toString(report.convention));
    write(report.convention, "");
    for (FlopConvention convention :
         {FlopConvention::Causal, FlopConvention::Full})
      write(convention, "_" + toString(convention));
  });
}

static void writeTotals(OStream &json, const Totals &totals) {
  json.attributeObject("totals", [&] {
    writeTime(json, "time", totals.seconds());
    writeTime(json, "compute_time", totals.computeSeconds);
    writeTime(json, "communication_time", totals.communicationSeconds);
    json.attribute("flops", totals.flops);
    json.attribute("memory_bytes", totals.memoryBytes);
    json.attribute("bytes_sent_per_rank", totals.sentBytes);
    json.attributeObject("collectives", [&] {
      for (auto &[kind, count] : totals.collectives)
        json.attribute(kind, count);
    });
  });
}

static void writeCriticalPath(OStream &json, const Report &report) {
  const Totals &totals = report.totals;
  json.attributeObject("critical_path", [&] {
    writeTime(json, "time", totals.overlappedSeconds);
    writeTime(json, "compute_time", totals.computeSeconds);
    writeTime(json, "held_time", totals.heldSeconds);
    json.attribute("blocking_collectives", totals.blocking);
    json.attribute("tokens", totals.tokens);
    json.attribute("tokens_per_second", totals.tokensPerSecond());
    json.attributeArray("links", [&] {
      for (const LinkSum &sum : sumByLink(report))
        json.object([&] {
          json.attribute("part", toString(sum.part));
          json.attribute("link", sum.link);
          json.attribute("collectives", sum.count);
          json.attribute("blocking_collectives", sum.blocking);
          json.attribute("bytes_sent_per_rank", sum.sentBytes);
          writeTime(json, "time", sum.seconds);
          writeTime(json, "held_time", sum.heldSeconds);
        });
    });
  });
}

static void writeParameters(OStream &json, const ParameterFigures &figures) {
  auto bytes = static_cast<uint64_t>(figures.bytesPerRank);
  json.attributeObject("parameters", [&] {
    json.attribute("tensors", figures.tensors);
    json.attribute("count", figures.total);
    json.attribute("padding", figures.padding);
    json.attribute("count_per_rank", figures.perRank);
    json.attribute("fewest_per_rank", figures.fewestPerRank);
    writeBytes(json, "size_per_rank", bytes);
  });
}

static void writeMemory(OStream &json, const Report &report) {
  const TrainingSettings &training = report.training;
  json.attributeObject("memory", [&] {
    json.attribute("optimizer", training.isOn() ? "adam" : "none");
    json.attribute("zero", training.zero);
    json.attribute("recompute", training.recomputesLayers ? "layers" : "none");
    for (const MemoryRow &row : listMemory(report))
      writeBytes(json, row.key, row.bytes);
    writeBytes(json, "total", report.memory.total);
    json.attribute("total_counts_saved_activations", training.isOn());
    json.attribute("fits", report.memory.total <=
                               static_cast<uint64_t>(report.deviceBytes));
    writePlace(json, "peak_at", report.memory.peakAt);
  });
}

static void writeTimeline(OStream &json, const Timeline &timeline) {
  json.attributeObject("timeline", [&] {
    writePlace(json, "call", timeline.what);
    json.attributeArray("entries", [&] {
      for (const TimelineEntry &entry : timeline.entries)
        json.object([&] {
          writePlace(json, entry.place, "operation");
          json.attribute("communicates", entry.communicates);
          writeTime(json, "start", entry.start);
          writeTime(json, "end", entry.end);
        });
    });
    json.attribute("omitted", timeline.omitted);
  });
}

/// What another plan has more than this one; less where it is negative.
static void writeMore(OStream &json, const std::optional<PlanFigures> &more) {
  if (!more)
    return json.attribute("more", nullptr);
  json.attributeObject("more", [&] {
    writeTime(json, "time", more->seconds);
    json.attribute("bytes_sent_per_rank", more->sentBytes);
    json.attribute("parameter_bytes_per_rank", more->parameterBytes);
    json.attributeObject("collectives", [&] {
      for (auto &[kind, count] : more->collectives)
        json.attribute(kind, count);
    });
  });
}

static void writeAlternatives(OStream &json, const Alternatives &found) {
  json.attributeObject("alternatives", [&] {
    json.attribute("machine", found.machine);
    writeTime(json, "time", found.seconds);
    json.attributeArray("weights", [&] {
      for (const WeightAlternative &weight : found.weights)
        json.object([&] {
          json.attribute("name", weight.name);
          json.attribute("shape", llvm::json::Array(weight.shape));
          json.attribute("count", weight.count);
          json.attribute("layout", weight.layout);
          json.attribute("other_layout",
                         weight.more ? llvm::json::Value(weight.otherLayout)
                                     : llvm::json::Value(nullptr));
          writeMore(json, weight.more);
        });
    });
    json.attributeArray("constraints", [&] {
      for (const ConstraintAlternative &constraint : found.constraints)
        json.object([&] {
          json.attribute("given", constraint.given);
          json.attribute("instead", constraint.instead);
          writeMore(json, constraint.more);
        });
    });
  });
}

static void writeFigures(OStream &json, const Report &report) {
  json.attribute("format", "tp-cost-report");
  json.attribute("version", 1);
  writeConvention(json);
  json.attribute("machine", report.machine);
  json.attribute("device_memory_bytes", report.deviceBytes);
  writeMesh(json, report);
  writeTotals(json, report.totals);
  writeUtilisation(json, report);
  writeCriticalPath(json, report);
  writeParameters(json, report.parameters);
  writeMemory(json, report);
  json.attributeArray("collectives", [&] {
    for (const CollectiveFigures &figures : report.collectives)
      writeCollective(json, figures);
  });
  json.attributeArray("operations", [&] {
    for (const OperationFigures &figures : report.operations)
      writeOperation(json, figures);
  });
  writeTimeline(json, report.timeline);
  if (report.alternatives.found)
    writeAlternatives(json, *report.alternatives.found);
}

void tp::printJSON(const Report &report, llvm::raw_ostream &os) {
  OStream json(os, /*IndentSize=*/2);
  json.object([&] { writeFigures(json, report); });
  os << "\n";
}

void tp::printComparisonJSON(const Report &first, const Report &second,
                             llvm::raw_ostream &os) {
  OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("format", "tp-cost-report comparison");
    json.attribute("version", 1);
    json.attributeArray("plans", [&] {
      for (const Report *report : {&first, &second})
        json.object([&] { writeFigures(json, *report); });
    });
    json.attributeArray("figures", [&] {
      for (const ComparedFigure &figure : compareReports(first, second))
        json.object([&] {
          json.attribute("name", figure.key);
          json.attribute("kind", "predicted");
          json.attribute("first", figure.first);
          json.attribute("second", figure.second);
          json.attribute("difference", figure.second - figure.first);
        });
    });
  });
  os << "\n";
}
