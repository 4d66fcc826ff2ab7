// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Signature.h"
#include "tp/IR/TP.h"
#include "tp/Run/Inputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
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

char ShapeFaultError::ID = 0;

SmallVector<Span> Signature::ranges(const Port &port, int64_t rank) const {
  Spread whole = spread(port);
  // The reader has refused what does not resolve.
  return *findShard(whole.shape, whole.sharding, mesh, rank);
}

SmallVector<int64_t> Signature::localShape(const Port &port,
                                           int64_t rank) const {
  return llvm::map_to_vector(ranges(port, rank),
                             [](Span range) { return range.size; });
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
  if (failed(layout) ||
      !findShard(global.getShape(), sharding, mesh, /*rank=*/0))
    return fail(port.name + ": the sharding does not fit the mesh");
  if (!layout->unreduced.empty())
    return fail(port.name + ": is a partial sum at the edge of the program; "
                            "finish it with tp.all_reduce to run it");
  port.sharding = sharding;
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
  if (isWhole)
    return port;
  if (llvm::Error error = layout(port, global))
    return std::move(error);
  return port;
}

/// Numbers the arguments that are alike in what they are made from. A block of
/// a tensor that is there already, or the whole of it, begins the next one.
static void countOccurrences(std::vector<Port> &arguments) {
  struct Seen {
    int64_t occurrence = 0;
    bool whole = false;
    SmallVector<StoredAttr> blocks;
  };
  llvm::StringMap<Seen> sources;
  for (Port &port : arguments) {
    Seen &seen = sources[port.sourceName()];
    bool isNew = !seen.whole &&
                 (port.stored ? !llvm::is_contained(seen.blocks, port.stored)
                              : seen.blocks.empty());
    if (!isNew)
      seen = {seen.occurrence + 1, false, {}};
    seen.whole |= !port.stored;
    if (port.stored)
      seen.blocks.push_back(port.stored);
    port.occurrence = seen.occurrence;
  }
}

llvm::Error Reader::ports() {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    llvm::Expected<Port> port =
        this->port("argument " + Twine(i), type, function.getArgAttrDict(i));
    if (!port)
      return port.takeError();
    signature.arguments.push_back(std::move(*port));
  }
  countOccurrences(signature.arguments);
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

/// What is wrong with the shapes that the functions of the ranks are written
/// for; empty if nothing is.
static std::string
findShapeFault(const Signature &signature, const Port &port,
               const RankFunctions &entry,
               llvm::function_ref<Type(func::FuncOp)> typeIn) {
  std::vector<SmallVector<int64_t>> shapes;
  for (int64_t rank = 0; rank < signature.numRanks; ++rank) {
    auto type = dyn_cast_or_null<RankedTensorType>(typeIn(entry.of(rank)));
    if (!type)
      return "rank " + std::to_string(rank) + " holds no tensor for `" +
             port.name + "`";
    shapes.emplace_back(type.getShape());
  }
  return tp::findShapeFault(signature.spread(port), shapes);
}

static llvm::Error checkShapes(const Signature &signature,
                               const RankFunctions &entry) {
  SmallVector<std::string> faults;
  auto check = [&](ArrayRef<Port> ports, auto typesOf) {
    for (auto [i, port] : llvm::enumerate(ports)) {
      std::string fault = findShapeFault(
          signature, port, entry, [&, i = i](func::FuncOp function) {
            ArrayRef<Type> types = typesOf(function);
            return i < types.size() ? types[i] : Type();
          });
      if (!fault.empty())
        faults.push_back(std::move(fault));
    }
  };
  check(signature.arguments,
        [](func::FuncOp function) { return function.getArgumentTypes(); });
  check(signature.results,
        [](func::FuncOp function) { return function.getResultTypes(); });
  if (faults.empty())
    return llvm::Error::success();
  return llvm::make_error<ShapeFaultError>(llvm::join(faults, "; "));
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
  if (llvm::Error error = checkShapes(signature, entry))
    return std::move(error);
  return signature;
}
