// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REPORT_COMPARE_H
#define TP_REPORT_COMPARE_H

#include "tp/Report/Report.h"

namespace tp {

/// One figure of two reports, in seconds, bytes or a number.
struct ComparedFigure {
  /// As "held up, layers, nvlink"; the key names the unit.
  std::string title, key;
  /// In which text writes it: "us", "GB", or none.
  llvm::StringRef unit;
  double first, second;
};

std::vector<ComparedFigure> compareReports(const Report &first,
                                           const Report &second);

/// For each figure that is not 0 in both: title, both, difference, relative
/// difference.
std::vector<std::vector<std::string>>
tabulate(llvm::ArrayRef<ComparedFigure> figures);

} // namespace tp

#endif // TP_REPORT_COMPARE_H
