// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/Planner.h"
#include "MemoryNeeds.h"
#include "PinConflict.h"
#include "Writer.h"
#include "mlir/IR/SymbolTable.h"
#include "tp/Plan/Builder.h"
#include "tp/Plan/PlanSteps.h"
#include "tp/Solver/BestPlans.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tp;

//===- Settings -----------------------------------------------------------===//

FailureOr<MeshAttr> tp::parseMesh(StringRef text, Location loc) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<StringRef> items;
  text.split(items, ',');
  for (StringRef item : items) {
    auto [name, number] = item.trim().split('=');
    int64_t size = 0;
    if (name.empty() || number.getAsInteger(10, size))
      return emitError(loc) << "mesh '" << text
                            << "': an axis is written name=ranks, as in "
                               "dp=2,tp=4; '"
                            << item << "' is not";
    axes.push_back(MeshAxisAttr::get(loc.getContext(), name, size));
  }
  MeshAttr mesh = MeshAttr::getChecked([&] { return emitError(loc); },
                                       loc.getContext(), ArrayRef(axes));
  if (!mesh)
    return failure();
  return mesh;
}

/// The module's mesh, or a new one after `text`.
static FailureOr<MeshOp> findMesh(ModuleOp module, StringRef text) {
  MeshOp found;
  for (auto mesh : module.getOps<MeshOp>()) {
    if (found)
      return mesh.emitOpError()
             << "is the module's second mesh, after '" << found.getSymName()
             << "'; a plan is for one mesh";
    found = mesh;
  }
  if (text.empty()) {
    if (!found)
      return module.emitError() << "has no tp.mesh; name one with mesh=, as "
                                   "mesh=tp=8";
    return found;
  }
  FailureOr<MeshAttr> parsed = parseMesh(text, module.getLoc());
  if (failed(parsed))
    return failure();
  if (found && found.getMesh() != *parsed) {
    InFlightDiagnostic diag = found.emitOpError()
                              << "is " << found.getMesh()
                              << ", but mesh=" << text << " was asked for";
    diag.attachNote() << "fix: leave one of them out";
    return diag;
  }
  if (found)
    return found;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  if (module.lookupSymbol("mesh"))
    return module.emitError() << "has a symbol 'mesh' that is not a tp.mesh";
  return MeshOp::create(builder, module.getLoc(), "mesh", *parsed);
}

template <typename T>
static FailureOr<T> parseChoice(ModuleOp module, StringRef option,
                                StringRef text,
                                ArrayRef<std::pair<StringRef, T>> values) {
  for (auto [name, value] : values)
    if (text == name)
      return value;
  InFlightDiagnostic diag = module.emitError()
                            << option << "='" << text << "' must be one of ";
  llvm::interleaveComma(values, diag,
                        [&](auto &entry) { diag << entry.first; });
  return diag;
}

/// By default the axes that carry the batch are those called dp, data or fsdp.
static FailureOr<SmallVector<bool>> findDataAxes(ModuleOp module, MeshAttr mesh,
                                                 StringRef modelAxes) {
  llvm::StringSet<> model;
  SmallVector<StringRef> names;
  modelAxes.split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    if (!mesh.findAxis(name.trim()))
      return module.emitError() << "model-axes names \"" << name.trim()
                                << "\", which is not an axis of " << mesh;
    if (!model.insert(name.trim()).second)
      return module.emitError()
             << "model-axes names \"" << name.trim() << "\" twice";
  }
  SmallVector<bool> isData;
  for (MeshAxisAttr axis : mesh.getAxes()) {
    bool usual = axis.getName() == "dp" || axis.getName() == "data" ||
                 axis.getName() == "fsdp";
    isData.push_back(names.empty() ? usual : !model.contains(axis.getName()));
  }
  return isData;
}

//===- Planner ------------------------------------------------------------===//

namespace {

class ModulePlanner : public Planner {
public:
  ModulePlanner(ModuleOp module, MeshOp mesh, Machine machine)
      : module(module), mesh(mesh.getMesh()),
        meshName(FlatSymbolRefAttr::get(mesh.getSymNameAttr())),
        model(std::move(machine), mesh.getMesh()) {}

  LogicalResult init(const PlanSettings &settings);

  FailureOr<Solution> solve(const Changes &changes, bool quiet) override;
  FailureOr<std::vector<Solution>> solveBest(unsigned count) override;
  PlanFigures getFigures(const Solution &solution) const override;
  std::vector<ParameterChoice>
  getParameters(const Solution &solution) const override;
  std::vector<Layout> getHomes(unsigned argument) const override;
  MeshAttr getMesh() const override { return mesh; }
  const Problem &getProblem() const override { return builder->problem; }
  const Graph &getGraph() const override { return graph; }
  const ProblemBuilder &getBuilder() const override { return *builder; }
  const CostModel &getModel() const override { return model; }
  AxisParts getModelParts() const override;
  std::string getModelAxes() const override;
  LogicalResult write(const Solution &solution) override;

private:
  LogicalResult build();
  PinConflict findConflict() const {
    return PinConflict(module, graph, model, axes, wishes, memory);
  }
  void fixArgument(unsigned argument, const Layout &layout,
                   Problem &problem) const;
  void silence(ArrayRef<std::pair<unsigned, AxisParts>> silentValues,
               Problem &problem) const;
  Layout layoutOf(unsigned value, const Solution &solution) const;

  ModuleOp module;
  MeshAttr mesh;
  FlatSymbolRefAttr meshName;
  CostModel model;
  Graph graph;
  PlanAxes axes;
  PlanWishes wishes;
  MemoryWishes memory;
  SolveOptions options;
  /// Of the first plan: messages for those that follow.
  Certificate start;
  std::unique_ptr<ProblemBuilder> builder;
};

} // namespace

LogicalResult ModulePlanner::init(const PlanSettings &settings) {
  auto weights = parseChoice<Weights>(module, "weights", settings.weights,
                                      {{"stationary", Weights::Stationary},
                                       {"stored", Weights::Stored},
                                       {"free", Weights::Free}});
  auto sequence = parseChoice<SequenceParallel>(
      module, "sequence-parallel", settings.sequenceParallel,
      {{"off", SequenceParallel::Off},
       {"on", SequenceParallel::On},
       {"auto", SequenceParallel::Auto}});
  auto uneven = parseChoice<Uneven>(
      module, "uneven", settings.uneven,
      {{"refuse", Uneven::Refuse}, {"allow", Uneven::Allow}});
  auto maxSums = parseChoice<uint64_t>(
      module, "memory-search", settings.memorySearch,
      {{"quick", options.maxSums}, {"exhaustive", options.maxTableEntries}});
  auto isData = findDataAxes(module, getMesh(), settings.modelAxes);
  auto memoryWishes = MemoryWishes::parse(module, settings, model.getMachine());
  if (failed(weights) || failed(sequence) || failed(uneven) || failed(isData) ||
      failed(maxSums) || failed(memoryWishes))
    return failure();
  options.maxSums = *maxSums;
  memory = std::move(*memoryWishes);
  llvm::Expected<func::FuncOp> entry = findEntry(module);
  if (!entry)
    return module.emitError() << llvm::toString(entry.takeError());
  FailureOr<Graph> built = Graph::build(*entry);
  if (failed(built))
    return failure();
  graph = std::move(*built);
  for (GraphValue &value : graph.values)
    if (settings.ignorePins)
      value.pins.clear();
  FailureOr<PlanAxes> chosen = choosePlanAxes(graph, findHeadGroupings(graph),
                                              getMesh(), *isData, *uneven);
  if (failed(chosen))
    return failure();
  axes = std::move(*chosen);
  wishes = {*weights, *sequence, *uneven};
  if (failed(build()))
    return failure();
  addMemoryNeeds(graph, memory, *builder);
  return success();
}

/// Where pins are to blame, says which: the first attempt is silent.
LogicalResult ModulePlanner::build() {
  auto attempt = [&] {
    builder = std::make_unique<ProblemBuilder>(graph, model, axes, wishes);
    return builder->build();
  };
  bool hasPins = llvm::any_of(graph.values, [](const GraphValue &value) {
    return !value.pins.empty();
  });
  if (hasPins) {
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    if (succeeded(attempt()))
      return success();
  }
  if (hasPins && succeeded(findConflict().diagnose()))
    return failure();
  return attempt();
}

void ModulePlanner::fixArgument(unsigned argument, const Layout &layout,
                                Problem &problem) const {
  const LayoutSpace &space =
      builder->getSpace(graph.nodes[argument].results[0]);
  std::optional<unsigned> wanted = space.find(layout);
  Problem::Variable &variable = problem.variables[argument];
  std::vector<Price> costs = problem.costVectors[variable.costVector];
  for (auto [choice, price] : llvm::enumerate(costs))
    if (!wanted || builder->getLayout(argument, choice, 0) != *wanted)
      price = Price::infinite();
  variable.costVector = problem.costVectors.size();
  problem.costVectors.push_back(std::move(costs));
}

/// Forbids values the moves for which ranks talk along the parts.
void ModulePlanner::silence(
    ArrayRef<std::pair<unsigned, AxisParts>> silentValues,
    Problem &problem) const {
  std::map<std::pair<unsigned, AxisParts>, unsigned> silentTables;
  for (const auto &[value, parts] : silentValues) {
    unsigned &number = problem.values[value].table;
    auto [entry, isNew] =
        silentTables.try_emplace({number, parts}, problem.tables.size());
    if (isNew) {
      DistanceTable table = builder->getSpace(value).getDistancesWithout(parts);
      // What could not be moved before still cannot.
      for (auto [price, before] :
           llvm::zip_equal(table.entries, problem.tables[number].entries))
        price = before.isInfinite() ? before : price;
      problem.tables.push_back(std::move(table));
    }
    number = entry->second;
  }
}

FailureOr<Solution> ModulePlanner::solve(const Changes &changes, bool quiet) {
  Problem problem = builder->problem;
  for (const auto &[argument, layout] : changes.pins)
    fixArgument(argument, layout, problem);
  silence(changes.silentValues, problem);
  SolveOptions wanted = options;
  wanted.start = &start;
  wanted.cutoff = changes.cutoff;
  llvm::Expected<Solution> solution = solveWithinMemory(problem, wanted);
  if (solution) {
    if (start.messages.empty())
      start = solution->certificate;
    return std::move(*solution);
  }
  if (quiet) {
    llvm::consumeError(solution.takeError());
    return failure();
  }
  bool isInfeasible = solution.errorIsA<InfeasibleError>();
  bool mayBeThePins = isInfeasible || solution.errorIsA<MemoryLimitError>();
  if (mayBeThePins && succeeded(findConflict().diagnose())) {
    llvm::consumeError(solution.takeError());
    return failure();
  }
  std::optional<LogicalResult> tooLarge;
  llvm::Error error = llvm::handleErrors(
      solution.takeError(), [&](const MemoryLimitError &limit) {
        tooLarge = diagnoseMemory(module, graph, memory, problem, limit);
      });
  if (tooLarge)
    return *tooLarge;
  InFlightDiagnostic diag = module.emitError()
                            << "cannot be planned: "
                            << llvm::toString(std::move(error));
  if (isInfeasible)
    findConflict().addFixes(*diag.getUnderlyingDiagnostic());
  return diag;
}

FailureOr<std::vector<Solution>> ModulePlanner::solveBest(unsigned count) {
  if (builder->problem.memoryLimit)
    return module.emitError()
           << "only the cheapest plan is found within a memory limit; fix: "
              "leave out memory-limit= or nth=";
  FailureOr<Solution> best = solve({}, /*quiet=*/false);
  if (failed(best))
    return failure();
  llvm::Expected<std::vector<PricedPlan>> plans =
      findBestPlans(builder->problem, count);
  if (!plans)
    return module.emitError()
           << "cannot be planned: " << llvm::toString(plans.takeError());
  std::vector<Solution> solutions;
  for (PricedPlan &plan : *plans) {
    Solution &solution = solutions.emplace_back(*best);
    solution.choices = std::move(plan.choices);
    solution.cost = plan.cost;
  }
  return solutions;
}

//===- Figures ------------------------------------------------------------===//

Layout ModulePlanner::layoutOf(unsigned value, const Solution &solution) const {
  return builder->getSpace(
      value)[builder->getProducedLayout(value, solution.choices)];
}

PlanFigures ModulePlanner::getFigures(const Solution &solution) const {
  PlanFigures figures;
  for (auto [node, choice] : llvm::enumerate(solution.choices))
    figures.seconds += builder->choices[node].prices[choice].seconds();
  for (const PlanStep &step :
       listSteps(graph, *builder, model, solution.choices)) {
    figures.seconds += step.cost.seconds;
    figures.sentBytes += step.cost.sentBytes;
    if (step.cost.communicates)
      ++figures.collectives[toString(step.step.kind)];
  }
  for (const GraphNode &node : graph.nodes) {
    if (node.kind != GraphNode::Home ||
        !graph.values[node.results[0]].isParameter)
      continue;
    unsigned value = node.results[0];
    figures.parameterBytes += CostModel::getShardBytes(
        graph.values[value].type, layoutOf(value, solution));
  }
  return figures;
}

std::vector<ParameterChoice>
ModulePlanner::getParameters(const Solution &solution) const {
  std::vector<ParameterChoice> parameters;
  for (const GraphNode &node : graph.nodes) {
    if (node.kind != GraphNode::Home)
      continue;
    const GraphValue &value = graph.values[node.results[0]];
    if (!value.isParameter)
      continue;
    Layout layout = layoutOf(node.results[0], solution);
    parameters.push_back(
        {value.name, value.type,
         toAttr(layout.canonical(value.type.getShape()), getMesh(), meshName),
         node.number});
  }
  return parameters;
}

std::vector<Layout> ModulePlanner::getHomes(unsigned argument) const {
  std::vector<Layout> homes;
  const LayoutSpace &space =
      builder->getSpace(graph.nodes[argument].results[0]);
  for (const auto &layouts : builder->choices[argument].layouts)
    homes.push_back(space[layouts[0]]);
  return homes;
}

AxisParts ModulePlanner::getModelParts() const {
  AxisParts model = axes.modelParts();
  return joinParts(model, numRanks(model));
}

std::string ModulePlanner::getModelAxes() const {
  return toString(getModelParts(), getMesh());
}

LogicalResult ModulePlanner::write(const Solution &solution) {
  writePlan(module, graph, *builder, solution.choices, getMesh(), meshName);
  return success();
}

FailureOr<std::unique_ptr<Planner>>
Planner::create(ModuleOp module, const PlanSettings &settings) {
  FailureOr<Machine> machine = loadMachine(module, settings.machine);
  if (failed(machine))
    return failure();
  FailureOr<MeshOp> mesh = findMesh(module, settings.mesh);
  if (failed(mesh))
    return failure();
  auto planner =
      std::make_unique<ModulePlanner>(module, *mesh, std::move(*machine));
  if (failed(planner->init(settings)))
    return failure();
  return std::unique_ptr<Planner>(std::move(planner));
}
