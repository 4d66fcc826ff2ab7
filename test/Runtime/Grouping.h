// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks in groups, and tensors whose elements say whose they are.

#ifndef TP_TEST_RUNTIME_GROUPING_H
#define TP_TEST_RUNTIME_GROUPING_H

#include "RunRanks.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace tp::test {

using Ints = std::vector<int64_t>;

/// Ranks arranged in groups: the table, row by row.
struct Grouping {
  int64_t numGroups, groupSize;
  Ints table;

  int64_t numRanks() const { return numGroups * groupSize; }
  /// The row of a rank, and its place in it.
  std::pair<int64_t, int64_t> place(int64_t rank) const {
    auto at = std::ranges::find(table, rank) - table.begin();
    return {at / groupSize, at % groupSize};
  }
};

/// Flat groups of 1, 2, 3, 4 and 6, the two axes of 2x2, 2x3 and 3x2 meshes,
/// and orders that are not ascending.
inline const std::vector<Grouping> groupings = {
    {1, 1, {0}},
    {2, 1, {0, 1}},
    {1, 2, {0, 1}},
    {1, 3, {0, 1, 2}},
    {1, 4, {0, 1, 2, 3}},
    {2, 2, {0, 1, 2, 3}},
    {2, 2, {0, 2, 1, 3}},
    {1, 6, {0, 1, 2, 3, 4, 5}},
    {2, 3, {0, 1, 2, 3, 4, 5}},
    {3, 2, {0, 3, 1, 4, 2, 5}},
    {2, 3, {4, 0, 2, 1, 5, 3}},
    {1, 3, {2, 0, 1}},
};

inline int64_t volume(const Ints &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// Index of each dimension of element `flat`.
inline Ints unravel(int64_t flat, const Ints &shape) {
  Ints index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d])
    index[d] = flat % shape[d];
  return index;
}

inline int64_t ravel(const Ints &index, const Ints &shape) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + index[d];
  return flat;
}

/// The indices [begin, begin + size) of a tensor along a dimension.
inline Ints slicePiece(const Ints &tensor, const Ints &shape, size_t dim,
                       int64_t begin, int64_t size) {
  Ints local = shape;
  local[dim] = size;
  Ints result(static_cast<size_t>(volume(local)));
  for (size_t i = 0; i < result.size(); ++i) {
    Ints index = unravel(static_cast<int64_t>(i), local);
    index[dim] += begin;
    result[i] = tensor[static_cast<size_t>(ravel(index, shape))];
  }
  return result;
}

/// A tensor that belongs to one group: no two elements of all groups are equal.
inline Ints codedTensor(const Ints &shape, int64_t code) {
  Ints tensor(static_cast<size_t>(volume(shape)));
  std::iota(tensor.begin(), tensor.end(), 1000003 * (code + 1));
  return tensor;
}

/// Runs `body(rank, group, position)` on the ranks of a grouping, which must
/// not fail.
template <typename Body> void onRanks(const Grouping &grouping, Body body) {
  Errors errors = runRanks(grouping.numRanks(), 60, [&](int64_t rank) {
    auto [group, position] = grouping.place(rank);
    body(rank, group, position);
  });
  for (const auto &error : errors)
    EXPECT_EQ(error, std::nullopt);
}

inline int64_t product(const Ints &shape, size_t begin, size_t end) {
  return volume(Ints(shape.begin() + static_cast<int64_t>(begin),
                     shape.begin() + static_cast<int64_t>(end)));
}

} // namespace tp::test

#endif // TP_TEST_RUNTIME_GROUPING_H
