// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The drawings of the page. Colours are classes of its style sheet.

#ifndef TP_REPORT_SVG_H
#define TP_REPORT_SVG_H

#include "tp/Report/Report.h"

namespace tp {

/// Names come from outside: nothing in them is markup, nor unprintable.
std::string toHTML(llvm::StringRef text);

/// The class of a layout's colour: "whole", "split0" to "split3" by the first
/// dimension that is split, "sum" for what is unreduced.
std::string getColour(const LayerNode &node);

/// Two rows over time: operations and collectives.
void drawTimeline(const Timeline &timeline, llvm::raw_ostream &os);

/// Operations in rows, each below what it reads; lines are values.
void drawGraph(const LayerGraph &graph, llvm::raw_ostream &os);

} // namespace tp

#endif // TP_REPORT_SVG_H
