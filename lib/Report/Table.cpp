// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace tp;

static constexpr size_t maxColumns = 100;

//===- Lines and tables ---------------------------------------------------===//

std::string tp::toPrintable(StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printEscapedString(text, os);
  return escaped;
}

void tp::printLine(llvm::raw_ostream &os, StringRef line) {
  line = line.rtrim();
  if (line.size() <= maxColumns)
    os << line << "\n";
  else
    os << line.take_front(maxColumns - 3) << "...\n";
}

void Table::addRow(std::vector<std::string> cells, std::string note) {
  widths.resize(std::max(widths.size(), cells.size()));
  for (auto [width, cell] : llvm::zip(widths, cells))
    width = std::max(width, cell.size());
  rows.push_back({std::move(cells), std::move(note)});
}

void Table::print(llvm::raw_ostream &os) const {
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

//===- Figures ------------------------------------------------------------===//

std::string tp::toDecimal(double value) {
  if (value != 0 && std::abs(value) < 0.0005)
    return llvm::formatv("{0}", llvm::format("%.1e", value));
  if (std::abs(value) >= 1e12)
    return llvm::formatv("{0}", llvm::format("%.6e", value));
  return llvm::formatv("{0:f3}", value);
}

std::string tp::toWhole(double value) {
  if (std::abs(value) >= 0x1p63)
    return llvm::formatv("{0}", llvm::format("%.6e", value));
  return llvm::formatv("{0:N}", static_cast<int64_t>(value));
}

std::string tp::toWhole(int64_t value) { return llvm::formatv("{0:N}", value); }

std::string tp::toWhole(uint64_t value) {
  return llvm::formatv("{0:N}", value);
}

std::string tp::toPercent(double share) {
  return toDecimal(share * 100) + " %";
}

std::string tp::describeConvention(const Report &report,
                                   FlopConvention convention) {
  if (report.totals.causal.flops == report.totals.full.flops)
    return "";
  return convention == FlopConvention::Full ? ", all pairs of attention"
                                            : ", causal pairs of attention";
}

std::string tp::describe(const Place &place) {
  if (place.name.empty())
    return place.operation;
  return place.operation + " " + toPrintable(place.name);
}

std::string tp::describeMesh(MeshAttr mesh) {
  if (!mesh)
    return "none";
  std::string text;
  llvm::ListSeparator comma(",");
  for (MeshAxisAttr axis : mesh.getAxes())
    text += llvm::formatv("{0}{1}={2}", StringRef(comma),
                          toPrintable(axis.getName()), axis.getSize());
  return text;
}

//===- Shares -------------------------------------------------------------===//

Report::Utilisation Report::getUtilisation(FlopConvention convention) const {
  double step = totals.overlappedSeconds;
  if (!(step > 0))
    return {};
  const ProductFigures &products = getProducts(convention);
  auto ranks = static_cast<double>(countRanks());
  return {products.peakSeconds / ranks / step, products.rankPeakSeconds / step};
}

//===- Sums ---------------------------------------------------------------===//

SmallVector<MemoryRow> tp::listMemory(const Report &report) {
  const MemoryFigures &memory = report.memory;
  bool trains = report.training.isOn();
  return {{"parameters", "parameters", memory.parameters, true},
          {"gradients", "gradients", memory.gradients, trains},
          {"optimizer states", "optimizer_states", memory.optimizer, trains},
          {"KV cache", "kv_cache", memory.cache, true},
          {"other inputs", "inputs", memory.inputs, true},
          {"saved activations", "saved_activations", memory.saved, trains},
          {"peak temporaries", "peak_temporaries", memory.temporaries, true}};
}

static std::string withSign(double value, const std::string &text) {
  return value > 0 ? "+" + text : text;
}

std::string tp::toSignedMicroseconds(double seconds) {
  return seconds == 0 ? "0" : withSign(seconds, toDecimal(seconds * 1e6));
}

std::string tp::toSignedWhole(double value) {
  return withSign(value, toWhole(std::round(value)));
}

std::string tp::describeLifting(const ConstraintAlternative &constraint) {
  if (StringRef(constraint.instead).starts_with("no "))
    return "without " + constraint.given;
  return constraint.instead + " in place of " + constraint.given;
}

static void addByLink(const Report &report, StepPart part,
                      std::vector<LinkSum> &sums) {
  size_t begin = sums.size();
  for (const CollectiveFigures &figures : report.collectives) {
    if (!figures.cost.communicates || figures.part != part)
      continue;
    auto it = std::find_if(
        sums.begin() + static_cast<ptrdiff_t>(begin), sums.end(),
        [&](const LinkSum &sum) { return sum.link == figures.link; });
    if (it == sums.end())
      it = sums.insert(it, {part, figures.link});
    double times = static_cast<double>(figures.count);
    it->count += figures.count;
    it->blocking += figures.blocking;
    it->sentBytes += times * figures.cost.sentBytes;
    it->seconds += times * figures.cost.seconds;
    it->heldSeconds += figures.heldSeconds;
  }
}

std::vector<LinkSum> tp::sumByLink(const Report &report) {
  std::vector<LinkSum> sums;
  for (StepPart part :
       {StepPart::Embedding, StepPart::Layers, StepPart::Head, StepPart::Loss})
    addByLink(report, part, sums);
  return sums;
}
