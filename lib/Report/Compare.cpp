// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Two reports side by side.

#include "Compare.h"
#include "Table.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cmath>
#include <map>

using namespace mlir;
using namespace tp;

//===- Figures ------------------------------------------------------------===//

static void addLinks(const Report &first, const Report &second,
                     std::vector<ComparedFigure> &figures) {
  // By part and link: what holds up the one plan and the other.
  std::map<std::pair<StepPart, std::string>, std::array<double, 2>> all;
  for (const LinkSum &sum : sumByLink(first))
    all[{sum.part, sum.link}][0] = sum.heldSeconds;
  for (const LinkSum &sum : sumByLink(second))
    all[{sum.part, sum.link}][1] = sum.heldSeconds;
  for (auto &[key, held] : all) {
    StringRef part = toString(key.first);
    std::string title = ("held up, " + part + ", " + key.second).str();
    std::string name = ("held_seconds_" + part + "_" + key.second).str();
    figures.push_back({title, name, "us", held[0], held[1]});
  }
}

std::vector<ComparedFigure> tp::compareReports(const Report &first,
                                               const Report &second) {
  std::vector<ComparedFigure> figures;
  auto add = [&](StringRef title, StringRef key, StringRef unit, auto get) {
    figures.push_back({title.str(), key.str(), unit,
                       static_cast<double>(get(first)),
                       static_cast<double>(get(second))});
  };
  add("ranks", "ranks", "",
      [](const Report &report) { return report.countRanks(); });
  add("step", "seconds", "us",
      [](const Report &report) { return report.totals.overlappedSeconds; });
  add("computes", "compute_seconds", "us",
      [](const Report &report) { return report.totals.computeSeconds; });
  add("held up", "held_seconds", "us",
      [](const Report &report) { return report.totals.heldSeconds; });
  addLinks(first, second, figures);
  add("collectives that block", "blocking_collectives", "",
      [](const Report &report) { return report.totals.blocking; });
  add("bytes sent per rank", "bytes_sent_per_rank", "",
      [](const Report &report) { return report.totals.sentBytes; });
  add("tokens a second", "tokens_per_second", "",
      [](const Report &report) { return report.totals.tokensPerSecond(); });
  add("tokens a second and rank", "tokens_per_second_per_rank", "",
      [](const Report &report) {
        return report.totals.tokensPerSecond() /
               static_cast<double>(report.countRanks());
      });
  for (auto [one, other] :
       llvm::zip_equal(listMemory(first), listMemory(second)))
    figures.push_back({one.title.str(), (one.key + "_bytes").str(), "GB",
                       static_cast<double>(one.bytes),
                       static_cast<double>(other.bytes)});
  add("memory, total", "total_memory_bytes", "GB",
      [](const Report &report) { return report.memory.total; });
  return figures;
}

//===- Text ---------------------------------------------------------------===//

static std::string describeFigure(const ComparedFigure &figure, double value) {
  if (figure.unit == "us")
    return toDecimal(value * 1e6);
  if (figure.unit == "GB")
    return toDecimal(value / 1e9);
  return value == std::floor(value) ? toWhole(value) : toDecimal(value);
}

std::vector<std::vector<std::string>>
tp::tabulate(ArrayRef<ComparedFigure> figures) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedFigure &figure : figures) {
    if (figure.first == 0 && figure.second == 0)
      continue;
    std::string title = toPrintable(figure.title);
    if (!figure.unit.empty())
      title += (", " + figure.unit).str();
    std::string share;
    if (figure.first != 0)
      share = llvm::formatv("{0:P1}", figure.second / figure.first - 1);
    rows.push_back({title, describeFigure(figure, figure.first),
                    describeFigure(figure, figure.second),
                    describeFigure(figure, figure.second - figure.first),
                    share});
  }
  return rows;
}

void tp::printComparison(const Report &first, const Report &second,
                         llvm::raw_ostream &os) {
  printLine(os, "two plans, predicted: figures of the rank with the largest "
                "shards");
  auto describePlan = [](const Report &report) {
    return "machine " + toPrintable(report.machine) + ", mesh " +
           describeMesh(report.mesh);
  };
  printLine(os, "A, this one:  " + describePlan(first));
  printLine(os, "B, the other: " + describePlan(second));
  printLine(os, "");
  Table table(1, {"", "A", "B", "B - A", "B / A - 1"});
  for (std::vector<std::string> &row : tabulate(compareReports(first, second)))
    table.addRow(std::move(row));
  table.print(os);
}
