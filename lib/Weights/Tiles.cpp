// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/Tiles.h"
#include "tp/Weights/WeightUses.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace tp;

namespace {

/// A run of levels of a dimension of the weight: there are `major` of them, and
/// each has `size` parts. Of what was added to the weight, `dim` is nothing.
struct Piece {
  std::optional<unsigned> dim;
  int64_t major = 1, size = 1;

  auto operator<=>(const Piece &) const = default;
};

/// The dimensions of a value in pieces of those of the weight, major to minor.
using PieceDims = std::vector<std::vector<Piece>>;

/// Follows a weight up to what reads it.
class TileFinder {
public:
  TileFinder(const Graph &graph, const std::vector<bool> &isContracted)
      : graph(graph), isContracted(isContracted) {}

  std::vector<TiledDim> find(unsigned value) &&;

private:
  void visit(unsigned value, PieceDims pieces);
  void enter(unsigned node, unsigned operand, const PieceDims &pieces);
  void match(const ShardingRule &rule, ArrayRef<unsigned> factors,
             ArrayRef<Piece> pieces, std::vector<std::vector<Piece>> &ofFactor);
  void addBorder(const Piece &piece, int64_t tiles);
  void keepWhole(ArrayRef<Piece> pieces);

  const Graph &graph;
  const std::vector<bool> &isContracted;
  std::vector<TiledDim> dims;
  SmallVector<std::pair<unsigned, PieceDims>> todo;
  /// What was ever there: a value may be reached on several ways.
  std::set<std::pair<unsigned, PieceDims>> seen;
};

} // namespace

void TileFinder::addBorder(const Piece &piece, int64_t tiles) {
  if (!piece.dim || tiles == 1 || tiles == dims[*piece.dim].size)
    return;
  TiledDim &dim = dims[*piece.dim];
  if (!llvm::is_contained(dim.tiles, tiles))
    dim.tiles.push_back(tiles);
}

/// Nothing of these pieces may be split.
void TileFinder::keepWhole(ArrayRef<Piece> pieces) {
  for (const Piece &piece : pieces) {
    if (!piece.dim || piece.size == 1)
      continue;
    int64_t &most = dims[*piece.dim].most;
    most = most == 0 ? piece.major : std::min(most, piece.major);
  }
}

/// Deals the pieces of a dimension to its factors. Where both end, tiles do;
/// where they do not meet again, the rest stays whole.
void TileFinder::match(const ShardingRule &rule, ArrayRef<unsigned> factors,
                       ArrayRef<Piece> pieces,
                       std::vector<std::vector<Piece>> &ofFactor) {
  SmallVector<Piece> left(pieces);
  size_t next = 0;
  for (unsigned factor : factors) {
    int64_t size = rule.factors[factor].size;
    Piece last;
    while (size != 1) {
      while (next < left.size() && left[next].size == 1)
        ++next;
      int64_t shared = next < left.size() ? std::gcd(left[next].size, size) : 1;
      if (shared == 1)
        return keepWhole(
            ArrayRef(left).drop_front(std::min(next, left.size())));
      Piece &piece = left[next];
      ofFactor[factor].push_back({piece.dim, piece.major, shared});
      piece = {piece.dim, piece.major * shared, piece.size / shared};
      size /= shared;
      last = piece;
    }
    if (rule.factors[factor].kind != FactorKind::Whole)
      addBorder(last, last.major);
  }
}

void TileFinder::visit(unsigned value, PieceDims pieces) {
  auto [entry, isNew] = seen.insert({value, std::move(pieces)});
  if (isNew)
    todo.push_back(*entry);
}

/// Into an operation: what reads the weight, or what it still is after it.
void TileFinder::enter(unsigned node, unsigned operand,
                       const PieceDims &pieces) {
  const GraphNode &info = graph.nodes[node];
  bool isCarried = llvm::is_contained(info.carried, operand) &&
                   isContracted[info.results[0]];
  if (info.kind == GraphNode::Passage && isCarried)
    visit(info.results[0], pieces);
  if (info.kind != GraphNode::Operation)
    return;
  const ShardingRule &rule = *info.rule;
  if (!isCarried && !isContractedDim(rule, operand))
    return;
  std::vector<std::vector<Piece>> ofFactor(rule.factors.size());
  for (auto [factors, of] : llvm::zip_equal(rule.operands[operand], pieces))
    match(rule, factors, of, ofFactor);
  if (!isCarried)
    return;
  // What is only a part of a weight is not a matter of tiles.
  bool isPart = graph.values[info.results[0]].numStored <
                graph.values[info.operands[operand]].numStored;
  for (auto [factor, of] : llvm::zip_equal(rule.factors, ofFactor))
    if (factor.kind == FactorKind::Whole && !isPart)
      keepWhole(of);
  PieceDims results;
  for (const DimFactors &factors : rule.results[0]) {
    std::vector<Piece> &dim = results.emplace_back();
    for (unsigned factor : factors) {
      int64_t size = 1;
      for (const Piece &piece : ofFactor[factor])
        size *= piece.size;
      llvm::append_range(dim, ofFactor[factor]);
      // A dimension that is added, cut, or not followed.
      if (size != rule.factors[factor].size)
        dim.push_back({std::nullopt, 1, rule.factors[factor].size / size});
    }
  }
  visit(info.results[0], std::move(results));
}

std::vector<TiledDim> TileFinder::find(unsigned value) && {
  ArrayRef<int64_t> shape = graph.values[value].type.getShape();
  PieceDims start;
  for (auto [index, size] : llvm::enumerate(shape)) {
    dims.push_back({size, {}, 0});
    start.push_back({{static_cast<unsigned>(index), 1, size}});
  }
  if (llvm::is_contained(shape, 0))
    return std::move(dims);
  visit(value, std::move(start));
  while (!todo.empty()) {
    auto [current, pieces] = todo.pop_back_val();
    for (auto [node, operand] : graph.values[current].consumers)
      enter(node, operand, pieces);
  }
  for (TiledDim &dim : dims)
    llvm::sort(dim.tiles);
  return std::move(dims);
}

std::vector<TiledDim> tp::findTiles(const Graph &graph,
                                    const std::vector<bool> &isContracted,
                                    unsigned value) {
  return TileFinder(graph, isContracted).find(value);
}

//===- Ranks --------------------------------------------------------------===//

/// Whether a part of `size` may follow parts of `before` ranks on a dimension:
/// it lies on one side of each border of tiles.
static bool mayFollow(const TiledDim &dim, int64_t before, int64_t size) {
  int64_t ranks = before * size;
  if (dim.size % ranks != 0 || (dim.most != 0 && dim.most % ranks != 0))
    return false;
  return llvm::all_of(dim.tiles, [&](int64_t tiles) {
    return before >= tiles ? before % tiles == 0 : tiles % ranks == 0;
  });
}

static bool canPlace(ArrayRef<TiledDim> dims, SmallVector<int64_t> &before,
                     SmallVector<int64_t> &parts) {
  if (parts.empty())
    return true;
  for (size_t place = 0; place < parts.size(); ++place) {
    int64_t size = parts[place];
    parts.erase(parts.begin() + place);
    for (auto [dim, ranks] : llvm::zip_equal(dims, before)) {
      if (!mayFollow(dim, ranks, size))
        continue;
      ranks *= size;
      if (canPlace(dims, before, parts))
        return true;
      ranks /= size;
    }
    parts.insert(parts.begin() + place, size);
  }
  return false;
}

bool tp::canSplit(ArrayRef<TiledDim> dims, ArrayRef<int64_t> parts) {
  SmallVector<int64_t> before(dims.size(), 1), left(parts);
  return canPlace(dims, before, left);
}

bool tp::divides(ArrayRef<int64_t> parts, ArrayRef<int64_t> shape) {
  SmallVector<TiledDim> dims;
  for (int64_t size : shape)
    dims.push_back({size, {}, 0});
  return canSplit(dims, parts);
}

/// A number of tiles of the dimension that does not fit the ranks, though they
/// divide the dimension; 0 if there is none.
static int64_t findMisfit(const TiledDim &dim, int64_t ranks) {
  if (dim.size % ranks != 0)
    return 0;
  auto found = llvm::find_if(dim.tiles, [&](int64_t tiles) {
    return tiles % ranks != 0 && ranks % tiles != 0;
  });
  return found == dim.tiles.end() ? 0 : *found;
}

bool tp::mayDealTiles(ArrayRef<TiledDim> dims, int64_t ranks) {
  return llvm::any_of(
      dims, [&](const TiledDim &dim) { return findMisfit(dim, ranks) != 0; });
}

std::string tp::describeTileMisfit(ArrayRef<TiledDim> dims, int64_t ranks) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator("; ");
  for (auto [index, dim] : llvm::enumerate(dims)) {
    os << separator << "dimension " << index << " of " << dim.size;
    if (dim.size % ranks != 0)
      os << " is no multiple of " << ranks;
    else if (int64_t tiles = findMisfit(dim, ranks))
      os << " is read in " << tiles << " tiles, and neither of " << tiles
         << " and " << ranks << " divides the other";
    else if (dim.most == 1)
      os << " is read whole";
    else if (dim.most != 0 && dim.most % ranks != 0)
      os << " is read in " << dim.most << " tiles, each of them whole";
    else
      os << " is read in tiles that parts of " << ranks << " ranks would cut";
  }
  return text;
}
