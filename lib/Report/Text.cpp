// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Report/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace tp;

static constexpr size_t maxColumns = 100;

//===- Lines and tables ---------------------------------------------------===//

/// Names come from outside: what does not print is escaped.
static std::string printable(StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printEscapedString(text, os);
  return escaped;
}

static void printLine(llvm::raw_ostream &os, StringRef line) {
  line = line.rtrim();
  if (line.size() <= maxColumns)
    os << line << "\n";
  else
    os << line.take_front(maxColumns - 3) << "...\n";
}

namespace {

/// Columns as wide as what they hold; the first `numLeft` are flush left. A
/// note is a line below its row.
class Table {
public:
  Table(unsigned numLeft, std::vector<std::string> head) : numLeft(numLeft) {
    addRow(std::move(head), "");
  }

  void addRow(std::vector<std::string> cells, std::string note = "") {
    widths.resize(std::max(widths.size(), cells.size()));
    for (auto [width, cell] : llvm::zip(widths, cells))
      width = std::max(width, cell.size());
    rows.push_back({std::move(cells), std::move(note)});
  }

  void print(llvm::raw_ostream &os) const {
    for (const auto &[cells, note] : rows) {
      std::string line;
      llvm::raw_string_ostream text(line);
      for (auto [index, cell] : llvm::enumerate(cells)) {
        text << "  ";
        if (index < numLeft)
          text << llvm::left_justify(cell, widths[index]);
        else
          text << llvm::right_justify(cell, widths[index]);
      }
      printLine(os, line);
      if (!note.empty())
        printLine(os, "      " + note);
    }
  }

private:
  unsigned numLeft;
  std::vector<size_t> widths;
  std::vector<std::pair<std::vector<std::string>, std::string>> rows;
};

} // namespace

//===- Figures ------------------------------------------------------------===//

/// Three decimals; two digits with an exponent where those would be zero.
static std::string decimal(double value) {
  if (value != 0 && std::abs(value) < 0.0005)
    return llvm::formatv("{0}", llvm::format("%.1e", value));
  if (std::abs(value) >= 1e12)
    return llvm::formatv("{0}", llvm::format("%.6e", value));
  return llvm::formatv("{0:f3}", value);
}

/// A number of things, to the unit.
static std::string whole(double value) {
  if (std::abs(value) >= 0x1p63)
    return llvm::formatv("{0}", llvm::format("%.6e", value));
  return llvm::formatv("{0:N}", static_cast<int64_t>(value));
}

static std::string whole(int64_t value) {
  return llvm::formatv("{0:N}", value);
}

static std::string describe(const Place &place) {
  if (place.name.empty())
    return place.operation;
  return place.operation + " " + printable(place.name);
}

//===- Sections -----------------------------------------------------------===//

static void printHeader(const Report &report, llvm::raw_ostream &os) {
  printLine(os, "cost report, predicted: one step of the rank with the largest "
                "shards, nothing overlaps");
  std::string line = "machine " + printable(report.machine) + ", mesh ";
  if (!report.mesh) {
    printLine(os, line + "none");
    return;
  }
  llvm::ListSeparator comma(",");
  for (MeshAxisAttr axis : report.mesh.getAxes())
    line += llvm::formatv("{0}{1}={2}", StringRef(comma),
                          printable(axis.getName()), axis.getSize());
  printLine(os, line + ", " + whole(report.mesh.getNumRanks()) + " ranks");
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
    printLine(os, llvm::formatv("@{0}, {1} a step", printable(function),
                                whole(kinds.front().second.count))
                      .str());
    Table table(1, {"operation", "count", "GFLOP", "MB", "us"});
    for (auto &[kind, sum] : kinds)
      table.addRow({kind.str(),
                    whole(static_cast<double>(sum.operations) *
                          static_cast<double>(sum.count)),
                    decimal(sum.cost.flops / 1e9),
                    decimal(sum.cost.memoryBytes / 1e6),
                    decimal(sum.cost.seconds * 1e6)});
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

/// Figures of one execution, and who waits for it.
static void printCollectives(const Report &report, llvm::raw_ostream &os) {
  if (report.collectives.empty())
    return;
  printLine(os, "");
  printLine(os, "collectives, each: bytes that a rank sends in a ring, and "
                "time");
  Table table(3, {"kind", "over", "tensor", "dim", "ranks", "count", "bytes",
                  "us", "link"});
  for (const CollectiveFigures &figures : report.collectives) {
    std::string note = "in @" + printable(figures.place.function);
    if (figures.firstUser)
      note = "for " + describe(*figures.firstUser) + ", " + note;
    table.addRow(
        {figures.place.operation, printable(llvm::join(figures.axes, ",")),
         describeType(figures.type), describeDims(figures),
         whole(figures.ranks), whole(figures.count),
         whole(figures.cost.sentBytes), decimal(figures.cost.seconds * 1e6),
         figures.link.empty() ? "-" : printable(figures.link)},
        note);
  }
  table.print(os);
}

static void printTotals(const Totals &totals, llvm::raw_ostream &os) {
  std::string kinds;
  for (auto &[kind, count] : totals.collectives)
    kinds += (", " + whole(count) + " " + kind).str();
  printLine(os, "");
  printLine(os, "one step");
  auto row = [&](StringRef what, double seconds, const Twine &note) {
    printLine(os, llvm::formatv("  {0,-15}{1,14} us   {2}", what,
                                decimal(seconds * 1e6), note.str())
                      .str());
  };
  row("compute", totals.computeSeconds,
      decimal(totals.flops / 1e9) + " GFLOP, " +
          decimal(totals.memoryBytes / 1e6) + " MB read or written");
  row("communication", totals.communicationSeconds,
      whole(totals.sentBytes) + " bytes sent per rank" + kinds);
  row("total", totals.seconds(), "");
}

static void printParameters(const Report &report, llvm::raw_ostream &os) {
  const ParameterFigures &figures = report.parameters;
  double bytes = static_cast<double>(figures.bytesPerRank);
  printLine(os, "");
  printLine(os, "parameters: " + whole(figures.total) + " in " +
                    whole(figures.tensors) + " tensors, " +
                    whole(figures.perRank) + " a rank");
  if (figures.padding != 0)
    printLine(os, "  " + whole(figures.padding) +
                      " more are padding, which the figures of a rank include");
  if (figures.fewestPerRank != figures.perRank)
    printLine(os, "  uneven: " + whole(figures.fewestPerRank) +
                      " on the rank with the smallest shards");
  printLine(
      os, "  " + whole(figures.bytesPerRank) +
              " bytes a rank = " + decimal(bytes / 1e9) +
              " GB = " + decimal(bytes / (1 << 30)) + " GiB, of the device's " +
              decimal(static_cast<double>(report.deviceBytes) / 1e9) + " GB");
}

void tp::printText(const Report &report, llvm::raw_ostream &os) {
  printHeader(report, os);
  printOperations(report, os);
  printCollectives(report, os);
  printTotals(report.totals, os);
  printParameters(report, os);
}
