// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/Builder.h"
#include "tp/IR/LocalShape.h"
#include "tp/Weights/WeightUses.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tp;

//===- Spaces and tables --------------------------------------------------===//

/// Activations lie on a data axis by their batch or not at all; a weight may be
/// pinned to anything.
const LayoutSpace &ProblemBuilder::makeSpace(unsigned value) {
  const GraphValue &info = graph.values[value];
  bool maxima = mayBeMaximum[value];
  std::optional<DimUnits> dealt;
  if (uneven == Uneven::Allow)
    dealt = units.ofValue[value];
  auto &space = spaces[{info.type.getAsOpaquePointer(), info.isParameter,
                        maxima, dealt.value_or(DimUnits())}];
  if (space)
    return *space;
  AxisParts data;
  for (auto [index, part] : llvm::enumerate(axes.parts))
    if (axes.isData[index])
      data.push_back(part);
  auto allowed = [&](const Layout &layout) {
    for (auto [dim, split] : llvm::enumerate(layout.dims))
      for (const AxisPart &part : split.parts)
        if (dim != 0 && llvm::is_contained(data, part))
          return false;
    return true;
  };
  LayoutSpace::Filter filter;
  if (!info.isParameter)
    filter = allowed;
  space = std::make_unique<LayoutSpace>(model, info.type, axes.parts, filter,
                                        maxima, dealt);
  return *space;
}

/// A table of so many layouts that forbids every move.
unsigned ProblemBuilder::makeFixedTable(unsigned numLayouts) {
  auto [entry, isNew] =
      fixedTables.try_emplace(numLayouts, problem.tables.size());
  if (!isNew)
    return entry->second;
  DistanceTable &table = problem.tables.emplace_back();
  table.numLayouts = numLayouts;
  table.entries.assign(size_t(numLayouts) * numLayouts, Price::infinite());
  for (unsigned layout = 0; layout < numLayouts; ++layout)
    table.entries[size_t(layout) * numLayouts + layout] = Price();
  return entry->second;
}

/// Distances of a value's space. A contracted weight is used where it lies.
unsigned ProblemBuilder::makeTable(unsigned value) {
  const LayoutSpace *space = spaceOf[value];
  bool stays = weights == Weights::Stationary &&
               graph.values[value].isParameter && isContracted[value];
  if (stays)
    return makeFixedTable(space->size());
  auto [entry, isNew] = tables.try_emplace(space, problem.tables.size());
  if (isNew)
    problem.tables.push_back(space->getDistances());
  return entry->second;
}

unsigned ProblemBuilder::internMap(std::vector<unsigned> map) {
  auto [entry, isNew] = maps.try_emplace(map, problem.layoutMaps.size());
  if (isNew)
    problem.layoutMaps.push_back(std::move(map));
  return entry->second;
}

unsigned ProblemBuilder::internCosts(std::vector<Price> vector) {
  auto [entry, isNew] = costs.try_emplace(vector, problem.costVectors.size());
  if (isNew)
    problem.costVectors.push_back(std::move(vector));
  return entry->second;
}

//===- Nodes --------------------------------------------------------------===//

/// What the strategies of an operation depend on. Equal nodes, as in identical
/// layers, are enumerated once.
std::string ProblemBuilder::signatureOf(unsigned node) const {
  const GraphNode &info = graph.nodes[node];
  std::string text;
  llvm::raw_string_ostream os(text);
  os << info.op->getName() << info.op->getPropertiesAsAttribute() << '|';
  auto add = [&](unsigned value) {
    const GraphValue &of = graph.values[value];
    os << of.type << of.isParameter << of.isStream << mayBeMaximum[value]
       << ':';
    for (unsigned pin : pinned[value])
      os << pin << ',';
  };
  for (auto [index, value] : llvm::enumerate(info.operands)) {
    add(value);
    auto projection =
        groupProjections.find({node, static_cast<unsigned>(index)});
    os << (projection == groupProjections.end() ? 0 : projection->second) << ','
       << mayLieWhole[value] << ';';
  }
  llvm::for_each(info.results, add);
  if (uneven == Uneven::Allow)
    for (ArrayRef<int64_t> factor : units.ofNode[node]) {
      llvm::interleaveComma(factor, os);
      os << ';';
    }
  return text;
}

void ProblemBuilder::addOperation(unsigned node) {
  auto [entry, isNew] = nodeOfSignature.try_emplace(signatureOf(node), node);
  if (!isNew) {
    choices[node] = choices[entry->second];
    auto alike = llvm::find_if(exclusions, [&](const Exclusion &excluded) {
      return excluded.node == entry->second;
    });
    if (alike != exclusions.end())
      exclusions.push_back(
          {node, alike->broken, alike->numStrategies, alike->isEither});
    return;
  }
  const GraphNode &info = graph.nodes[node];
  const ShardingRule &rule = *info.rule;
  Work work = cast<WorkOpInterface>(info.op).getWork();
  SmallVector<unsigned> tensors(ArrayRef<unsigned>(info.operands));
  llvm::append_range(tensors, info.results);
  SmallVector<Type> types;
  for (unsigned value : tensors)
    types.push_back(graph.values[value].type);

  std::set<SmallVector<unsigned, 4>> seen;
  SmallVector<unsigned> masks;
  SmallVector<unsigned> maxima;
  for (auto [operand, value] : llvm::enumerate(info.operands))
    if (mayBeMaximum[value] && (rule.movesData || rule.takesMaximum))
      maxima.push_back(operand);
  const FactorUnits *dealt =
      uneven == Uneven::Allow ? &units.ofNode[node] : nullptr;
  for (const Strategy &strategy :
       enumerateStrategies(rule, axes, maxima, dealt)) {
    SmallVector<unsigned, 4> numbers;
    for (auto [value, layout] : llvm::zip_equal(tensors, strategy.layouts))
      if (std::optional<unsigned> number = spaceOf[value]->find(layout))
        numbers.push_back(*number);
    if (numbers.size() != tensors.size()) {
      // Only data axes narrow a space.
      masks.push_back(DataAxes);
      continue;
    }
    if (!seen.insert(numbers).second)
      continue;
    masks.push_back(violatedBy(node, rule, strategy, numbers));
    if (masks.back() != 0)
      continue;
    choices[node].layouts.push_back(numbers);
    choices[node].prices.push_back(toPrice(
        model.priceOperation(rule, work, types, strategy.layouts), false));
  }
  if (choices[node].layouts.empty())
    exclude(node, masks);
}

bool ProblemBuilder::isHomeAllowed(unsigned value, const Layout &layout) const {
  if (!layout.unreduced.empty())
    return false;
  if (!graph.values[value].isParameter)
    return true;
  AxisParts used = layout.getSplitParts();
  bool mustSplit =
      isContracted[value] && !mayLieWhole[value] && weights != Weights::Free;
  for (auto [index, part] : llvm::enumerate(axes.parts)) {
    bool isUsed = containsParts(used, part);
    if (axes.isData[index] && isUsed)
      return false;
    bool excused =
        axes.isData[index] || isExcused(groupsOfWeight[value], index);
    if (mustSplit && !excused && !isUsed)
      return false;
  }
  return true;
}

void ProblemBuilder::addHome(unsigned node) {
  unsigned value = graph.nodes[node].results[0];
  const GraphValue &info = graph.values[value];
  const LayoutSpace &space = *spaceOf[value];
  for (unsigned layout = 0; layout < space.size(); ++layout) {
    bool isPinnedHere = !pinned[value].empty() && !breaksPins(value, layout);
    bool allowed = pinned[value].empty()
                       ? isHomeAllowed(value, space[layout])
                       : isPinnedHere && space[layout].unreduced.empty();
    if (!allowed)
      continue;
    PriceFields fields;
    if (info.isParameter)
      fields.memory = static_cast<uint64_t>(
          CostModel::getShardBytes(info.type, space[layout]) / 1024);
    choices[node].layouts.push_back({layout});
    choices[node].prices.push_back(
        Price::get(fields).value_or(Price::infinite()));
  }
}

/// Comes in and leaves with one layout.
void ProblemBuilder::addPassage(unsigned node) {
  const GraphNode &info = graph.nodes[node];
  unsigned value = info.results[0];
  const LayoutSpace &space = *spaceOf[value];
  for (unsigned layout = 0; layout < space.size(); ++layout) {
    if (breaksPins(value, layout) || breaksSequence(value, space[layout]))
      continue;
    choices[node].layouts.push_back({layout, layout});
    choices[node].prices.push_back(Price());
  }
}

void ProblemBuilder::addDemand(unsigned node) {
  const GraphNode &info = graph.nodes[node];
  func::FuncOp entry = graph.instances[info.instance].function;
  unsigned value = info.operands[0];
  if (entry.getResultAttr(info.number, likeAttrName)) {
    // Any layout here; a link to the argument fixes it.
    for (unsigned layout = 0; layout < spaceOf[value]->size(); ++layout)
      choices[node].layouts.push_back({layout});
    choices[node].prices.resize(choices[node].layouts.size());
    return;
  }
  // A pinned result is the value that is returned, whose pin has been found.
  unsigned wanted = 0;
  if (!pinned[value].empty())
    wanted = pinned[value].front();
  else if (auto whole = spaceOf[value]->find(
               Layout::whole(graph.values[value].type.getRank())))
    wanted = *whole;
  choices[node].layouts.push_back({wanted});
  choices[node].prices.push_back(Price());
}

void ProblemBuilder::addNode(unsigned node) {
  switch (graph.nodes[node].kind) {
  case GraphNode::Operation:
    return addOperation(node);
  case GraphNode::Home:
    addHome(node);
    break;
  case GraphNode::Passage:
    addPassage(node);
    break;
  case GraphNode::Demand:
    return addDemand(node);
  }
  if (choices[node].layouts.empty())
    excludeLayouts(node);
}

void ProblemBuilder::addVariable(unsigned node) {
  const GraphNode &info = graph.nodes[node];
  std::string name = info.kind == GraphNode::Home
                         ? graph.values[info.results[0]].name
                         : info.op->getName().getStringRef().str();
  problem.variables.push_back(
      {std::move(name), internCosts(choices[node].prices)});
}

void ProblemBuilder::addValues() {
  auto mapOf = [&](unsigned node, unsigned tensor) {
    std::vector<unsigned> map;
    for (const auto &layouts : choices[node].layouts)
      map.push_back(layouts[tensor]);
    return internMap(std::move(map));
  };
  for (auto [number, value] : llvm::enumerate(graph.values)) {
    Problem::Value &added = problem.values.emplace_back();
    added.name = value.name;
    added.table = makeTable(number);
    const GraphNode &producer = graph.nodes[value.producer];
    unsigned place =
        llvm::find(producer.results, number) - producer.results.begin();
    added.producer = {value.producer,
                      mapOf(value.producer, producer.operands.size() + place)};
    for (auto [node, operand] : value.consumers)
      added.consumers.push_back({node, mapOf(node, operand)});
  }
}

/// A result marked tp.like lies as its argument does: a value that may not be
/// moved, made by the argument's home and used by the demand.
LogicalResult ProblemBuilder::addLinks() {
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != GraphNode::Demand)
      continue;
    func::FuncOp entry = graph.instances[node.instance].function;
    auto like =
        entry.getResultAttrOfType<IntegerAttr>(node.number, likeAttrName);
    if (!like)
      continue;
    // Homes come first, in the order of the arguments.
    unsigned home = like.getInt();
    unsigned argument = graph.nodes[home].results[0];
    // Sizes may differ: what is new in a cache lies as the cache does.
    if (graph.values[argument].type.getRank() !=
        graph.values[node.operands[0]].type.getRank())
      return entry.emitOpError() << "result " << node.number << " of type "
                                 << graph.values[node.operands[0]].type
                                 << " cannot lie like argument " << home
                                 << " of type " << graph.values[argument].type;
    const LayoutSpace &from = *spaceOf[argument];
    const LayoutSpace &to = *spaceOf[node.operands[0]];
    // A place beyond the argument's layouts, where no home is.
    unsigned nowhere = from.size();
    std::vector<unsigned> homes, demands;
    for (const auto &layouts : choices[home].layouts)
      homes.push_back(layouts[0]);
    for (const auto &layouts : choices[number].layouts)
      demands.push_back(from.find(to[layouts[0]]).value_or(nowhere));
    problem.values.push_back(
        {"tp.like",
         makeFixedTable(nowhere + 1),
         {home, internMap(std::move(homes))},
         {{static_cast<unsigned>(number), internMap(std::move(demands))}}});
  }
  return success();
}

/// Tensors of many dimensions first: if one has too many layouts, it is they.
LogicalResult ProblemBuilder::makeSpaces() {
  auto values = llvm::to_vector(llvm::seq<unsigned>(0, graph.values.size()));
  llvm::sort(values, [&](unsigned a, unsigned b) {
    return std::make_pair(graph.values[b].type.getRank(), int64_t(a)) <
           std::make_pair(graph.values[a].type.getRank(), int64_t(b));
  });
  spaceOf.resize(values.size());
  for (unsigned number : values) {
    spaceOf[number] = &makeSpace(number);
    if (!spaceOf[number]->isTooLarge())
      continue;
    const GraphValue &value = graph.values[number];
    InFlightDiagnostic diag = graph.nodes[value.producer].op->emitOpError()
                              << "'" << value.name << "' of shape ["
                              << value.type.getShape() << "] has more than "
                              << LayoutSpace::maxLayouts << " layouts over "
                              << toString(axes.parts, model.getMesh());
    diag.attachNote() << "fix: use fewer mesh axes of more ranks each";
    return diag;
  }
  return success();
}

LogicalResult ProblemBuilder::build() {
  groupProjections = findGroupProjections(graph, findHeadGroupings(graph));
  isContracted = findContracted(graph);
  groupsOfWeight.resize(graph.values.size());
  if (uneven == Uneven::Allow)
    units = findUnits(graph);
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != GraphNode::Operation)
      continue;
    for (auto [operand, value] : llvm::enumerate(node.operands)) {
      auto projection = groupProjections.find(
          {static_cast<unsigned>(index), static_cast<unsigned>(operand)});
      if (projection != groupProjections.end())
        groupsOfWeight[value] = projection->second;
    }
  }
  markPassedWeights();
  findUnsplit();
  markMaxima();
  if (failed(makeSpaces()) || failed(findPins()))
    return failure();
  choices.resize(graph.nodes.size());
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    addNode(node);
  if (failed(diagnoseExclusions()) || failed(checkReturnedWeights()))
    return failure();
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    addVariable(node);
  addValues();
  return addLinks();
}

unsigned
ProblemBuilder::getProducedLayout(unsigned value,
                                  ArrayRef<unsigned> nodeChoices) const {
  unsigned producer = graph.values[value].producer;
  const GraphNode &node = graph.nodes[producer];
  unsigned place = llvm::find(node.results, value) - node.results.begin();
  return getLayout(producer, nodeChoices[producer],
                   node.operands.size() + place);
}
