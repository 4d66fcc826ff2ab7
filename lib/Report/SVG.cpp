// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SVG.h"
#include "Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

std::string tp::toHTML(StringRef text) {
  std::string printable;
  for (char c : text) {
    bool isControl = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (isControl)
      printable += llvm::formatv("\\{0:X-2}", static_cast<unsigned char>(c));
    else
      printable += c;
  }
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(printable, os);
  return escaped;
}

std::string tp::getColour(const LayerNode &node) {
  if (node.isUnreduced)
    return "sum";
  if (!node.splitDim)
    return "whole";
  return "split" + std::to_string(std::min(*node.splitDim, 3U));
}

/// At most so many characters, whole ones, for a box.
static std::string shorten(StringRef text, size_t length) {
  if (text.size() <= length)
    return toHTML(text);
  size_t end = length - 1;
  while (end > 0 && (text[end] & 0xC0) == 0x80)
    --end;
  return toHTML(text.take_front(end)) + "&#8230;";
}

static std::string titleOf(const Place &place) {
  std::string text = place.operation;
  if (!place.name.empty())
    text += " " + place.name;
  return toHTML(text);
}

//===- Timeline -----------------------------------------------------------===//

namespace {
constexpr double timelineWidth = 1000, laneHeight = 34, laneGap = 8;
} // namespace

static void drawEntry(const TimelineEntry &entry, double scale,
                      llvm::raw_ostream &os) {
  double x = entry.start * scale, width = (entry.end - entry.start) * scale;
  double y = entry.communicates ? laneHeight + laneGap : 0;
  os << llvm::formatv("<g><rect class=\"{0}\" x=\"{1:f2}\" y=\"{2:f0}\" "
                      "width=\"{3:f2}\" height=\"{4:f0}\"><title>{5}: {6} "
                      "us, from {7} to {8}</title></rect>",
                      entry.communicates ? "comm" : "comp", x, y,
                      std::max(width, 0.5), laneHeight, titleOf(entry.place),
                      toDecimal((entry.end - entry.start) * 1e6),
                      toDecimal(entry.start * 1e6), toDecimal(entry.end * 1e6));
  // A character is about 6 wide.
  if (width > 40)
    os << llvm::formatv(
        "<text x=\"{0:f2}\" y=\"{1:f0}\">{2}</text>", x + 4, y + 21,
        shorten(entry.place.operation, static_cast<size_t>((width - 8) / 6.5)));
  os << "</g>\n";
}

void tp::drawTimeline(const Timeline &timeline, llvm::raw_ostream &os) {
  double end = 0;
  for (const TimelineEntry &entry : timeline.entries)
    end = std::max(end, entry.end);
  if (end <= 0)
    return;
  double height = 2 * laneHeight + laneGap + 18;
  os << llvm::formatv("<svg class=\"timeline\" viewBox=\"0 0 {0:f0} {1:f0}\" "
                      "role=\"img\" aria-label=\"timeline\">\n",
                      timelineWidth, height);
  for (const TimelineEntry &entry : timeline.entries)
    drawEntry(entry, timelineWidth / end, os);
  os << llvm::formatv("<text x=\"0\" y=\"{0:f0}\">0</text><text class=\"end\" "
                      "x=\"{1:f0}\" y=\"{0:f0}\">{2} us</text>\n</svg>\n",
                      height - 3, timelineWidth, toDecimal(end * 1e6));
}

//===- Graph --------------------------------------------------------------===//

namespace {

constexpr double boxWidth = 168, boxHeight = 38, columnGap = 22, rowGap = 26;

/// Where the boxes stand.
struct Places {
  std::vector<unsigned> row, column;
  unsigned rows = 0, columns = 0;

  double x(unsigned node) const {
    return column[node] * (boxWidth + columnGap) + 1;
  }
  double y(unsigned node) const { return row[node] * (boxHeight + rowGap) + 1; }
};

} // namespace

/// Each node in the row below the lowest of its operands, the nodes of a row in
/// program order.
static Places placeNodes(const LayerGraph &graph) {
  Places places;
  std::vector<unsigned> used(graph.nodes.size() + 1, 0);
  for (const LayerNode &node : graph.nodes) {
    unsigned row = 0;
    for (unsigned operand : node.operands)
      row = std::max(row, places.row[operand] + 1);
    places.row.push_back(row);
    places.column.push_back(used[row]++);
    places.rows = std::max(places.rows, row + 1);
    places.columns = std::max(places.columns, used[row]);
  }
  return places;
}

static void drawLine(const Places &places, unsigned from, unsigned to,
                     llvm::raw_ostream &os) {
  double x1 = places.x(from) + boxWidth / 2, y1 = places.y(from) + boxHeight;
  double x2 = places.x(to) + boxWidth / 2, y2 = places.y(to);
  bool isFar = places.row[to] > places.row[from] + 1;
  // A value that passes rows goes round their boxes.
  double bend = isFar ? boxWidth / 2 + columnGap / 2 : 0;
  os << llvm::formatv("<path d=\"M{0:f0} {1:f0}C{2:f0} {3:f0} {4:f0} {5:f0} "
                      "{6:f0} {7:f0}\"/>\n",
                      x1, y1, x1 + bend, y1 + (isFar ? 60 : rowGap / 2),
                      x2 + bend, y2 - (isFar ? 60 : rowGap / 2), x2, y2);
}

static void drawBox(const LayerNode &node, double x, double y,
                    llvm::raw_ostream &os) {
  os << llvm::formatv("<g><rect class=\"{0}{1}\" x=\"{2:f0}\" y=\"{3:f0}\" "
                      "width=\"{4:f0}\" height=\"{5:f0}\" rx=\"5\"><title>{6}",
                      getColour(node), node.communicates ? " talks" : "", x, y,
                      boxWidth, boxHeight, titleOf(node.place));
  for (const std::string &weight : node.weights)
    os << "\nreads " << toHTML(weight);
  os << "\n" << toHTML(node.layout);
  if (node.seconds > 0)
    os << "\n" << toDecimal(node.seconds * 1e6) << " us";
  os << "</title></rect>";
  StringRef below =
      node.weights.empty() ? StringRef(node.place.name) : node.weights.front();
  os << llvm::formatv("<text class=\"kind\" x=\"{0:f0}\" "
                      "y=\"{1:f0}\">{2}</text><text x=\"{0:f0}\" "
                      "y=\"{3:f0}\">{4}</text></g>\n",
                      x + 7, y + 16, shorten(node.place.operation, 24), y + 31,
                      shorten(below, 26));
}

void tp::drawGraph(const LayerGraph &graph, llvm::raw_ostream &os) {
  if (graph.nodes.empty())
    return;
  Places places = placeNodes(graph);
  double width = places.columns * (boxWidth + columnGap) + columnGap + 2;
  double height = places.rows * (boxHeight + rowGap) - rowGap + 2;
  os << llvm::formatv("<svg class=\"graph\" viewBox=\"0 0 {0:f0} {1:f0}\" "
                      "width=\"{0:f0}\" height=\"{1:f0}\" role=\"img\" "
                      "aria-label=\"plan\">\n<g class=\"lines\">\n",
                      width, height);
  for (auto [number, node] : llvm::enumerate(graph.nodes))
    for (unsigned operand : node.operands)
      drawLine(places, operand, number, os);
  os << "</g>\n";
  for (auto [number, node] : llvm::enumerate(graph.nodes))
    drawBox(node, places.x(number), places.y(number), os);
  os << "</svg>\n";
}
