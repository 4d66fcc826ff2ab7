// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Reference/Shards.h"
#include "tp/Reference/Field.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace tp;

//===- Where a shard lies -------------------------------------------------===//

std::optional<int64_t> tp::findCoordinate(int64_t rank, AxisRefAttr axis,
                                          MeshAttr mesh) {
  // The last axis is the least significant digit of the rank.
  for (MeshAxisAttr candidate : llvm::reverse(mesh.getAxes())) {
    int64_t size = candidate.getSize(), digit = rank % size;
    rank /= size;
    if (candidate.getName() != axis.getName())
      continue;
    if (axis.isWhole())
      return digit;
    int64_t pre = axis.getPreSize(), part = axis.getSize();
    if (pre < 1 || part < 1 || size % pre != 0 || size / pre % part != 0)
      return std::nullopt;
    return digit / (size / pre / part) % part;
  }
  return std::nullopt;
}

/// Number of ranks along an axis that findCoordinate resolves.
static int64_t countAlong(AxisRefAttr axis, MeshAttr mesh) {
  if (!axis.isWhole())
    return axis.getSize();
  auto named = llvm::find_if(mesh.getAxes(), [&](MeshAxisAttr candidate) {
    return candidate.getName() == axis.getName();
  });
  return named->getSize();
}

/// Piece number `place` of `count`: the first `rest` are one longer.
static Span deal(Span whole, int64_t count, int64_t place) {
  int64_t least = whole.size / count, rest = whole.size % count;
  int64_t longer = std::min(place, rest), shorter = place - longer;
  return {whole.offset + longer * (least + 1) + shorter * least,
          place < rest ? least + 1 : least};
}

std::optional<Span> tp::findSpan(int64_t size, DimShardingAttr dim,
                                 MeshAttr mesh, int64_t rank) {
  int64_t unit = dim.getUnit();
  if (unit < 1 || size % unit != 0)
    return std::nullopt;
  Span groups{0, size / unit};
  for (AxisRefAttr axis : dim.getAxes()) {
    std::optional<int64_t> place = findCoordinate(rank, axis, mesh);
    if (!place)
      return std::nullopt;
    groups = deal(groups, countAlong(axis, mesh), *place);
  }
  return Span{groups.offset * unit, groups.size * unit};
}

std::optional<SmallVector<Span>> tp::findShard(ArrayRef<int64_t> shape,
                                               ShardingAttr sharding,
                                               MeshAttr mesh, int64_t rank) {
  SmallVector<Span> shard;
  if (!sharding) {
    for (int64_t size : shape)
      shard.push_back({0, size});
    return shard;
  }
  if (!mesh || sharding.getDims().size() != shape.size())
    return std::nullopt;
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.getDims())) {
    std::optional<Span> span = findSpan(size, dim, mesh, rank);
    if (!span)
      return std::nullopt;
    shard.push_back(*span);
  }
  return shard;
}

//===- Borders ------------------------------------------------------------===//

/// Adds the borders of what the axes that are not in `used` make of `whole`.
static void addBorders(Span whole, MeshAttr mesh, SmallVectorImpl<bool> &used,
                       std::set<int64_t> &borders) {
  borders.insert(whole.offset);
  if (whole.size <= 1)
    return;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes())) {
    if (used[index])
      continue;
    used[index] = true;
    for (int64_t count = 2; count <= axis.getSize(); ++count) {
      // A part of an axis has a divisor of its ranks. What lies behind the last
      // element is no border.
      int64_t pieces =
          axis.getSize() % count == 0 ? std::min(count, whole.size) : 0;
      for (int64_t place = 0; place < pieces; ++place)
        addBorders(deal(whole, count, place), mesh, used, borders);
    }
    used[index] = false;
  }
}

SmallVector<int64_t> tp::findBorders(int64_t size, MeshAttr mesh) {
  std::set<int64_t> borders = {0, size};
  SmallVector<bool> used(mesh.getAxes().size(), false);
  addBorders({0, size}, mesh, used, borders);
  return SmallVector<int64_t>(borders.begin(), borders.end());
}

SmallVector<int64_t> tp::findBorders(int64_t size, DimShardingAttr dim,
                                     MeshAttr mesh) {
  std::set<int64_t> borders = {0, size};
  int64_t numRanks = 1;
  for (MeshAxisAttr axis : mesh.getAxes())
    numRanks *= axis.getSize();
  for (int64_t rank = 0; rank < numRanks; ++rank)
    if (std::optional<Span> span = findSpan(size, dim, mesh, rank))
      borders.insert(span->offset);
  return SmallVector<int64_t>(borders.begin(), borders.end());
}

//===- Shapes -------------------------------------------------------------===//

static std::string describe(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os);
  return text + "]";
}

std::string tp::describeIndex(ArrayRef<int64_t> shape, int64_t at) {
  SmallVector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = at % shape[dim];
    at /= shape[dim];
  }
  return describe(index);
}

/// The pieces of dimension `dim` that the ranks hold, one after the other, do
/// not reach its end: names the first row that is missing.
static std::string findMissingRow(const Spread &spread, unsigned dim,
                                  ArrayRef<SmallVector<Span>> shards,
                                  ArrayRef<SmallVector<int64_t>> shapes) {
  std::map<std::pair<int64_t, int64_t>, int64_t> held;
  for (auto [shard, shape] : llvm::zip_equal(shards, shapes))
    held[{shard[dim].offset, shard[dim].size}] = shape[dim];
  int64_t reached = 0;
  SmallVector<int64_t> wanted, given;
  for (auto [span, size] : held) {
    wanted.push_back(span.second);
    given.push_back(size);
    reached += size;
  }
  if (reached >= spread.shape[dim])
    return "";
  return ("no rank holds row " + Twine(reached) + " of dimension " +
          Twine(dim) + " of `" + spread.name + "`: the pieces have " +
          describe(given) + " rows, not " + describe(wanted))
      .str();
}

std::string tp::findShapeFault(const Spread &spread,
                               ArrayRef<SmallVector<int64_t>> shapes) {
  std::vector<SmallVector<Span>> shards;
  for (auto [rank, shape] : llvm::enumerate(shapes)) {
    auto shard = findShard(spread.shape, spread.sharding, spread.mesh, rank);
    if (!shard)
      return ("the layout of `" + spread.name + "` does not fit its mesh")
          .str();
    if (shape.size() != shard->size())
      return ("rank " + Twine(rank) + " holds a tensor of " +
              Twine(shape.size()) + " dimensions of `" + spread.name +
              "`, which has " + Twine(shard->size()))
          .str();
    shards.push_back(std::move(*shard));
  }
  for (auto [rank, shape] : llvm::enumerate(shapes))
    for (auto [dim, span] : llvm::enumerate(shards[rank])) {
      if (shape[dim] == span.size)
        continue;
      std::string missing = findMissingRow(spread, dim, shards, shapes);
      if (!missing.empty())
        return missing;
      SmallVector<int64_t> wanted = llvm::map_to_vector(
          shards[rank], [](Span span) { return span.size; });
      return ("rank " + Twine(rank) + " holds " + describe(shape) + " of `" +
              spread.name + "` of shape " + describe(spread.shape) +
              ", its layout gives it " + describe(wanted))
          .str();
    }
  return "";
}

//===- Assembly -----------------------------------------------------------===//

namespace {

/// A whole tensor that parts are laid into.
template <class S> struct Table {
  TensorOf<S> whole;
  /// By element, the first rank that holds it, or -1.
  std::vector<int32_t> holder;

  explicit Table(const Spread &spread, const TensorOf<S> &like);
  /// The row-major position of the first element on which `part` differs from
  /// what an earlier rank holds, or -1.
  int64_t lay(const TensorOf<S> &part, ArrayRef<Span> shard, int32_t rank);
};

} // namespace

template <class S>
Table<S>::Table(const Spread &spread, const TensorOf<S> &like) {
  int64_t size = 1;
  for (int64_t extent : spread.shape)
    size *= extent;
  whole.shape.assign(spread.shape.begin(), spread.shape.end());
  whole.isInteger = like.isInteger;
  whole.degree = {0, 0};
  whole.values.resize(like.isInteger ? 0 : size);
  whole.integers.resize(like.isInteger ? size : 0);
  holder.assign(size, -1);
}

/// NaN is what NaN is on another rank.
static bool areSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
static bool areSame(Field a, Field b) { return a == b; }
static bool areSame(int64_t a, int64_t b) { return a == b; }

template <class S>
int64_t Table<S>::lay(const TensorOf<S> &part, ArrayRef<Span> shard,
                      int32_t rank) {
  SmallVector<int64_t> strides = rowMajorStrides(whole.shape);
  int64_t offset = 0, next = 0, different = -1;
  for (auto [span, stride] : llvm::zip_equal(shard, strides))
    offset += span.offset * stride;
  auto layOne = [&](auto &elements, auto value, int64_t at) {
    if (holder[at] < 0) {
      holder[at] = rank;
      elements[at] = value;
    } else if (different < 0 && !areSame(elements[at], value)) {
      different = at;
    }
  };
  walkStrided(part.shape, strides, offset, [&](int64_t at) {
    if (whole.isInteger)
      layOne(whole.integers, part.integers[next], at);
    else
      layOne(whole.values, part.values[next], at);
    ++next;
  });
  whole.degree = degreeOfSum(whole.degree, part.degree);
  return different;
}

template <class S>
Assembled<S> tp::assemble(const Spread &spread,
                          ArrayRef<const TensorOf<S> *> parts) {
  Assembled<S> result;
  result.fault = findShapeFault(
      spread, llvm::map_to_vector(
                  parts, [](const TensorOf<S> *part) { return part->shape; }));
  if (!result.fault.empty())
    return result;
  Table<S> table(spread, *parts.front());
  for (auto [rank, part] : llvm::enumerate(parts)) {
    auto shard = findShard(spread.shape, spread.sharding, spread.mesh, rank);
    int64_t at = table.lay(*part, *shard, rank);
    if (at < 0)
      continue;
    result.fault = ("ranks " + Twine(table.holder[at]) + " and " + Twine(rank) +
                    " hold different values of `" + spread.name + "` at " +
                    describeIndex(spread.shape, at))
                       .str();
    return result;
  }
  auto missing = llvm::find(table.holder, -1);
  if (missing != table.holder.end())
    result.fault = ("no rank holds `" + spread.name + "` at " +
                    describeIndex(spread.shape, missing - table.holder.begin()))
                       .str();
  result.whole = std::move(table.whole);
  return result;
}

template Assembled<double> tp::assemble(const Spread &,
                                        ArrayRef<const TensorOf<double> *>);
template Assembled<Field> tp::assemble(const Spread &,
                                       ArrayRef<const TensorOf<Field> *>);

int64_t tp::findHolder(const Spread &spread, int64_t numRanks, int64_t at) {
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    auto shard = findShard(spread.shape, spread.sharding, spread.mesh, rank);
    if (!shard)
      return -1;
    int64_t rest = at;
    bool holds = true;
    for (size_t dim = spread.shape.size(); dim-- > 0;) {
      int64_t index = rest % spread.shape[dim];
      rest /= spread.shape[dim];
      Span span = (*shard)[dim];
      holds &= index >= span.offset && index < span.offset + span.size;
    }
    if (holds)
      return rank;
  }
  return -1;
}
