// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Report/Report.h"
#include "Alternatives.h"
#include "LayerGraph.h"
#include "Memory.h"
#include "Places.h"
#include "Step.h"
#include "Training.h"
#include "Waits.h"
#include "mlir/Analysis/CallGraph.h"
#include "tp/Check/Legality.h"
#include "tp/IR/LocalShape.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tp;

namespace {

/// Fills a report in four walks: which functions, whether they are typed, what
/// they take, and how a step runs.
class Collector {
public:
  Collector(ModuleOp module, const Machine &machine,
            const ReportSettings &settings)
      : module(module), machine(machine), settings(settings) {}

  FailureOr<Report> run();

private:
  LogicalResult orderFunctions();
  LogicalResult countCalls();
  LogicalResult checkLength();
  LogicalResult addCalls(func::CallOp call, int64_t times);
  LogicalResult checkTyped(func::FuncOp function);
  LogicalResult checkType(Operation *op, Type type);
  void price(Operation *op, int64_t count, const CostModel &model);
  void priceCollective(CollectiveOpInterface op, int64_t count,
                       const CostModel &model);
  LogicalResult addParameters();
  LogicalResult follow();
  void addWaits(const Waits &waits);

  ModuleOp module;
  const Machine &machine;
  const ReportSettings &settings;
  SymbolTableCollection symbols;
  func::FuncOp entry;
  /// Callers before callees.
  SmallVector<func::FuncOp> functions;
  llvm::DenseMap<Operation *, int64_t> counts;
  FlatSymbolRefAttr meshName;
  /// What each operation and collective costs, and which collectives the
  /// report's entries are for.
  llvm::DenseMap<Operation *, Cost> costs;
  std::vector<Operation *> collectives;
  Report report;
};

} // namespace

StringRef tp::toString(StepPart part) {
  switch (part) {
  case StepPart::Embedding:
    return "embedding";
  case StepPart::Layers:
    return "layers";
  case StepPart::Head:
    return "head";
  case StepPart::Loss:
    return "loss";
  }
  llvm_unreachable("no such part");
}

StringRef tp::toString(FlopConvention convention) {
  return convention == FlopConvention::Full ? "full" : "causal";
}

//===- Which functions, how often -----------------------------------------===//

LogicalResult Collector::orderFunctions() {
  const CallGraph graph(module);
  for (auto group = llvm::scc_begin(&graph); !group.isAtEnd(); ++group) {
    for (CallGraphNode *node : *group) {
      if (node->isExternal())
        continue;
      auto function =
          cast<func::FuncOp>(node->getCallableRegion()->getParentOp());
      if (group.hasCycle())
        return function.emitOpError()
               << "'" << function.getName()
               << "' calls itself, directly or through others; the number of "
                  "its calls is unknown";
      functions.push_back(function);
    }
  }
  std::reverse(functions.begin(), functions.end());
  return success();
}

LogicalResult Collector::addCalls(func::CallOp call, int64_t times) {
  auto callee =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isDeclaration())
    return call.emitOpError()
           << "calls '" << call.getCallee() << "', which has no body to price";
  int64_t &count = counts[callee];
  std::optional<int64_t> sum = llvm::checkedAdd(count, times);
  if (!sum)
    return call.emitOpError() << "brings the calls of '" << call.getCallee()
                              << "' in one step to more than 2^63 - 1";
  count = *sum;
  return success();
}

/// Drops the functions that the entry does not reach. Only private ones can be
/// declarations.
LogicalResult Collector::countCalls() {
  counts[entry] = 1;
  llvm::erase_if(functions, [&](func::FuncOp function) {
    return function.isDeclaration();
  });
  for (func::FuncOp function : functions) {
    int64_t times = counts.lookup(function);
    if (times == 0)
      continue;
    WalkResult result = function.walk(
        [&](func::CallOp call) { return WalkResult(addCalls(call, times)); });
    if (result.wasInterrupted())
      return failure();
  }
  llvm::erase_if(functions, [&](func::FuncOp function) {
    return counts.lookup(function) == 0;
  });
  return success();
}

LogicalResult Collector::checkLength() {
  uint64_t length = 0;
  for (func::FuncOp function : functions)
    length = llvm::SaturatingAdd(
        length, llvm::SaturatingMultiply<uint64_t>(
                    counts.lookup(function),
                    function.getBody().front().getOperations().size()));
  if (length <= maxStepLength)
    return success();
  return entry.emitOpError()
         << "runs " << length << " operations and calls in a step; "
         << maxStepLength << " can be followed one by one";
}

//===- Whether the program is typed ---------------------------------------===//

LogicalResult Collector::checkType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  ShardingAttr sharding = getSharding(type);
  if (!sharding) {
    InFlightDiagnostic diag =
        op->emitOpError() << "has a tensor without a layout, " << type
                          << "; only a typed program has a predictable cost";
    diag.attachNote() << "fix: run tp-plan first";
    return diag;
  }
  if (meshName && meshName != sharding.getMesh())
    return op->emitOpError()
           << "lies on " << sharding.getMesh() << ", other values on "
           << meshName << "; a report is for one mesh";
  meshName = sharding.getMesh();
  return success();
}

LogicalResult Collector::checkTyped(func::FuncOp function) {
  if (function->hasAttr(localAttrName)) {
    InFlightDiagnostic diag = function.emitOpError()
                              << "'" << function.getName()
                              << "' is the program of one rank; its layouts "
                                 "are gone";
    diag.attachNote() << "fix: run tp-cost-report before tp-partition";
    return diag;
  }
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; how often each runs is unknown";
  for (Type type : function.getArgumentTypes())
    if (failed(checkType(function, type)))
      return failure();
  for (Operation &op : function.getBody().front()) {
    for (Type type : op.getResultTypes())
      if (failed(checkType(&op, type)))
        return failure();
    if (!isa<ReshardOp>(op))
      continue;
    InFlightDiagnostic diag =
        op.emitOpError() << "is not decomposed, so what it sends is not known";
    diag.attachNote() << "fix: run tp-insert-collectives first";
    return diag;
  }
  return success();
}

//===- What it takes ------------------------------------------------------===//

static std::string toText(const AxisPart &part, MeshAttr mesh) {
  AxisRefAttr ref = toAttr(part, mesh);
  std::string name = llvm::json::fixUTF8(ref.getName());
  if (ref.isWhole())
    return name;
  return llvm::formatv("{0}:({1}){2}", name, ref.getPreSize(), ref.getSize());
}

/// The dimensions that a step names: the one it gathers, splits or reorders,
/// and the target of an all-to-all.
static void setDims(const LayoutStep &step, CollectiveFigures &figures) {
  switch (step.kind) {
  case LayoutStep::AllReduce:
  case LayoutStep::ToUnreduced:
    return;
  case LayoutStep::AllToAll:
    figures.target = step.target;
    [[fallthrough]];
  case LayoutStep::AllGather:
  case LayoutStep::ReduceScatter:
  case LayoutStep::AllSlice:
  case LayoutStep::Permute:
    figures.dim = step.dim;
  }
}

void Collector::priceCollective(CollectiveOpInterface op, int64_t count,
                                const CostModel &model) {
  LayoutStep step = op.getLayoutStep();
  Value input = op->getOperand(0);
  CollectiveFigures figures;
  figures.place = getPlace(op);
  figures.count = count;
  for (const AxisPart &part : step.parts)
    figures.axes.push_back(toText(part, model.getMesh()));
  figures.ranks = numRanks(step.parts);
  figures.type = withSharding(input.getType(), nullptr);
  setDims(step, figures);
  figures.cost = model.priceStep(step, figures.type, getCheckedLayout(input));
  figures.cost.sentBytes = std::round(figures.cost.sentBytes);
  if (figures.cost.communicates)
    figures.link = model.getLink(step.parts).name;
  costs[op] = figures.cost;
  collectives.push_back(op);

  Totals &totals = report.totals;
  double times = static_cast<double>(count);
  totals.communicationSeconds += times * figures.cost.seconds;
  totals.sentBytes += times * figures.cost.sentBytes;
  if (figures.cost.communicates)
    totals.collectives[toString(step.kind)] += count;
  report.collectives.push_back(std::move(figures));
}

/// Adds a product's FLOPs, unsharded and on the rank with the largest shards.
static void addProduct(Totals &totals, const ShardingRule &rule,
                       const Work &work, ArrayRef<Layout> layouts, double times,
                       double peak) {
  SmallVector<Layout> whole;
  for (const Layout &layout : layouts)
    whole.emplace_back().dims.resize(layout.dims.size());
  auto add = [&](ProductFigures &sums, FlopConvention convention) {
    auto count = [&](ArrayRef<Layout> lie) {
      return times * CostModel::countProductFlops(rule, work, lie, convention);
    };
    double flops = count(whole);
    sums.flops += flops;
    sums.peakSeconds += flops / peak;
    sums.rankPeakSeconds += count(layouts) / peak;
  };
  add(totals.causal, FlopConvention::Causal);
  add(totals.full, FlopConvention::Full);
}

void Collector::price(Operation *op, int64_t count, const CostModel &model) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return priceCollective(collective, count, model);
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return;
  SmallVector<Type> types;
  SmallVector<Layout> layouts;
  auto add = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    types.push_back(value.getType());
    layouts.push_back(getCheckedLayout(value));
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  ShardingRule rule = ruled.getShardingRule();
  Work work = cast<WorkOpInterface>(op).getWork();
  Cost cost = model.priceOperation(rule, work, types, layouts);
  costs[op] = cost;
  double times = static_cast<double>(count);
  std::string element;
  llvm::raw_string_ostream(element)
      << cast<RankedTensorType>(types.back()).getElementType();
  addProduct(report.totals, rule, work, layouts, times,
             machine.getPeak(element));
  report.totals.computeSeconds += times * cost.seconds;
  report.totals.flops += times * cost.flops;
  report.totals.memoryBytes += times * cost.memoryBytes;
  report.operations.push_back({getPlace(op), count, cost});
}

/// Numbers in the rows of a parameter that its file has.
static int64_t countStored(RankedTensorType type, StoredAttr stored) {
  SmallVector<int64_t> shape(type.getShape());
  if (stored)
    shape[stored.getDim()] = stored.getSize() * stored.getCount();
  return llvm::product_of(shape);
}

LogicalResult Collector::addParameters() {
  ParameterFigures &sums = report.parameters;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !entry.getArgAttr(index, parameterAttrName))
      continue;
    Layout layout = getCheckedLayout(entry.getArgument(index));
    // Of each part of an axis the first rank has most, the last one least.
    int64_t most = llvm::product_of(
        getLocalShape(tensor.getShape(), layout, report.mesh, 0));
    int64_t fewest = llvm::product_of(getLocalShape(
        tensor.getShape(), layout, report.mesh, report.mesh.getNumRanks() - 1));
    int64_t ofModel = countStored(
        tensor, entry.getArgAttrOfType<StoredAttr>(index, storedAttrName));
    int64_t padding = *numElements(tensor.getShape()) - ofModel;
    auto total = llvm::checkedAdd(sums.total, ofModel);
    auto allPadding = llvm::checkedAdd(sums.padding, padding);
    auto bytes = llvm::checkedMulAdd(
        most, getElementBytes(tensor.getElementType()), sums.bytesPerRank);
    if (!total || !allPadding || !bytes)
      return entry.emitOpError() << "has parameters of more than 2^63 - 1 "
                                    "numbers in all, or bytes on a rank";
    ++sums.tensors;
    sums.total = *total;
    sums.padding = *allPadding;
    sums.perRank += most;
    sums.fewestPerRank += fewest;
    sums.bytesPerRank = *bytes;
  }
  return success();
}

void Collector::addWaits(const Waits &waits) {
  for (auto [op, figures] : llvm::zip_equal(collectives, report.collectives)) {
    const Wait &wait = waits.collectives.find(op)->second;
    figures.part = wait.part;
    figures.blocking = wait.blocking;
    figures.heldSeconds = wait.heldSeconds;
    if (wait.first)
      figures.firstUser = getPlace(wait.first);
    report.totals.blocking += wait.blocking;
  }
  report.totals.heldSeconds = waits.heldSeconds;
  report.totals.overlappedSeconds = waits.seconds;
  report.timeline = waits.timeline;
}

LogicalResult Collector::follow() {
  Step step = followStep(entry);
  addWaits(findWaits(step, costs));
  report.graph = drawLayer(step, costs);
  report.totals.tokens = countTokens(step);
  FailureOr<MemoryFigures> memory =
      collectMemory(step, report.mesh, report.training);
  if (failed(memory))
    return failure();
  report.memory = *memory;
  return success();
}

FailureOr<Report> Collector::run() {
  llvm::Expected<func::FuncOp> found = findEntry(module);
  if (!found)
    return module.emitError() << llvm::toString(found.takeError());
  entry = *found;
  if (failed(orderFunctions()) || failed(countCalls()))
    return failure();
  for (func::FuncOp function : functions)
    if (failed(checkTyped(function)))
      return failure();
  if (failed(checkLength()))
    return failure();
  // What follows trusts the layouts.
  if (failed(checkModule(module)))
    return failure();
  report.machine = llvm::json::fixUTF8(machine.name);
  report.deviceBytes = machine.memoryBytes;
  if (meshName)
    report.mesh = lookupMesh(module, meshName);
  FailureOr<TrainingSettings> training =
      readTraining(module, report.mesh, settings);
  if (failed(training))
    return failure();
  report.training = *training;
  FailureOr<FlopConvention> convention = readConvention(module, settings);
  if (failed(convention))
    return failure();
  report.convention = *convention;
  CostModel model(machine, report.mesh);
  for (func::FuncOp function : functions)
    for (Operation &op : function.getBody().front())
      price(&op, counts.lookup(function), model);
  if (failed(addParameters()) || failed(follow()))
    return failure();
  FailureOr<AlternativeFigures> alternatives =
      collectAlternatives(module, report.mesh, settings);
  if (failed(alternatives))
    return failure();
  report.alternatives = std::move(*alternatives);
  return std::move(report);
}

FailureOr<Report> tp::collectReport(ModuleOp module, const Machine &machine,
                                    const ReportSettings &settings) {
  return Collector(module, machine, settings).run();
}
