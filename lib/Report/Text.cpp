// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

//===- Sections -----------------------------------------------------------===//

static void printHeader(const Report &report, llvm::raw_ostream &os) {
  printLine(os, "cost report, predicted: one step of the rank with the largest "
                "shards");
  std::string line = "machine " + toPrintable(report.machine) + ", mesh " +
                     describeMesh(report.mesh);
  if (report.mesh)
    line += ", " + toWhole(report.mesh.getNumRanks()) + " ranks";
  printLine(os, line);
}

/// One table a function, one row a kind of operation; figures of all its calls.
static void printOperations(const Report &report, llvm::raw_ostream &os) {
  struct Sum {
    int64_t operations = 0, count = 0;
    Cost cost;
  };
  llvm::MapVector<StringRef, llvm::MapVector<StringRef, Sum>> functions;
  for (const OperationFigures &figures : report.operations) {
    Sum &sum = functions[figures.place.function][figures.place.operation];
    double times = static_cast<double>(figures.count);
    ++sum.operations;
    sum.count = figures.count;
    sum.cost.flops += times * figures.cost.flops;
    sum.cost.memoryBytes += times * figures.cost.memoryBytes;
    sum.cost.seconds += times * figures.cost.seconds;
  }
  for (auto &[function, kinds] : functions) {
    printLine(os, "");
    printLine(os, llvm::formatv("@{0}, {1} a step", toPrintable(function),
                                toWhole(kinds.front().second.count))
                      .str());
    Table table(1, {"operation", "count", "GFLOP", "MB", "us"});
    for (auto &[kind, sum] : kinds)
      table.addRow({kind.str(),
                    toWhole(static_cast<double>(sum.operations) *
                            static_cast<double>(sum.count)),
                    toDecimal(sum.cost.flops / 1e9),
                    toDecimal(sum.cost.memoryBytes / 1e6),
                    toDecimal(sum.cost.seconds * 1e6)});
    table.print(os);
  }
}

static std::string describeDims(const CollectiveFigures &figures) {
  if (!figures.dim)
    return "";
  if (!figures.target)
    return std::to_string(*figures.dim);
  return llvm::formatv("{0} to {1}", *figures.dim, *figures.target);
}

static std::string describeType(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t size : type.getShape())
    os << size << "x";
  os << type.getElementType();
  return text;
}

/// Who waits for the result, and whether the computation stands still then.
static std::string describeWait(const CollectiveFigures &figures) {
  std::string note = "in @" + toPrintable(figures.place.function);
  if (figures.firstUser)
    note = "for " + describe(*figures.firstUser) + ", " + note;
  if (!figures.cost.communicates)
    return note;
  note += (", " + toString(figures.cost.algorithm)).str();
  if (figures.blocking == 0)
    return note + ": overlaps";
  if (figures.blocking == figures.count)
    return note + ": blocks";
  return note + ": blocks " + toWhole(figures.blocking) + " times";
}

/// Figures of one execution, and who waits for it.
static void printCollectives(const Report &report, StepPart part,
                             llvm::raw_ostream &os) {
  Table table(3, {"kind", "over", "tensor", "dim", "ranks", "count", "bytes",
                  "us", "link"});
  bool isEmpty = true;
  for (const CollectiveFigures &figures : report.collectives) {
    if (figures.part != part)
      continue;
    isEmpty = false;
    table.addRow(
        {figures.place.operation, toPrintable(llvm::join(figures.axes, ",")),
         describeType(figures.type), describeDims(figures),
         toWhole(figures.ranks), toWhole(figures.count),
         toWhole(figures.cost.sentBytes), toDecimal(figures.cost.seconds * 1e6),
         figures.link.empty() ? "-" : toPrintable(figures.link)},
        describeWait(figures));
  }
  if (isEmpty)
    return;
  printLine(os, "");
  printLine(os, ("collectives, " + toString(part) +
                 ", each: bytes that a rank sends, and time")
                    .str());
  table.print(os);
}

/// What a row of the totals has behind its time.
static void printTime(llvm::raw_ostream &os, StringRef what, double seconds,
                      const Twine &note) {
  printLine(os, llvm::formatv("  {0,-15}{1,14} us   {2}", what,
                              toDecimal(seconds * 1e6), note.str())
                    .str());
}

static void printTotals(const Totals &totals, llvm::raw_ostream &os) {
  std::string kinds;
  for (auto &[kind, count] : totals.collectives)
    kinds += (", " + toWhole(count) + " " + kind).str();
  printLine(os, "");
  printLine(os, "one step");
  printTime(os, "compute", totals.computeSeconds,
            toDecimal(totals.flops / 1e9) + " GFLOP, " +
                toDecimal(totals.memoryBytes / 1e6) + " MB read or written");
  printTime(os, "communication", totals.communicationSeconds,
            toWhole(totals.sentBytes) + " bytes sent per rank" + kinds);
  printTime(os, "total", totals.seconds(), "");
}

/// Shares of the peaks over the time of the critical path.
static void printUtilisation(const Report &report, llvm::raw_ostream &os) {
  if (!(report.totals.overlappedSeconds > 0) || report.totals.full.flops == 0)
    return;
  auto print = [&](FlopConvention convention) {
    Report::Utilisation shares = report.getUtilisation(convention);
    double flops = report.getProducts(convention).flops;
    printLine(os, "  MFU " + toPercent(shares.model) + ", HFU " +
                      toPercent(shares.hardware) + ": " +
                      toDecimal(flops / 1e9) + " GFLOP of the model" +
                      describeConvention(report, convention));
  };
  print(report.convention);
  if (report.totals.causal.flops != report.totals.full.flops)
    print(report.convention == FlopConvention::Full ? FlopConvention::Causal
                                                    : FlopConvention::Full);
}

static void printTokens(const Report &report, llvm::raw_ostream &os) {
  const Totals &totals = report.totals;
  double rate = totals.tokensPerSecond();
  if (rate <= 0)
    return;
  auto ranks = static_cast<double>(report.countRanks());
  printLine(os, "  " + toWhole(totals.tokens) + " tokens: " + toDecimal(rate) +
                    " a second, " + toDecimal(rate / ranks) +
                    " a second and rank");
}

/// Operations run one after the other, collectives beside them on a queue of
/// their own.
static void printCriticalPath(const Report &report, llvm::raw_ostream &os) {
  const Totals &totals = report.totals;
  printLine(os, "");
  printLine(os, "critical path, collectives beside what does not wait for "
                "them");
  printTime(os, "compute", totals.computeSeconds, "");
  printTime(os, "held up", totals.heldSeconds,
            "by " + toWhole(totals.blocking) +
                " collectives that block, one after the other");
  printTime(os, "step", totals.overlappedSeconds, "");
  printTokens(report, os);
  std::vector<LinkSum> sums = sumByLink(report);
  if (sums.empty())
    return;
  Table table(2, {"part", "link", "collectives", "block", "bytes", "us",
                  "held up, us"});
  for (const LinkSum &sum : sums)
    table.addRow({toString(sum.part).str(), toPrintable(sum.link),
                  toWhole(sum.count), toWhole(sum.blocking),
                  toWhole(sum.sentBytes), toDecimal(sum.seconds * 1e6),
                  toDecimal(sum.heldSeconds * 1e6)});
  table.print(os);
}

static void printParameters(const Report &report, llvm::raw_ostream &os) {
  const ParameterFigures &figures = report.parameters;
  printLine(os, "");
  printLine(os, "parameters: " + toWhole(figures.total) + " in " +
                    toWhole(figures.tensors) + " tensors, " +
                    toWhole(figures.perRank) + " a rank");
  if (figures.padding != 0)
    printLine(os, "  " + toWhole(figures.padding) +
                      " more are padding, which the figures of a rank include");
  if (figures.fewestPerRank != figures.perRank)
    printLine(os, "  uneven: " + toWhole(figures.fewestPerRank) +
                      " on the rank with the smallest shards");
}

static std::string describeFit(const Report &report) {
  auto device = static_cast<uint64_t>(report.deviceBytes);
  std::string text = "of the device's " + toDecimal(toGB(device)) + " GB";
  return text + (report.memory.total <= device ? ": fits" : ": DOES NOT FIT");
}

static std::string describeTraining(const Report &report) {
  const TrainingSettings &training = report.training;
  std::string text = "training with Adam";
  if (training.recomputesLayers)
    text += ", layers recomputed";
  if (training.zero != 0) {
    text += ", ZeRO " + std::to_string(training.zero) + " over ";
    llvm::ListSeparator separator;
    for (unsigned axis : training.dataAxes)
      text += StringRef(separator).str() +
              toPrintable(report.mesh.getAxes()[axis].getName());
    if (training.dataAxes.empty())
      text += "no axis: name data-axes";
  }
  return text;
}

static void printMemory(const Report &report, llvm::raw_ostream &os) {
  printLine(os, "");
  bool trains = report.training.isOn();
  printLine(os, "memory of a rank, " +
                    (trains ? describeTraining(report) : "forward only"));
  Table table(1, {"", "bytes", "GB", "GiB"});
  auto add = [&](StringRef title, uint64_t bytes, std::string note = "") {
    table.addRow({title.str(), toWhole(bytes), toDecimal(toGB(bytes)),
                  toDecimal(toGiB(bytes))},
                 std::move(note));
  };
  for (const MemoryRow &row : listMemory(report)) {
    if (!row.isCounted)
      continue;
    std::string note;
    if (row.key == "peak_temporaries" && report.memory.peakAt)
      note = "at " + describe(*report.memory.peakAt) + ", in @" +
             toPrintable(report.memory.peakAt->function);
    add(row.title, row.bytes, note);
  }
  add("total", report.memory.total, describeFit(report));
  if (!trains)
    add("what a backward pass would keep", report.memory.saved);
  table.print(os);
}

static void printAlternatives(const Alternatives &found,
                              llvm::raw_ostream &os) {
  printLine(os, "");
  printLine(os, "the next best layout of each weight in all its layers, and "
                "what the best plan with it has more");
  auto describe = [](std::string layout) {
    llvm::erase(layout, '"');
    return toPrintable(layout);
  };
  auto list = [](StringRef what, const std::optional<PlanFigures> &more) {
    std::vector<std::string> cells = {toPrintable(what)};
    if (more)
      llvm::append_range(
          cells, std::vector<std::string>{toSignedMicroseconds(more->seconds),
                                          toSignedWhole(more->sentBytes),
                                          toSignedWhole(more->parameterBytes)});
    return cells;
  };
  Table weights(1, {"", "us", "bytes sent", "bytes held"});
  for (const WeightAlternative &weight : found.weights)
    weights.addRow(list(weight.name, weight.more),
                   weight.more ? describe(weight.otherLayout)
                               : "no other layout meets the constraints");
  weights.print(os);
  printLine(os, "");
  printLine(os, "each constraint given up alone");
  Table constraints(1, {"", "us", "bytes sent", "bytes held"});
  for (const ConstraintAlternative &constraint : found.constraints)
    constraints.addRow(list(describeLifting(constraint), constraint.more),
                       constraint.more ? "" : "no plan");
  constraints.print(os);
}

void tp::printText(const Report &report, llvm::raw_ostream &os) {
  printHeader(report, os);
  printOperations(report, os);
  for (StepPart part :
       {StepPart::Embedding, StepPart::Layers, StepPart::Head, StepPart::Loss})
    printCollectives(report, part, os);
  printTotals(report.totals, os);
  printCriticalPath(report, os);
  printUtilisation(report, os);
  printParameters(report, os);
  printMemory(report, os);
  if (report.alternatives.found)
    printAlternatives(*report.alternatives.found, os);
}
