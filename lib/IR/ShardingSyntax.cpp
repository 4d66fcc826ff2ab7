// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Verifiers, parsers and printers of the sharding attributes, in the text form
/// of Shardy.

#include "tp/IR/ShardingSyntax.h"
#include "mlir/IR/DialectImplementation.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tp;

//===- MeshAttr -----------------------------------------------------------===//

LogicalResult
MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<MeshAxisAttr> axes) {
  llvm::StringSet<> names;
  int64_t ranks = 1;
  for (MeshAxisAttr axis : axes) {
    if (axis.getName().empty())
      return emitError() << "a mesh axis needs a name";
    if (!names.insert(axis.getName()).second)
      return emitError() << "mesh axis \"" << axis.getName()
                         << "\" is named twice";
    if (axis.getSize() < 1)
      return emitError() << "mesh axis \"" << axis.getName() << "\" has "
                         << axis.getSize() << " ranks; at least 1 is needed";
    std::optional<int64_t> product = llvm::checkedMul(ranks, axis.getSize());
    if (!product)
      return emitError() << "the number of ranks of the mesh exceeds 2^63 - 1 "
                            "at axis \""
                         << axis.getName() << "\"";
    ranks = *product;
  }
  return success();
}

std::optional<unsigned> MeshAttr::findAxis(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return index;
  return std::nullopt;
}

int64_t MeshAttr::getNumRanks() const {
  int64_t ranks = 1;
  for (MeshAxisAttr axis : getAxes())
    ranks *= axis.getSize();
  return ranks;
}

int64_t MeshAttr::getStride(unsigned index) const {
  int64_t stride = 1;
  for (MeshAxisAttr axis : getAxes().drop_front(index + 1))
    stride *= axis.getSize();
  return stride;
}

ParseResult tp::parseMeshAxes(AsmParser &parser,
                              SmallVectorImpl<MeshAxisAttr> &axes) {
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    int64_t size = 0;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    axes.push_back(MeshAxisAttr::get(parser.getContext(), name, size));
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        parseAxis);
}

void tp::printMeshAxes(AsmPrinter &printer, ArrayRef<MeshAxisAttr> axes) {
  printer << "[";
  llvm::interleaveComma(axes, printer, [&](MeshAxisAttr axis) {
    printer << '"' << axis.getName() << "\"=" << axis.getSize();
  });
  printer << "]";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseMeshAxes(parser, axes) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    axes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printMeshAxes(printer, getAxes());
  printer << ">";
}

//===- AxisRefAttr --------------------------------------------------------===//

LogicalResult
AxisRefAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    StringRef name, int64_t preSize, int64_t size) {
  if (size == 0 && preSize == 1)
    return success();
  if (preSize < 1 || size < 1 || !llvm::checkedMul(preSize, size))
    return emitError() << "sub-axis \"" << name << "\":(" << preSize << ")"
                       << size
                       << ": both numbers must be at least 1 and their product "
                          "fit 63 bits";
  return success();
}

FailureOr<AxisRefAttr> tp::parseAxisRef(AsmParser &parser) {
  std::string name;
  int64_t preSize = 1, size = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseLParen() || parser.parseInteger(preSize) ||
        parser.parseRParen() || parser.parseInteger(size))
      return failure();
    if (size == 0)
      return parser.emitError(loc, "a sub-axis of size 0");
  }
  auto ref = AxisRefAttr::getChecked([&] { return parser.emitError(loc); },
                                     parser.getContext(), name, preSize, size);
  if (!ref)
    return failure();
  return ref;
}

void tp::printAxisRef(AsmPrinter &printer, AxisRefAttr ref) {
  printer << '"' << ref.getName() << '"';
  if (!ref.isWhole())
    printer << ":(" << ref.getPreSize() << ")" << ref.getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisRefAttr> ref = parseAxisRef(parser);
  if (failed(ref) || parser.parseGreater())
    return {};
  return *ref;
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxisRef(printer, *this);
  printer << ">";
}

ParseResult tp::parseAxisList(AsmParser &parser,
                              SmallVectorImpl<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        FailureOr<AxisRefAttr> ref = parseAxisRef(parser);
        if (failed(ref))
          return failure();
        axes.push_back(*ref);
        return success();
      });
}

void tp::printAxisList(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  printer << "{";
  llvm::interleaveComma(axes, printer,
                        [&](AxisRefAttr ref) { printAxisRef(printer, ref); });
  printer << "}";
}

//===- DimShardingAttr ----------------------------------------------------===//

LogicalResult
DimShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<AxisRefAttr> axes, int64_t unit) {
  if (unit < 1)
    return emitError() << "unit = " << unit << "; a unit is at least 1";
  return success();
}

static FailureOr<DimShardingAttr> parseDim(AsmParser &parser) {
  SmallVector<AxisRefAttr> axes;
  int64_t unit = 1;
  bool hasUnit = false;
  SMLoc loc = parser.getCurrentLocation();
  // Axes first, then at most one `unit = u`.
  auto parseEntry = [&]() -> ParseResult {
    if (hasUnit)
      return parser.emitError(parser.getCurrentLocation())
             << "nothing follows the unit of a dimension";
    if (succeeded(parser.parseOptionalKeyword("unit"))) {
      hasUnit = true;
      return failure(parser.parseEqual() || parser.parseInteger(unit));
    }
    FailureOr<AxisRefAttr> ref = parseAxisRef(parser);
    if (failed(ref))
      return failure();
    axes.push_back(*ref);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return failure();
  auto dim = DimShardingAttr::getChecked([&] { return parser.emitError(loc); },
                                         parser.getContext(), axes, unit);
  if (!dim)
    return failure();
  return dim;
}

static void printDim(AsmPrinter &printer, DimShardingAttr dim) {
  printer << "{";
  llvm::interleaveComma(dim.getAxes(), printer,
                        [&](AxisRefAttr ref) { printAxisRef(printer, ref); });
  if (dim.getUnit() != 1)
    printer << (dim.getAxes().empty() ? "" : ", ")
            << "unit = " << dim.getUnit();
  printer << "}";
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimShardingAttr> dim = parseDim(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDim(printer, *this);
  printer << ">";
}

//===- ShardingAttr -------------------------------------------------------===//

LogicalResult
ShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     FlatSymbolRefAttr mesh, ArrayRef<DimShardingAttr> dims,
                     ReductionKind kind, ArrayRef<AxisRefAttr> unreduced) {
  if (kind == ReductionKind::Max && unreduced.empty())
    return emitError() << "max{} over no axes: write nothing instead";
  return success();
}

LogicalResult ShardingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type elementType,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (getDims().size() != shape.size())
    return emitError() << "the sharding has " << getDims().size()
                       << " dimensions, the tensor " << shape.size();
  for (auto [index, dim, size] : llvm::enumerate(getDims(), shape)) {
    if (ShapedType::isDynamic(size))
      return emitError() << "dimension " << index
                         << " is dynamic; only static shapes can be split";
    if (dim.getUnit() > 1 && size % dim.getUnit() != 0)
      return emitError() << "unit = " << dim.getUnit()
                         << " does not divide dimension " << index << " of "
                         << size << " elements";
  }
  if (getUnreduced().empty())
    return success();
  bool isBit = elementType.isInteger(1);
  if (!isa<FloatType>(elementType) && !elementType.isInteger())
    return emitError() << "a value of element type " << elementType
                       << " cannot be unreduced";
  if (isBit && getKind() == ReductionKind::Sum)
    return emitError() << "a sum of i1 values is not defined; use max{..}";
  return success();
}

/// `unreduced = {..}`, `unreduced = sum{..}` or `unreduced = max{..}`.
static ParseResult parseUnreduced(AsmParser &parser, ReductionKind &kind,
                                  SmallVectorImpl<AxisRefAttr> &axes) {
  if (parser.parseKeyword("unreduced") || parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    std::optional<ReductionKind> known = symbolizeReductionKind(word);
    if (!known)
      return parser.emitError(loc)
             << "values combine as sum or max, not as '" << word << "'";
    kind = *known;
  }
  return parseAxisList(parser, axes);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  ReductionKind kind = ReductionKind::Sum;
  SmallVector<AxisRefAttr> unreduced;
  SMLoc loc = parser.getCurrentLocation();
  auto parseOneDim = [&]() -> ParseResult {
    FailureOr<DimShardingAttr> dim = parseDim(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      parseUnreduced(parser, kind, unreduced))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    mesh, dims, kind, unreduced);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimShardingAttr dim) { printDim(printer, dim); });
  printer << "]";
  if (!getUnreduced().empty()) {
    printer << ", unreduced = "
            << (getKind() == ReductionKind::Max ? "max" : "");
    printAxisList(printer, getUnreduced());
  }
  printer << ">";
}

//===- Custom directives of the operations --------------------------------===//

static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<AxisRefAttr> refs;
  if (parseAxisList(parser, refs))
    return failure();
  axes = ArrayAttr::get(parser.getContext(),
                        SmallVector<Attribute>(refs.begin(), refs.end()));
  return success();
}

static void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  SmallVector<AxisRefAttr> refs(axes.getAsRange<AxisRefAttr>());
  printAxisList(printer, refs);
}

//===- StoredAttr ---------------------------------------------------------===//

// TableGen declares one argument for each of the attribute's parameters.
LogicalResult // NOLINTNEXTLINE(readability-function-size)
StoredAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   StringRef name, ArrayRef<int64_t> shape, int64_t dim,
                   int64_t from, int64_t size, int64_t stride, int64_t count) {
  if (name.empty())
    return emitError() << "a stored tensor needs a name";
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) ||
      !numElements(shape))
    return emitError() << "\"" << name << "\" cannot have the shape [" << shape
                       << "]";
  int64_t rank = static_cast<int64_t>(shape.size());
  if (dim < 0 || dim >= rank)
    return emitError() << "\"" << name << "\" of shape [" << shape
                       << "] has no dimension " << dim;
  if (from < 0 || size < 0 || count < 1 || (count > 1 && stride < size))
    return emitError() << "runs of " << size << " rows from row " << from
                       << ", " << count << " of them, each " << stride
                       << " rows after the one before, are not in order";
  std::optional<int64_t> last = llvm::checkedMul(count - 1, stride);
  std::optional<int64_t> end = last ? llvm::checkedAdd(*last, from) : last;
  end = end ? llvm::checkedAdd(*end, size) : end;
  if (!end || *end > shape[dim])
    return emitError() << "the runs end beyond the " << shape[dim]
                       << " rows of \"" << name << "\"";
  return success();
}

Attribute StoredAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SmallVector<int64_t> shape;
  int64_t dim = 0, from = 0, size = 0, count = 1;
  SMLoc loc = parser.getCurrentLocation();
  auto parseSize = [&] { return parser.parseInteger(shape.emplace_back()); };
  if (parser.parseLess() || parser.parseString(&name) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize) ||
      parser.parseComma() || parser.parseKeyword("dim") ||
      parser.parseInteger(dim) || parser.parseKeyword("from") ||
      parser.parseInteger(from) || parser.parseKeyword("size") ||
      parser.parseInteger(size))
    return {};
  int64_t stride = size;
  if (succeeded(parser.parseOptionalKeyword("stride")) &&
      (parser.parseInteger(stride) || parser.parseKeyword("count") ||
       parser.parseInteger(count)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    name, shape, dim, from, size, stride, count);
}

void StoredAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getName());
  printer << " [";
  llvm::interleaveComma(getShape(), printer);
  printer << "], dim " << getDim() << " from " << getFrom() << " size "
          << getSize();
  if (getCount() != 1)
    printer << " stride " << getStride() << " count " << getCount();
  printer << ">";
}

//===- Directives ---------------------------------------------------------===//

static ParseResult parseDimSplit(OpAsmParser &parser, DimShardingAttr &split) {
  FailureOr<DimShardingAttr> dim = parseDim(parser);
  if (failed(dim))
    return failure();
  split = *dim;
  return success();
}

static void printDimSplit(OpAsmPrinter &printer, Operation *,
                          DimShardingAttr split) {
  printDim(printer, split);
}

// The generated definitions call the functions above.
#define GET_ATTRDEF_CLASSES
#include "tp/IR/Attributes.cpp.inc"
#define GET_OP_CLASSES
#include "tp/IR/Ops.cpp.inc"

void TPDialect::registerGeneratedEntities() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tp/IR/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tp/IR/Ops.cpp.inc"
      >();
}
