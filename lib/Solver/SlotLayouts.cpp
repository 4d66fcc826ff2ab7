// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Expansion.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace tp;
using llvm::ArrayRef;

std::vector<unsigned> tp::findSlotLayouts(const DistanceTable &table,
                                          ArrayRef<unsigned> roots,
                                          ArrayRef<unsigned> targets) {
  std::vector<unsigned> layouts;
  for (unsigned layout = 0; layout < table.numLayouts; ++layout) {
    bool isReached = llvm::any_of(roots, [&](unsigned root) {
      return table.at(root, layout).isFinite();
    });
    bool isUseful = llvm::any_of(targets, [&](unsigned target) {
      return table.at(layout, target).isFinite();
    });
    bool repeats = llvm::any_of(layouts, [&](unsigned earlier) {
      return table.at(earlier, layout) == Price() &&
             table.at(layout, earlier) == Price();
    });
    if (isReached && isUseful && !repeats)
      layouts.push_back(layout);
  }
  // Nothing can be reached: one layout is enough to say so.
  if (layouts.empty())
    layouts.push_back(0);
  return layouts;
}

std::optional<std::vector<std::vector<unsigned>>>
tp::findLayoutSets(ArrayRef<ArrayRef<unsigned>> targets, size_t limit) {
  std::set<std::vector<unsigned>> sets = {{}};
  for (ArrayRef<unsigned> wanted : targets) {
    std::set<std::vector<unsigned>> grown;
    for (const std::vector<unsigned> &set : sets)
      for (unsigned layout : wanted) {
        std::vector<unsigned> larger = set;
        auto it = llvm::lower_bound(larger, layout);
        if (it == larger.end() || *it != layout)
          larger.insert(it, layout);
        grown.insert(std::move(larger));
        if (grown.size() > limit)
          return std::nullopt;
      }
    sets = std::move(grown);
  }
  return std::vector<std::vector<unsigned>>(sets.begin(), sets.end());
}
