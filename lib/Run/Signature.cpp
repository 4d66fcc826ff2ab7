// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Signature.h"
#include "tp/IR/TP.h"
#include "tp/Run/Inputs.h"
#include <limits>

using namespace mlir;
using namespace tp;

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

static std::string text(ArrayRef<int64_t> shape) {
  std::string result = "[";
  llvm::raw_string_ostream os(result);
  llvm::interleaveComma(shape, os);
  return result + "]";
}

int64_t tp::sizeInBytes(ElementKind kind) {
  switch (kind) {
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  case ElementKind::F64:
  case ElementKind::I64:
    return 8;
  case ElementKind::I1:
    return 1;
  }
  llvm_unreachable("all kinds are covered");
}

std::optional<ElementKind> tp::elementKind(Type type) {
  if (type.isF32() || type.isF16() || type.isBF16())
    return ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  if (type.isInteger(32))
    return ElementKind::I32;
  if (type.isInteger(64))
    return ElementKind::I64;
  if (type.isInteger(1))
    return ElementKind::I1;
  return std::nullopt;
}

Array::Array(ElementKind kind, ArrayRef<int64_t> shape)
    : kind(kind), shape(shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  bytes.resize(count * sizeInBytes(kind));
}

SmallVector<Range> Signature::ranges(const Port &port, int64_t rank) const {
  if (mesh)
    return getRanges(port.globalShape, port.layout, mesh, rank);
  return llvm::map_to_vector(port.globalShape,
                             [](int64_t size) { return Range{0, size}; });
}

SmallVector<int64_t> Signature::localShape(const Port &port,
                                           int64_t rank) const {
  return llvm::map_to_vector(ranges(port, rank),
                             [](Range range) { return range.size; });
}

namespace {

/// Reads the ports of one function.
struct Reader {
  func::FuncOp function;
  Signature &signature;
  /// Shardings are not looked at.
  bool isWhole = false;

  llvm::Expected<Port> port(const Twine &position, Type type,
                            DictionaryAttr attributes);
  llvm::Error ports();

private:
  llvm::Error layout(Port &port, RankedTensorType global);
};

} // namespace

llvm::Error Reader::layout(Port &port, RankedTensorType global) {
  ShardingAttr sharding = getSharding(global);
  if (!sharding)
    return llvm::Error::success();
  MeshAttr mesh = lookupMesh(function, sharding.getMesh());
  if (!mesh)
    return fail(port.name + ": the module has no mesh @" +
                sharding.getMesh().getValue());
  if (signature.mesh && signature.mesh != mesh)
    return fail(port.name + ": lies on another mesh than the ports before it");
  signature.mesh = mesh;
  FailureOr<Layout> layout = resolve(sharding, mesh, [&] {
    return function.emitError() << port.name << ": ";
  });
  if (failed(layout))
    return fail(port.name + ": the sharding does not fit the mesh");
  if (!layout->unreduced.empty())
    return fail(port.name + ": is a partial sum at the edge of the program; "
                            "finish it with tp.all_reduce to run it");
  port.layout = *layout;
  return llvm::Error::success();
}

llvm::Expected<Port> Reader::port(const Twine &position, Type type,
                                  DictionaryAttr attributes) {
  Port port;
  port.name = position.str();
  auto get = [&](StringRef name) -> Attribute {
    return attributes ? attributes.get(name) : Attribute();
  };
  if (auto name = dyn_cast_or_null<StringAttr>(get(nameAttrName)))
    port.name = name.getValue();
  port.isParameter = static_cast<bool>(get(parameterAttrName));
  if (auto bound = dyn_cast_or_null<IntegerAttr>(get(boundAttrName)))
    port.bound = bound.getInt();
  port.stored = dyn_cast_or_null<StoredAttr>(get(storedAttrName));
  auto local = dyn_cast<RankedTensorType>(type);
  if (!local)
    return fail(port.name + ": is no tensor; only tensors can be fed and read");
  std::optional<ElementKind> kind = elementKind(local.getElementType());
  if (!kind)
    return fail(port.name + ": element type cannot run; floating-point types, "
                            "i32, i64 and i1 can");
  port.kind = *kind;
  RankedTensorType global = local;
  if (auto attr = dyn_cast_or_null<TypeAttr>(get(globalAttrName)))
    global = dyn_cast<RankedTensorType>(attr.getValue());
  if (!global)
    return fail(port.name + ": 'tp.global' is no tensor type");
  port.globalShape = llvm::to_vector(global.getShape());
  std::optional<int64_t> count = numElements(port.globalShape);
  if (!count || *count > std::numeric_limits<int64_t>::max() / 8)
    return fail(port.name + ": the size of " + text(port.globalShape) +
                " in bytes does not fit 63 bits");
  port.layout = Layout::whole(global.getRank());
  if (isWhole)
    return port;
  if (llvm::Error error = layout(port, global))
    return std::move(error);
  return port;
}

llvm::Error Reader::ports() {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    llvm::Expected<Port> port =
        this->port("argument " + Twine(i), type, function.getArgAttrDict(i));
    if (!port)
      return port.takeError();
    signature.arguments.push_back(std::move(*port));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    llvm::Expected<Port> port =
        this->port("result " + Twine(i), type, function.getResultAttrDict(i));
    if (!port)
      return port.takeError();
    signature.results.push_back(std::move(*port));
  }
  return llvm::Error::success();
}

llvm::Expected<Signature> tp::readWholeSignature(func::FuncOp entry) {
  Signature signature;
  signature.entry = entry.getSymName();
  if (llvm::Error error = Reader{entry, signature, /*isWhole=*/true}.ports())
    return std::move(error);
  inferBounds(entry, signature);
  return signature;
}

/// The shapes of every rank's function are those that the layout gives it.
static llvm::Error checkShapes(const Signature &signature, const Port &port,
                               const RankFunctions &entry,
                               llvm::function_ref<Type(func::FuncOp)> typeIn) {
  for (int64_t rank = 0; rank < signature.numRanks; ++rank) {
    SmallVector<int64_t> shape = signature.localShape(port, rank);
    auto type = dyn_cast_or_null<RankedTensorType>(typeIn(entry.of(rank)));
    if (type && type.getShape() == ArrayRef(shape))
      continue;
    return fail(port.name + ": rank " + Twine(rank) + " holds " + text(shape) +
                " of " + text(port.globalShape) +
                ", but the program is written for " +
                (type ? text(type.getShape()) : "no tensor"));
  }
  return llvm::Error::success();
}

static llvm::Error readNumRanks(const RankFunctions &entry,
                                Signature &signature) {
  if (signature.mesh)
    signature.numRanks = signature.mesh.getNumRanks();
  auto refuse = [&](int64_t ranks) {
    return fail("the program is written for " + Twine(ranks) +
                " ranks, its mesh has " + Twine(signature.numRanks));
  };
  for (func::FuncOp function : entry.functions) {
    auto ranks = function->getAttrOfType<IntegerAttr>(ranksAttrName);
    if (!ranks)
      continue;
    if (signature.mesh && signature.numRanks != ranks.getInt())
      return refuse(ranks.getInt());
    signature.numRanks = ranks.getInt();
  }
  int64_t listed = entry.ofRank.size();
  if (listed != 0 && listed != signature.numRanks)
    return refuse(listed);
  return llvm::Error::success();
}

llvm::Expected<Signature> tp::readSignature(const RankFunctions &entry) {
  Signature signature;
  signature.entry = entry.name;
  signature.functionOfRank = entry.ofRank;
  for (func::FuncOp function : entry.functions)
    signature.functions.push_back(function.getSymName().str());
  if (llvm::Error error = Reader{entry.functions.front(), signature}.ports())
    return std::move(error);
  if (llvm::Error error = readNumRanks(entry, signature))
    return std::move(error);
  auto typeAt = [](ArrayRef<Type> types, size_t i) {
    return i < types.size() ? types[i] : Type();
  };
  for (auto [i, port] : llvm::enumerate(signature.arguments))
    if (llvm::Error error = checkShapes(
            signature, port, entry, [&, i = i](func::FuncOp function) {
              return typeAt(function.getArgumentTypes(), i);
            }))
      return std::move(error);
  for (auto [i, port] : llvm::enumerate(signature.results))
    if (llvm::Error error = checkShapes(
            signature, port, entry, [&, i = i](func::FuncOp function) {
              return typeAt(function.getResultTypes(), i);
            }))
      return std::move(error);
  return signature;
}
