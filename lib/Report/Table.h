// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Lines and tables of text, and how numbers are written there.

#ifndef TP_REPORT_TABLE_H
#define TP_REPORT_TABLE_H

#include "tp/Report/Report.h"

namespace tp {

/// Names come from outside: what does not print is escaped.
std::string toPrintable(llvm::StringRef text);

/// Cut at 100 columns.
void printLine(llvm::raw_ostream &os, llvm::StringRef line);

/// Columns as wide as what they hold; the first `numLeft` are flush left. A
/// note is a line below its row.
class Table {
public:
  Table(unsigned numLeft, std::vector<std::string> head) : numLeft(numLeft) {
    addRow(std::move(head));
  }

  void addRow(std::vector<std::string> cells, std::string note = "");
  void print(llvm::raw_ostream &os) const;

private:
  unsigned numLeft;
  std::vector<size_t> widths;
  std::vector<std::pair<std::vector<std::string>, std::string>> rows;
};

/// Three decimals; two digits with an exponent where those would be zero.
std::string toDecimal(double value);

/// A number of things, to the unit, with commas.
std::string toWhole(double value);
std::string toWhole(int64_t value);
std::string toWhole(uint64_t value);

/// "41.300 %".
std::string toPercent(double share);

/// Which pairs of attention count, as ", all pairs of attention"; nothing where
/// that makes no difference.
std::string describeConvention(const Report &report, FlopConvention convention);

/// "matmul o_proj".
std::string describe(const Place &place);

/// "tp=8, dp=2" in the order of the mesh; "none" for no mesh.
std::string describeMesh(MeshAttr mesh);

/// Bytes in the units of manufacturers and in those of operating systems.
inline double toGB(uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }
inline double toGiB(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

/// A row of the memory ledger.
struct MemoryRow {
  /// As "KV cache" and as the JSON field "kv_cache".
  llvm::StringRef title, key;
  uint64_t bytes;
  /// Whether the total counts it.
  bool isCounted;
};
llvm::SmallVector<MemoryRow> listMemory(const Report &report);

/// Microseconds or bytes with their sign: "+1.500", "-2", "0".
std::string toSignedMicroseconds(double seconds);
std::string toSignedWhole(double value);

/// What a constraint is given up for: "weights=free in place of
/// weights=stationary", "without the pins".
std::string describeLifting(const ConstraintAlternative &constraint);

/// Collectives of one part of the step over one kind of link.
struct LinkSum {
  StepPart part;
  std::string link;
  int64_t count = 0, blocking = 0;
  double sentBytes = 0, seconds = 0, heldSeconds = 0;
};
/// In the order of the step's parts; those that communicate.
std::vector<LinkSum> sumByLink(const Report &report);

} // namespace tp

#endif // TP_REPORT_TABLE_H
