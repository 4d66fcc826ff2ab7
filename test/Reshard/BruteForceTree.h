// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_TEST_RESHARD_BRUTEFORCETREE_H
#define TP_TEST_RESHARD_BRUTEFORCETREE_H

#include "tp/Reshard/Tree.h"
#include <random>
#include <set>

namespace tp {

/// A random table in one of several styles, closed under shortest paths: widely
/// spread prices, few different ones (many ties), free moves, missing ways,
/// and prices that differ only in their less important fields.
inline DistanceTable makeRandomTable(std::mt19937 &random,
                                     unsigned numLayouts) {
  auto draw = [&](unsigned bound) { return unsigned(random() % bound); };
  unsigned style = draw(5);
  DistanceTable table;
  table.numLayouts = numLayouts;
  for (unsigned from = 0; from < numLayouts; ++from)
    for (unsigned to = 0; to < numLayouts; ++to) {
      PriceFields fields;
      fields.time = style == 0 ? 1 + draw(1000000) : 1 + draw(3);
      if (style == 2 && draw(3) == 0)
        fields.time = 0;
      if (style == 4)
        fields = {7, draw(2), draw(3), draw(2)};
      Price price = *Price::get(fields);
      if (style == 3 && draw(3) == 0)
        price = Price::infinite();
      table.entries.push_back(from == to ? Price() : price);
    }
  for (unsigned via = 0; via < numLayouts; ++via)
    for (unsigned from = 0; from < numLayouts; ++from)
      for (unsigned to = 0; to < numLayouts; ++to)
        table.entries[from * numLayouts + to] = std::min(
            table.at(from, to), table.at(from, via) + table.at(via, to));
  return table;
}

/// The cheapest way to hang all of `nodes` under `root`: every choice of a
/// parent for each node, those with a cycle left out.
inline Price spanByBruteForce(const DistanceTable &table, unsigned root,
                              const std::vector<unsigned> &nodes) {
  size_t n = nodes.size();
  // parents[i] == n stands for the root.
  std::vector<size_t> parents(n, 0);
  Price best = Price::infinite();
  while (true) {
    Price cost;
    bool isTree = true;
    for (size_t i = 0; i < n && isTree; ++i) {
      size_t above = i, length = 0;
      while (above != n && length++ <= n)
        above = parents[above];
      isTree = above == n;
      cost += table.at(parents[i] == n ? root : nodes[parents[i]], nodes[i]);
    }
    if (isTree)
      best = std::min(best, cost);
    size_t digit = 0;
    while (digit < n && ++parents[digit] > n)
      parents[digit++] = 0;
    if (digit == n)
      return best;
  }
}

/// The cheapest tree by trying every set of layouts to pass through.
inline Price treeByBruteForce(const DistanceTable &table, unsigned root,
                              const std::vector<unsigned> &targets) {
  std::set<unsigned> wanted(targets.begin(), targets.end());
  wanted.erase(root);
  if (wanted.empty())
    return Price();
  std::vector<unsigned> others;
  for (unsigned layout = 0; layout < table.numLayouts; ++layout)
    if (layout != root && !wanted.count(layout))
      others.push_back(layout);
  Price best = Price::infinite();
  for (unsigned chosen = 0; chosen >> others.size() == 0; ++chosen) {
    std::vector<unsigned> nodes(wanted.begin(), wanted.end());
    for (size_t i = 0; i < others.size(); ++i)
      if (chosen >> i & 1)
        nodes.push_back(others[i]);
    best = std::min(best, spanByBruteForce(table, root, nodes));
  }
  return best;
}

} // namespace tp

#endif // TP_TEST_RESHARD_BRUTEFORCETREE_H
