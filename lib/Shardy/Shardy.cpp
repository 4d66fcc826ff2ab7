// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Shardy/Shardy.h"
#include "mlir/IR/DialectImplementation.h"
#include "tp/IR/ShardingSyntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tp;
using namespace tp::sdy;

#include "tp/Shardy/Dialect.cpp.inc"

//===- MeshAttr -----------------------------------------------------------===//

/// A list of devices in their own order says nothing.
static bool isIota(ArrayRef<int64_t> devices, int64_t numRanks) {
  if (static_cast<int64_t>(devices.size()) != numRanks)
    return false;
  for (auto [index, device] : llvm::enumerate(devices))
    if (device != static_cast<int64_t>(index))
      return false;
  return true;
}

static Attribute parseMeshBody(AsmParser &parser) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> devices;
  SMLoc loc = parser.getCurrentLocation();
  auto parseDevice = [&]() -> ParseResult {
    return parser.parseInteger(devices.emplace_back());
  };
  if (parser.parseLess() || parseMeshAxes(parser, axes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                      parseDevice)))
    return {};
  if (parser.parseGreater())
    return {};
  auto mesh = tp::MeshAttr::getChecked([&] { return parser.emitError(loc); },
                                       parser.getContext(), ArrayRef(axes));
  if (!mesh)
    return {};
  // A device of a mesh without axes is that device, even number 0.
  if (!axes.empty() && isIota(devices, mesh.getNumRanks()))
    devices.clear();
  return sdy::MeshAttr::get(parser.getContext(), mesh, devices);
}

Attribute sdy::MeshAttr::parse(AsmParser &parser, Type) {
  return parseMeshBody(parser);
}

void sdy::MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printMeshAxes(printer, getAxes().getAxes());
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << "]";
  }
  printer << ">";
}

//===- DimensionShardingAttr ----------------------------------------------===//

static FailureOr<DimensionShardingAttr> parseDim(AsmParser &parser) {
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  int64_t priority = 0;
  auto parseEntry = [&]() -> ParseResult {
    if (!isClosed)
      return parser.emitError(parser.getCurrentLocation(),
                              "nothing may follow '?'");
    if (succeeded(parser.parseOptionalQuestion())) {
      isClosed = false;
      return success();
    }
    FailureOr<AxisRefAttr> ref = parseAxisRef(parser);
    if (failed(ref))
      return failure();
    axes.push_back(*ref);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return failure();
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword)) &&
      (!keyword.consume_front("p") || keyword.getAsInteger(10, priority)))
    return parser.emitError(loc, "a priority is wanted here, as p1");
  return DimensionShardingAttr::get(parser.getContext(), axes, isClosed,
                                    priority);
}

static void printDim(AsmPrinter &printer, DimensionShardingAttr dim) {
  printer << "{";
  llvm::interleaveComma(dim.getAxes(), printer,
                        [&](AxisRefAttr ref) { printAxisRef(printer, ref); });
  if (!dim.getIsClosed())
    printer << (dim.getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (dim.getPriority() != 0)
    printer << "p" << dim.getPriority();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimensionShardingAttr> dim = parseDim(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDim(printer, *this);
  printer << ">";
}

//===- TensorShardingAttr -------------------------------------------------===//

static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &mesh) {
  if (failed(parser.parseOptionalKeyword("mesh"))) {
    FlatSymbolRefAttr name;
    if (parser.parseAttribute(name))
      return failure();
    mesh = name;
    return success();
  }
  mesh = parseMeshBody(parser);
  return success(mesh != nullptr);
}

static TensorShardingAttr parseTensorSharding(AsmParser &parser) {
  Attribute mesh;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  auto parseOneDim = [&]() -> ParseResult {
    FailureOr<DimensionShardingAttr> dim = parseDim(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() || parseMeshOrRef(parser, mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    bool isReplicated = succeeded(parser.parseOptionalKeyword("replicated"));
    if (!isReplicated && parser.parseKeyword("unreduced"))
      return {};
    if (parser.parseEqual() ||
        parseAxisList(parser, isReplicated ? replicated : unreduced))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return TensorShardingAttr::get(parser.getContext(), mesh, dims, replicated,
                                 unreduced);
}

static void printAxisSet(AsmPrinter &printer, StringRef name,
                         ArrayRef<AxisRefAttr> axes) {
  if (axes.empty())
    return;
  printer << ", " << name << "=";
  printAxisList(printer, axes);
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  return parseTensorSharding(parser);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (auto mesh = dyn_cast<sdy::MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", [";
  llvm::interleaveComma(getDims(), printer, [&](DimensionShardingAttr dim) {
    printDim(printer, dim);
  });
  printer << "]";
  printAxisSet(printer, "replicated", getReplicated());
  printAxisSet(printer, "unreduced", getUnreduced());
  printer << ">";
}

//===- TensorShardingPerValueAttr -----------------------------------------===//

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorShardingAttr> shardings;
  auto parseOne = [&]() -> ParseResult {
    shardings.push_back(parseTensorSharding(parser));
    return success(shardings.back() != nullptr);
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      getShardings(), printer,
      [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << "]>";
}

//===- Operations ---------------------------------------------------------===//

static ParseResult parseBareSharding(OpAsmParser &parser,
                                     TensorShardingAttr &sharding) {
  sharding = parseTensorSharding(parser);
  return success(sharding != nullptr);
}

static void printBareSharding(OpAsmPrinter &printer, Operation *,
                              TensorShardingAttr sharding) {
  sharding.print(printer);
}

#define GET_ATTRDEF_CLASSES
#include "tp/Shardy/Attributes.cpp.inc"
#define GET_OP_CLASSES
#include "tp/Shardy/Ops.cpp.inc"

void SDYDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tp/Shardy/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tp/Shardy/Ops.cpp.inc"
      >();
}
