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
  if (type.isF32())
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
    return fail(port.name + ": element type cannot run; f32, f64, i32, i64 "
                            "and i1 can");
  port.kind = *kind;
  port.localShape = llvm::to_vector(local.getShape());
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

static llvm::Error checkShapes(const Signature &signature, const Port &port) {
  for (int64_t rank = 0; rank < signature.numRanks; ++rank) {
    SmallVector<int64_t> shape = llvm::map_to_vector(
        signature.ranges(port, rank), [](Range range) { return range.size; });
    if (shape != port.localShape)
      return fail(port.name + ": rank " + Twine(rank) + " holds " +
                  text(shape) + " of " + text(port.globalShape) +
                  ", but the program is written for " + text(port.localShape));
  }
  return llvm::Error::success();
}

llvm::Expected<Signature> tp::readSignature(func::FuncOp localEntry) {
  Signature signature;
  signature.entry = localEntry.getSymName();
  if (llvm::Error error = Reader{localEntry, signature}.ports())
    return std::move(error);
  if (signature.mesh)
    signature.numRanks = signature.mesh.getNumRanks();
  if (auto ranks = localEntry->getAttrOfType<IntegerAttr>(ranksAttrName)) {
    if (signature.mesh && signature.numRanks != ranks.getInt())
      return fail("the program is written for " + Twine(ranks.getInt()) +
                  " ranks, its mesh has " + Twine(signature.numRanks));
    signature.numRanks = ranks.getInt();
  }
  for (ArrayRef<Port> ports :
       {ArrayRef<Port>(signature.arguments), ArrayRef<Port>(signature.results)})
    for (const Port &port : ports)
      if (llvm::Error error = checkShapes(signature, port))
        return std::move(error);
  return signature;
}
