// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Transforms/InliningUtils.h"
#include "tp/IR/Stored.h"
#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

#include "tp/IR/Dialect.cpp.inc"
#include "tp/IR/Enums.cpp.inc"
#include "tp/IR/OpInterfaces.cpp.inc"

namespace {

/// tp operations hold no regions and no hidden state: they go anywhere.
struct InlineAnywhere : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

/// Short names for the attributes that every line would repeat.
struct ShardingAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    auto sharding = dyn_cast<ShardingAttr>(attr);
    if (!sharding)
      return AliasResult::NoAlias;
    printAlias(sharding, os);
    return AliasResult::FinalAlias;
  }

private:
  static void printRef(AxisRefAttr ref, raw_ostream &os) {
    os << ref.getName();
    if (!ref.isWhole())
      os << ref.getPreSize() << "of" << ref.getSize();
  }

  /// `split1_tp` (dimension 1 over tp), `sum_tp`, `whole`.
  static void printAlias(ShardingAttr sharding, raw_ostream &os) {
    bool whole = sharding.getUnreduced().empty();
    llvm::ListSeparator separator("_");
    for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
      if (dim.getAxes().empty())
        continue;
      whole = false;
      os << separator << "split" << index;
      for (AxisRefAttr ref : dim.getAxes()) {
        os << "_";
        printRef(ref, os);
      }
    }
    if (whole) {
      os << "whole" << sharding.getDims().size();
      return;
    }
    os << separator << "rank" << sharding.getDims().size();
    if (sharding.getUnreduced().empty())
      return;
    os << "_" << stringifyReductionKind(sharding.getKind());
    for (AxisRefAttr ref : sharding.getUnreduced()) {
      os << "_";
      printRef(ref, os);
    }
  }
};

} // namespace

void TPDialect::initialize() {
  registerGeneratedEntities();
  addInterfaces<InlineAnywhere, ShardingAliases>();
}

//===- Attributes on other operations -------------------------------------===//

static LogicalResult verifyOneAttr(Operation *op, NamedAttribute attr,
                                   StringRef place) {
  StringRef name = attr.getName();
  auto refuse = [&](StringRef wanted) {
    return op->emitError() << "'" << name << "' on " << place << " must be "
                           << wanted << ", not " << attr.getValue();
  };
  bool wantsUnit = name == parameterAttrName || name == streamAttrName ||
                   name == localAttrName;
  if (wantsUnit && !isa<UnitAttr>(attr.getValue()))
    return refuse("a unit attribute");
  bool wantsString = name == nameAttrName || name == machineAttrName;
  if (wantsString && !isa<StringAttr>(attr.getValue()))
    return refuse("a string");
  if (name == storedAttrName && !isa<StoredAttr>(attr.getValue()))
    return refuse("a part of a stored tensor");
  if (name == globalAttrName && !isa<TypeAttr>(attr.getValue()))
    return refuse("a type");
  bool wantsNumber =
      name == likeAttrName || name == boundAttrName || name == ranksAttrName;
  if (!wantsNumber)
    return success();
  auto number = dyn_cast<IntegerAttr>(attr.getValue());
  int64_t least = name == likeAttrName ? 0 : 1;
  if (!number || !number.getType().isSignlessInteger(64) ||
      number.getInt() < least)
    return refuse("an integer of at least " + std::to_string(least));
  return success();
}

/// The part of a tensor that a value is must fit the global type of the value.
static LogicalResult verifyStored(Operation *op, Attribute attr,
                                  Attribute global, Type type,
                                  const Twine &place) {
  if (auto given = dyn_cast_or_null<TypeAttr>(global))
    type = given.getValue();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitError() << "'tp.stored' on " << place
                           << ", which is no tensor";
  std::optional<std::string> mismatch =
      getStoredMismatch(cast<StoredAttr>(attr), tensor.getShape());
  if (!mismatch)
    return success();
  return op->emitError() << "'tp.stored' on " << place << ": " << *mismatch;
}

LogicalResult TPDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attr) {
  return verifyOneAttr(op, attr, "an operation");
}

LogicalResult TPDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned number,
                                                  NamedAttribute attr) {
  if (failed(verifyOneAttr(op, attr, "an argument")))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attr.getName() != storedAttrName || !function)
    return success();
  return verifyStored(
      op, attr.getValue(), function.getArgAttr(number, globalAttrName),
      function.getArgumentTypes()[number], "argument " + Twine(number));
}

LogicalResult TPDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned result,
                                                     NamedAttribute attr) {
  if (failed(verifyOneAttr(op, attr, "a result")))
    return failure();
  if (auto owner = dyn_cast<FunctionOpInterface>(op);
      owner && attr.getName() == storedAttrName)
    return verifyStored(
        op, attr.getValue(), owner.getResultAttr(result, globalAttrName),
        owner.getResultTypes()[result], "result " + Twine(result));
  if (attr.getName() != likeAttrName)
    return success();
  int64_t number = cast<IntegerAttr>(attr.getValue()).getInt();
  auto function = cast<func::FuncOp>(op);
  if (number >= function.getNumArguments())
    return op->emitError() << "'tp.like' names argument " << number
                           << " of a function with "
                           << function.getNumArguments() << " arguments";
  return success();
}
