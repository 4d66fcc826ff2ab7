// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-split-fused-weights. A slice of a product is the product with a
/// slice: along a dimension that no other operand has, and that the operation
/// treats alike everywhere, a slice moves from the result to the operands.
/// Where it arrives at parameters, the parameters become their blocks.

#include "tp/Passes.h"
#include "tp/Weights/FusedUses.h"

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
  using Key = std::pair<std::pair<Value, unsigned>, RowBlock>;

  void nameArguments(func::FuncOp function);
  void addBlocks(func::FuncOp function, unsigned number);
  DictionaryAttr attributesOf(func::FuncOp function, unsigned number,
                              const RowBlock &block, unsigned dim) const;
  Value cut(Value value, unsigned dim, const RowBlock &block, SliceOp slice);
  void rewriteCall(func::CallOp call);
  void eraseUnused();

  ModuleOp module;
  const FusedUses &uses;
  std::vector<std::pair<Key, Value>> made;
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

/// `shape` with as many rows in `dim` as the block has.
static RankedTensorType typeOfBlock(RankedTensorType type, unsigned dim,
                                    const RowBlock &block) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = block.rows();
  return RankedTensorType::get(shape, type.getElementType());
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
    made.push_back({{{argument, split->dim}, block}, added});
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

/// Rows `block` of `dim` of a value, computed from rows of the operands.
Value Splitter::cut(Value value, unsigned dim, const RowBlock &block,
                    SliceOp slice) {
  Key key = {{value, dim}, block};
  for (const auto &[other, result] : made)
    if (other == key)
      return result;
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands(op->getOperands());
  auto rows = rowsOfOperands(op, dim, block);
  assert(rows && "the way up was followed before");
  for (const RowUse &use : *rows)
    operands[use.operand] =
        cut(operands[use.operand], use.dim, use.block, slice);
  OpBuilder builder(op);
  Operation *copy =
      copyWithTypes(builder, op, operands,
                    TypeRange(typeOfBlock(
                        cast<RankedTensorType>(value.getType()), dim, block)));
  copy->setLoc(locationOf(op, slice));
  made.push_back({key, copy->getResult(0)});
  return copy->getResult(0);
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
    Value value = cut(slice.getInput(), rows.dim, rows.block, slice);
    slice.getResult().replaceAllUsesWith(value);
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
