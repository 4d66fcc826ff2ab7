// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-print-plan: a plan as a table.

#include "Reasons.h"
#include "Scenarios.h"
#include "tp/Check/ReportFile.h"
#include "tp/Check/Slices.h"
#include "tp/Passes.h"
#include "tp/Plan/ReadPlan.h"
#include "tp/Plan/Record.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PRINTPLAN
#include "tp/Passes.h.inc"
} // namespace tp

namespace {

/// A weight of the plan.
struct PlannedWeight {
  ParameterChoice choice;
  HeldParameter held;
  /// `column`, `row`, `whole`, `split` or `column and row`.
  std::string split;
  /// Numbers of the collectives that it leads to.
  std::vector<unsigned> collectives;
};

/// All that is printed.
class PlanTable {
public:
  /// Reads a planned module, whichever plan it holds. Diagnoses types that no
  /// plan under its settings has.
  static FailureOr<std::unique_ptr<PlanTable>>
  read(ModuleOp module, const PlanSettings &settings, StringRef flag);

  void printText(llvm::raw_ostream &os) const;
  void printJSON(llvm::raw_ostream &os) const;

private:
  PlanTable(ModuleOp module, const PlanSettings &settings)
      : settings(settings), opened(reopen(module)),
        lowerBound(readLowerBound(module)) {}

  LogicalResult fill(ModuleOp module, StringRef flag);
  PlannedWeight readWeight(const ParameterChoice &choice,
                           const HeldParameter &held) const;
  std::vector<std::string> rowOf(const PlannedWeight &weight) const;
  void writeWeight(const PlannedWeight &weight,
                   llvm::json::OStream &json) const;
  void writeCollective(ArrayRef<const PlanStep *> alike,
                       llvm::json::OStream &json) const;
  void writeFigures(llvm::json::OStream &json) const;

  PlanSettings settings;
  OwningOpRef<ModuleOp> opened;
  std::unique_ptr<Planner> planner;
  PlanFigures figures;
  /// Seconds, as the module has it.
  std::optional<double> lowerBound;
  std::unique_ptr<Reasons> reasons;
  std::vector<SmallVector<const PlanStep *>> collectives;
  std::vector<PlannedWeight> weights;
};

} // namespace

//===- Reading ------------------------------------------------------------===//

PlannedWeight PlanTable::readWeight(const ParameterChoice &choice,
                                    const HeldParameter &held) const {
  const Graph &graph = planner->getGraph();
  std::vector<WeightUse> uses = findWeightUses(graph, choice.argument);
  Layout layout =
      getCheckedLayout(withSharding(choice.type, choice.sharding), *opened);
  PlannedWeight weight{choice, held, nameLayout(findProduct(uses), layout), {}};
  if (weight.split.empty())
    weight.split = layout.isWhole() ? "whole" : "split";
  std::set<unsigned> numbers;
  for (const WeightUse &use : uses)
    for (unsigned step : reasons->findNextCollectives(use))
      for (auto [number, alike] : llvm::enumerate(collectives))
        if (llvm::is_contained(alike, &reasons->getSteps()[step]))
          numbers.insert(number);
  weight.collectives.assign(numbers.begin(), numbers.end());
  return weight;
}

LogicalResult PlanTable::fill(ModuleOp module, StringRef flag) {
  FailureOr<MeshAttr> mesh = findListedMesh(module, flag);
  if (failed(mesh))
    return failure();
  llvm::Expected<func::FuncOp> entry = findEntry(module);
  if (!entry)
    return emitError(module.getLoc()) << llvm::toString(entry.takeError());
  FailureOr<std::vector<HeldParameter>> held =
      readHeldParameters(*entry, *mesh, flag);
  if (failed(held))
    return failure();
  FailureOr<std::unique_ptr<Planner>> created =
      Planner::create(*opened, settings);
  if (failed(created))
    return failure();
  planner = std::move(*created);
  FailureOr<Solution> solution = readSolution(module, *opened, *planner);
  if (failed(solution))
    return failure();
  figures = planner->getFigures(*solution);
  reasons = std::make_unique<Reasons>(*planner, *solution);
  collectives = reasons->groupCollectives();
  for (auto [choice, holding] :
       llvm::zip_equal(planner->getParameters(*solution), *held))
    weights.push_back(readWeight(choice, holding));
  return success();
}

FailureOr<std::unique_ptr<PlanTable>>
PlanTable::read(ModuleOp module, const PlanSettings &settings, StringRef flag) {
  std::unique_ptr<PlanTable> table(new PlanTable(module, settings));
  if (failed(table->fill(module, flag)))
    return failure();
  return table;
}

//===- Text ---------------------------------------------------------------===//

/// "[0:512, :]": what a rank holds, whole dimensions as `:`.
static std::string describeHeld(const HeldParameter &held, int64_t rank) {
  std::string text;
  for (const Holding &holding : held.holdings) {
    if (!llvm::is_contained(holding.ranks, rank))
      continue;
    for (const StoredSlice &slice : holding.slices) {
      text += text.empty() ? "[" : " [";
      llvm::ListSeparator separator;
      for (auto [range, size] : llvm::zip_equal(slice.from, held.storedShape)) {
        text += StringRef(separator);
        if (range.offset == 0 && range.size == size)
          text += ":";
        else
          text +=
              llvm::formatv("{0}:{1}", range.offset, range.offset + range.size);
      }
      text += "]";
    }
  }
  if (text.empty())
    text = "nothing";
  if (held.tensor != held.name)
    text += " of " + withoutNumbers(held.tensor);
  return text;
}

/// The cells of a weight's row, but for the number of weights like it.
std::vector<std::string> PlanTable::rowOf(const PlannedWeight &weight) const {
  MeshAttr mesh = planner->getMesh();
  std::string shape;
  llvm::raw_string_ostream os(shape);
  os << "[";
  llvm::interleaveComma(weight.choice.type.getShape(), os);
  os << "]";
  std::string split = weight.split;
  Layout layout = getCheckedLayout(
      withSharding(weight.choice.type, weight.choice.sharding), *opened);
  if (!layout.isWhole())
    split += " " + toString(layout.getSplitParts(), mesh);
  std::string then;
  llvm::ListSeparator separator;
  for (unsigned number : weight.collectives)
    then += StringRef(separator).str() + std::to_string(number + 1);
  return {withoutNumbers(weight.choice.name),
          shape,
          split,
          describeHeld(weight.held, 0),
          describeHeld(weight.held, mesh.getNumRanks() - 1),
          then.empty() ? "-" : then};
}

static void printAligned(ArrayRef<std::vector<std::string>> rows,
                         llvm::raw_ostream &os) {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      line += cell + std::string(width - cell.size() + 2, ' ');
    os << StringRef(line).rtrim() << "\n";
  }
}

void PlanTable::printText(llvm::raw_ostream &os) const {
  os << "plan for " << planner->getMesh() << ", machine " << settings.machine
     << ": " << toMicroseconds(figures.seconds) << " a step, "
     << toBytes(figures.sentBytes) << " sent and "
     << toBytes(figures.parameterBytes) << " of parameters a rank\n";
  if (lowerBound && figures.seconds - *lowerBound >= leastDifference)
    os << "a cheaper plan may exist: the lower bound is "
       << toMicroseconds(*lowerBound) << "\n";
  os << "\n";
  std::vector<std::vector<std::string>> rows = {
      {"weight", "shape", "split", "first rank", "last rank", "then"}};
  llvm::StringMap<size_t> rowOfKey;
  // How many weights a row stands for; one alone keeps its number.
  std::vector<int64_t> counts = {1};
  std::vector<std::string> names = {"weight"};
  for (const PlannedWeight &weight : weights) {
    std::vector<std::string> row = rowOf(weight);
    auto [entry, isNew] =
        rowOfKey.try_emplace(llvm::join(row, "|"), rows.size());
    if (isNew) {
      rows.push_back(std::move(row));
      counts.push_back(0);
      names.push_back(weight.choice.name);
    }
    ++counts[entry->second];
  }
  for (auto [row, count, name] : llvm::zip_equal(rows, counts, names))
    row.front() =
        count > 1 ? row.front() + " x " + std::to_string(count) : name;
  printAligned(rows, os);
  os << "\n";
  for (auto [number, alike] : llvm::enumerate(collectives)) {
    const PlanStep &step = *alike.front();
    os << number + 1 << "  " << reasons->describePlace(step);
    if (alike.size() > 1)
      os << " x " << alike.size();
    os << ": " << toString(step.step.parts, planner->getMesh()) << ", "
       << toBytes(step.cost.sentBytes) << " sent a rank, "
       << toMicroseconds(step.cost.seconds) << "\n";
  }
}

//===- JSON ---------------------------------------------------------------===//

void PlanTable::writeWeight(const PlannedWeight &weight,
                            llvm::json::OStream &json) const {
  std::string layout, type;
  llvm::raw_string_ostream(layout) << weight.choice.sharding;
  llvm::raw_string_ostream(type) << weight.choice.type.getElementType();
  json.object([&] {
    json.attribute("name", llvm::json::fixUTF8(weight.choice.name));
    json.attribute("shape", llvm::json::Array(weight.choice.type.getShape()));
    json.attribute("type", type);
    json.attribute("split", weight.split);
    json.attribute("layout", llvm::json::fixUTF8(layout));
    writeHoldings(weight.held, json);
    json.attribute("collectives", llvm::json::Array(weight.collectives));
  });
}

void PlanTable::writeCollective(ArrayRef<const PlanStep *> alike,
                                llvm::json::OStream &json) const {
  const PlanStep &step = *alike.front();
  const Graph &graph = planner->getGraph();
  MeshAttr mesh = planner->getMesh();
  RankedTensorType tensor = graph.values[step.value].type;
  std::string type;
  llvm::raw_string_ostream(type) << tensor.getElementType();
  json.object([&] {
    json.attribute("kind", toString(step.step.kind));
    json.attribute("count", static_cast<int64_t>(alike.size()));
    json.attribute("shape", llvm::json::Array(tensor.getShape()));
    json.attribute("type", type);
    json.attribute("axes",
                   llvm::json::fixUTF8(toString(step.step.parts, mesh)));
    json.attributeArray("groups", [&] {
      auto groups = getGroups(step.step.parts, mesh);
      for (ArrayRef<int64_t> group : *groups)
        json.value(llvm::json::Array(group));
    });
    json.attribute("after", llvm::json::fixUTF8(
                                nameNode(graph, findMaker(graph, step.value))));
    json.attributeArray("before", [&] {
      for (auto use : step.uses)
        json.value(llvm::json::fixUTF8(nameUser(graph, use)));
    });
    json.attribute("sent_bytes", std::llround(step.cost.sentBytes));
    json.attribute("seconds", step.cost.seconds);
  });
}

void PlanTable::writeFigures(llvm::json::OStream &json) const {
  MeshAttr mesh = planner->getMesh();
  json.attributeArray("axes", [&] {
    for (MeshAxisAttr axis : mesh.getAxes())
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(axis.getName()));
        json.attribute("ranks", axis.getSize());
      });
  });
  json.attribute("ranks", mesh.getNumRanks());
  json.attribute("machine", llvm::json::fixUTF8(settings.machine));
  json.attributeObject("settings", [&] {
    json.attribute("weights", settings.weights);
    json.attribute("sequence_parallel", settings.sequenceParallel);
    json.attribute("model_axes", llvm::json::fixUTF8(settings.modelAxes));
    json.attribute("uneven", settings.uneven);
    json.attribute("memory_limit", llvm::json::fixUTF8(settings.memoryLimit));
  });
  json.attribute("seconds", figures.seconds);
  if (lowerBound)
    json.attribute("lower_bound_seconds", *lowerBound);
  json.attribute("sent_bytes", std::llround(figures.sentBytes));
  json.attribute("parameter_bytes", std::llround(figures.parameterBytes));
}

void PlanTable::printJSON(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    writeFigures(json);
    json.attributeArray("weights", [&] {
      for (const PlannedWeight &weight : weights)
        writeWeight(weight, json);
    });
    json.attributeArray("collectives", [&] {
      for (ArrayRef<const PlanStep *> alike : collectives)
        writeCollective(alike, json);
    });
  });
  os << "\n";
}

//===- Pass ---------------------------------------------------------------===//

namespace {

struct PrintPlanPass : tp::impl::PrintPlanBase<PrintPlanPass> {
  using PrintPlanBase::PrintPlanBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (failed(checkReportFormat(module, getArgument(), format)))
      return failure();
    std::optional<PlanSettings> settings = readSettings(module);
    if (!settings)
      return emitError(module.getLoc())
             << "carries no plan; run tp-plan before tp-print-plan";
    FailureOr<std::unique_ptr<PlanTable>> table =
        PlanTable::read(module, *settings, getArgument());
    if (failed(table))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      (*table)->printJSON(os);
    else
      (*table)->printText(os);
    return writeReport(module, output, text);
  }
};

} // namespace
