// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Weights/FusedUses.h"
#include "tp/IR/FusedWeight.h"

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
  if (!ignoresPosition(op))
    return std::nullopt;
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  const DimFactors &result = rule.results.front()[dim];
  if (result.size() != 1 ||
      rule.factors[result.front()].kind != FactorKind::Parallel)
    return std::nullopt;
  SmallVector<RowUse> uses;
  for (auto [number, dims] : llvm::enumerate(rule.operands))
    for (auto [operandDim, factors] : llvm::enumerate(dims)) {
      if (!llvm::is_contained(factors, result.front()))
        continue;
      std::optional<RowBlock> rows =
          rowsOf(rule, factors, result.front(), block);
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

/// The way from a slice up to parameters.
struct Path {
  SmallVector<std::pair<BlockArgument, FusedUses::Rows>> parameters;
  SmallVector<OpOperand *> uses;

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
  LogicalResult checkPins() const;
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

LogicalResult Path::follow(OpOperand &use, unsigned dim,
                           const RowBlock &block) {
  uses.push_back(&use);
  Value value = use.get();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    parameters.push_back({argument, {dim, block}});
    return success(isWholeParameter(argument));
  }
  Operation *op = value.getDefiningOp();
  auto operands = rowsOfOperands(op, dim, block);
  if (!operands)
    return failure();
  for (const RowUse &row : *operands)
    if (failed(follow(op->getOpOperand(row.operand), row.dim, row.block)))
      return failure();
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

/// A pin says where the fused parameter lies, and its blocks are none of it.
LogicalResult Search::checkPins() const {
  LogicalResult fits = success();
  llvm::DenseSet<BlockArgument> seen;
  for (const auto &[slice, path] : paths)
    for (const auto &[argument, rows] : path.parameters) {
      ShardingAttr pin = getSharding(argument);
      if (!pin || !seen.insert(argument).second)
        continue;
      InFlightDiagnostic error =
          argument.getOwner()->getParentOp()->emitError()
          << "argument " << argument.getArgNumber()
          << " is fused and pinned: its rows in dimension " << rows.dim
          << " are blocks that ranks must split one by one";
      error.attachNote(SliceOp(slice).getLoc()) << "a block is taken here";
      error.attachNote() << "fix: pin the blocks that this pass makes of it, "
                            "before tp-plan";
      fits = failure();
    }
  return fits;
}

void Search::collect() {
  covered.clear();
  splits.clear();
  for (const auto &[slice, path] : paths) {
    covered.insert(path.uses.begin(), path.uses.end());
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
    for (OpOperand *use : path->uses)
      if (!isTakenApart(use->get()))
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
    for (OpOperand *use : path.uses)
      found.visited.insert(use->getOwner());
  }
  return found;
}
