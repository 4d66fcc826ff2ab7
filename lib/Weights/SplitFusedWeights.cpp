// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-split-fused-weights. A slice of a product is the product with a
/// slice: along a dimension that no other operand has, and that the operation
/// treats alike everywhere, a slice moves from the result to the operands.
/// Where it arrives at parameters, the parameters become their blocks.

#include "tp/Passes.h"
#include "tp/Weights/FusedUses.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_SPLITFUSEDWEIGHTS
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// Replaces fused parameters by their blocks.
class Splitter {
public:
  Splitter(ModuleOp module, const FusedUses &uses)
      : module(module), uses(uses) {}

  void run();

private:
  /// Rows of a dimension of a value.
  using Key = std::tuple<void *, unsigned, RowBlock>;
  static Key keyOf(Value value, unsigned dim, const RowBlock &block) {
    return {value.getAsOpaquePointer(), dim, block};
  }

  void nameArguments(func::FuncOp function);
  void addBlocks(func::FuncOp function, unsigned number);
  DictionaryAttr attributesOf(func::FuncOp function, unsigned number,
                              const RowBlock &block, unsigned dim) const;
  struct Cut {
    Operation *op;
    unsigned dim;
    RowBlock block;
  };
  SmallVector<Cut> listCuts(SliceOp slice, const FusedUses::Rows &rows) const;
  void make(const Cut &cut, SliceOp slice);
  Value cut(SliceOp slice, const FusedUses::Rows &rows);
  void rewriteCall(func::CallOp call);
  void eraseUnused();

  ModuleOp module;
  const FusedUses &uses;
  std::map<Key, Value> made;
  llvm::DenseMap<Value, SmallVector<Value>> blocksOf;
};

} // namespace

/// The names that tp-run gives arguments, before their numbers change.
void Splitter::nameArguments(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttr(i, nameAttrName))
      function.setArgAttr(
          i, nameAttrName,
          StringAttr::get(module.getContext(), "argument " + Twine(i)));
}

/// "w[0:48]", "w[:, 0:48]", or "w[0:12 of every 24]".
static std::string nameOfBlock(StringRef name, unsigned dim,
                               const RowBlock &block) {
  std::string text = name.str() + "[";
  for (unsigned i = 0; i < dim; ++i)
    text += ":, ";
  text += std::to_string(block.from) + ":" +
          std::to_string(block.from + block.size);
  if (block.count > 1)
    text += " of every " + std::to_string(block.stride);
  return text + "]";
}

DictionaryAttr Splitter::attributesOf(func::FuncOp function, unsigned number,
                                      const RowBlock &block,
                                      unsigned dim) const {
  MLIRContext *context = function.getContext();
  NamedAttrList attributes(function.getArgAttrDict(number));
  auto name = function.getArgAttrOfType<StringAttr>(number, nameAttrName);
  if (name)
    attributes.set(
        nameAttrName,
        StringAttr::get(context, nameOfBlock(name.getValue(), dim, block)));
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[number]);
  // Only what comes from a file needs to say where in it.
  if (function.isPublic())
    attributes.set(storedAttrName,
                   StoredAttr::get(context, name.getValue(), type.getShape(),
                                   dim, block.from, block.size, block.stride,
                                   block.count));
  return attributes.getDictionary(context);
}

/// With as many rows in `dim` as the block has. A pin leaves `dim` whole, so
/// that it is the block's, too.
static RankedTensorType typeOfBlock(RankedTensorType type, unsigned dim,
                                    const RowBlock &block) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = block.rows();
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

/// Inserts the blocks behind the parameter, which stays until nothing uses it.
void Splitter::addBlocks(func::FuncOp function, unsigned number) {
  BlockArgument argument = function.getArgument(number);
  const FusedSplit *split = uses.find(argument);
  if (!split)
    return;
  auto type = cast<RankedTensorType>(argument.getType());
  unsigned place = number;
  for (const RowBlock &block : split->blocks) {
    ++place;
    (void)function.insertArgument(
        place, typeOfBlock(type, split->dim, block),
        attributesOf(function, number, block, split->dim), argument.getLoc());
    Value added = function.getArgument(place);
    blocksOf[argument].push_back(added);
    made[keyOf(argument, split->dim, block)] = added;
  }
}

/// Where the copy of `op` for `slice` is: "layer/qkv_proj.q".
static Location locationOf(Operation *op, SliceOp slice) {
  auto whole = dyn_cast<NameLoc>(op->getLoc());
  auto part = dyn_cast<NameLoc>(slice.getLoc());
  if (!whole || !part)
    return op->getLoc();
  StringRef last = part.getName().getValue().rsplit('/').second;
  if (last.empty())
    last = part.getName().getValue();
  return NameLoc::get(StringAttr::get(op->getContext(),
                                      whole.getName().getValue() + "." + last));
}

/// The operations to do again for rows of their results, in program order.
SmallVector<Splitter::Cut>
Splitter::listCuts(SliceOp slice, const FusedUses::Rows &rows) const {
  SmallVector<Cut> cuts;
  std::set<Key> seen;
  auto add = [&](Value value, unsigned dim, const RowBlock &block) {
    Key key = keyOf(value, dim, block);
    if (!made.contains(key) && seen.insert(key).second)
      cuts.push_back({value.getDefiningOp(), dim, block});
  };
  add(slice.getInput(), rows.dim, rows.block);
  for (size_t next = 0; next < cuts.size(); ++next) {
    Cut cut = cuts[next];
    auto operands = rowsOfOperands(cut.op, cut.dim, cut.block);
    assert(operands && "the way up was followed before");
    for (const RowUse &use : *operands)
      add(cut.op->getOperand(use.operand), use.dim, use.block);
  }
  llvm::sort(cuts, [](const Cut &a, const Cut &b) {
    if (a.op != b.op)
      return a.op->isBeforeInBlock(b.op);
    return std::tie(a.dim, a.block) < std::tie(b.dim, b.block);
  });
  return cuts;
}

/// Rows of what an operation makes, computed from rows of its operands.
void Splitter::make(const Cut &cut, SliceOp slice) {
  Value value = cut.op->getResult(0);
  SmallVector<Value> operands(cut.op->getOperands());
  auto rows = rowsOfOperands(cut.op, cut.dim, cut.block);
  for (const RowUse &use : *rows)
    operands[use.operand] =
        made.at(keyOf(operands[use.operand], use.dim, use.block));
  OpBuilder builder(cut.op);
  RankedTensorType type =
      typeOfBlock(cast<RankedTensorType>(value.getType()), cut.dim, cut.block);
  Operation *copy = copyWithTypes(builder, cut.op, operands, TypeRange(type));
  copy->setLoc(locationOf(cut.op, slice));
  made[keyOf(value, cut.dim, cut.block)] = copy->getResult(0);
}

/// What the slice takes, in the layout that it was pinned to.
Value Splitter::cut(SliceOp slice, const FusedUses::Rows &rows) {
  for (const Cut &cut : listCuts(slice, rows))
    make(cut, slice);
  Value value = made.at(keyOf(slice.getInput(), rows.dim, rows.block));
  if (value.getType() == slice.getType())
    return value;
  OpBuilder builder(slice);
  return ReshardOp::create(builder, slice.getLoc(), slice.getType(), value);
}

void Splitter::rewriteCall(func::CallOp call) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return;
  SmallVector<Value> operands;
  unsigned number = 0;
  // The callee's old arguments are still there, its blocks behind each.
  for (Value operand : call.getOperands()) {
    BlockArgument argument = callee.getArgument(number++);
    auto blocks = blocksOf.find(argument);
    if (blocks == blocksOf.end()) {
      operands.push_back(operand);
      continue;
    }
    number += blocks->second.size();
    llvm::append_range(operands, blocksOf.lookup(operand));
  }
  call.getOperandsMutable().assign(operands);
}

void Splitter::eraseUnused() {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (uses.visited.contains(&op) && isOpTriviallyDead(&op))
        op.erase();
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (blocksOf.contains(function.getArgument(i)))
        (void)function.eraseArgument(i);
  }
}

void Splitter::run() {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    bool changes = llvm::any_of(function.getArguments(), [&](Value argument) {
      return uses.find(cast<BlockArgument>(argument));
    });
    if (changes && function.isPublic())
      nameArguments(function);
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      addBlocks(function, i);
  }
  for (auto [slice, rows] : uses.slices) {
    slice.getResult().replaceAllUsesWith(cut(slice, rows));
  }
  module.walk([&](func::CallOp call) { rewriteCall(call); });
  eraseUnused();
}

namespace {

struct SplitFusedWeightsPass
    : tp::impl::SplitFusedWeightsBase<SplitFusedWeightsPass> {
  void runOnOperation() final {
    FailureOr<FusedUses> uses = FusedUses::find(getOperation());
    if (failed(uses))
      return signalPassFailure();
    Splitter(getOperation(), *uses).run();
  }
};

} // namespace
