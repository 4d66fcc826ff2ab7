// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reasons.h"
#include "Scenarios.h"
#include "tp/IR/FactorSplits.h"
#include "tp/IR/LocalShape.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tp;

//===- Layouts and types --------------------------------------------------===//

std::string tp::describeLayout(ArrayRef<int64_t> shape, const Layout &layout,
                               MeshAttr mesh) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(layout.dims)) {
    if (numRanks(dim.parts) == 1)
      continue;
    DimLayout split = dim.canonical(shape[index]);
    text += llvm::formatv("{0}dimension {1} of {2} over {3}, {4}{5} a rank",
                          text.empty() ? "" : "; ", index, shape[index],
                          toString(split.parts, mesh),
                          isEven(shape[index], split) ? "" : "at most ",
                          getLargestShard(shape[index], split));
  }
  return text.empty() ? "whole" : text;
}

std::string tp::describeValue(ArrayRef<int64_t> shape, const Layout &layout,
                              MeshAttr mesh) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(layout.dims)) {
    if (numRanks(dim.parts) == 1)
      continue;
    text += llvm::formatv("{0}split along dimension {1} over {2}",
                          text.empty() ? "" : " and ", index,
                          toString(dim.canonical(shape[index]).parts, mesh));
  }
  if (!layout.unreduced.empty()) {
    bool isMax = layout.kind == ReductionKind::Max;
    text +=
        llvm::formatv("{0}an unfinished {1} over {2}",
                      text.empty() ? "" : " and ", isMax ? "maximum" : "sum",
                      toString(normalizeSet(layout.unreduced), mesh));
  }
  return text.empty() ? "whole" : text;
}

std::string tp::describeType(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(type.getShape(), os);
  os << "] " << type.getElementType();
  return text;
}

std::string tp::describeGroups(ArrayRef<AxisPart> parts, MeshAttr mesh) {
  constexpr size_t mostGroups = 8, mostRanks = 8;
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t size = numRanks(parts), count = mesh.getNumRanks() / size;
  os << count << (count == 1 ? " group of " : " groups of ") << size
     << " ranks";
  auto groups = getGroups(parts, mesh);
  if (failed(groups))
    return text;
  os << ": ";
  ArrayRef<SmallVector<int64_t>> shown(*groups);
  llvm::interleaveComma(
      shown.take_front(mostGroups), os, [&](ArrayRef<int64_t> group) {
        os << "{";
        llvm::interleaveComma(group.take_front(mostRanks - 1), os);
        if (group.size() > mostRanks)
          os << ", ...";
        if (group.size() >= mostRanks)
          os << ", " << group.back();
        os << "}";
      });
  if (shown.size() > mostGroups)
    os << ", ...";
  return text;
}

//===- Layouts of the plan ------------------------------------------------===//

Reasons::Reasons(const Planner &planner, const Solution &solution)
    : graph(planner.getGraph()), builder(planner.getBuilder()),
      mesh(planner.getMesh()), choices(solution.choices),
      steps(listSteps(graph, builder, planner.getModel(), choices)) {}

unsigned Reasons::getValue(unsigned node, unsigned tensor) const {
  const GraphNode &info = graph.nodes[node];
  return tensor < info.operands.size()
             ? info.operands[tensor]
             : info.results[tensor - info.operands.size()];
}

const Layout &Reasons::getLayout(unsigned node, unsigned tensor) const {
  return builder.getSpace(
      getValue(node, tensor))[builder.getLayout(node, choices[node], tensor)];
}

/// Whether some strategy of the node that the constraints leave takes the
/// operand so.
bool Reasons::canTake(unsigned node, unsigned operand,
                      const Layout &layout) const {
  std::optional<unsigned> wanted =
      builder.getSpace(getValue(node, operand)).find(layout);
  return wanted &&
         llvm::any_of(builder.choices[node].layouts, [&](const auto &choice) {
           return choice[operand] == *wanted;
         });
}

/// "all_gather (1,024 bytes a rank)" of what is done to a value, or nothing.
std::string Reasons::describeSteps(unsigned value) const {
  std::string text;
  for (const PlanStep &step : steps)
    if (step.value == value && step.cost.communicates)
      text += (text.empty() ? "" : " and ") + toString(step.step.kind).str() +
              " (" + toBytes(step.cost.sentBytes) + " a rank)";
  return text;
}

//===- Where a split goes -------------------------------------------------===//

static void addOnce(SmallVectorImpl<std::string> &list, std::string text) {
  if (!llvm::is_contained(list, text))
    list.push_back(std::move(text));
}

/// The factors of tensor `tensor` that `parts` split.
static SmallVector<unsigned> findFactors(const ShardingRule &rule,
                                         unsigned tensor, const Layout &layout,
                                         ArrayRef<AxisPart> parts) {
  SmallVector<unsigned> found;
  UndividedFactor undivided;
  FailureOr<FactorSplits> dealt = dealParts(rule, tensor, layout, undivided);
  if (failed(dealt))
    return found;
  for (auto [factor, split] : llvm::enumerate(dealt->splits))
    if (llvm::any_of(split.parts, [&](const AxisPart &part) {
          return overlapsAny(part, parts);
        }))
      found.push_back(factor);
  return found;
}

/// One operation that gets the split value: it sums over the split dimension,
/// or hands the split on.
void Reasons::enter(unsigned node, unsigned operand, ArrayRef<AxisPart> parts,
                    Trace &trace, SmallVectorImpl<unsigned> &todo) const {
  const GraphNode &info = graph.nodes[node];
  if (info.kind == GraphNode::Passage) {
    todo.push_back(info.results[0]);
    return;
  }
  if (info.kind != GraphNode::Operation)
    return addOnce(trace.ends, nameNode(graph, node));
  const ShardingRule &rule = *info.rule;
  SmallVector<unsigned> factors =
      findFactors(rule, operand, getLayout(node, operand), parts);
  // A sum over the parts, say, and no split any more.
  if (factors.empty())
    return;
  bool sums = llvm::any_of(factors, [&](unsigned factor) {
    return rule.factors[factor].kind == FactorKind::Sum;
  });
  if (sums)
    return addOnce(trace.ends,
                   nameNode(graph, node) + ", which sums over the split");
  auto grouped = dyn_cast<GroupedHeadsOpInterface>(info.op);
  bool byHeads =
      grouped && llvm::any_of(factors, [&](unsigned factor) {
        FactorGrouping grouping = grouped.getGrouping();
        return factor == grouping.groups || factor == grouping.inGroup;
      });
  addOnce(trace.through, info.op->getName().getStringRef().str() +
                             (byHeads ? " (head by head)" : ""));
  llvm::append_range(todo, info.results);
}

/// Follows a value that `parts` split to where the split ends.
void Reasons::follow(unsigned value, ArrayRef<AxisPart> parts,
                     Trace &trace) const {
  SmallVector<unsigned> todo = {value};
  llvm::DenseSet<unsigned> seen;
  while (!todo.empty()) {
    unsigned current = todo.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    unsigned made = builder.getProducedLayout(current, choices);
    const LayoutSpace &space = builder.getSpace(current);
    for (auto [node, operand] : graph.values[current].consumers) {
      unsigned wanted = builder.getLayout(node, choices[node], operand);
      if (space.getDistances().at(made, wanted).getCollectives() == 0) {
        enter(node, operand, parts, trace, todo);
        continue;
      }
      trace.communicates = true;
      addOnce(trace.ends, describeSteps(current) + " before " +
                              nameUser(graph, {node, operand}));
    }
  }
}

std::string Reasons::describeColumn(const WeightUse &use,
                                    ArrayRef<AxisPart> parts) const {
  Trace trace;
  follow(graph.nodes[use.node].results[0], parts, trace);
  std::string text = "each rank makes its part of what " +
                     nameNode(graph, use.node) + " gives";
  if (!trace.through.empty())
    text += "; it stays split through " + llvm::join(trace.through, ", ");
  if (!trace.ends.empty())
    text += (trace.through.empty() ? "; it goes to " : " up to ") +
            llvm::join(trace.ends, " and ");
  return text + (trace.communicates ? "" : "; no collective on the way");
}

std::string Reasons::describeRow(const WeightUse &use,
                                 ArrayRef<AxisPart> parts) const {
  std::string text;
  for (unsigned operand = 0; operand < use.rule->operands.size(); ++operand) {
    SmallVector<unsigned> factors =
        findFactors(*use.rule, operand, getLayout(use.node, operand), parts);
    if (operand == use.operand || factors.empty())
      continue;
    unsigned value = getValue(use.node, operand);
    std::string moved = describeSteps(value);
    text += moved.empty()
                ? "its input comes split already: no collective "
                  "before it; "
                : "its input is brought to the split by " + moved + "; ";
  }
  if (use.isLookup)
    text += "each rank looks up its rows and gives 0 for the others; ";
  std::string finished = describeSteps(graph.nodes[use.node].results[0]);
  return text + "each rank makes a part of the sum, " +
         (finished.empty() ? "which later operations carry on"
                           : "which is finished by " + finished);
}

std::string Reasons::describeWhole(const WeightUse &use) const {
  std::string text = nameNode(graph, use.node) + " reads it whole";
  const TensorFactors &dims = use.rule->operands[use.operand];
  for (auto [dim, factors] : llvm::enumerate(dims))
    for (unsigned factor : factors)
      if (use.rule->factors[factor].kind == FactorKind::Whole)
        text += llvm::formatv(" and cannot split dimension {0}", dim);
  unsigned result = graph.nodes[use.node].results[0];
  const Layout &made = getLayout(use.node, use.rule->operands.size());
  return text + "; what that gives is " +
         describeValue(graph.values[result].type.getShape(), made, mesh);
}

std::string Reasons::describeUse(const WeightUse &use) const {
  const Layout &layout = getLayout(use.node, use.operand);
  AxisParts summed, others;
  for (auto [dim, split] : llvm::enumerate(layout.dims))
    llvm::append_range(isSummedDim(use, dim) ? summed : others, split.parts);
  std::string text;
  if (!others.empty())
    text = describeColumn(use, others);
  if (!summed.empty())
    text += (text.empty() ? "" : "; ") + describeRow(use, summed);
  return text.empty() ? describeWhole(use) : text;
}

//===- Collectives --------------------------------------------------------===//

std::vector<SmallVector<const PlanStep *>> Reasons::groupCollectives() const {
  llvm::StringMap<size_t> numberOf;
  std::vector<SmallVector<const PlanStep *>> groups;
  for (const PlanStep &step : steps) {
    if (!step.cost.communicates)
      continue;
    std::string key = describePlace(step);
    llvm::raw_string_ostream(key)
        << describeCause(step) << step.step.dim << ',' << step.step.target
        << ',' << toString(step.step.parts, mesh) << step.cost.sentBytes;
    auto [entry, isNew] = numberOf.try_emplace(key, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(&step);
  }
  return groups;
}

/// Whether the node contracts a parameter.
bool Reasons::isProduct(unsigned node) const {
  const GraphNode &info = graph.nodes[node];
  if (!info.rule)
    return false;
  for (auto [operand, value] : llvm::enumerate(info.operands))
    if (graph.values[value].isParameter && isContractedDim(*info.rule, operand))
      return true;
  return false;
}

SmallVector<unsigned> Reasons::findNextCollectives(const WeightUse &use) const {
  SmallVector<unsigned> found;
  SmallVector<unsigned> todo(ArrayRef<unsigned>(graph.nodes[use.node].results));
  llvm::DenseSet<unsigned> seen;
  while (!todo.empty()) {
    unsigned value = todo.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    size_t before = found.size();
    for (auto [number, step] : llvm::enumerate(steps))
      if (step.value == value && step.cost.communicates)
        found.push_back(number);
    if (found.size() != before)
      continue;
    for (auto [node, operand] : graph.values[value].consumers)
      if (!isProduct(node))
        llvm::append_range(todo, graph.nodes[node].results);
  }
  llvm::sort(found);
  return found;
}

//===- Why a value is moved -----------------------------------------------===//

std::string Reasons::describePlace(const PlanStep &step) const {
  SmallVector<std::string> users;
  for (auto use : step.uses)
    addOnce(users, nameUser(graph, use));
  return toString(step.step.kind).str() + " of " +
         describeType(graph.values[step.value].type) + " after " +
         nameNode(graph, findMaker(graph, step.value)) + ", before " +
         llvm::join(users, " and ");
}

std::string Reasons::describeCause(const PlanStep &step) const {
  ArrayRef<int64_t> shape = graph.values[step.value].type.getShape();
  unsigned producer = graph.values[step.value].producer;
  const GraphNode &maker = graph.nodes[producer];
  unsigned place =
      llvm::find(maker.results, step.value) - maker.results.begin();
  const Layout &made = getLayout(producer, maker.operands.size() + place);
  std::string text = nameNode(graph, findMaker(graph, step.value)) +
                     " leaves it " + describeValue(shape, made, mesh);
  SmallVector<std::string> takers;
  for (auto [node, operand] : step.uses) {
    bool isDemand = graph.nodes[node].kind == GraphNode::Demand;
    bool could = canTake(node, operand, made);
    addOnce(takers, nameUser(graph, {node, operand}) +
                        (isDemand ? " must be "
                         : could  ? " takes it "
                                  : " cannot take it so, but ") +
                        describeValue(shape, getLayout(node, operand), mesh));
  }
  return text + "; " + llvm::join(takers, "; ");
}
