// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Which integers a program takes, and which ones a check must try.

#include "tp/IR/TP.h"
#include "tp/Run/Inputs.h"
#include <set>

using namespace mlir;
using namespace tp;

namespace {

/// How an integer value is used as an index, in its function and those called.
struct IndexUse {
  /// The least bound of those that the operations give.
  std::optional<int64_t> bound;
  /// Sizes of the dimensions that it may be an index of.
  std::set<int64_t> sizes;
  /// Values that stand for no index.
  std::set<int64_t> ignored;

  void visit(Value value);

private:
  void visit(OpOperand &use);
  void takeOperation(Operation *op, unsigned number, int64_t least);
};

} // namespace

/// The dimensions of the other operands that are long enough.
void IndexUse::takeOperation(Operation *op, unsigned number, int64_t least) {
  if (!bound || least < *bound)
    bound = least;
  if (auto value = op->getAttrOfType<IntegerAttr>("ignore_index"))
    ignored.insert(value.getInt());
  sizes.insert(least);
  for (OpOperand &other : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(other.get().getType());
    if (!type || other.getOperandNumber() == number)
      continue;
    for (int64_t size : type.getShape())
      if (size > least)
        sizes.insert(size);
  }
}

void IndexUse::visit(OpOperand &use) {
  Operation *user = use.getOwner();
  bool movesData = isa<CollectiveOpInterface, ReshardOp>(user);
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(user)) {
    if (auto least = ruled.getIndexBound(use.getOperandNumber()))
      takeOperation(user, use.getOperandNumber(), *least);
    movesData = ruled.getShardingRule().movesData;
  }
  if (movesData)
    visit(user->getResult(0));
  auto call = dyn_cast<func::CallOp>(user);
  auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                           call, call.getCalleeAttr())
                     : nullptr;
  if (callee && !callee.isDeclaration())
    visit(callee.getArgument(use.getOperandNumber()));
}

void IndexUse::visit(Value value) {
  for (OpOperand &use : value.getUses())
    visit(use);
}

static bool isIndex(const Port &port) {
  return port.kind == ElementKind::I32 || port.kind == ElementKind::I64;
}

void tp::inferBounds(func::FuncOp entry, Signature &signature) {
  for (auto [port, argument] :
       llvm::zip_equal(signature.arguments, entry.getArguments())) {
    if (!isIndex(port) || port.bound)
      continue;
    IndexUse use;
    use.visit(argument);
    port.bound = use.bound;
  }
}

//===- Edges --------------------------------------------------------------===//

/// The borders of a dimension of `size` elements in the layouts of `signature`.
static void addBordersOf(const Signature &signature, int64_t size,
                         std::set<int64_t> &borders) {
  for (const std::vector<Port> *ports :
       {&signature.arguments, &signature.results})
    for (const Port &port : *ports) {
      if (!port.sharding)
        continue;
      for (auto [extent, dim] :
           llvm::zip_equal(port.globalShape, port.sharding.getDims()))
        if (extent == size && !dim.getAxes().empty())
          for (int64_t border : findBorders(size, dim, signature.mesh))
            borders.insert(border);
    }
}

/// The first and the last index of every shard, below `bound`.
static std::set<int64_t> edgesOf(const IndexUse &use, int64_t bound,
                                 const Signature &local) {
  std::set<int64_t> borders;
  for (int64_t size : use.sizes) {
    for (int64_t border : findBorders(size, local.mesh))
      borders.insert(border);
    addBordersOf(local, size, borders);
  }
  std::set<int64_t> edges = {0, bound - 1};
  for (int64_t border : borders)
    for (int64_t index : {border - 1, border})
      if (index >= 0 && index < bound)
        edges.insert(index);
  edges.insert(use.ignored.begin(), use.ignored.end());
  return edges;
}

void tp::findEdges(func::FuncOp entry, const Signature &local,
                   Signature &signature) {
  for (auto [port, argument] :
       llvm::zip_equal(signature.arguments, entry.getArguments())) {
    IndexUse use;
    if (!isIndex(port) || !local.mesh)
      continue;
    use.visit(argument);
    if (!use.bound || port.bound.value_or(0) < 1)
      continue;
    std::set<int64_t> edges = edgesOf(use, *port.bound, local);
    port.edges.assign(edges.begin(), edges.end());
  }
}

void tp::takeBounds(const Signature &from, Signature &to) {
  for (Port &port : to.arguments)
    for (const Port &known : from.arguments)
      if (known.name == port.name && known.occurrence == port.occurrence) {
        port.bound = known.bound;
        port.edges = known.edges;
      }
}
