// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/LocalShape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace tp;

int64_t tp::getCoordinate(int64_t rank, const AxisPart &part, MeshAttr mesh) {
  int64_t axisSize = mesh.getAxes()[part.axis].getSize();
  int64_t coordinate = (rank / mesh.getStride(part.axis)) % axisSize;
  return coordinate / (axisSize / (part.pre * part.size)) % part.size;
}

Range tp::getRange(int64_t size, const DimLayout &dim, MeshAttr mesh,
                   int64_t rank) {
  Range units{0, size / dim.unit};
  for (const AxisPart &part : dim.parts) {
    int64_t coordinate = getCoordinate(rank, part, mesh);
    int64_t base = units.size / part.size, extra = units.size % part.size;
    units.offset += coordinate * base + std::min(coordinate, extra);
    units.size = base + (coordinate < extra);
  }
  return {units.offset * dim.unit, units.size * dim.unit};
}

SmallVector<Range> tp::getRanges(ArrayRef<int64_t> shape, const Layout &layout,
                                 MeshAttr mesh, int64_t rank) {
  SmallVector<Range> ranges;
  for (auto [size, dim] : llvm::zip_equal(shape, layout.dims))
    ranges.push_back(getRange(size, dim, mesh, rank));
  return ranges;
}

SmallVector<int64_t> tp::getLocalShape(ArrayRef<int64_t> shape,
                                       const Layout &layout, MeshAttr mesh,
                                       int64_t rank) {
  return llvm::map_to_vector(getRanges(shape, layout, mesh, rank),
                             [](const Range &range) { return range.size; });
}

bool tp::isEven(int64_t size, const DimLayout &dim) {
  int64_t units = size / dim.unit;
  for (const AxisPart &part : dim.parts) {
    if (units % part.size != 0)
      return false;
    units /= part.size;
  }
  return true;
}

bool tp::isEven(ArrayRef<int64_t> shape, const Layout &layout) {
  for (auto [size, dim] : llvm::zip_equal(shape, layout.dims))
    if (!isEven(size, dim))
      return false;
  return true;
}

int64_t tp::getLargestShard(int64_t size, const DimLayout &dim) {
  int64_t units = size / dim.unit;
  for (const AxisPart &part : dim.parts)
    units = llvm::divideCeil(units, part.size);
  return units * dim.unit;
}

uint64_t tp::countLargestShard(ArrayRef<int64_t> shape, const Layout &layout) {
  uint64_t elements = 1;
  for (auto [size, dim] : llvm::zip_equal(shape, layout.dims))
    elements = llvm::SaturatingMultiply<uint64_t>(elements,
                                                  getLargestShard(size, dim));
  return elements;
}

FailureOr<SmallVector<SmallVector<int64_t>>>
tp::getGroups(ArrayRef<AxisPart> parts, MeshAttr mesh) {
  int64_t numRanks = mesh.getNumRanks();
  if (numRanks > maxTableRanks)
    return failure();
  // A group is known by its member at coordinate 0 of every part.
  auto placeInGroup = [&](int64_t rank) {
    int64_t place = 0, first = rank;
    for (const AxisPart &part : parts) {
      int64_t coordinate = getCoordinate(rank, part, mesh);
      int64_t axisSize = mesh.getAxes()[part.axis].getSize();
      place = place * part.size + coordinate;
      first -= coordinate * (axisSize / (part.pre * part.size)) *
               mesh.getStride(part.axis);
    }
    return std::pair(first, place);
  };
  std::map<int64_t, SmallVector<int64_t>> groups;
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    auto [first, place] = placeInGroup(rank);
    SmallVector<int64_t> &group = groups[first];
    group.resize(tp::numRanks(parts));
    group[place] = rank;
  }
  SmallVector<SmallVector<int64_t>> table;
  for (auto &[first, group] : groups)
    table.push_back(std::move(group));
  return table;
}
