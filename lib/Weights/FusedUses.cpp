// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/FusedUses.h"
#include "tp/IR/FusedWeight.h"
#include "tp/IR/LocalShape.h"
#include <set>

using namespace mlir;
using namespace tp;

//===- Rows ---------------------------------------------------------------===//

/// The rows of a dimension with these factors, of which `factor` is restricted
/// to `block`.
static std::optional<RowBlock> rowsOf(const ShardingRule &rule,
                                      ArrayRef<unsigned> factors,
                                      unsigned factor, const RowBlock &block) {
  if (factors.size() == 1)
    return block;
  // Runs of runs are not written as one.
  if (block.count != 1)
    return std::nullopt;
  int64_t major = 1, minor = 1;
  bool isMajor = true;
  for (unsigned other : factors) {
    if (other == factor)
      isMajor = false;
    else
      (isMajor ? major : minor) *= rule.factors[other].size;
  }
  RowBlock rows = {block.from * minor, block.size * minor,
                   rule.factors[factor].size * minor, major};
  if (major == 1)
    rows.stride = rows.size;
  return rows;
}

std::optional<SmallVector<RowUse>>
tp::rowsOfOperands(Operation *op, unsigned dim, const RowBlock &block) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  std::optional<unsigned> factor = findRowFactor(op, rule, dim);
  if (!factor)
    return std::nullopt;
  SmallVector<RowUse> uses;
  for (auto [number, dims] : llvm::enumerate(rule.operands))
    for (auto [operandDim, factors] : llvm::enumerate(dims)) {
      if (!llvm::is_contained(factors, *factor))
        continue;
      std::optional<RowBlock> rows = rowsOf(rule, factors, *factor, block);
      if (!rows)
        return std::nullopt;
      uses.push_back({static_cast<unsigned>(number),
                      static_cast<unsigned>(operandDim), *rows});
    }
  if (uses.empty())
    return std::nullopt;
  return uses;
}

//===- Search -------------------------------------------------------------===//

namespace {

/// Rows of a value on the way.
struct Stop {
  OpOperand *use;
  unsigned dim;
  RowBlock block;
};

/// The way from a slice up to parameters.
struct Path {
  SmallVector<std::pair<BlockArgument, FusedUses::Rows>> parameters;
  SmallVector<Stop> stops;

  LogicalResult follow(OpOperand &use, unsigned dim, const RowBlock &block);
};

/// Finds what can be split. A slice is given up, with all others of its
/// parameters, until what is left fits together.
class Search {
public:
  explicit Search(ModuleOp module) : module(module) {}

  LogicalResult run();
  llvm::MapVector<SliceOp, FusedUses::Rows> slices;
  llvm::MapVector<SliceOp, Path> paths;
  llvm::MapVector<BlockArgument, FusedSplit> splits;

private:
  void findSlices();
  LogicalResult checkPins();
  /// One look at all that is left; whether anything had to be given up.
  bool refine();
  void collect();
  void passToCallers();
  std::optional<std::string> objectionTo(BlockArgument argument) const;
  bool isCovered(OpOperand &use) const;
  bool isTakenApart(Value value) const;
  void giveUp(BlockArgument argument, StringRef why);

  ModuleOp module;
  /// Uses on the way from a parameter to a slice.
  llvm::DenseSet<OpOperand *> covered;
  llvm::DenseSet<BlockArgument> givenUp;
};

} // namespace

static func::FuncOp calleeOf(func::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
}

LogicalResult Path::follow(OpOperand &start, unsigned dim,
                           const RowBlock &block) {
  SmallVector<Stop> todo = {{&start, dim, block}};
  std::set<std::tuple<void *, unsigned, RowBlock>> seen;
  while (!todo.empty()) {
    Stop stop = todo.pop_back_val();
    stops.push_back(stop);
    Value value = stop.use->get();
    if (!seen.insert({value.getAsOpaquePointer(), stop.dim, stop.block}).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      parameters.push_back({argument, {stop.dim, stop.block}});
      if (!isWholeParameter(argument))
        return failure();
      continue;
    }
    Operation *op = value.getDefiningOp();
    auto operands = rowsOfOperands(op, stop.dim, stop.block);
    if (!operands)
      return failure();
    for (const RowUse &row : llvm::reverse(*operands))
      todo.push_back({&op->getOpOperand(row.operand), row.dim, row.block});
  }
  return success();
}

/// The dimension in which a slice takes a part, if it is one.
static std::optional<FusedUses::Rows> rowsOf(SliceOp slice) {
  ArrayRef<int64_t> input = slice.getInput().getType().getShape();
  ArrayRef<int64_t> result = slice.getResult().getType().getShape();
  std::optional<FusedUses::Rows> rows;
  for (unsigned dim = 0; dim < input.size(); ++dim) {
    if (input[dim] == result[dim])
      continue;
    if (rows)
      return std::nullopt;
    int64_t size = result[dim];
    rows = {dim, {slice.getOffsets()[dim], size, size, 1}};
  }
  return rows;
}

/// One slice of a parameter itself reads a table (positions): nothing is fused
/// there.
static bool readsTable(SliceOp slice, unsigned dim) {
  return isa<BlockArgument>(slice.getInput()) &&
         countParts(slice.getInput(), dim) < 2;
}

void Search::findSlices() {
  module.walk([&](SliceOp slice) {
    std::optional<FusedUses::Rows> rows = rowsOf(slice);
    if (!rows || readsTable(slice, rows->dim))
      return;
    Path path;
    if (failed(path.follow(slice.getInputMutable(), rows->dim, rows->block)))
      return;
    slices[slice] = *rows;
    paths[slice] = path;
  });
}

/// Whether ranks get whole groups of the block, so that each has its share of
/// it and the dimension that is cut lies whole on every rank. One run is no
/// group of anything: its dimension is not to be split.
static bool keepsGroups(const DimLayout &split, int64_t size,
                        const RowBlock &block) {
  if (block.count == 1)
    return false;
  DimLayout given = split.canonical(size);
  DimLayout byGroups = {given.parts, block.stride};
  return given.unit % block.stride == 0 || byGroups.canonical(size) == given;
}

/// What the indices of a dimension are called.
static StringRef nameIndices(int64_t rank, unsigned dim) {
  if (rank != 2)
    return "elements";
  return dim == 0 ? "rows" : "columns";
}

/// A pin that splits a value across the blocks that are taken of it.
static void diagnosePin(const Stop &stop, const DimLayout &split,
                        SliceOp slice) {
  Value value = stop.use->get();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = type.getDimSize(stop.dim), stride = stop.block.stride;
  std::string words;
  llvm::raw_string_ostream os(words);
  os << " is fused and pinned: of its " << size << " "
     << nameIndices(type.getRank(), stop.dim) << " (dimension " << stop.dim
     << ") each of " << numRanks(split.parts) << " ranks gets "
     << (isEven(size, split) ? "" : "at most ") << getLargestShard(size, split)
     << " in one run, ";
  if (stop.block.count == 1)
    os << "but " << stop.block.from << " to "
       << stop.block.from + stop.block.size - 1
       << " are one weight, of which every rank needs a part";
  else
    os << "but weights are taken of groups of " << stride
       << ", which must not be cut";
  auto argument = dyn_cast<BlockArgument>(value);
  InFlightDiagnostic error =
      argument ? argument.getOwner()->getParentOp()->emitError()
                     << "argument " << argument.getArgNumber()
               : mlir::emitError(value.getLoc()) << "what is computed here";
  error << words;
  error.attachNote(slice.getLoc()) << "a weight is taken here";
  if (stop.block.count > 1)
    error.attachNote() << "fix: split it over a number of ranks that divides "
                          "its "
                       << stop.block.count << " groups";
  error.attachNote() << "fix: pin the blocks that this pass makes of it, "
                        "before tp-plan";
}

/// A pin that splits the dimension of the blocks says where what is fused lies:
/// if ranks get whole groups of blocks, the parameter stays as it is.
LogicalResult Search::checkPins() {
  LogicalResult fits = success();
  llvm::DenseSet<Value> reported;
  llvm::DenseSet<BlockArgument> kept;
  for (auto &[slice, path] : paths) {
    bool isPinned = false;
    for (const Stop &stop : path.stops) {
      Value value = stop.use->get();
      if (!getSharding(value))
        continue;
      std::optional<Layout> layout = findLayout(value.getType(), slice);
      auto type = cast<RankedTensorType>(value.getType());
      // Blocks of a dimension that is whole lie as the tensor does.
      if (!layout || numRanks(layout->dims[stop.dim].parts) == 1)
        continue;
      isPinned = true;
      if (keepsGroups(layout->dims[stop.dim], type.getDimSize(stop.dim),
                      stop.block))
        continue;
      fits = failure();
      if (reported.insert(value).second)
        diagnosePin(stop, layout->dims[stop.dim], slice);
    }
    if (isPinned)
      for (const auto &[argument, rows] : path.parameters)
        kept.insert(argument);
  }
  auto staysFused = [&](const auto &entry) {
    return llvm::any_of(entry.second.parameters, [&](const auto &parameter) {
      return kept.contains(parameter.first);
    });
  };
  slices.remove_if(
      [&](const auto &entry) { return staysFused(*paths.find(entry.first)); });
  paths.remove_if(staysFused);
  return fits;
}

void Search::collect() {
  covered.clear();
  splits.clear();
  for (const auto &[slice, path] : paths) {
    for (const Stop &stop : path.stops)
      covered.insert(stop.use);
    for (const auto &[argument, rows] : path.parameters) {
      FusedSplit &split = splits[argument];
      split.dim = rows.dim;
      if (!llvm::is_contained(split.blocks, rows.block))
        split.blocks.push_back(rows.block);
    }
  }
  for (auto &[argument, split] : splits)
    llvm::sort(split.blocks);
}

/// What a function splits, its callers hand over in blocks.
void Search::passToCallers() {
  for (bool changed = true; changed;) {
    changed = false;
    module.walk([&](func::CallOp call) {
      func::FuncOp callee = calleeOf(call);
      if (!callee || callee.isExternal())
        return;
      for (OpOperand &operand : call->getOpOperands()) {
        auto found =
            splits.find(callee.getArgument(operand.getOperandNumber()));
        auto own = dyn_cast<BlockArgument>(operand.get());
        if (found == splits.end() || !own || !isWholeParameter(own))
          continue;
        FusedSplit split = found->second;
        changed |= splits.insert({own, split}).second;
      }
    });
  }
}

bool Search::isCovered(OpOperand &use) const {
  if (covered.contains(&use))
    return true;
  auto call = dyn_cast<func::CallOp>(use.getOwner());
  func::FuncOp callee = call ? calleeOf(call) : func::FuncOp();
  auto own = dyn_cast<BlockArgument>(use.get());
  if (!callee || callee.isExternal() || !own)
    return false;
  auto theirs = splits.find(callee.getArgument(use.getOperandNumber()));
  auto ours = splits.find(own);
  return theirs != splits.end() && ours != splits.end() &&
         theirs->second == ours->second;
}

/// Whether two blocks have no row in common. Blocks of different strides are
/// not compared.
static bool areApart(const RowBlock &first, const RowBlock &second) {
  bool comparable = first.count == second.count &&
                    (first.count == 1 || first.stride == second.stride);
  return comparable && (first.from + first.size <= second.from ||
                        second.from + second.size <= first.from);
}

static bool haveOverlap(ArrayRef<RowBlock> blocks) {
  for (auto [index, block] : llvm::enumerate(blocks))
    for (const RowBlock &other : blocks.drop_front(index + 1))
      if (!areApart(block, other))
        return true;
  return false;
}

/// Whether slices alone use the value, or calls that hand it on in blocks.
bool Search::isTakenApart(Value value) const {
  return llvm::all_of(value.getUses(),
                      [&](OpOperand &use) { return isCovered(use); });
}

/// Why the parameter cannot be split.
std::optional<std::string> Search::objectionTo(BlockArgument argument) const {
  const FusedSplit &split = splits.find(argument)->second;
  if (haveOverlap(split.blocks))
    return "blocks of it overlap";
  SmallVector<const Path *> own;
  for (const auto &[slice, path] : paths)
    for (const auto &[parameter, rows] : path.parameters) {
      if (parameter != argument)
        continue;
      if (rows.dim != split.dim)
        return "blocks of two dimensions are taken";
      own.push_back(&path);
    }
  if (!isTakenApart(argument))
    return "it is used as a whole, too";
  for (const Path *path : own)
    for (const Stop &stop : path->stops)
      if (!isTakenApart(stop.use->get()))
        return "what is computed from it is used as a whole, too";
  return std::nullopt;
}

void Search::giveUp(BlockArgument argument, StringRef why) {
  if (!givenUp.insert(argument).second)
    return;
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  InFlightDiagnostic warning = function.emitWarning();
  warning << "argument " << argument.getArgNumber();
  if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        nameAttrName))
    warning << " (" << name.getValue() << ")";
  warning << " stays fused: " << why;
}

bool Search::refine() {
  size_t before = givenUp.size();
  collect();
  passToCallers();
  for (const auto &[argument, split] : splits)
    if (std::optional<std::string> why = objectionTo(argument))
      giveUp(argument, *why);
  module.walk([&](func::CallOp call) {
    func::FuncOp callee = calleeOf(call);
    for (OpOperand &operand : call->getOpOperands()) {
      if (!callee || callee.isExternal())
        return;
      BlockArgument theirs = callee.getArgument(operand.getOperandNumber());
      auto own = dyn_cast<BlockArgument>(operand.get());
      if (splits.contains(theirs) &&
          (!isCovered(operand) || givenUp.contains(own)))
        giveUp(theirs, "a caller does not have its blocks");
    }
  });
  auto isLost = [&](const std::pair<SliceOp, Path> &entry) {
    return llvm::any_of(entry.second.parameters, [&](const auto &parameter) {
      return givenUp.contains(parameter.first);
    });
  };
  slices.remove_if([&](const auto &entry) {
    return isLost({entry.first, paths.find(entry.first)->second});
  });
  paths.remove_if(isLost);
  return givenUp.size() != before;
}

LogicalResult Search::run() {
  findSlices();
  if (failed(checkPins()))
    return failure();
  while (refine()) {
  }
  return success();
}

FailureOr<FusedUses> FusedUses::find(ModuleOp module) {
  Search search(module);
  if (failed(search.run()))
    return failure();
  FusedUses found;
  found.slices = std::move(search.slices);
  found.splits = std::move(search.splits);
  for (const auto &[slice, path] : search.paths) {
    found.visited.insert(slice);
    for (const Stop &stop : path.stops) {
      found.visited.insert(stop.use->getOwner());
      found.onTheWay.insert(stop.use);
    }
  }
  return found;
}
