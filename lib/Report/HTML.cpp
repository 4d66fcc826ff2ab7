// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare.h"
#include "SVG.h"
#include "Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

static constexpr StringLiteral styleSheet = R"(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--faint:#5c6670;
--line:#d5dae0;--card:#f5f7f9;--comp:#3b76c4;--comm:#b85a20;--on:#fff;
--whole:#d9dee4;--split0:#f0d58a;--split1:#a9d8b0;--split2:#a8c8f0;
--split3:#cdb8ea;--sum:#f2b0a8;--box:#1b1f24}
@media(prefers-color-scheme:dark){:root{--back:#14181d;--text:#e4e8ec;
--faint:#98a3ae;--line:#333b44;--card:#1d232a;--comp:#5b93dd;--comm:#e08a52;--on:#14181d;
--whole:#3a434d;--split0:#6d5a1d;--split1:#2c5c36;
--split2:#264f80;--split3:#533d78;--sum:#7c3730;--box:#f0f3f6}}
body{background:var(--back);color:var(--text);margin:0 auto;max-width:72rem;
padding:1rem 1.5rem 3rem;font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.5rem 0}h2{font-size:1.1rem;margin:2rem 0 .5rem}
p{margin:.3rem 0}.faint{color:var(--faint)}
.tiles{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:6px;
padding:.5rem .9rem}.tile b{display:block;font-size:1.15rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);
white-space:nowrap}th{color:var(--faint);font-weight:600}
th.left,td.left{text-align:left}
.bar{display:flex;height:1.5rem;background:var(--card);border-radius:4px;
overflow:hidden;margin:.2rem 0 .6rem}.bar i{display:block;height:100%;
border-right:1px solid var(--back);box-sizing:border-box}
.comp{background:var(--comp);fill:var(--comp)}
.comm{background:var(--comm);fill:var(--comm)}
.whole{fill:var(--whole);background:var(--whole)}
.split0{fill:var(--split0);background:var(--split0)}
.split1{fill:var(--split1);background:var(--split1)}
.split2{fill:var(--split2);background:var(--split2)}
.split3{fill:var(--split3);background:var(--split3)}
.sum{fill:var(--sum);background:var(--sum)}
.key{display:inline-block;padding:.05rem .5rem;border-radius:4px;
margin-right:.4rem}.key.comp,.key.comm{color:var(--on)}
svg text{font:11px system-ui,sans-serif;fill:var(--box)}
svg.timeline{width:100%}svg.timeline g text{fill:var(--on)}
svg .end{text-anchor:end}svg .kind{font-weight:600}
svg .talks{stroke:var(--comm);stroke-width:2.5}
svg .lines path{fill:none;stroke:var(--faint);stroke-width:1.2;opacity:.7}
)";

//===- Parts --------------------------------------------------------------===//

static void printHead(StringRef title, llvm::raw_ostream &os) {
  // `data:,` keeps a browser from asking for an icon.
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" "
        "href=\"data:,\">\n<title>"
     << title << "</title>\n<style>" << styleSheet
     << "</style>\n</head>\n<body>\n";
}

static void printTile(StringRef what, const std::string &value,
                      llvm::raw_ostream &os) {
  os << "<div class=\"tile\"><b>" << value << "</b>" << what << "</div>\n";
}

static void printCells(StringRef tag, unsigned numLeft,
                       ArrayRef<std::string> cells, llvm::raw_ostream &os) {
  os << "<tr>";
  for (auto [number, cell] : llvm::enumerate(cells))
    os << "<" << tag << (number < numLeft ? " class=\"left\">" : ">") << cell
       << "</" << tag << ">";
  os << "</tr>\n";
}

namespace {

/// A table; cells are HTML.
class Rows {
public:
  Rows(unsigned numLeft, std::vector<std::string> head, llvm::raw_ostream &os)
      : numLeft(numLeft), os(os) {
    os << "<div class=\"wide\"><table>\n";
    printCells("th", numLeft, head, os);
  }
  ~Rows() { os << "</table></div>\n"; }

  void add(std::vector<std::string> cells) {
    printCells("td", numLeft, cells, os);
  }

private:
  unsigned numLeft;
  llvm::raw_ostream &os;
};

/// Pieces of a bar, which together are at most 1.
struct Piece {
  std::string title;
  StringRef colour;
  double share;
};

} // namespace

static void printBar(ArrayRef<Piece> pieces, llvm::raw_ostream &os) {
  os << "<div class=\"bar\">";
  for (const Piece &piece : pieces)
    if (piece.share > 0)
      os << llvm::formatv("<i class=\"{0}\" style=\"width:{1:f3}%\" "
                          "title=\"{2}\"></i>",
                          piece.colour, 100 * piece.share, piece.title);
  os << "</div>\n";
}

static std::string toMicroseconds(double seconds) {
  return toDecimal(seconds * 1e6);
}

static std::string describeHTML(const Place &place) {
  std::string text = place.operation;
  if (!place.name.empty())
    text += " " + place.name;
  return toHTML(text);
}

//===- Sections -----------------------------------------------------------===//

static void printSummary(const Report &report, llvm::raw_ostream &os) {
  const Totals &totals = report.totals;
  os << "<h1>Cost of a step, predicted</h1>\n<p class=\"faint\">machine "
     << toHTML(report.machine) << ", mesh " << toHTML(describeMesh(report.mesh))
     << ", " << report.countRanks()
     << " ranks; figures of the rank with the largest shards</p>\n<div "
        "class=\"tiles\">\n";
  printTile("step, collectives beside what does not wait",
            toMicroseconds(totals.overlappedSeconds) + " us", os);
  printTile("computes", toMicroseconds(totals.computeSeconds) + " us", os);
  printTile("held up by " + std::to_string(totals.blocking) + " collectives",
            toMicroseconds(totals.heldSeconds) + " us", os);
  printTile("bytes sent per rank", toWhole(totals.sentBytes), os);
  if (totals.tokens > 0)
    printTile("tokens a second", toDecimal(totals.tokensPerSecond()), os);
  if (totals.full.flops > 0) {
    Report::Utilisation shares = report.getUtilisation(report.convention);
    std::string counted = describeConvention(report, report.convention);
    printTile("MFU" + counted, toPercent(shares.model), os);
    printTile("HFU" + counted, toPercent(shares.hardware), os);
  }
  printTile("memory of a rank", toDecimal(toGB(report.memory.total)) + " GB",
            os);
  os << "</div>\n";
}

namespace {

/// What a function takes in one execution, by kind of operation.
struct FunctionTimes {
  struct Time {
    double seconds = 0;
    bool communicates = false;
  };
  int64_t count = 0;
  double seconds = 0;
  llvm::MapVector<StringRef, Time> kinds;
};

} // namespace

static llvm::MapVector<StringRef, FunctionTimes>
sumFunctions(const Report &report) {
  llvm::MapVector<StringRef, FunctionTimes> functions;
  auto add = [&](const Place &place, int64_t count, const Cost &cost) {
    FunctionTimes &times = functions[place.function];
    times.count = count;
    times.seconds += cost.seconds;
    FunctionTimes::Time &time = times.kinds[place.operation];
    time.seconds += cost.seconds;
    time.communicates |= cost.communicates;
  };
  for (const OperationFigures &figures : report.operations)
    add(figures.place, figures.count, figures.cost);
  for (const CollectiveFigures &figures : report.collectives)
    add(figures.place, figures.count, figures.cost);
  return functions;
}

static void printFunctions(const Report &report, llvm::raw_ostream &os) {
  os << "<h2>Time by layer</h2>\n<p><span class=\"key "
        "comp\">operations</span><span class=\"key "
        "comm\">collectives</span></p>\n";
  auto functions = sumFunctions(report);
  double longest = 0;
  for (auto &[name, times] : functions)
    longest = std::max(longest, times.seconds);
  for (auto &[name, times] : functions) {
    os << "<p>@" << toHTML(name) << ", " << times.count << " a step, each "
       << toMicroseconds(times.seconds) << " us:</p>\n";
    std::vector<Piece> pieces;
    for (auto &[kind, time] : times.kinds)
      pieces.push_back(
          {toHTML(kind) + ": " + toMicroseconds(time.seconds) + " us",
           time.communicates ? "comm" : "comp",
           longest > 0 ? time.seconds / longest : 0});
    printBar(pieces, os);
    os << "<p>";
    for (auto &[kind, time] : times.kinds)
      if (time.seconds > 0)
        os << "<span class=\"key\">" << toHTML(kind) << " <b>"
           << toMicroseconds(time.seconds) << "</b></span>";
    os << "</p>\n";
  }
}

static void printMemory(const Report &report, llvm::raw_ostream &os) {
  static constexpr StringLiteral colours[] = {
      "split2", "split1", "split0", "split3", "whole", "sum", "comm"};
  os << "<h2>Memory of a rank</h2>\n";
  auto most = std::max(static_cast<double>(report.deviceBytes),
                       static_cast<double>(report.memory.total));
  std::vector<Piece> pieces;
  for (auto [row, colour] : llvm::zip_equal(listMemory(report), colours))
    if (row.isCounted)
      pieces.push_back(
          {row.title.str() + ": " + toDecimal(toGB(row.bytes)) + " GB", colour,
           static_cast<double>(row.bytes) / most});
  printBar(pieces, os);
  auto device = static_cast<uint64_t>(report.deviceBytes);
  Rows rows(1, {"", "bytes", "GB", "GiB"}, os);
  auto add = [&](const std::string &title, uint64_t bytes) {
    rows.add({title, toWhole(bytes), toDecimal(toGB(bytes)),
              toDecimal(toGiB(bytes))});
  };
  for (auto [row, colour] : llvm::zip_equal(listMemory(report), colours))
    add(row.isCounted
            ? ("<span class=\"key " + colour + "\">" + row.title + "</span>")
                  .str()
            : (row.title + ", a backward pass would keep; not counted").str(),
        row.bytes);
  add("total", report.memory.total);
  add(report.memory.total <= device ? "the device, which it fits"
                                    : "the device, which it DOES NOT FIT",
      device);
}

static void printLayer(const Report &report, llvm::raw_ostream &os) {
  os << "<h2>Timeline of ";
  if (report.timeline.what)
    os << "a layer: " << describeHTML(*report.timeline.what);
  else
    os << "the step";
  os << "</h2>\n<p class=\"faint\">Operations above, collectives below: each "
        "starts when what it reads is there and its row is free.</p>\n";
  drawTimeline(report.timeline, os);
  if (report.timeline.omitted > 0)
    os << "<p>" << report.timeline.omitted << " more are left out.</p>\n";
  os << "<h2>Plan of @" << toHTML(report.graph.function)
     << "</h2>\n<p><span class=\"key whole\">whole on each rank</span>";
  for (StringRef dim : {"0", "1", "2", "3"})
    os << "<span class=\"key split" << dim << "\">dimension " << dim
       << (dim == "3" ? " or a later one" : "") << " split</span>";
  os << "<span class=\"key sum\">sum not finished</span> framed: ranks "
        "talk</p>\n<div class=\"wide\">\n";
  drawGraph(report.graph, os);
  os << "</div>\n";
  if (report.graph.omitted > 0)
    os << "<p>" << report.graph.omitted << " more are left out.</p>\n";
}

static void printWaits(const Report &report, llvm::raw_ostream &os) {
  os << "<h2>Who waits for which collective</h2>\n";
  if (report.collectives.empty()) {
    os << "<p>There are no collectives.</p>\n";
    return;
  }
  Rows rows(5,
            {"part", "collective", "over", "link", "first waits", "count",
             "block", "bytes each", "us each", "held up, us"},
            os);
  for (const CollectiveFigures &figures : report.collectives) {
    if (!figures.cost.communicates)
      continue;
    rows.add({toString(figures.part).str(), describeHTML(figures.place),
              toHTML(llvm::join(figures.axes, ",")), toHTML(figures.link),
              figures.firstUser ? describeHTML(*figures.firstUser) : "-",
              toWhole(figures.count), toWhole(figures.blocking),
              toWhole(figures.cost.sentBytes),
              toMicroseconds(figures.cost.seconds),
              toMicroseconds(figures.heldSeconds)});
  }
}

static void printLinks(const Report &report, llvm::raw_ostream &os) {
  os << "<h2>Where communication takes its time</h2>\n";
  Rows rows(
      2, {"part", "link", "collectives", "block", "bytes", "us", "held up, us"},
      os);
  for (const LinkSum &sum : sumByLink(report))
    rows.add({toString(sum.part).str(), toHTML(sum.link), toWhole(sum.count),
              toWhole(sum.blocking), toWhole(sum.sentBytes),
              toMicroseconds(sum.seconds), toMicroseconds(sum.heldSeconds)});
}

/// Time, bytes sent, bytes held and collectives.
static std::vector<std::string>
listMore(const std::optional<PlanFigures> &more) {
  if (!more)
    return {"-", "-", "-", "-"};
  std::string kinds;
  llvm::ListSeparator line("<br>");
  for (auto &[kind, count] : more->collectives)
    kinds += llvm::formatv("{0}{1} {2}", StringRef(line),
                           toSignedWhole(static_cast<double>(count)), kind);
  return {toSignedMicroseconds(more->seconds), toSignedWhole(more->sentBytes),
          toSignedWhole(more->parameterBytes), kinds.empty() ? "-" : kinds};
}

static void printWeights(const Alternatives &found, llvm::raw_ostream &os) {
  Rows rows(1,
            {"weight, where it lies, and the next best", "us", "bytes sent",
             "bytes held", "collectives"},
            os);
  for (const WeightAlternative &weight : found.weights) {
    std::string text = "<b>" + toHTML(weight.name) + "</b>";
    if (weight.count > 1)
      text += " x " + toWhole(weight.count);
    text += "<br><span class=\"faint\">" + toHTML(weight.layout) +
            "</span><br>" +
            (weight.more ? toHTML(weight.otherLayout)
                         : "no other meets the constraints");
    std::vector<std::string> cells = {text};
    llvm::append_range(cells, listMore(weight.more));
    rows.add(std::move(cells));
  }
}

static void printConstraints(const Alternatives &found, llvm::raw_ostream &os) {
  os << "<p>Each constraint given up alone:</p>\n";
  Rows rows(1, {"plan", "us", "bytes sent", "bytes held", "collectives"}, os);
  for (const ConstraintAlternative &constraint : found.constraints) {
    std::vector<std::string> cells = {toHTML(describeLifting(constraint)) +
                                      (constraint.more ? "" : ": no plan")};
    llvm::append_range(cells, listMore(constraint.more));
    rows.add(std::move(cells));
  }
}

static void printAlternatives(const AlternativeFigures &figures,
                              llvm::raw_ostream &os) {
  if (!figures.found && figures.missing.empty())
    return;
  os << "<h2>Alternatives</h2>\n";
  if (!figures.found) {
    os << "<p>None: " << toHTML(figures.missing) << "</p>\n";
    return;
  }
  const Alternatives &found = *figures.found;
  os << "<p class=\"faint\">Planned again on machine " << toHTML(found.machine)
     << ", each weight otherwise in all its layers; what the cheapest such "
        "plan "
        "takes more than this one, which takes "
     << toMicroseconds(found.seconds) << " us if nothing overlaps.</p>\n";
  printWeights(found, os);
  if (!found.constraints.empty())
    printConstraints(found, os);
}

static void printOther(const Report &report, const Report &other,
                       llvm::raw_ostream &os) {
  os << "<h2>Another plan</h2>\n<p>B: machine " << toHTML(other.machine)
     << ", mesh " << toHTML(describeMesh(other.mesh)) << "</p>\n";
  Rows rows(1, {"", "A, this one", "B", "B - A", "B / A - 1"}, os);
  for (std::vector<std::string> &row :
       tabulate(compareReports(report, other))) {
    row[0] = toHTML(row[0]);
    rows.add(std::move(row));
  }
}

void tp::printHTML(const Report &report, const Report *other,
                   llvm::raw_ostream &os) {
  printHead("Cost of a step", os);
  printSummary(report, os);
  printFunctions(report, os);
  printMemory(report, os);
  printLayer(report, os);
  printAlternatives(report.alternatives, os);
  printLinks(report, os);
  printWaits(report, os);
  if (other)
    printOther(report, *other, os);
  os << "</body>\n</html>\n";
}
